import { MINUTE, SECOND } from "./units.js";

/** Maximum clock difference between processes, in ms. */
export const SKEW_MS = 5 * SECOND;

/**
 * Returns the age of a time in ms. A time in the future comes from a clock that was wrong. Its real age is unknown, and counts as
 * infinite.
 * @param at epoch ms
 */
export const ageOf = (at: number, now: number): number =>
  at > now + SKEW_MS ? Number.POSITIVE_INFINITY : Math.max(0, now - at);

/**
 * Returns the given deadline, or 0 (already due) if it is further ahead than any wait can be, because a clock was wrong.
 * @param at epoch ms
 * @param most longest possible wait in ms
 */
export const believed = (at: number, now: number, most: number): number => (at > now + most ? 0 : at);

/** Stands for a time that exists and cannot be read, epoch ms. It is later than any other, so that it is never reached. */
export const UNREADABLE_AT = Date.UTC(2100);

/** Longest time that an answer takes, in ms, with retries. */
const LATE_MS = 2 * MINUTE;

/**
 * True if an answer arrived soon after its question. If not, the process was suspended or its clock was set meanwhile, and it is
 * unknown for which time the answer is right.
 * @param askedAt epoch ms
 */
export const isTimely = (askedAt: number, now: number): boolean => Math.abs(now - askedAt) <= LATE_MS;

/** A time further in the future than this is from a wrong clock, in ms. */
export const CLOCK_ERROR_MS = 5 * MINUTE;

/** Time after the start of a process until which the machine's clock may not have been set yet, in ms. */
const SETTING_MS = 15 * MINUTE;

/**
 * True once a process has run for a while. Before that, the clock may be behind until it is set, as after a power cut, and a stored time
 * in the future does not show that it was ahead.
 * @param startedAt start of the process, epoch ms
 */
export const isClockSet = (startedAt: number, now: number): boolean => ageOf(startedAt, now) >= SETTING_MS;

/**
 * Returns the time of a past event, epoch ms. A time in the future cannot be right: it becomes null, or `now` if it is only
 * slightly ahead.
 */
export const pastTime = (at: number | null, now: number): number | null =>
  at === null || at > now + CLOCK_ERROR_MS ? null : Math.min(at, now);
