import { DAY, HOUR } from "../util/units.js";

/** Durations of a snooze. */
export const SNOOZES = {
  "1h": { words: "1 hour", ms: HOUR },
  "8h": { words: "8 hours", ms: 8 * HOUR },
  "1d": { words: "1 day", ms: DAY },
} as const;

/** One of them, by what travels in a button. */
export type Snooze = keyof typeof SNOOZES;

/** All of them. */
export const snoozes = Object.keys(SNOOZES) as Snooze[];
