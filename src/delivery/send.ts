import { ErrorCode, hasCode } from "../discord/errors.js";
import { findByMark, findPostByMark } from "../discord/find-message.js";
import { withoutPictures } from "../discord/message.js";
import { type Post, pingsIn, pingsTo, postMessage, postToForum } from "../discord/post.js";
import { LeaseLost } from "../storage/lease.js";
import { withDeadline } from "../util/timeouts.js";
import {
  type Announced,
  announcedId,
  announcements,
  type Delivery,
  type Subscription,
} from "./collections.js";
import type { Feed, Loudness, Rendered } from "./feed.js";
import type { Attempt, SendingContext, Sent } from "./recording.js";

/** Time before the claim from which an interrupted send is searched for, in ms. Discord's time is only known to the second. */
const LOOK_BACK_MS = 15_000;

/** Returns the rate limiter's queue for a subscription: the one of its server. */
export const lineOf = ({ guildId, channelId }: Subscription): string => guildId ?? channelId;

/** A message's content, and the roles to notify. */
interface Content {
  readonly rendered: Rendered;
  readonly loudness: Loudness;
  readonly roleIds: readonly string[];
}

/** Sends the messages of deliveries, and finds out if an interrupted one was sent. */
export function createSender(context: SendingContext) {
  const { state, rest, lease, renderer, pacer, stopping, now, discordTime } = context;
  /** Returns the message that a delivery follows up on, if it still exists. */
  const announcedFor = async (
    feed: Feed,
    { event, channelId }: Pick<Delivery, "event" | "channelId">,
  ): Promise<Announced | undefined> => {
    const [subject] = feed.subjectsOf(event);
    if (feed.begins(event) || subject === undefined) return undefined;
    const firstAnnouncement = await state
      .open(announcements)
      .get(announcedId(feed.definition.name, subject, channelId));
    return firstAnnouncement?.gone ? undefined : firstAnnouncement;
  };

  /** Sends a claimed delivery and returns its message. Avoid slow steps between the claim and the request. */
  const sendMessage = async (
    { id, delivery: { channelId }, subscription, known }: Attempt,
    { rendered, loudness, roleIds }: Content,
    deadline: number,
  ): Promise<Sent> => {
    const { payload, title, revision, mentions } = rendered;
    const remainingMs = Math.min(deadline, lease.validUntil()) - now();
    // Check the clock just before sending. A process that was suspended must not send.
    if (remainingMs <= 0) throw new LeaseLost("The lease ended before the message was sent");
    const post: Post = {
      payload,
      nonce: renderer.mark(id),
      roleIds: [...new Set([...(loudness === "ping" ? roleIds : []), ...(mentions?.roleIds ?? [])])],
      userIds: mentions?.userIds ?? [],
      isSilent: loudness === "silent",
      replyTo: known && !known.threadId ? known.messageId : undefined,
    };
    const pings = pingsTo(post);
    const attempt = async (what: Post, signal: AbortSignal) => {
      if (subscription.forum && !known?.threadId) {
        const threadId = await postToForum(
          rest,
          channelId,
          renderer.title(title),
          what,
          subscription.tagId,
          signal,
        );
        return { messageId: threadId, in: threadId, threadId, revision, pings };
      }
      const placeId = known?.threadId ?? channelId;
      return { messageId: await postMessage(rest, placeId, what, signal), in: placeId, revision, pings };
    };
    return withDeadline(remainingMs, stopping, async (signal) => {
      try {
        return await attempt(post, signal);
      } catch (error) {
        const mayLackFiles = payload.files.length > 0 && hasCode(error, ErrorCode.MissingPermissions);
        if (!mayLackFiles && !hasCode(error, ErrorCode.InvalidFormBodyOrContentType)) throw error;
        // Discord may reject the address of a picture, or the bot may lack Attach Files, so try again without pictures.
        return attempt({ ...post, payload: withoutPictures(payload) }, signal);
      }
    });
  };

  /**
   * Looks for the message of an interrupted send. Without the permission Read Message History, it finds none
   * and the message is sent again: a duplicate is better than a lost message.
   */
  const findSentMessage = async ({
    id,
    delivery,
    subscription,
    known,
  }: Attempt): Promise<Sent | undefined> => {
    const { channelId, claim } = delivery;
    const searchSince = (claim?.at ?? discordTime()) - LOOK_BACK_MS;
    // The thread may have been opened after the send. Claims of earlier versions have no place.
    const placeId = claim?.placeId ?? known?.threadId ?? channelId;
    const line = lineOf(subscription);
    await pacer.turn(line);
    if (subscription.forum && placeId === channelId) {
      const found =
        subscription.guildId === null
          ? undefined
          : await findPostByMark(rest, channelId, subscription.guildId, renderer.mark(id), searchSince, () =>
              pacer.turn(line),
            );
      return (
        found && { messageId: found.id, in: found.id, threadId: found.id, pings: pingsIn(found.content) }
      );
    }
    const found = await findByMark(rest, placeId, renderer.mark(id), searchSince);
    return found && { messageId: found.id, in: placeId, pings: pingsIn(found.content) };
  };

  return { send: sendMessage, find: findSentMessage, announcedFor };
}
