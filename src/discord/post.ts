import { type APIMessage, type REST, Routes } from "discord.js";
import type { MessagePayload } from "./message.js";

/** A message for a channel, with what makes it arrive once. */
export interface Post extends MessagePayload {
  /** A second message with the same one within minutes is not created (Discord: 25 characters). */
  readonly nonce: string;
}

/** Posts to a channel. One request, without retries: what to do about a failure is the caller's to decide. */
export async function postMessage(
  rest: REST,
  channelId: string,
  post: Post,
  signal: AbortSignal,
): Promise<string> {
  const body = {
    embeds: post.embeds,
    components: post.components,
    allowed_mentions: { parse: [] },
    nonce: post.nonce,
    enforce_nonce: true,
  };
  const message = (await rest.post(Routes.channelMessages(channelId), { body, signal })) as APIMessage;
  return message.id;
}
