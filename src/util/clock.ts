import { SECOND } from "./units.js";

/** How far ahead another process's clock may be, in ms. */
const SKEW_MS = 5 * SECOND;

/**
 * How long ago a moment was, in ms. One that lies in the future is not believed: a clock was ahead then, or has been set back
 * since, and nobody knows how old it is. Then its age has no end.
 * @param at epoch ms
 */
export const ageOf = (at: number, now: number): number =>
  at > now + SKEW_MS ? Number.POSITIVE_INFINITY : Math.max(0, now - at);

/**
 * A moment that something waits for, epoch ms; 0, so that it is due, where it lies further ahead than anything waits.
 * @param most ms
 */
export const believed = (at: number, now: number, most: number): number => (at > now + most ? 0 : at);
