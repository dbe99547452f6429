import type { FeedModule } from "../delivery/module.js";
import type { FixedSubscription } from "../delivery/subscriptions.js";
import { FIRST_FEED } from "../delivery/version-1.js";
import { digest } from "./digest/index.js";
import { governance } from "./governance/index.js";
import { newcomers } from "./newcomers/index.js";
import { OPERATOR_FEED, operator } from "./operator/index.js";
import { price } from "./price/index.js";
import { upgradesFeed } from "./upgrades/index.js";
import { validator } from "./validator/index.js";

/**
 * All feeds that people can subscribe to. Commands, subscriptions, the outbox and the background work use
 * this list.
 */
export const feeds: readonly FeedModule[] = [governance, validator, newcomers, price, upgradesFeed, digest];

/** Adds the operator's feed, which people cannot subscribe to. */
export const withOperator = (modules: readonly FeedModule[]): readonly FeedModule[] => [...modules, operator];

/**
 * Returns the subscriptions from the environment: governance for each of these channels
 * (GOVERNANCE_CHANNEL_ID), and the operator's channel (OPERATOR_CHANNEL_ID).
 */
export function environmentSubscriptions(
  governanceIds: readonly (string | undefined)[],
  operatorId: string | undefined,
  modules: readonly FeedModule[],
): readonly FixedSubscription[] {
  const fixedFor = (channelIds: readonly (string | undefined)[], name: string, variable: string) => {
    const feed = modules.find(({ definition }) => definition.name === name)?.definition;
    return feed
      ? [...new Set(channelIds)].flatMap((channelId) =>
          channelId === undefined ? [] : [{ channelId, feed, variable }],
        )
      : [];
  };
  return [
    ...fixedFor(governanceIds, FIRST_FEED, "GOVERNANCE_CHANNEL_ID"),
    ...fixedFor([operatorId], OPERATOR_FEED, "OPERATOR_CHANNEL_ID"),
  ];
}
