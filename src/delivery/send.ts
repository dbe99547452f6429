import type { REST } from "discord.js";
import { DISCORD, hasCode } from "../discord/errors.js";
import { type Renderer, withoutPictures } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import { findByMark, findPostByMark, type Post, postMessage, postToForum } from "../discord/post.js";
import { type Announced, announcedId, type Delivery, type Subscription } from "../storage/catalogue.js";
import { type Lease, LeaseLost } from "../storage/lease.js";
import type { State } from "../storage/state.js";
import { withDeadline } from "../util/timeouts.js";
import type { Feed, Loudness, Rendered } from "./feed.js";

/** A message that arrived, and where. */
export interface Sent {
  readonly messageId: string;
  /** The channel or thread that it stands in. */
  readonly in: string;
  readonly threadId?: string;
  readonly revision?: number;
}

/** An interrupted send is looked for from so long before its claim, in ms: Discord's time is known to the second. */
const LOOK_BACK_MS = 15_000;

/** Whose turn a request for a subscription takes: its server's. */
export const lineOf = ({ guildId, channelId }: Subscription): string => guildId ?? channelId;

interface SenderDeps {
  readonly state: State;
  /** Without retries inside: what to do about a failure is decided by the caller. */
  readonly rest: REST;
  readonly lease: Lease;
  readonly renderer: Renderer;
  readonly pacer: Pacer;
  readonly stopping: AbortSignal;
  readonly now: () => number;
  /** What time it is at Discord, epoch ms. */
  readonly discordTime: () => number;
}

/** Sends the messages of deliveries, and looks whether one that was interrupted arrived. */
export function createSender({
  state,
  rest,
  lease,
  renderer,
  pacer,
  stopping,
  now,
  discordTime,
}: SenderDeps) {
  /** The message that a delivery is later news of, where it still stands. */
  const announcedFor = async (
    feed: Feed,
    { event, channelId }: Pick<Delivery, "event" | "channelId">,
  ): Promise<Announced | undefined> => {
    const [subject] = feed.subjectsOf(event);
    if (feed.begins(event) || subject === undefined) return undefined;
    const before = await state.announced.get(announcedId(feed.definition.name, subject, channelId));
    return before?.gone ? undefined : before;
  };

  /** Sends a claimed delivery: the id of its message. Nothing that takes time stands between the claim and the request. */
  const send = async (
    id: string,
    { channelId }: Delivery,
    subscription: Subscription,
    {
      rendered: { payload, title, revision, mentions },
      known,
      loudness,
      roleIds,
    }: {
      rendered: Rendered;
      known: Announced | undefined;
      loudness: Loudness;
      roleIds: readonly string[];
    },
    deadline: number,
  ): Promise<Sent> => {
    const left = Math.min(deadline, lease.validUntil()) - now();
    // Checked by the clock just before: a process that was frozen meanwhile must not send.
    if (left <= 0) throw new LeaseLost("The lease ended before the message was sent");
    const post: Post = {
      payload,
      nonce: renderer.mark(id),
      roleIds: [...new Set([...(loudness === "ping" ? roleIds : []), ...(mentions?.roleIds ?? [])])],
      userIds: mentions?.userIds ?? [],
      isSilent: loudness === "silent",
      replyTo: known && !known.threadId ? known.messageId : undefined,
    };
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
        return { messageId: threadId, in: threadId, threadId, revision };
      }
      const place = known?.threadId ?? channelId;
      return { messageId: await postMessage(rest, place, what, signal), in: place, revision };
    };
    return withDeadline(left, stopping, async (signal) => {
      try {
        return await attempt(post, signal);
      } catch (error) {
        if (!hasCode(error, DISCORD.invalidForm)) throw error;
        // Discord is stricter with pictures' addresses than anything it says of them.
        return attempt({ ...post, payload: withoutPictures(payload) }, signal);
      }
    });
  };

  /** Looks whether an interrupted send arrived. Without Read Message History nothing is found: rather twice than never. */
  const find = async (
    id: string,
    feed: Feed,
    { event, channelId, claim }: Delivery,
    subscription: Subscription,
  ): Promise<Sent | undefined> => {
    const since = (claim?.at ?? discordTime()) - LOOK_BACK_MS;
    const thread = (await announcedFor(feed, { event, channelId }))?.threadId;
    const line = lineOf(subscription);
    await pacer.turn(line);
    if (subscription.forum && !thread) {
      const postId =
        subscription.guildId &&
        (await findPostByMark(rest, channelId, subscription.guildId, renderer.mark(id), since, () =>
          pacer.turn(line),
        ));
      return postId ? { messageId: postId, in: postId, threadId: postId } : undefined;
    }
    const place = thread ?? channelId;
    const messageId = await findByMark(rest, place, renderer.mark(id), since);
    return messageId === undefined ? undefined : { messageId, in: place };
  };

  return { send, find, announcedFor };
}
