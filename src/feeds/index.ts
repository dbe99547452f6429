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

/** All feeds that people can subscribe to. Commands, subscriptions, the outbox and the background work use this list. */
export const feeds: readonly FeedModule[] = [governance, validator, newcomers, price, upgradesFeed, digest];

/** Adds the operator's feed, which people cannot subscribe to. */
export const withOperator = (modules: readonly FeedModule[]): readonly FeedModule[] => [...modules, operator];

/**
 * Returns the subscriptions from the environment: governance for each of these channels, and the operator's channel
 * (OPERATOR_CHANNEL_ID).
 * @param governanceIds ids of channels by the variables that set them
 */
export function environmentSubscriptions(
  governanceIds: Readonly<Record<string, string | undefined>>,
  operatorId: string | undefined,
  modules: readonly FeedModule[],
): readonly FixedSubscription[] {
  const fixedFor = (channelIds: Readonly<Record<string, string | undefined>>, name: string) => {
    const feed = modules.find(({ definition }) => definition.name === name)?.definition;
    const byChannel = new Map(
      Object.entries(channelIds).flatMap(([variable, channelId]) =>
        channelId ? [[channelId, variable]] : [],
      ),
    );
    return feed ? [...byChannel].map(([channelId, variable]) => ({ channelId, feed, variable })) : [];
  };
  return [
    ...fixedFor(governanceIds, FIRST_FEED),
    ...fixedFor({ OPERATOR_CHANNEL_ID: operatorId }, OPERATOR_FEED),
  ];
}
