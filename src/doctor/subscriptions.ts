import type { APIUser, REST } from "discord.js";
import type { Subscription } from "../delivery/collections.js";
import { needsOf } from "../delivery/feed.js";
import type { Subscriptions } from "../delivery/subscriptions.js";
import { lackedIn } from "../discord/access.js";
import type { ChannelPlace } from "../discord/permissions.js";
import { guildOf, readPlace } from "../discord/places.js";
import { feeds } from "../feeds/index.js";
import { addTo } from "../util/groups.js";
import { PersonError } from "../util/person-error.js";
import { type Finding, fail, pass, wordsOf } from "./finding.js";

/** Returns the permissions that a subscription needs. */
function neededBy(subscription: Subscription) {
  const feed = feeds.find(({ definition }) => definition.name === subscription.feed);
  return feed ? needsOf(subscription, feed.definition) : [];
}

interface NetworkSubscriptions {
  readonly name: string | undefined;
  readonly subscriptions: Subscriptions;
}

/** Returns the subscriptions of each channel. A private watch has no channel in a server. */
async function byChannel(subscriptions: Subscriptions) {
  const channels = new Map<string, Subscription[]>();
  for (const each of await subscriptions.all())
    if (each.userId === null) addTo(channels, each.channelId, each);
  return channels;
}

/** Returns the permissions that the bot lacks in a channel for any of its subscriptions. */
async function lackedFor(rest: REST, me: APIUser, place: ChannelPlace, all: readonly Subscription[]) {
  const lacking = new Set<string>();
  for (const roleId of new Set(all.map((each) => each.roleId))) {
    const withRole = all.filter((each) => each.roleId === roleId);
    const thread = withRole.some((each) => each.thread);
    const needs = [...new Set(withRole.flatMap(neededBy))];
    for (const each of await lackedIn(rest, me.id, place, { roleId, thread, needs })) lacking.add(each);
  }
  return [...lacking];
}

/** Checks that the bot has the permissions that the subscriptions of each channel need. */
export async function* checkSubscriptions(
  rest: REST,
  me: APIUser,
  networks: readonly NetworkSubscriptions[],
): AsyncGenerator<Finding> {
  let count = 0;
  for (const { name: network, subscriptions } of networks)
    for (const [id, all] of await byChannel(subscriptions)) {
      count += 1;
      const checkName = network === undefined ? `Channel ${id}` : `Channel ${id}, ${network}`;
      const [first] = all;
      try {
        const guild = first?.guildId ?? (await guildOf(rest, id)) ?? "";
        const place = await readPlace(rest, guild, id);
        const lacking = await lackedFor(rest, me, place, all);
        const channelName = `${"name" in place.channel ? `#${place.channel.name}` : id} in ${place.guild.name}`;
        const name = all.length > 1 ? `${channelName} (${all.length} subscriptions)` : channelName;
        const { paused, error } = await subscriptions.health(id);
        if (lacking.length > 0)
          yield fail(
            checkName,
            `${name}: the bot lacks ${lacking.join(", ")}`,
            "Grant it in the channel's settings, then `/subscribe resume`.",
          );
        else if (
          all.some(({ roleId }) => roleId !== null && place.guild.roles.every((each) => each.id !== roleId))
        )
          yield fail(
            checkName,
            `${name}: pings a role that no longer exists`,
            "Choose another with `/subscribe edit`.",
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
        const variable = all.map((each) => subscriptions.variableOf(each)).find(Boolean);
        const fix = variable
          ? `Set ${variable} to a channel of a server that the bot is in, and grant it View Channel there.`
          : "Grant View Channel there, or end it with `/subscribe remove`.";
        yield fail(checkName, problemWords, fix);
      }
    }
  if (count === 0) yield pass("Subscriptions", "none yet. Add one with `/subscribe`");
}
