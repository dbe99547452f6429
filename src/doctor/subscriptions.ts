import { type REST, Routes } from "discord.js";
import { needsOf } from "../delivery/feed.js";
import type { Subscriptions } from "../delivery/subscriptions.js";
import { lackedIn, readPlace } from "../discord/places.js";
import { feeds } from "../feeds/index.js";
import { OPERATOR_FEED } from "../feeds/operator/index.js";
import type { Subscription } from "../storage/catalogue.js";
import { PersonError } from "../util/person-error.js";
import type { Me } from "./discord.js";
import { type Finding, fail, pass, wordsOf } from "./finding.js";

/** What the bot must be allowed for a subscription, besides what it needs to announce anything. */
function neededBy(subscription: Subscription) {
  const feed = feeds.find(({ definition }) => definition.name === subscription.feed);
  return feed ? needsOf(subscription, feed.definition) : [];
}

/** Each subscription's channel: that the bot may do there what the subscription wants. */
export async function* checkSubscriptions(
  rest: REST,
  me: Me,
  networks: readonly { readonly name: string | undefined; readonly subscriptions: Subscriptions }[],
): AsyncGenerator<Finding> {
  const all = await Promise.all(
    networks.map(async ({ name, subscriptions }) =>
      (await subscriptions.all())
        // What people watch for themselves has no channel of a server.
        .filter(({ userId }) => userId === null)
        .map((subscription) => ({ name, subscription, subscriptions })),
    ),
  ).then((each) => each.flat());
  if (all.length === 0) yield pass("Subscriptions", "none yet: `/subscribe` makes one");
  for (const { name: network, subscription, subscriptions } of all) {
    const { channelId: id, guildId, roleId, thread } = subscription;
    const what = network === undefined ? `Channel ${id}` : `Channel ${id}, ${network}`;
    try {
      const guild = guildId ?? ((await rest.get(Routes.channel(id))) as { guild_id?: string }).guild_id ?? "";
      const place = await readPlace(rest, guild, id);
      const lacking = await lackedIn(rest, me.id, place, { roleId, thread, needs: neededBy(subscription) });
      const name = `${"name" in place.channel ? `#${place.channel.name}` : id} in ${place.guild.name}`;
      const { paused, error } = await subscriptions.health(id);
      if (lacking.length > 0)
        yield fail(
          what,
          `${name}: the bot lacks ${lacking.join(", ")}`,
          "Grant it in the channel's settings, then `/subscribe resume`.",
        );
      else if (paused)
        yield fail(
          what,
          `${name}: paused${error ? ` (${error})` : ""}`,
          "Resume it with `/subscribe resume` there.",
        );
      else yield pass(what, name);
    } catch (error) {
      const words = error instanceof PersonError ? "the bot cannot see it" : wordsOf(error);
      const fix = subscriptions.isFixed(subscription)
        ? `Set ${subscription.feed === OPERATOR_FEED ? "OPERATOR_CHANNEL_ID" : "GOVERNANCE_CHANNEL_ID"} to a channel of a server that the bot is in, and grant it View Channel there.`
        : "Grant View Channel there, or end it with `/subscribe remove`.";
      yield fail(what, words, fix);
    }
  }
}
