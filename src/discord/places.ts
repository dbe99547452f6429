import {
  type APIChannel,
  type APIGuild,
  type APIGuildMember,
  type APIRole,
  type APIUser,
  type REST,
  Routes,
} from "discord.js";
import { perObject } from "../util/per-object.js";
import { PersonError } from "../util/person-error.js";
import { lazy, singleFlight } from "../util/single-flight.js";
import { ErrorCode, hasCode } from "./errors.js";
import { type ChannelPlace, isThread } from "./permissions.js";
import { checkAnswer } from "./post.js";
import { isTemporary, problemOf } from "./problems.js";

/** The part of discord.js's client that reads. */
export type Reader = Pick<REST, "get">;

/** Maximum time for one read, in ms. discord.js would try it for a minute, and a person waits for several, one after another. */
const READ_MS = 8_000;

/** Reads from Discord. @throws {Error} also if it takes longer than READ_MS */
export const readInTime = (rest: Reader, route: Parameters<Reader["get"]>[0]): Promise<unknown> =>
  rest.get(route, { signal: AbortSignal.timeout(READ_MS) });

/** Returns a reader that asks for each thing once. It serves one command or message, which checks many roles in many channels. */
export function readingOnce(rest: Reader): Reader {
  const answers = new Map<string, Promise<unknown>>();
  return {
    get(route, options) {
      const answer = answers.get(route) ?? rest.get(route, options);
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
  const channel = await readInTime(rest, Routes.channel(channelId));
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
      readInTime(rest, Routes.guild(guildId)) as Promise<APIGuild>,
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

/** Reads a member of a server. @throws {DiscordAPIError} if the server does not have them, and other errors of a request */
export const readMember = async (rest: Reader, guildId: string, userId: string): Promise<APIGuildMember> =>
  (await readInTime(rest, Routes.guildMember(guildId, userId))) as APIGuildMember;

/** True if a member is timed out in a server. Administrators may write all the same. */
export async function isTimedOut(rest: Reader, guildId: string, userId: string): Promise<boolean> {
  const { communication_disabled_until: until } = await readMember(rest, guildId, userId);
  return Date.parse(until ?? "") > Date.now();
}

/** Returns a function that reads the bot's own id, once. */
export const createOwnId = (rest: Reader): (() => Promise<string>) =>
  lazy(async () => ((await readInTime(rest, Routes.user())) as APIUser).id);

/** Returns which of these roles a server no longer has. None, if Discord cannot be asked. */
export async function goneRoles(
  rest: Reader,
  guildId: string,
  roleIds: readonly (string | null)[],
): Promise<ReadonlySet<string>> {
  const wanted = roleIds.filter((each) => each !== null);
  if (wanted.length === 0) return new Set();
  const roles = await (readInTime(rest, Routes.guildRoles(guildId)) as Promise<readonly APIRole[]>).catch(
    () => undefined,
  );
  return new Set(roles ? wanted.filter((each) => roles.every(({ id }) => id !== each)) : []);
}

/** Returns a role of a server. @throws {PersonError} if it is @everyone or does not exist */
export function roleOf(guild: APIGuild, roleId: string): APIRole {
  if (roleId === guild.id)
    throw new PersonError("I never ping @everyone. Pick a role that people can opt in to.");
  const role = guild.roles.find((each) => each.id === roleId);
  if (!role)
    throw new PersonError(
      "That role no longer exists. Pick another one, or none (in an existing subscription, `/subscribe edit no-role: True`).",
    );
  return role;
}
