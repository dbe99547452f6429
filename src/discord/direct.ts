import { type APIDMChannel, type REST, Routes } from "discord.js";
import { PersonError } from "../util/person-error.js";
import { ErrorCode, hasCode } from "./errors.js";
import type { MessagePayload } from "./message.js";
import { postMessage } from "./post.js";
import { isClosed, isTemporary, problemOf } from "./problems.js";

/** Timeout for sending a message, in ms. */
const SEND_MS = 8_000;

const REFUSED =
  "Discord won't let me message you. Allow direct messages in this server (server menu → Privacy Settings) or add me to your account, then try again.";

/** Opens the direct messages with a person. @returns the channel's id @throws {PersonError} if Discord refuses */
export async function openDirectMessages(rest: REST, userId: string): Promise<string> {
  try {
    const channel = (await rest.post(Routes.userChannels(), {
      body: { recipient_id: userId },
    })) as APIDMChannel;
    return channel.id;
  } catch (error) {
    if (hasCode(error, ErrorCode.OpeningDirectMessagesTooFast))
      throw new PersonError(
        "Discord limits how many new people I can message, and a lot are signing up right now. Please try again in a few minutes.",
      );
    if (isTemporary(problemOf(error))) throw error;
    throw new PersonError(REFUSED);
  }
}

/** Sends a direct message. @throws {PersonError} if Discord refuses it, as it would refuse an alert */
export async function writeDirectly(
  rest: REST,
  channelId: string,
  payload: MessagePayload,
  nonce: string,
): Promise<void> {
  try {
    await postMessage(rest, channelId, { payload, nonce }, AbortSignal.timeout(SEND_MS));
  } catch (error) {
    if (isClosed(problemOf(error))) throw new PersonError(REFUSED);
    throw error;
  }
}
