import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import { type FeedOption, hasTopic, oneOf, optionOf, type Topic } from "../../delivery/feed.js";
import { formatDuration, limitOf, parseDuration, splitDurations } from "../../text/durations.js";
import { perObject } from "../../util/per-object.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";

const MAX_REMINDERS = 5;
const MIN_BEFORE_MS = 5 * MINUTE;
const MAX_BEFORE_MS = 30 * DAY;
/**
 * Parses reminder times that a person typed, such as "24h 6h" or "2d, 90m", to ms, longest first. There can
 * be up to five, from five minutes to thirty days. `undefined` if the text is invalid.
 */
export function parseBefore(text: string): readonly number[] | undefined {
  const durations = splitDurations(text).map(parseDuration);
  const isGood =
    durations.length > 0 &&
    durations.length <= MAX_REMINDERS &&
    durations.every((time) => time >= MIN_BEFORE_MS && time <= MAX_BEFORE_MS);
  return isGood ? [...new Set(durations)].sort((a, b) => b - a) : undefined;
}

/** Formats reminder times for parseBefore. */
export const formatBefore = (before: readonly number[]): string =>
  isDeepStrictEqual(before, DEFAULT_BEFORE) ? "48h 24h 6h" : before.map(formatDuration).join(" ");

/** Reminder times in a sentence: "48 h, 24 h and 6 h". */
export function beforeWords(before: readonly number[]): string {
  const times = formatBefore(before)
    .split(" ")
    .map((each) => each.replace(/(?<=\d)m$/, "min").replace(/(?<=\d)(?=[a-z])/, " "));
  return times.length < 2 ? times.join() : `${times.slice(0, -1).join(", ")} and ${times.at(-1)}`;
}

/**
 * Follows the Global Synchronizer Foundation, which lists missing votes two days before a request expires and each day after that.
 */
const DEFAULT_BEFORE = [2 * DAY, DAY, 6 * HOUR];

const beforeOption: FeedOption<readonly number[]> = {
  description: "Reminder times before each deadline (default: 48h 24h 6h)",
  maxLength: 60,
  byDefault: DEFAULT_BEFORE,
  formerDefault: [DAY, 6 * HOUR],
  schema: z.array(z.number().positive().max(MAX_BEFORE_MS)).min(1).max(MAX_REMINDERS),
  parse: parseBefore,
  format: formatBefore,
  limit(text) {
    const durations = splitDurations(text);
    if (durations.length > MAX_REMINDERS)
      return `That's ${durations.length} times. The maximum is ${MAX_REMINDERS}.`;
    return durations.map((each) => limitOf(each, MIN_BEFORE_MS, MAX_BEFORE_MS)).find(Boolean);
  },
  problem:
    "Can't read those reminder times. Type up to five, such as `24h 6h` or `2d 90m`, each from 5m to 30d.",
};

/** Ways in which reminders show missing votes. */
const MISSING = {
  list: "list them",
  ping: "list them, and ping their representatives (/voters)",
  off: "don't mention them",
};

const missingOption = oneOf("What reminders do about missing votes (default: list them)", MISSING, "list");

/** Options of a subscription to governance. */
export const options = { before: beforeOption, missing: missingOption } as const;

/** Returns the way in which a subscription's reminders show missing votes. */
export const missingIn = (subscription: Subscription): keyof typeof MISSING =>
  optionOf(subscription, "missing", missingOption);

/** Returns the times before a request's deadlines at which a subscription is reminded, in ms. */
export const remindersOf = perObject((subscription: Subscription): readonly number[] =>
  optionOf(subscription, "before", beforeOption),
);

/** Topics of a subscription to governance. */
export const topics = {
  new: { description: "Vote requests that open", byDefault: true, words: () => "new vote requests" },
  outcome: { description: "How vote requests end", byDefault: true, words: () => "outcomes" },
  reminders: {
    description: "Reminders before deadlines",
    byDefault: true,
    words: (subscription) =>
      `reminders (${beforeWords(remindersOf(subscription))} before each deadline${missingIn(subscription) === "ping" ? ", pinging those who haven't voted" : ""})`,
  },
  decided: {
    description: "When there are enough yes or no votes",
    byDefault: true,
    words: () => "decisions",
  },
  overdue: {
    description: "When a request has enough yes votes but isn't carried out",
    byDefault: true,
    words: () => "overdue requests",
  },
  changes: { description: "Changed titles, actions and dates", byDefault: false, words: () => "changes" },
  votes: { description: "Each vote cast or changed", byDefault: false, words: () => "votes" },
  calendar: {
    description: "A server event for each open vote request",
    byDefault: false,
    needs: ["CreateEvents"],
    words: () => "server events",
  },
} as const satisfies Readonly<Record<string, Topic>>;

/** The name of a topic. */
export type GovernanceTopic = keyof typeof topics;

/** True if a subscription's reminders ping the representatives of the super validators that have not voted. */
export const pingsMissing = (subscription: Subscription): boolean =>
  missingIn(subscription) === "ping" && hasTopic(subscription, { topics }, "reminders");
