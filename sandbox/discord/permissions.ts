import type { Channel, Guild, User, World } from "./world.js";

/** Permissions that this sandbox supports, with Discord's bits. */
export const PERMISSION = {
  administrator: 1n << 3n,
  manageChannels: 1n << 4n,
  manageGuild: 1n << 5n,
  viewChannel: 1n << 10n,
  sendMessages: 1n << 11n,
  manageMessages: 1n << 13n,
  embedLinks: 1n << 14n,
  attachFiles: 1n << 15n,
  readHistory: 1n << 16n,
  mentionEveryone: 1n << 17n,
  useCommands: 1n << 31n,
  manageEvents: 1n << 33n,
  manageThreads: 1n << 34n,
  createPublicThreads: 1n << 35n,
  sendInThreads: 1n << 38n,
  createEvents: 1n << 44n,
} as const;

/** Default permissions of a member without roles. */
export const USUAL =
  PERMISSION.viewChannel |
  PERMISSION.sendMessages |
  PERMISSION.embedLinks |
  PERMISSION.attachFiles |
  PERMISSION.readHistory |
  PERMISSION.useCommands |
  PERMISSION.createPublicThreads |
  PERMISSION.sendInThreads;

export const ALL = (1n << 50n) - 1n;

/**
 * Returns a person's permissions in a channel: those of their roles, then the channel's overwrites (Discord's
 * order).
 */
export function permissionsIn(world: World, channel: Channel, user: User): bigint {
  if (channel.guild_id === undefined) return USUAL;
  const guild = world.guilds.get(channel.guild_id);
  const held = guild?.members.get(user.id);
  if (!guild || !held) return 0n;
  if (guild.owner_id === user.id) return ALL;
  const roles = guild.roles.filter((role) => role.id === guild.id || held.includes(role.id));
  const base = roles.reduce((sum, role) => sum | BigInt(role.permissions), 0n);
  if (base & PERMISSION.administrator) return ALL;
  const place =
    channel.type >= 10 && channel.type <= 12 && channel.parent_id
      ? world.channel(channel.parent_id)
      : channel;
  const allowed = overwritten(place, guild, held, user, base);
  const isTimedOut = (guild.timeouts?.get(user.id) ?? 0) > world.now();
  return isTimedOut ? allowed & (PERMISSION.viewChannel | PERMISSION.readHistory) : allowed;
}

function overwritten(
  channel: Channel,
  guild: Guild,
  held: readonly string[],
  user: User,
  base: bigint,
): bigint {
  const apply = (sum: bigint, all: Channel["permission_overwrites"]) => {
    const deny = all.reduce((bits, each) => bits | BigInt(each.deny), 0n);
    const allow = all.reduce((bits, each) => bits | BigInt(each.allow), 0n);
    return (sum & ~deny) | allow;
  };
  const all = channel.permission_overwrites;
  const everyone = apply(
    base,
    all.filter((each) => each.type === 0 && each.id === guild.id),
  );
  const byRole = apply(
    everyone,
    all.filter((each) => each.type === 0 && each.id !== guild.id && held.includes(each.id)),
  );
  return apply(
    byRole,
    all.filter((each) => each.type === 1 && each.id === user.id),
  );
}
