import { type REST, Routes } from "discord.js";
import type { Subscription } from "../delivery/collections.js";
import { needsOf } from "../delivery/feed.js";
import type { Subscriptions } from "../delivery/subscriptions.js";
import { lackedIn, readPlace } from "../discord/places.js";
import { feeds } from "../feeds/index.js";
import { PersonError } from "../util/person-error.js";
import type { Me } from "./discord.js";
import { type Finding, fail, pass, wordsOf } from "./finding.js";

/** Returns the permissions that a subscription needs. */
function neededBy(subscription: Subscription) {
  const feed = feeds.find(({ definition }) => definition.name === subscription.feed);
  return feed ? needsOf(subscription, feed.definition) : [];
}

/** Checks that the bot has the permissions that each subscription needs in its channel. */
export async function* checkSubscriptions(
  rest: REST,
  me: Me,
  networks: readonly { readonly name: string | undefined; readonly subscriptions: Subscriptions }[],
): AsyncGenerator<Finding> {
  const allSubscriptions = await Promise.all(
    networks.map(async ({ name, subscriptions }) =>
      (await subscriptions.all())
        // A private watch has no channel in a server.
        .filter(({ userId }) => userId === null)
        .map((subscription) => ({ name, subscription, subscriptions })),
    ),
  ).then((each) => each.flat());
  if (allSubscriptions.length === 0) yield pass("Subscriptions", "none yet. Add one with `/subscribe`");
  for (const { name: network, subscription, subscriptions } of allSubscriptions) {
    const { channelId: id, guildId, roleId, thread } = subscription;
    const checkName = network === undefined ? `Channel ${id}` : `Channel ${id}, ${network}`;
    try {
      const guild = guildId ?? ((await rest.get(Routes.channel(id))) as { guild_id?: string }).guild_id ?? "";
      const channelPlace = await readPlace(rest, guild, id);
      const lacking = await lackedIn(rest, me.id, channelPlace, {
        roleId,
        thread,
        needs: neededBy(subscription),
      });
      const name = `${"name" in channelPlace.channel ? `#${channelPlace.channel.name}` : id} in ${channelPlace.guild.name}`;
      const { paused, error } = await subscriptions.health(id);
      if (lacking.length > 0)
        yield fail(
          checkName,
          `${name}: the bot lacks ${lacking.join(", ")}`,
          "Grant it in the channel's settings, then `/subscribe resume`.",
        );
      else if (paused)
        yield fail(
          checkName,
          `${name}: paused${error ? ` (${error})` : ""}`,
          "Resume it with `/subscribe resume` there.",
        );
      else yield pass(checkName, name);
    } catch (error) {
      const problemWords = error instanceof PersonError ? "the bot cannot see it" : wordsOf(error);
      const variable = subscriptions.variableOf(subscription);
      const fix = variable
        ? `Set ${variable} to a channel of a server that the bot is in, and grant it View Channel there.`
        : "Grant View Channel there, or end it with `/subscribe remove`.";
      yield fail(checkName, problemWords, fix);
    }
  }
}
