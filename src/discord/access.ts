import { type APIGuild, PermissionFlagsBits, Routes } from "discord.js";
import { PersonError } from "../util/person-error.js";
import { present } from "../util/present.js";
import { ErrorCode, hasCode } from "./errors.js";
import {
  ALL,
  type ChannelPlace,
  missingPermissions,
  NAMES,
  neededIn,
  type PermissionName,
  permissionsIn,
  writeIn,
} from "./permissions.js";
import {
  isTimedOut,
  type Reader,
  readInTime,
  readMember,
  readPlace,
  roleOf,
  visiblePlace,
} from "./places.js";

/** Returns a member's permissions, also if they are timed out, which ends by itself. Their roles are read over REST. */
async function permissionsOf(
  rest: Reader,
  place: Pick<ChannelPlace, "guild" | "overwrites">,
  userId: string,
): Promise<bigint> {
  if (place.guild.owner_id === userId) return ALL;
  const member = await readMember(rest, place.guild.id, userId);
  return permissionsIn(place, userId, member.roles);
}

/** The needs of a subscription: a role to ping, threads, and its topics' permissions. */
interface Wants {
  readonly roleId: string | null;
  readonly thread: boolean;
  readonly needs: readonly PermissionName[];
}

/** Returns the names of the permissions that the bot lacks for a subscription. Empty if it has all of them. */
export async function lackedIn(
  rest: Reader,
  botId: string,
  place: ChannelPlace,
  { roleId, thread, needs }: Wants,
): Promise<readonly string[]> {
  const role = place.guild.roles.find(({ id }) => id === roleId);
  const needsMention = role !== undefined && !role.mentionable;
  const heldPermissions = await permissionsOf(rest, place, botId);
  return [
    ...missingPermissions(heldPermissions, neededIn(place, thread, needsMention)),
    ...(await lackedInServer(rest, botId, place, needs)),
  ];
}

/** True if Discord would accept a message of the bot in a channel of a server. @throws {Error} if Discord cannot be asked */
export async function mayPost(
  rest: Reader,
  botId: string,
  guildId: string,
  channelId: string,
): Promise<boolean> {
  const place = await visiblePlace(rest, guildId, channelId);
  if (!place) return false;
  const needed = ["ViewChannel", "EmbedLinks", ...writeIn(place.channel)] as const;
  const held = await permissionsOf(rest, place, botId);
  return missingPermissions(held, needed).length === 0 && (!isLocked(place.channel) || mayUnlock(held));
}

/**
 * True if a member can see a channel. Discord does not notify a member who cannot. True for a channel that the bot cannot see.
 * @throws {Error} if Discord cannot be asked
 */
export async function canView(
  rest: Reader,
  { guildId, channelId }: { readonly guildId: string; readonly channelId: string },
  userId: string,
): Promise<boolean> {
  const place = await visiblePlace(rest, guildId, channelId);
  if (!place) return true;
  try {
    return missingPermissions(await permissionsOf(rest, place, userId), ["ViewChannel"]).length === 0;
  } catch (error) {
    if (isUnknownPerson(error)) return false;
    throw error;
  }
}

/** Returns the server-wide permissions that the bot lacks. A channel's overwrites do not affect them. */
const lackedInServer = async (
  rest: Reader,
  botId: string,
  place: ChannelPlace,
  needs: readonly PermissionName[],
): Promise<readonly string[]> =>
  needs.length === 0
    ? []
    : missingPermissions(await permissionsOf(rest, { ...place, overwrites: [] }, botId), needs);

const isLocked = (channel: ChannelPlace["channel"]): boolean =>
  "thread_metadata" in channel && channel.thread_metadata?.locked === true;

/** True if these permissions allow writing in a locked thread. */
const mayUnlock = (held: bigint): boolean => (held & PermissionFlagsBits.ManageThreads) !== 0n;

const bolded = (names: readonly string[]): string => names.map((name) => `**${name}**`).join(", ");

/**
 * Checks that the bot has the permissions for a subscription in a channel, and that the person may set it up there.
 * @throws {PersonError} that names the missing permissions, and how to grant them
 */
export async function checkSubscription(
  rest: Reader,
  botId: string,
  personId: string,
  place: ChannelPlace,
  { roleId, thread, needs }: Wants,
): Promise<void> {
  const { channel, guild } = place;
  const where = `<#${channel.id}>`;
  const ownPermissions = await permissionsOf(rest, place, personId);
  const personLacks = missingPermissions(ownPermissions, ["ViewChannel", ...writeIn(channel)]);
  if (personLacks.length > 0)
    throw new PersonError(
      `You can't subscribe ${where}, because you don't have ${bolded(personLacks)} there.`,
    );

  const role = roleId === null ? undefined : roleOf(guild, roleId);
  const needsMention = role !== undefined && !role.mentionable;
  if (needsMention && missingPermissions(ownPermissions, ["MentionEveryone"]).length > 0) {
    throw new PersonError(
      `<@&${roleId}> isn't mentionable, and you don't have ${bolded([NAMES.MentionEveryone])} in ${where}. Pick another role, or ask someone who has that permission.`,
    );
  }
  const heldPermissions = await permissionsOf(rest, place, botId);
  const isExempt = (heldPermissions & PermissionFlagsBits.Administrator) !== 0n;
  if (!isExempt && (await isTimedOut(rest, guild.id, botId)))
    throw new PersonError(
      "I'm timed out in this server. Remove the timeout from my profile, then try again.",
    );
  const serverLacks = await lackedInServer(rest, botId, place, needs);
  if (serverLacks.length > 0)
    throw new PersonError(
      `I need ${bolded(serverLacks)} in this server. Grant ${serverLacks.length === 1 ? "it" : "them"} in the server settings → Roles → my role, then try again.`,
    );
  const botLacks = missingPermissions(heldPermissions, neededIn(place, thread, needsMention));
  if (isLocked(channel) && !mayUnlock(heldPermissions))
    throw new PersonError(
      `${where} is locked, so I can't post there. Unlock the thread, or pick another channel.`,
    );
  if (botLacks.length > 0) {
    throw new PersonError(
      `I need ${bolded(botLacks)} in ${where}. In the channel settings → Permissions, add me or my role and allow ${botLacks.length === 1 ? "it" : "them"}. Then try again.`,
    );
  }
}

/** True if a member has Mention Everyone somewhere: they may ping each role there. */
const mayPingAll = async (
  rest: Reader,
  userId: string,
  place: Pick<ChannelPlace, "guild" | "overwrites">,
): Promise<boolean> =>
  missingPermissions(await permissionsOf(rest, place, userId), ["MentionEveryone"]).length === 0;

/**
 * Returns what a member lacks to ping each role in a channel. Without View Channel, no other permission counts (Discord:
 * Permissions).
 */
const missingToPing = async (rest: Reader, userId: string, place: ChannelPlace) =>
  missingPermissions(await permissionsOf(rest, place, userId), ["ViewChannel", "MentionEveryone"]);

interface PingCheck {
  readonly guildId: string;
  readonly roleId: string;
  readonly botId: string;
  /** The person who wants the role pinged. */
  readonly personId: string;
  /** Channels where it will be pinged. Others may follow, so that the server-wide permission counts, too. */
  readonly channelIds: readonly string[];
}

/**
 * Checks that the bot and a person may ping a role in a server and in each of its pinging channels.
 * @throws {PersonError} that says how to allow it
 */
export async function checkPingable(
  rest: Reader,
  { guildId, roleId, botId, personId, channelIds }: PingCheck,
): Promise<void> {
  const guild = (await readInTime(rest, Routes.guild(guildId))) as APIGuild;
  const role = roleOf(guild, roleId);
  if (role.mentionable) return;
  const server = { guild, overwrites: [] };
  if (!(await mayPingAll(rest, botId, server)))
    throw new PersonError(
      `I can't ping <@&${roleId}>. Make it mentionable in the server settings → Roles, or give me ${bolded([NAMES.MentionEveryone])}, then try again.`,
    );
  const refuse = (where: string, missing: readonly string[] = [NAMES.MentionEveryone]) => {
    throw new PersonError(
      `<@&${roleId}> isn't mentionable, and you can't ping it either: you don't have ${bolded(missing)} in ${where}. Pick another role, or ask someone who has that permission.`,
    );
  };
  if (!(await mayPingAll(rest, personId, server))) refuse("this server");
  // A channel that the bot cannot see gets no message.
  const places = await Promise.all(channelIds.map((each) => visiblePlace(rest, guildId, each)));
  for (const place of present(places)) {
    const channelId = place.channel.id;
    if (!(await mayPingAll(rest, botId, place)))
      throw new PersonError(
        `I can't ping <@&${roleId}> in <#${channelId}>. Make it mentionable in the server settings → Roles, or give me ${bolded([NAMES.MentionEveryone])} there, then try again.`,
      );
    const missing = await missingToPing(rest, personId, place);
    if (missing.length > 0) refuse(`<#${channelId}>`, missing);
  }
}

/**
 * True if a role may be pinged in a channel on behalf of a person: it is mentionable by everybody, or they and the bot may ping it
 * there now.
 * @param personId `undefined` if it is not known who wanted it
 */
export async function isPingable(
  rest: Reader,
  {
    guildId,
    channelId,
    botId,
  }: { readonly guildId: string; readonly channelId: string; readonly botId: string },
  roleId: string,
  personId: string | undefined,
): Promise<boolean> {
  try {
    const place = await readPlace(rest, guildId, channelId);
    if (roleOf(place.guild, roleId).mentionable) return true;
    return (
      personId !== undefined &&
      (await missingToPing(rest, personId, place)).length === 0 &&
      (await mayPingAll(rest, botId, place))
    );
  } catch (error) {
    // The role is gone, or the person has left the server or deleted their account.
    if (error instanceof PersonError || isUnknownPerson(error)) return false;
    throw error;
  }
}

const isUnknownPerson = (error: unknown): boolean =>
  hasCode(error, ErrorCode.UnknownMember, ErrorCode.UnknownUser);

/** Checks that a person is in a server. @throws {PersonError} if not */
export async function checkMember(rest: Reader, guildId: string, userId: string): Promise<void> {
  try {
    await readMember(rest, guildId, userId);
  } catch (error) {
    if (!isUnknownPerson(error)) throw error;
    throw new PersonError(`<@${userId}> isn't in this server. Pick a member or a role.`);
  }
}
