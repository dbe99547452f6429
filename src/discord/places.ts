import {
  type APIChannel,
  type APIGuild,
  type APIGuildMember,
  type APIRole,
  type APIUser,
  PermissionFlagsBits,
  type REST,
  Routes,
} from "discord.js";
import { perObject } from "../util/per-object.js";
import { PersonError } from "../util/person-error.js";
import { present } from "../util/present.js";
import { lazy, singleFlight } from "../util/single-flight.js";
import { ErrorCode, hasCode } from "./errors.js";
import {
  ALL,
  type ChannelPlace,
  isThread,
  missingPermissions,
  NAMES,
  neededIn,
  type PermissionName,
  permissionsIn,
  writeIn,
} from "./permissions.js";
import { checkAnswer } from "./post.js";
import { isTemporary, problemOf } from "./problems.js";

/** The part of discord.js's client that reads. */
type Reader = Pick<REST, "get">;

/** Returns a reader that asks for each thing once. It serves one command or message, which checks many roles in many channels. */
export function readingOnce(rest: Reader): Reader {
  const answers = new Map<string, Promise<unknown>>();
  return {
    get(route) {
      const answer = answers.get(route) ?? rest.get(route);
      answers.set(route, answer);
      return answer;
    },
  };
}

/** Returns the reader of a person's command or click: it asks for each thing once. */
export const readerOf = perObject(({ client }: { readonly client: { readonly rest: Reader } }) =>
  readingOnce(client.rest),
);

/** @throws {Error} if Discord does not give the channel */
async function readChannel(rest: Reader, channelId: string): Promise<APIChannel> {
  const channel = await rest.get(Routes.channel(channelId));
  checkAnswer(channel);
  return channel as APIChannel;
}

/** Servers by channel id. A channel never moves to another server. */
const knownGuilds = perObject((_: Reader) => new Map<string, Promise<string | null>>());

/**
 * Returns the id of the server of a channel from the environment; `null` for a channel of direct messages.
 * @throws {DiscordAPIError} if the bot cannot see it, and other errors of a request
 */
export const guildOf = (rest: Reader, channelId: string): Promise<string | null> =>
  singleFlight(
    knownGuilds(rest),
    channelId,
    async () => {
      const channel = await readChannel(rest, channelId);
      return ("guild_id" in channel && channel.guild_id) || null;
    },
    true,
  );

/** Reads a channel with its server and overwrites. @throws {PersonError} if the bot cannot see it, or it is in another server */
export async function readPlace(rest: Reader, guildId: string, channelId: string): Promise<ChannelPlace> {
  try {
    const [channel, guild] = await Promise.all([
      readChannel(rest, channelId),
      rest.get(Routes.guild(guildId)) as Promise<APIGuild>,
    ]);
    if (!("guild_id" in channel) || channel.guild_id !== guildId)
      throw new PersonError("That channel isn't in this server. Pick one that is.");
    const parent = "parent_id" in channel && isThread(channel) ? channel.parent_id : undefined;
    const holder = parent ? await readChannel(rest, parent) : channel;
    return {
      channel,
      guild,
      overwrites: ("permission_overwrites" in holder && holder.permission_overwrites) || [],
    };
  } catch (error) {
    if (error instanceof PersonError || isTemporary(problemOf(error))) throw error;
    if (hasCode(error, ErrorCode.UnknownChannel))
      throw new PersonError(
        "That channel no longer exists. Remove its subscription, or pick another channel.",
      );
    throw new PersonError(
      `I can't see <#${channelId}>. Grant me **View Channel** there (channel settings → Permissions), or mention me there if it's a private thread, and try again.`,
    );
  }
}

/** Like `readPlace`, or `undefined` if the bot cannot see the channel, or it is in another server. */
export const visiblePlace = (
  rest: Reader,
  guildId: string,
  channelId: string,
): Promise<ChannelPlace | undefined> =>
  readPlace(rest, guildId, channelId).catch((error: unknown) => {
    if (error instanceof PersonError) return undefined;
    throw error;
  });

/**
 * Returns a channel's id and its parent's: the channel of a thread or forum post, or else the category.
 * @throws {DiscordAPIError} and other errors of a request, if Discord does not give the channel
 */
export async function placesOf(rest: Reader, channelId: string): Promise<readonly string[]> {
  const channel = await readChannel(rest, channelId);
  const parent = "parent_id" in channel ? channel.parent_id : undefined;
  return parent ? [channelId, parent] : [channelId];
}

/**
 * Yields a channel's id, then its parent's, which needs a request. Without the parent if the bot cannot see the channel.
 * @throws {Error} if Discord cannot be asked
 */
export async function* withParent(
  rest: Reader,
  channelId: string | null,
): AsyncGenerator<string, void, void> {
  if (channelId === null) return;
  yield channelId;
  const [, parent] = await placesOf(rest, channelId).catch((error: unknown) => {
    if (isTemporary(problemOf(error))) throw error;
    return [];
  });
  if (parent !== undefined) yield parent;
}

const readMember = async (rest: Reader, guildId: string, userId: string): Promise<APIGuildMember> =>
  (await rest.get(Routes.guildMember(guildId, userId))) as APIGuildMember;

/** True if a member is timed out in a server. Administrators may write all the same. */
export async function isTimedOut(rest: Reader, guildId: string, userId: string): Promise<boolean> {
  const { communication_disabled_until: until } = await readMember(rest, guildId, userId);
  return Date.parse(until ?? "") > Date.now();
}

/** Returns a function that reads the bot's own id, once. */
export const createOwnId = (rest: Reader): (() => Promise<string>) =>
  lazy(async () => ((await rest.get(Routes.user())) as APIUser).id);

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

interface SubscriptionCheck extends Wants {
  readonly place: ChannelPlace;
}

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
  { place, roleId, thread, needs }: SubscriptionCheck,
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
  const botLacks = await lackedIn(rest, botId, place, { roleId, thread, needs: [] });
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
  const guild = (await rest.get(Routes.guild(guildId))) as APIGuild;
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

/** Returns which of these roles a server no longer has. None, if Discord cannot be asked. */
export async function goneRoles(
  rest: Reader,
  guildId: string,
  roleIds: readonly (string | null)[],
): Promise<ReadonlySet<string>> {
  const wanted = roleIds.filter((each) => each !== null);
  if (wanted.length === 0) return new Set();
  const roles = await (rest.get(Routes.guildRoles(guildId)) as Promise<readonly APIRole[]>).catch(
    () => undefined,
  );
  return new Set(roles ? wanted.filter((each) => roles.every(({ id }) => id !== each)) : []);
}

/** Returns a role of a server. @throws {PersonError} if it is @everyone or does not exist */
function roleOf(guild: APIGuild, roleId: string): APIRole {
  if (roleId === guild.id)
    throw new PersonError("I never ping @everyone. Pick a role that people can opt in to.");
  const role = guild.roles.find((each) => each.id === roleId);
  if (!role)
    throw new PersonError(
      "That role no longer exists. Choose another with Edit, or use `/subscribe edit no-role: True`.",
    );
  return role;
}
