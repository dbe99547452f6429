import type { FeedModule } from "../delivery/feed.js";
import type { FixedSubscription } from "../delivery/subscriptions.js";
import { FIRST_FEED } from "../storage/catalogue.js";
import { digest } from "./digest/index.js";
import { governance } from "./governance/index.js";
import { newcomers } from "./newcomers/index.js";
import { price } from "./price/index.js";
import { validator } from "./validator/index.js";

/** Everything that can be announced. Commands, subscriptions, the outbox and the background work all read this list. */
export const feeds: readonly FeedModule[] = [governance, validator, newcomers, price, digest];

/** The subscriptions that the environment makes (GOVERNANCE_CHANNEL_ID): one for each of these channels. */
export function environmentSubscriptions(
  channelIds: readonly (string | undefined)[],
  modules: readonly FeedModule[],
): readonly FixedSubscription[] {
  const feed = modules.find(({ definition }) => definition.name === FIRST_FEED)?.definition;
  return feed
    ? [...new Set(channelIds)].flatMap((channelId) => (channelId === undefined ? [] : [{ channelId, feed }]))
    : [];
}
