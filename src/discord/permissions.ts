import {
  type APIChannel,
  type APIGuild,
  type APIGuildMember,
  type APIOverwrite,
  type APIRole,
  ChannelType,
  DiscordAPIError,
  OverwriteType,
  PermissionFlagsBits,
  type REST,
  Routes,
} from "discord.js";
import { PersonError } from "../util/person-error.js";

/** A channel with all that decides what somebody may do there, read over REST: the bot caches no servers. */
export interface Place {
  readonly channel: APIChannel;
  readonly guild: APIGuild;
  /** Its own overwrites, or those of the channel that a thread is in. */
  readonly overwrites: readonly APIOverwrite[];
}

const THREADS: readonly ChannelType[] = [
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
];

export const isThread = (channel: APIChannel): boolean => THREADS.includes(channel.type);

/** @throws {PersonError} where the bot cannot see the channel */
export async function readPlace(rest: REST, guildId: string, channelId: string): Promise<Place> {
  try {
    const channel = (await rest.get(Routes.channel(channelId))) as APIChannel;
    if (!("guild_id" in channel) || channel.guild_id !== guildId)
      throw new PersonError("That channel is not in this server.");
    const guild = (await rest.get(Routes.guild(guildId))) as APIGuild;
    const parent = "parent_id" in channel && isThread(channel) ? channel.parent_id : undefined;
    const holder = parent ? ((await rest.get(Routes.channel(parent))) as APIChannel) : channel;
    return {
      channel,
      guild,
      overwrites: ("permission_overwrites" in holder && holder.permission_overwrites) || [],
    };
  } catch (error) {
    if (!(error instanceof DiscordAPIError) || error.status >= 500) throw error;
    throw new PersonError(
      `I cannot see <#${channelId}>. Grant me **View Channel** there (channel settings → Permissions), and try again.`,
    );
  }
}

/**
 * What a member may do in a place: their roles first, then the channel's overwrites, in Discord's own order (Discord:
 * Permissions, "Permission Overwrites").
 * @param roleIds the member's roles, without @everyone
 */
export function permissionsIn(
  {
    guild,
    overwrites,
  }: Pick<Place, "overwrites"> & { readonly guild: Pick<APIGuild, "id" | "owner_id" | "roles"> },
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
    ofRoles.filter((each) => each.id !== guild.id && roleIds.includes(each.id)),
    overwrites.filter((each) => each.type === OverwriteType.Member && each.id === userId),
  ];
  return steps.reduce(applyOverwrites, base);
}

const ALL = ~0n;

/** Overwrites of one kind count together: what any of them denies goes, and then what any of them allows comes. */
function applyOverwrites(held: bigint, overwrites: readonly APIOverwrite[]): bigint {
  const deny = overwrites.reduce((bits, each) => bits | BigInt(each.deny), 0n);
  const allow = overwrites.reduce((bits, each) => bits | BigInt(each.allow), 0n);
  return (held & ~deny) | allow;
}

/** The same for somebody whose roles are read over REST. */
async function permissionsOf(rest: REST, place: Place, userId: string): Promise<bigint> {
  if (place.guild.owner_id === userId) return ALL;
  const member = (await rest.get(Routes.guildMember(place.guild.id, userId))) as APIGuildMember;
  return permissionsIn(place, userId, member.roles);
}

const NAMES = {
  ViewChannel: "View Channel",
  SendMessages: "Send Messages",
  SendMessagesInThreads: "Send Messages in Threads",
  CreatePublicThreads: "Create Public Threads",
  EmbedLinks: "Embed Links",
  AttachFiles: "Attach Files",
  ReadMessageHistory: "Read Message History",
  MentionEveryone: "Mention @everyone, @here, and All Roles",
  ManageMessages: "Manage Messages",
} as const satisfies Partial<Record<keyof typeof PermissionFlagsBits, string>>;

type Named = keyof typeof NAMES;

/** Those of the permissions that are not held, by the names that Discord's settings give them. */
const missing = (held: bigint, needed: readonly Named[]): string[] =>
  needed.filter((each) => (held & PermissionFlagsBits[each]) === 0n).map((each) => NAMES[each]);

/** What the bot needs in a place to do there what a subscription wants. */
function neededIn(place: Place, thread: boolean, needsMention: boolean): readonly Named[] {
  const { channel } = place;
  const forum = channel.type === ChannelType.GuildForum;
  return [
    "ViewChannel",
    ...writeIn(channel),
    "EmbedLinks",
    "AttachFiles",
    "ReadMessageHistory",
    ...(thread && !forum ? (["CreatePublicThreads", "SendMessagesInThreads"] as const) : []),
    ...(needsMention ? (["MentionEveryone"] as const) : []),
  ];
}

function writeIn(channel: APIChannel): readonly Named[] {
  if (isThread(channel)) return ["SendMessagesInThreads"];
  return channel.type === ChannelType.GuildForum
    ? ["SendMessages", "SendMessagesInThreads"]
    : ["SendMessages"];
}

/** The names of the permissions that the bot lacks for a subscription in a place; none where all is well. */
export async function lackedIn(
  rest: REST,
  botId: string,
  place: Place,
  { roleId, thread }: { readonly roleId: string | null; readonly thread: boolean },
): Promise<readonly string[]> {
  const role = place.guild.roles.find(({ id }) => id === roleId);
  const needsMention = role !== undefined && !role.mentionable;
  return missing(await permissionsOf(rest, place, botId), neededIn(place, thread, needsMention));
}

interface SubscriptionCheck {
  readonly place: Place;
  readonly roleId: string | null;
  readonly thread: boolean;
}

const bolded = (names: readonly string[]): string => names.map((name) => `**${name}**`).join(", ");

/**
 * Checks that the bot can do in a channel what a subscription wants, and that the person may want it there.
 * @throws {PersonError} naming what is missing, and how to grant it
 */
export async function checkSubscription(
  rest: REST,
  botId: string,
  personId: string,
  { place, roleId, thread }: SubscriptionCheck,
): Promise<void> {
  const { channel, guild } = place;
  const where = `<#${channel.id}>`;
  const own = await permissionsOf(rest, place, personId);
  const personLacks = missing(own, ["ViewChannel", ...writeIn(channel)]);
  if (personLacks.length > 0)
    throw new PersonError(`You may not subscribe ${where}: you lack ${bolded(personLacks)} there yourself.`);

  const role = roleId === null ? undefined : roleOf(guild, roleId);
  const needsMention = role !== undefined && !role.mentionable;
  if (needsMention && missing(own, ["MentionEveryone"]).length > 0) {
    throw new PersonError(
      `<@&${roleId}> is not mentionable by everybody, and you lack ${bolded([NAMES.MentionEveryone])} in ${where}.`,
    );
  }
  const botLacks = await lackedIn(rest, botId, place, { roleId, thread });
  if (botLacks.length > 0) {
    throw new PersonError(
      `I lack ${bolded(botLacks)} in ${where}. Grant it there: channel settings → Permissions → add my role or me, and allow it. Then try again.`,
    );
  }
}

/** @throws {PersonError} for @everyone, and for a role that is not there */
function roleOf(guild: APIGuild, roleId: string): APIRole {
  if (roleId === guild.id)
    throw new PersonError(
      "I never ping @everyone. Choose a role that people take if they want to be pinged.",
    );
  const role = guild.roles.find((each) => each.id === roleId);
  if (!role) throw new PersonError("That role is not there any more. Choose another.");
  return role;
}
