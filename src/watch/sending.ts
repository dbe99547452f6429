import type { REST } from "discord.js";
import { DISCORD, hasCode } from "../discord/errors.js";
import type { IdKeys } from "../discord/links.js";
import { type MessagePayload, withoutPictures } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import { findByMark, findPostByMark, type Post, postMessage, postToForum } from "../discord/post.js";
import type { Lease } from "../storage/lease.js";
import type { Collection } from "../storage/state.js";
import { underDeadline } from "../within.js";
import { type Announced, announcedId, type Delivery, opens, TakenOver } from "./deliveries.js";
import type { GovernanceEvent } from "./events.js";
import type { Materials } from "./materials.js";
import { announcement, digest, markOf, news } from "./messages.js";
import type { Subscription } from "./subscriptions.js";

/** A delivery's message, and what it shows of its request. */
export interface Rendered {
  readonly payload: MessagePayload;
  readonly title: string;
  readonly revision: number;
}

/** A message that arrived, and where. */
export interface Sent {
  readonly messageId: string;
  readonly threadId?: string;
  readonly revision?: number;
}

/** An interrupted send is looked for from so long before its claim, in ms: Discord's clock is not ours. */
const LOOK_BACK_MS = 15_000;

interface Parts {
  /** Without retries inside: what to do about a failure is decided by who asks. */
  readonly rest: REST;
  readonly lease: Lease;
  readonly pacer: Pacer;
  readonly materials: Materials;
  readonly keys: IdKeys;
  readonly announced: Collection<Announced>;
  readonly stopping: AbortSignal;
  readonly now: () => number;
}

/** Makes the messages of deliveries, sends them, and looks whether one that was interrupted arrived. */
export function createSender({ rest, lease, pacer, materials, keys, announced, stopping, now }: Parts) {
  const render = async (id: string, event: GovernanceEvent): Promise<Rendered> => {
    const mark = markOf(id);
    if (event.kind === "digest")
      return { payload: digest(event, mark, keys), title: "New vote requests", revision: 0 };
    const { material, revision } = await materials.of(event);
    const payload = event.kind === "opened" ? announcement(material, mark) : news(event, material, mark);
    return { payload, title: material.proposal.title ?? "Vote request", revision };
  };

  /** The announcement that a delivery is later news of, where it still stands. */
  const announcedFor = async ({ event, channelId }: Pick<Delivery, "event" | "channelId">) => {
    if (opens(event)) return undefined;
    const before = await announced.get(announcedId(event.key, channelId));
    return before?.gone ? undefined : before;
  };

  /** Sends a claimed delivery: the id of its message. Nothing that takes time stands between the claim and the request. */
  const send = async (
    id: string,
    { event, channelId }: Delivery,
    subscription: Subscription,
    { payload, title, revision, known }: Rendered & { known: Announced | undefined },
    deadline: number,
  ): Promise<Sent> => {
    const left = Math.min(deadline, lease.validUntil()) - now();
    // Checked by the clock just before: a process that was frozen meanwhile must not send.
    if (left <= 0) throw new TakenOver();
    const post: Post = {
      payload,
      nonce: markOf(id),
      roleId: opens(event) ? subscription.roleId : null,
      replyTo: known && !known.threadId ? known.messageId : undefined,
    };
    const attempt = async (what: Post, signal: AbortSignal) => {
      if (subscription.forum && !known?.threadId) {
        const threadId = await postToForum(rest, channelId, title, what, subscription.tagId, signal);
        return { messageId: threadId, threadId, revision };
      }
      return { messageId: await postMessage(rest, known?.threadId ?? channelId, what, signal), revision };
    };
    return underDeadline(left, stopping, async (signal) => {
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
    { event, channelId, claim }: Delivery,
    subscription: Subscription,
  ): Promise<Sent | undefined> => {
    const since = (claim?.at ?? now()) - LOOK_BACK_MS;
    const thread = (await announcedFor({ event, channelId }))?.threadId;
    await pacer.turn();
    if (subscription.forum && !thread) {
      const postId =
        subscription.guildId &&
        (await findPostByMark(rest, channelId, subscription.guildId, markOf(id), since, () => pacer.turn()));
      return postId ? { messageId: postId, threadId: postId } : undefined;
    }
    const messageId = await findByMark(rest, thread ?? channelId, markOf(id), since);
    return messageId === undefined ? undefined : { messageId };
  };

  return { render, send, find, announcedFor };
}
