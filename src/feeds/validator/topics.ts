import * as z from "zod";
import { type FeedOption, optionOf, type Topic } from "../../delivery/feed.js";
import type { Subscription } from "../../storage/catalogue.js";
import { formatDuration, parseDuration } from "../../text/durations.js";
import { DAY, MINUTE } from "../../util/units.js";

/** The shortest time after which a validator may be called silent, in ms, and the longest. */
const LEAST_AFTER_MS = 20 * MINUTE;
const MOST_AFTER_MS = DAY;

function parseAfter(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms >= LEAST_AFTER_MS && ms <= MOST_AFTER_MS ? ms : undefined;
}

const after: FeedOption<number> = {
  description: "When to call it silent: not seen for so long, such as 45m or 3h (45m)",
  maxLength: 10,
  byDefault: 45 * MINUTE,
  schema: z.number(),
  parse: parseAfter,
  problem: "I cannot read that time. Type one from `20m` to `24h`, such as `45m` or `3h`.",
};

/** What a subscription to a validator can be set to, besides its topics. */
export const options = { after } as const;

/** How long a validator may go unseen before it is called silent, in ms. */
export const afterOf = (subscription: Subscription): number => optionOf(subscription, "after", after);

/** What a subscription to a validator chooses among. */
export const topics = {
  silent: {
    description: "When it goes silent, and is back",
    byDefault: true,
    isFixed: true,
    words: (subscription) => `silence of more than ${formatDuration(afterOf(subscription))}`,
  },
  version: {
    description: "When it falls behind the version that most run",
    byDefault: true,
    words: () => "an old version",
  },
  traffic: {
    description: "When little of its traffic is left",
    byDefault: false,
    words: () => "little traffic left",
  },
} as const satisfies Readonly<Record<string, Topic>>;

/** The name of a topic. */
export type TopicName = keyof typeof topics;
