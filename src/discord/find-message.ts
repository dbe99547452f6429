import { type APIMessage, type APIThreadChannel, type REST, Routes } from "discord.js";
import { ErrorCode, hasCode } from "./errors.js";

/** Start of the time in ids, epoch ms (Discord: snowflakes). */
const DISCORD_EPOCH = 1_420_070_400_000n;
/** Returns the smallest id that a message of this time can have. */
const snowflakeAt = (ms: number): string =>
  String((BigInt(Math.max(0, Math.floor(ms))) - DISCORD_EPOCH) << 22n);
const PAGE = 100;
const MAX_PAGES = 5;

const holdsMark = (message: { components?: unknown }, mark: string): boolean =>
  JSON.stringify(message.components ?? []).includes(mark);

/** A message that was found by its mark. */
export type FoundMessage = Pick<APIMessage, "id" | "content">;

/** Finds a message by the mark in one of its buttons, among messages since this time (epoch ms). `undefined` if there is none. */
export async function findByMark(
  rest: REST,
  channelId: string,
  mark: string,
  since: number,
): Promise<FoundMessage | undefined> {
  let after = snowflakeAt(since);
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = new URLSearchParams({ after, limit: String(PAGE) });
    const messages = (await rest.get(Routes.channelMessages(channelId), { query })) as APIMessage[];
    const foundMessage = messages.find((message) => holdsMark(message, mark));
    if (foundMessage) return foundMessage;
    if (messages.length < PAGE) return undefined;
    after = messages.map(({ id }) => id).reduce((a, b) => (BigInt(a) > BigInt(b) ? a : b));
  }
  return undefined;
}

/**
 * Like `findByMark`, for a forum. Its posts are threads, active or archived.
 * @param turn resolves when the next request may be sent. Each post takes one request
 */
export async function findPostByMark(
  rest: REST,
  forumId: string,
  guildId: string,
  mark: string,
  since: number,
  turn: () => Promise<void>,
): Promise<FoundMessage | undefined> {
  const activeThreads = (await rest.get(Routes.guildActiveThreads(guildId))) as {
    threads: APIThreadChannel[];
  };
  const archived = (await rest.get(Routes.channelThreads(forumId, "public")).catch((error: unknown) => {
    // Without Read Message History, only active posts are found. A new one is among them.
    if (hasCode(error, ErrorCode.MissingPermissions)) return { threads: [] };
    throw error;
  })) as { threads: APIThreadChannel[] };
  const least = BigInt(snowflakeAt(since));
  const posts = [...activeThreads.threads, ...archived.threads].filter(
    (each) => each.parent_id === forumId && BigInt(each.id) >= least,
  );
  for (const { id } of posts) {
    await turn();
    const firstMessage = (await rest.get(Routes.channelMessage(id, id)).catch((error: unknown) => {
      // A deleted message is not a match. After any other error the result is unknown.
      if (hasCode(error, ErrorCode.UnknownMessage, ErrorCode.UnknownChannel)) return undefined;
      throw error;
    })) as APIMessage | undefined;
    if (firstMessage && holdsMark(firstMessage, mark)) return firstMessage;
  }
  return undefined;
}
