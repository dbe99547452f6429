import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import { type FeedOption, optionOf, type Topic } from "../../delivery/feed.js";
import { isVersion } from "../../ledger/versions.js";

const NO_VERSION = "";

const needs: FeedOption<string> = {
  description: "The version that validators need, such as 0.8.0 (default: the newest in use)",
  maxLength: 48,
  byDefault: NO_VERSION,
  schema: z.string().refine((text) => text === NO_VERSION || isVersion(text)),
  parse(text) {
    const typed = text.trim().replace(/^v/i, "");
    if (/^(none|newest)$/i.test(typed)) return NO_VERSION;
    return isVersion(typed) ? typed : undefined;
  },
  format: (version) => (version === NO_VERSION ? "newest" : version),
  problem: "Can't use that version. Type one such as `0.8.0`, or `newest` for the newest version in use.",
};

/** Options of a subscription to upgrades. */
export const options = { needs } as const;

/** Returns the version that a subscription names with `needs`. `undefined` if it names none. */
export const neededVersion = (subscription: Subscription): string | undefined =>
  optionOf(subscription, "needs", needs) || undefined;

/** Topics of a subscription to upgrades. */
export const topics = {
  upgrades: {
    description: "The network's upgrades",
    byDefault: true,
    isFixed: true,
    words: (subscription) => {
      const version = neededVersion(subscription);
      return `upgrades of the network${version === undefined ? "" : ` (needs ${version})`}`;
    },
  },
  standstill: {
    description: "When the network stands still and when it moves again",
    byDefault: true,
    words: () => "standstills",
  },
} as const satisfies Readonly<Record<string, Topic>>;
