import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import { type FeedOption, optionOf, type Topic } from "../../delivery/feed.js";
import { formatDuration, limitOf, parseDuration, splitDurations } from "../../text/durations.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";

const MAX_REMINDERS = 5;
const MIN_BEFORE_MS = 5 * MINUTE;
const MAX_BEFORE_MS = 30 * DAY;
/**
 * Reminder times in ms, the longest first, from what a person typed, such as "24h 6h" or "2d, 90m": up to five, each from
 * five minutes to thirty days. Undefined if it is none of that.
 */
export function parseBefore(text: string): readonly number[] | undefined {
  const durations = splitDurations(text).map(parseDuration);
  const isGood =
    durations.length > 0 &&
    durations.length <= MAX_REMINDERS &&
    durations.every((time) => time >= MIN_BEFORE_MS && time <= MAX_BEFORE_MS);
  return isGood ? [...new Set(durations)].sort((a, b) => b - a) : undefined;
}

/** Reminder times as parseBefore reads them. */
export const formatBefore = (before: readonly number[]): string =>
  isDeepStrictEqual(before, DEFAULT_BEFORE) ? "48h 24h 6h" : before.map(formatDuration).join(" ");

/** The foundation names who has not voted two days before a request expires, and each day. */
const DEFAULT_BEFORE = [2 * DAY, DAY, 6 * HOUR];

const beforeOption: FeedOption<readonly number[]> = {
  description: "Reminder times before each deadline (48h 24h 6h)",
  maxLength: 60,
  byDefault: DEFAULT_BEFORE,
  formerDefault: [DAY, 6 * HOUR],
  schema: z.array(z.number()),
  parse: parseBefore,
  limit(text) {
    const durations = splitDurations(text);
    if (durations.length > MAX_REMINDERS)
      return `These are ${durations.length} times. The maximum is ${MAX_REMINDERS}.`;
    return durations.map((each) => limitOf(each, MIN_BEFORE_MS, MAX_BEFORE_MS)).find(Boolean);
  },
  problem:
    "I cannot read those reminder times. Type up to five, such as `24h 6h` or `2d 90m`, each from 5m to 30d.",
};

/** Ways in which reminders treat missing votes. */
const MISSING = {
  list: "list them",
  ping: "list them, and ping those whom /voters knows",
  off: "say nothing of them",
};

const missingOption: FeedOption<keyof typeof MISSING> = {
  description: "How reminders treat missing votes (list)",
  maxLength: 10,
  choices: MISSING,
  byDefault: "list",
  schema: z.enum(["list", "ping", "off"]),
  parse: (text) => (["list", "ping", "off"] as const).find((each) => each === text),
  problem: "Choose one of: list, ping, off.",
};

/** Options of a subscription to governance. */
export const options = { before: beforeOption, missing: missingOption } as const;

/** Returns the way in which a subscription's reminders treat missing votes. */
export const missingIn = (subscription: Subscription): keyof typeof MISSING =>
  optionOf(subscription, "missing", missingOption);

/** Returns how long before a request's dates a subscription wants reminders, in ms. */
export const remindersOf = (subscription: Subscription): readonly number[] =>
  optionOf(subscription, "before", beforeOption);

/** Topics of a subscription to governance. */
export const topics = {
  new: { description: "Vote requests that open", byDefault: true, words: () => "new vote requests" },
  outcome: { description: "How they end", byDefault: true, words: () => "outcomes" },
  reminders: {
    description: "Before their deadlines",
    byDefault: true,
    words: (subscription) =>
      `reminders (${formatBefore(remindersOf(subscription))} before each deadline${missingIn(subscription) === "ping" ? ", with a ping for those who have not voted" : ""})`,
  },
  decided: {
    description: "When enough have voted yes, or no",
    byDefault: true,
    words: () => "decisions",
  },
  overdue: {
    description: "When enough have voted yes, and it is not carried out",
    byDefault: true,
    words: () => "overdue requests",
  },
  changes: { description: "Changed titles, actions and dates", byDefault: false, words: () => "changes" },
  votes: { description: "Each vote that is cast or changed", byDefault: false, words: () => "votes" },
  calendar: {
    description: "An event in the server's calendar for each open vote request",
    byDefault: false,
    needs: ["CreateEvents"],
    words: () => "events in the server's calendar",
  },
} as const satisfies Readonly<Record<string, Topic>>;

/** The name of a topic. */
export type GovernanceTopic = keyof typeof topics;
