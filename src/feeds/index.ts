import type { FeedModule } from "../delivery/feed.js";
import type { FixedSubscription } from "../delivery/subscriptions.js";
import { FIRST_FEED } from "../storage/catalogue.js";
import { digest } from "./digest/index.js";
import { governance } from "./governance/index.js";
import { newcomers } from "./newcomers/index.js";
import { OPERATOR_FEED, operator } from "./operator/index.js";
import { price } from "./price/index.js";
import { validator } from "./validator/index.js";

/** Everything that can be announced. Commands, subscriptions, the outbox and the background work all read this list. */
export const feeds: readonly FeedModule[] = [governance, validator, newcomers, price, digest];

/** The same, and what the operator alone hears of: nobody can subscribe to it. */
export const withOperator = (modules: readonly FeedModule[]): readonly FeedModule[] => [...modules, operator];

/**
 * The subscriptions that the environment makes: one to governance for each of these channels (GOVERNANCE_CHANNEL_ID), and the
 * operator's (OPERATOR_CHANNEL_ID).
 */
export function environmentSubscriptions(
  governanceIds: readonly (string | undefined)[],
  operatorId: string | undefined,
  modules: readonly FeedModule[],
): readonly FixedSubscription[] {
  const of = (channelIds: readonly (string | undefined)[], name: string) => {
    const feed = modules.find(({ definition }) => definition.name === name)?.definition;
    return feed
      ? [...new Set(channelIds)].flatMap((channelId) =>
          channelId === undefined ? [] : [{ channelId, feed }],
        )
      : [];
  };
  return [...of(governanceIds, FIRST_FEED), ...of([operatorId], OPERATOR_FEED)];
}
