import { type APIMessage, MessageFlags, type REST, Routes } from "discord.js";
import * as z from "zod";
import { ErrorCode, hasCode } from "./errors.js";
import { LIMITS } from "./limits.js";
import type { MessagePayload } from "./message.js";

/** A message for a channel, with a nonce that prevents duplicates. */
export interface Post {
  readonly payload: MessagePayload;
  /** Discord does not create a second message with the same nonce within minutes (Discord: 25 characters). */
  readonly nonce: string;
  /** Roles and people that it notifies. */
  readonly roleIds?: readonly string[];
  readonly userIds?: readonly string[];
  /** True if it is sent without a notification sound. */
  readonly isSilent?: boolean;
  /** Id of the message it replies to. Ignored if that message is gone. */
  readonly replyTo?: string | undefined;
}

/** Room for mentions, in characters. The rest of a message's text is no longer than a title. */
const PINGS_ROOM = LIMITS.content - LIMITS.title - 1;

/** Returns as many of the mentions as fit into a message's text, roles first. Those in an embed would notify no one. */
export function pingsTo({ roleIds = [], userIds = [] }: Pick<Post, "roleIds" | "userIds">): string {
  let text = "";
  for (const mention of [...roleIds.map((id) => `<@&${id}>`), ...userIds.map((id) => `<@${id}>`)]) {
    const longer = text ? `${text} ${mention}` : mention;
    if (longer.length > PINGS_ROOM) break;
    text = longer;
  }
  return text;
}

/** Returns the mentions that a delivered message's text begins with. */
export const pingsIn = (content: string): string => /^(?:<@&?\d+> ?)*/.exec(content)?.[0].trim() ?? "";

const textWith = (pings: string, { content = "" }: Pick<MessagePayload, "content">): string =>
  [pings, content].filter(Boolean).join(" ");

/** Returns a payload that keeps the mentions of the text that it replaces, and no other text. An edit notifies no one again. */
export const replacing = (payload: MessagePayload, replaced: string, pings: string): MessagePayload =>
  payload.content === undefined && replaced === ""
    ? payload
    : { ...payload, content: textWith(pings, payload) };

/** Returns the body of a request. What is undefined is missing from its JSON. */
function requestBodyOf({ payload, nonce, roleIds = [], userIds = [], isSilent, replyTo }: Post) {
  const pings = pingsTo({ roleIds, userIds });
  const content = textWith(pings, payload);
  // Fewer than Discord's limit of 100 each, because they are in the text.
  const roles = roleIds.filter((id) => pings.includes(`<@&${id}>`));
  const users = userIds.filter((id) => pings.includes(`<@${id}>`));
  return {
    embeds: payload.embeds,
    components: payload.components,
    allowed_mentions: { parse: [], roles, users },
    nonce,
    enforce_nonce: true,
    content: content || undefined,
    flags: isSilent ? MessageFlags.SuppressNotifications : undefined,
    attachments:
      payload.files.length > 0
        ? payload.files.map(({ description }, id) => ({ id, description }))
        : undefined,
    message_reference: replyTo ? { message_id: replyTo, fail_if_not_exists: false } : undefined,
  };
}

const filesOf = ({ payload }: Post) =>
  payload.files.map(({ name, attachment }) => ({ name, data: attachment }));

const created = z.object({ id: z.string().min(1) });

/** Returns the id of what Discord has created. @throws {Error} if the answer has none, as from a proxy: it may not be created */
export function createdId(answer: unknown): string {
  const parsed = created.safeParse(answer);
  if (!parsed.success) throw new Error("Discord's answer has no id");
  return parsed.data.id;
}

/** @throws {Error} if an answer is a page, as from a proxy: the request may not have arrived */
export function checkAnswer(answer: unknown): void {
  // The client returns an answer that is not JSON as bytes.
  if (answer instanceof ArrayBuffer && Buffer.from(answer).toString().trimStart().startsWith("<"))
    throw new Error("Discord's answer is a page");
}

/** Time until Discord archives a thread under an announcement, in minutes: a week. */
const ARCHIVE_MINUTES = 10_080;

/**
 * Posts to a channel or thread, and returns the message's id. It retries only after an error that says that no message was
 * created.
 */
export async function postMessage(
  rest: REST,
  channelId: string,
  post: Post,
  signal: AbortSignal,
): Promise<string> {
  const sendRequest = async (what: Post) =>
    createdId(
      await rest.post(Routes.channelMessages(channelId), {
        body: requestBodyOf(what),
        files: filesOf(what),
        signal,
      }),
    );
  try {
    return await sendRequest(post);
  } catch (error) {
    if (post.replyTo && hasCode(error, ErrorCode.CannotReplyWithoutPermissionToReadMessageHistory))
      return sendRequest({ ...post, replyTo: undefined });
    if (hasCode(error, ErrorCode.InvalidActionOnArchivedThread)) {
      await setArchived(rest, channelId, false, signal).catch((cause: unknown) => {
        // Only moderators open a locked thread, so the refusal concerns this thread, not its channel.
        throw hasCode(cause, ErrorCode.MissingPermissions) ? error : cause;
      });
      return sendRequest(post);
    }
    throw error;
  }
}

/**
 * Creates a forum post. Discord accepts no nonce for it.
 * @returns the post's id, which is also the id of its thread and first message
 */
export async function postToForum(
  rest: REST,
  channelId: string,
  title: string,
  post: Post,
  tagId: string | null,
  signal: AbortSignal,
): Promise<string> {
  const { nonce, enforce_nonce, ...message } = requestBodyOf(post);
  const thread = await rest.post(Routes.threads(channelId), {
    body: {
      name: title,
      auto_archive_duration: ARCHIVE_MINUTES,
      message,
      applied_tags: tagId === null ? undefined : [tagId],
    },
    files: filesOf(post),
    signal,
  });
  return createdId(thread);
}

/** Opens a thread under a message. The thread's id is the message's id. An existing thread is not an error. */
export async function openThread(
  rest: REST,
  channelId: string,
  messageId: string,
  title: string,
): Promise<void> {
  try {
    checkAnswer(
      await rest.post(Routes.threads(channelId, messageId), {
        body: { name: title, auto_archive_duration: ARCHIVE_MINUTES },
      }),
    );
  } catch (error) {
    if (!hasCode(error, ErrorCode.ThreadAlreadyCreatedForMessage)) throw error;
  }
}

/** Archives or unarchives a thread. One that is archived already is not an error. */
export async function setArchived(
  rest: REST,
  threadId: string,
  archived: boolean,
  signal?: AbortSignal,
): Promise<void> {
  try {
    checkAnswer(await rest.patch(Routes.channel(threadId), { body: { archived }, signal }));
  } catch (error) {
    if (!archived || !hasCode(error, ErrorCode.InvalidActionOnArchivedThread)) throw error;
  }
}

/** Publishes a message of an announcement channel to the channels that follow it. */
export async function crosspost(rest: REST, channelId: string, messageId: string): Promise<void> {
  try {
    checkAnswer(await rest.post(Routes.channelMessageCrosspost(channelId, messageId)));
  } catch (error) {
    if (!hasCode(error, ErrorCode.ThisMessageWasAlreadyCrossposted)) throw error;
  }
}

/**
 * Replaces a message's text, embeds and buttons, and removes its files.
 * @param pings the mentions that its text begins with. Without them the text stays as it is
 */
export async function editMessage(
  rest: REST,
  channelId: string,
  messageId: string,
  payload: MessagePayload,
  pings?: string,
): Promise<void> {
  const { embeds, components, attachments } = payload;
  const content = pings === undefined || payload.content === undefined ? undefined : textWith(pings, payload);
  checkAnswer(
    await rest.patch(Routes.channelMessage(channelId, messageId), {
      body: { content, embeds, components, attachments, allowed_mentions: { parse: [] } },
    }),
  );
}

/** Returns the text of a message. */
export const readText = async (rest: REST, channelId: string, messageId: string): Promise<string> =>
  ((await rest.get(Routes.channelMessage(channelId, messageId))) as APIMessage).content;

/** True if the bot is in a server. @throws {Error} if Discord does not say, as in an answer without one of its codes */
export async function isMember(rest: REST, guildId: string): Promise<boolean> {
  try {
    await rest.get(Routes.guild(guildId));
    return true;
  } catch (error) {
    if (hasCode(error, ErrorCode.UnknownGuild, ErrorCode.MissingAccess)) return false;
    throw error;
  }
}

/**
 * Looks a channel up: "closed" if the bot can't see it. Discord may say "deleted" of one that is still there, during an incident. A
 * proxy's page has a status, but no code, and says nothing.
 */
export const channelState = (
  rest: REST,
  channelId: string,
): Promise<"there" | "deleted" | "closed" | "unknown"> =>
  rest.get(Routes.channel(channelId)).then(
    () => "there" as const,
    (error: unknown) => {
      if (hasCode(error, ErrorCode.UnknownChannel)) return "deleted";
      return hasCode(error, ErrorCode.MissingAccess, ErrorCode.MissingPermissions) ? "closed" : "unknown";
    },
  );
