import type { REST } from "discord.js";
import { ErrorCode, hasCode } from "../discord/errors.js";
import { type MessagePayload, withoutPictures } from "../discord/message.js";
import { editMessage, pingsIn, readText, setArchived } from "../discord/post.js";
import { problemOf, retryAfterOf } from "../discord/problems.js";
import type { State } from "../storage/state.js";
import { ageOf } from "../util/clock.js";
import { DAY, HOUR, SECOND } from "../util/units.js";
import { type Announced, announcements } from "./collections.js";
import type { DeliveryContext } from "./context.js";

/** Minimum delay before an edit that Discord refused, or did not answer, is tried again, in ms. */
const REFUSED_MS = 5 * SECOND;
const UNKNOWN_MS = 30 * SECOND;
/**
 * Time after a message or its last edit for which an edit is tried again every hour in a channel that the bot cannot see or write to,
 * in ms.
 */
const CLOSED_MS = 7 * DAY;

/** Edits a delivered message. An archived post in a forum is opened for the edit, then archived again. */
export async function editAnnounced(rest: REST, document: Announced, payload: MessagePayload): Promise<void> {
  const { in: placeId, messageId } = document;
  // Earlier versions did not record the mentions.
  const pings = document.pings ?? pingsIn(await readText(rest, placeId, messageId));
  const edit = async () => {
    try {
      await editMessage(rest, placeId, messageId, payload, pings);
    } catch (error) {
      if (!hasCode(error, ErrorCode.InvalidFormBodyOrContentType)) throw error;
      // Discord may reject the address of a picture, also if it was sent without pictures.
      await editMessage(rest, placeId, messageId, withoutPictures(payload), pings);
    }
  };
  try {
    await edit();
  } catch (error) {
    if (!hasCode(error, ErrorCode.InvalidActionOnArchivedThread)) throw error;
    await setArchived(rest, placeId, false);
    try {
      await edit();
    } finally {
      // The bot may open the thread of a person, but not archive it (Discord: Modify Channel).
      await setArchived(rest, placeId, true).catch(() => {});
    }
  }
}

/**
 * Returns the document of a message after a failed edit. It has no revision if no edit of the message can ever succeed.
 * @param now epoch ms
 */
export function afterFailedEdit(document: Announced, error: unknown, now: number): Announced {
  const problem = problemOf(error);
  // Discord limits edits of messages that are over an hour old, and asks to wait an hour.
  const isOldMessage = hasCode(error, ErrorCode.MaximumNumberOfEditsToMessagesOlderThanOneHourReached);
  // The channel may have been closed for a while.
  const isClosed =
    (problem === "no-access" || hasCode(error, ErrorCode.MissingPermissions)) &&
    ageOf(document.editedAt ?? document.at, now) < CLOSED_MS;
  if (isOldMessage || isClosed) return { ...document, notBefore: now + HOUR };
  if (problem === "refused-for-now")
    return { ...document, notBefore: now + Math.max(retryAfterOf(error) ?? 0, REFUSED_MS) };
  if (problem === "unknown") return { ...document, notBefore: now + UNKNOWN_MS };
  const { revision, ...uneditable } = document;
  return problem === "deleted-by-somebody" ? { ...uneditable, gone: true } : uneditable;
}

/** Lets edits that a channel refused be tried again without waiting. Called once it is resumed. @throws {StateError} */
export async function retryEdits(state: Pick<State, "open" | "commit">, channelId: string): Promise<void> {
  const announced = state.open(announcements);
  for await (const [id, document] of announced.entries([channelId])) {
    const { notBefore, ...due } = document;
    if (document.channelId === channelId && notBefore !== undefined)
      await state.commit([announced.expect(id, document), announced.put(id, due)]);
  }
}

/**
 * Edits a message for the last time, after a turn of the pacer. If the bot cannot see or write to the channel, it is not retried.
 * @returns the document of the message if the edit must be tried again, also by the process that has taken over
 */
export async function editForGood(
  { rest, lease, pacer, log, now }: Pick<DeliveryContext, "rest" | "lease" | "pacer" | "log" | "now">,
  document: Announced,
  payload: MessagePayload,
): Promise<Announced | undefined> {
  await pacer.turn(document.channelId, "edit");
  if (lease.validUntil() <= now()) return document;
  try {
    await editAnnounced(rest, document, payload);
    return undefined;
  } catch (error) {
    const { channelId, messageId } = document;
    log.debug({ err: error, channel: channelId, message: messageId }, "A message could not be closed");
    if (problemOf(error) === "no-access" || hasCode(error, ErrorCode.MissingPermissions)) return undefined;
    const failed = afterFailedEdit(document, error, now());
    return failed.revision === undefined ? undefined : failed;
  }
}
