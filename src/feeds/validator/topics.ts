import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import { type FeedOption, optionOf, type Topic } from "../../delivery/feed.js";
import { MAX_SILENCE_MS, MIN_SILENCE_MS } from "../../ledger/rhythm.js";
import { formatDuration, limitOf, parseDuration } from "../../text/durations.js";
import { perObject } from "../../util/per-object.js";
import { MINUTE } from "../../util/units.js";

/** Value of the option `after` for two missed reports. */
export const AUTOMATIC = "automatic";

type After = number | typeof AUTOMATIC;

function parseAfter(text: string): After | undefined {
  if (/^auto(matic)?$/i.test(text.trim())) return AUTOMATIC;
  const ms = parseDuration(text);
  return ms >= MIN_SILENCE_MS && ms <= MAX_SILENCE_MS ? ms : undefined;
}

const RANGE = "Type `automatic`, or a time from `20m` to `24h`, such as `3h`.";

const after: FeedOption<After> = {
  description: "When it counts as silent: two missed reports, or a time such as 3h (default: automatic)",
  maxLength: 10,
  byDefault: AUTOMATIC,
  formerDefault: 45 * MINUTE,
  schema: z.union([z.number(), z.literal(AUTOMATIC)]),
  parse: parseAfter,
  format: (value) => (value === AUTOMATIC ? value : formatDuration(value)),
  limit(text) {
    const limit = limitOf(text, MIN_SILENCE_MS, MAX_SILENCE_MS);
    return limit === undefined ? undefined : `${limit} ${RANGE}`;
  },
  problem: `Can't use that time. ${RANGE}`,
};

/** Options of a subscription to a validator. */
export const options = { after } as const;

/** Returns the subscription's own time without a report before a validator is silent, in ms. `undefined` for "automatic". */
export const chosenAfter = perObject((subscription: Subscription): number | undefined => {
  const chosenText = optionOf(subscription, "after", after);
  return chosenText === AUTOMATIC ? undefined : chosenText;
});

function silenceWords(subscription: Subscription): string {
  const chosenMs = chosenAfter(subscription);
  return chosenMs === undefined
    ? "silence (two missed reports)"
    : `silence of more than ${formatDuration(chosenMs)}`;
}

/** Topics of a subscription to a validator. */
export const topics = {
  silent: {
    description: "When it goes silent and when it's back",
    byDefault: true,
    isFixed: true,
    words: silenceWords,
  },
  version: {
    description: "When it runs an older version than most",
    byDefault: true,
    words: () => "an old version",
  },
  traffic: {
    description: "When it's low on traffic",
    byDefault: false,
    words: () => "low traffic",
  },
} as const satisfies Readonly<Record<string, Topic>>;

/** The name of a topic. */
export type ValidatorTopic = keyof typeof topics;
