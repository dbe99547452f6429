import * as z from "zod";
import { type FeedOption, optionOf, type Topic } from "../../delivery/feed.js";
import type { Subscription } from "../../storage/catalogue.js";
import { formatDuration, parseDuration } from "../../text/durations.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";

const MAX_REMINDERS = 5;
/**
 * Reminder times in ms, the longest first, from what a person typed, such as "24h 6h" or "2d, 90m": up to five, each from
 * five minutes to thirty days. Undefined where it is none of that.
 */
export function parseBefore(text: string): readonly number[] | undefined {
  const parts = text
    .toLowerCase()
    .split(/[\s,;]/)
    .filter(Boolean);
  const times = parts.map(parseDuration);
  const isGood =
    times.length > 0 &&
    times.length <= MAX_REMINDERS &&
    times.every((time) => time >= 5 * MINUTE && time <= 30 * DAY);
  return isGood ? [...new Set(times)].sort((a, b) => b - a) : undefined;
}

/** Reminder times as parseBefore reads them. */
export const formatBefore = (before: readonly number[]): string => before.map(formatDuration).join(" ");

const before: FeedOption<readonly number[]> = {
  description: "When to remind, before each deadline: 24h 6h, or 2d 90m",
  maxLength: 60,
  byDefault: [DAY, 6 * HOUR],
  schema: z.array(z.number()),
  parse: parseBefore,
  problem:
    "I cannot read those reminder times. Type up to five, such as `24h 6h` or `2d 90m`, each from 5m to 30d.",
};

/** What a reminder does about those who have not voted. */
const MISSING = {
  list: "list them",
  ping: "list them, and ping those whom /voters knows",
  off: "say nothing of them",
};

const missing: FeedOption<keyof typeof MISSING> = {
  description: "What reminders do about those who have not voted (list)",
  maxLength: 10,
  choices: MISSING,
  byDefault: "list",
  schema: z.enum(["list", "ping", "off"]),
  parse: (text) => (["list", "ping", "off"] as const).find((each) => each === text),
  problem: "Choose one of: list, ping, off.",
};

/** What a subscription to governance can be set to, besides its topics. */
export const options = { before, missing } as const;

/** What a subscription's reminders do about those who have not voted. */
export const missingIn = (subscription: Subscription): keyof typeof MISSING =>
  optionOf(subscription, "missing", missing);

/** How long before each of a request's dates a subscription wants to be reminded, in ms. */
export const remindersOf = (subscription: Subscription): readonly number[] =>
  optionOf(subscription, "before", before);

/** What a subscription to governance chooses among. */
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
export type TopicName = keyof typeof topics;
