import { type REST, Routes } from "discord.js";
import type { Subscriptions } from "../delivery/subscriptions.js";
import { lackedIn, readPlace } from "../discord/places.js";
import { PersonError } from "../util/person-error.js";
import type { Me } from "./discord.js";
import { type Finding, fail, pass, wordsOf } from "./finding.js";

/** Each subscription's channel: that the bot may do there what the subscription wants. */
export async function* checkSubscriptions(
  rest: REST,
  me: Me,
  subscriptions: Subscriptions,
): AsyncGenerator<Finding> {
  const all = await subscriptions.all();
  if (all.length === 0) yield pass("Subscriptions", "none yet: `/subscribe` makes one");
  for (const { channelId: id, guildId, roleId, thread } of all) {
    const what = `Channel ${id}`;
    try {
      const guild = guildId ?? ((await rest.get(Routes.channel(id))) as { guild_id?: string }).guild_id ?? "";
      const place = await readPlace(rest, guild, id);
      const lacking = await lackedIn(rest, me.id, place, { roleId, thread });
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
      yield fail(what, words, "Grant View Channel there, or end it with `/subscribe remove`.");
    }
  }
}
