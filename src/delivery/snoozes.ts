import { DAY, HOUR } from "../util/units.js";

/** Durations of a snooze. */
export const SNOOZES = {
  "1h": { words: "1 hour", ms: HOUR },
  "8h": { words: "8 hours", ms: 8 * HOUR },
  "1d": { words: "1 day", ms: DAY },
} as const;

/** Key of a duration, as used in buttons. */
export type Snooze = keyof typeof SNOOZES;

export const snoozes = Object.keys(SNOOZES) as Snooze[];
