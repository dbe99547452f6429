import { PERMISSION } from "../discord/permissions.js";
import type { SandboxDiscord } from "../discord/server.js";
import type { Channel, User } from "../discord/world.js";
import type { Person } from "./snapshot.js";

/** The page's Discord server, with one person and one channel of each kind. */
export interface DemoServer {
  readonly people: readonly Person[];
  user(id: string): User;
  /**
   * Returns the channels that a person sees: the server's with threads and posts, and the direct messages
   * with the bot.
   */
  channels(user: User): Channel[];
}

/** Adds people and channels to the sandbox's server that a newcomer should try. */
export function createDemoServer(discord: SandboxDiscord): DemoServer {
  const { world, guild, people, channels } = discord;
  const moderators = world.addRole(guild, "Moderators", PERMISSION.manageGuild, { mentionable: true });
  const validators = world.addRole(guild, "Super validators", 0n, { mentionable: true });
  const mo = world.addUser("Mo");
  guild.members.set(mo.id, [moderators.id]);
  guild.members.set(people.ben.id, [validators.id]);
  const own = world.addRole(guild, "Crier", PERMISSION.createEvents);
  guild.members.set(world.bot.id, [own.id]);
  world.addChannel({ type: 15, guild_id: guild.id, name: "vote-requests", position: 10 });

  const roles: readonly (readonly [User, string])[] = [
    [people.owner, "owns the server"],
    [mo, "moderator"],
    [people.ana, "member"],
    [people.ben, "member, super validator"],
  ];
  const known = new Map(roles.map(([user]) => [user.id, user]));
  for (const user of known.values()) world.directChannel(user);
  return {
    people: roles.map(([{ id, global_name, username }, role]) => ({
      id,
      name: global_name ?? username,
      role,
    })),
    user: (id) => known.get(id) ?? people.ana,
    channels(user) {
      const own = world.directChannel(user);
      const order = [channels.governance.id, channels.general.id];
      const all = [...world.channels.values()].filter(
        (channel) => channel.guild_id === guild.id || channel === own,
      );
      return all.sort((a, b) => order.indexOf(b.id) - order.indexOf(a.id) || a.position - b.position);
    },
  };
}
