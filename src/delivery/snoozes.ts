import { believed, CLOCK_ERROR_MS } from "../util/clock.js";
import { DAY, HOUR } from "../util/units.js";
import type { Subscription } from "./collections.js";

/** Durations of a snooze, as used in buttons. */
export const SNOOZE_SPANS = ["1h", "8h", "1d"] as const;
export type Snooze = (typeof SNOOZE_SPANS)[number];

/** The durations in words, and in ms. */
export const SNOOZES: Readonly<Record<Snooze, { readonly words: string; readonly ms: number }>> = {
  "1h": { words: "1 hour", ms: HOUR },
  "8h": { words: "8 hours", ms: 8 * HOUR },
  "1d": { words: "1 day", ms: DAY },
};

/**
 * Returns when the snooze of a subscription ends, epoch ms. 0 if it is not snoozed. An end that is further ahead than the longest snooze
 * comes from a clock that was wrong.
 */
export function snoozeEnd({ snoozedUntil = 0 }: Pick<Subscription, "snoozedUntil">, now: number): number {
  const endsAt = believed(snoozedUntil, now, SNOOZES["1d"].ms + CLOCK_ERROR_MS);
  return endsAt > now ? endsAt : 0;
}
