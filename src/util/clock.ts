import { SECOND } from "./units.js";

/** Maximum clock difference between processes, in ms. */
const SKEW_MS = 5 * SECOND;

/**
 * Returns the age of a time in ms. A time in the future is from a clock that was ahead or was set back since, so its age is
 * unknown and counts as infinite.
 * @param at epoch ms
 */
export const ageOf = (at: number, now: number): number =>
  at > now + SKEW_MS ? Number.POSITIVE_INFINITY : Math.max(0, now - at);

/**
 * A moment that something waits for, epoch ms; 0, so that it is due, if it lies further ahead than anything waits.
 * @param most ms
 */
export const believed = (at: number, now: number, most: number): number => (at > now + most ? 0 : at);
