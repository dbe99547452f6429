import type { Config } from "../config.js";
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

/** The subscription that the environment makes (GOVERNANCE_CHANNEL_ID), where it makes one. */
export function environmentSubscriptions(
  { governance: { channelId } }: Pick<Config, "governance">,
  modules: readonly FeedModule[],
): readonly FixedSubscription[] {
  const feed = modules.find(({ definition }) => definition.name === FIRST_FEED)?.definition;
  return feed && channelId !== undefined ? [{ channelId, feed }] : [];
}
