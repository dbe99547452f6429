import {
  type APIChannel,
  type APIGuild,
  type APIOverwrite,
  ChannelType,
  OverwriteType,
  PermissionFlagsBits,
} from "discord-api-types/v10";
import { present } from "../util/present.js";

/** A channel with all data that determines a member's permissions. It is read over REST, because the bot caches no servers. */
export interface ChannelPlace {
  readonly channel: APIChannel;
  readonly guild: APIGuild;
  /** Overwrites of the channel, or for a thread, of its parent channel. */
  readonly overwrites: readonly APIOverwrite[];
}

const THREADS: readonly ChannelType[] = [
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
];

/** True if a channel is a thread of any kind. */
export const isThread = (channel: APIChannel): boolean => THREADS.includes(channel.type);

/**
 * Returns a member's permissions in a place: roles first, then the channel's overwrites, in Discord's order (Discord:
 * Permissions, "Permission Overwrites").
 * @param roleIds the member's roles, without @everyone
 */
export function permissionsIn(
  {
    guild,
    overwrites,
  }: Pick<ChannelPlace, "overwrites"> & { readonly guild: Pick<APIGuild, "id" | "owner_id" | "roles"> },
  userId: string,
  roleIds: readonly string[],
): bigint {
  if (guild.owner_id === userId) return ALL;
  const base = guild.roles
    .filter((role) => role.id === guild.id || roleIds.includes(role.id))
    .reduce((bits, role) => bits | BigInt(role.permissions), 0n);
  if (base & PermissionFlagsBits.Administrator) return ALL;
  const ofRoles = overwrites.filter((each) => each.type === OverwriteType.Role);
  const steps = [
    ofRoles.filter((each) => each.id === guild.id),
    ofRoles.filter((each) => roleIds.includes(each.id)),
    overwrites.filter((each) => each.type === OverwriteType.Member && each.id === userId),
  ];
  return steps.reduce(applyOverwrites, base);
}

/** All permissions, including future ones. */
export const ALL = ~0n;

/** Applies the overwrites of one kind together: first everything that any of them denies, then everything that any allows. */
function applyOverwrites(held: bigint, overwrites: readonly APIOverwrite[]): bigint {
  const deny = overwrites.reduce((bits, each) => bits | BigInt(each.deny), 0n);
  const allow = overwrites.reduce((bits, each) => bits | BigInt(each.allow), 0n);
  return (held & ~deny) | allow;
}

/** Permission names, as in Discord's settings. */
export const NAMES = {
  ViewChannel: "View Channel",
  SendMessages: "Send Messages",
  SendMessagesInThreads: "Send Messages in Threads",
  CreatePublicThreads: "Create Public Threads",
  EmbedLinks: "Embed Links",
  AttachFiles: "Attach Files",
  ReadMessageHistory: "Read Message History",
  MentionEveryone: "Mention @everyone, @here, and All Roles",
  ManageMessages: "Manage Messages",
  CreateEvents: "Create Events",
} as const satisfies Partial<Record<keyof typeof PermissionFlagsBits, string>>;

/** A permission with a name in `NAMES`. */
export type PermissionName = keyof typeof NAMES;

/** Returns the missing permissions by the names in Discord's settings. */
export const missingPermissions = (held: bigint, needed: readonly PermissionName[]): string[] =>
  needed.filter((each) => (held & PermissionFlagsBits[each]) === 0n).map((each) => NAMES[each]);

/** Returns the permissions that a subscription needs in a place. */
export function neededIn(
  place: ChannelPlace,
  thread: boolean,
  needsMention: boolean,
): readonly PermissionName[] {
  const { channel } = place;
  const opensThreads = thread && channel.type !== ChannelType.GuildForum;
  return present([
    "ViewChannel",
    ...writeIn(channel),
    "EmbedLinks",
    "AttachFiles",
    "ReadMessageHistory",
    opensThreads && "CreatePublicThreads",
    opensThreads && "SendMessagesInThreads",
    needsMention && "MentionEveryone",
  ]);
}

/** Returns the permissions for writing in a channel. */
export function writeIn(channel: APIChannel): readonly PermissionName[] {
  if (isThread(channel)) return ["SendMessagesInThreads"];
  return channel.type === ChannelType.GuildForum
    ? ["SendMessages", "SendMessagesInThreads"]
    : ["SendMessages"];
}
