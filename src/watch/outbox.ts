import type { REST } from "discord.js";
import { DISCORD, hasCode } from "../discord/errors.js";
import type { IdKeys } from "../discord/links.js";
import { type MessagePayload, withoutPictures } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import {
  findByMark,
  findPostByMark,
  isMember,
  type Post,
  postMessage,
  postToForum,
  problemOf,
  retryAfterOf,
  wordsFor,
} from "../discord/post.js";
import type { Log } from "../ops/log.js";
import type { Lease } from "../storage/lease.js";
import { collectionOf, type State, type Write } from "../storage/state.js";
import { eventId, type GovernanceEvent, keysOf, TOPIC_OF } from "./events.js";
import type { Materials } from "./materials.js";
import { announcement, digest, markOf, news } from "./messages.js";
import type { Subscription, Subscriptions } from "./subscriptions.js";

/** One event's message to one channel, recorded before it is sent. */
interface Delivery {
  readonly event: GovernanceEvent;
  readonly channelId: string;
  /** When it was recorded, epoch ms; deliveries to a channel keep the order of it. */
  readonly at: number;
  readonly order: number;
  readonly attempts: number;
  /** Not before this, epoch ms. */
  readonly notBefore: number;
  /** Somebody is sending it until the deadline, or was: from then on, whether it arrived must be looked up. */
  readonly claim?: { readonly epoch: number; readonly at: number; readonly deadline: number };
}

/** An announcement as it stands in a channel. */
export interface Announced {
  readonly messageId: string;
  /** The channel it stands in: the subscribed one, or the forum's post. */
  readonly in: string;
  readonly at: number;
  /** The channel of later news: its thread, or the forum's post. */
  readonly threadId?: string;
  /** What of the request it shows; undefined where it is never edited: a digest, or one that somebody deleted. */
  readonly revision?: number;
  /** Deleted by somebody: later news stands alone. */
  readonly gone?: boolean;
  readonly editedAt?: number;
  readonly notBefore?: number;
  /** What is still to be done about it, after it was sent. */
  readonly todo?: readonly ("thread" | "publish")[];
}

/** News is kept only while something is to be done about it. */
const newsId = (key: string, channelId: string, event: string): string => `${key}@${channelId}#${event}`;

/** A delivery's message, and what it shows of its request. */
interface Rendered {
  readonly payload: MessagePayload;
  readonly title: string;
  readonly revision: number;
}

export const announcedId = (key: string, channelId: string): string => `${key}@${channelId}`;

/** A claim lasts this long: the send is aborted then, and nobody else touches it before. */
const CLAIM_MS = 8_000;
/** How far the clocks of two processes may be apart. */
const CLOCK_SKEW_MS = 2_000;
/** An interrupted send is looked for from so long before its claim, in ms: Discord's clock is not ours. */
const LOOK_BACK_MS = 15_000;
/** Temporary errors are retried with backoff for a day. */
const GIVE_UP_MS = 24 * 3_600_000;
/** When a channel has been served, the queue is looked at again after so many ms. */
const AGAIN_MS = 250;
/** How often a paused channel is looked at again, in ms. */
const PAUSED_MS = 8_000;
const RETRY_MS = { first: 1_000, most: 15 * 60_000 };
/** A server that the bot has left keeps its subscriptions for this long. */
const LEFT_MS = 30 * 24 * 3_600_000;

interface Parts {
  readonly state: State;
  readonly lease: Lease;
  /** Without retries inside: what to do about a failure is decided here. */
  readonly rest: REST;
  readonly pacer: Pacer;
  readonly subscriptions: Subscriptions;
  readonly materials: Materials;
  readonly keys: IdKeys;
  readonly log: Log;
  readonly now?: () => number;
  readonly onDelivered?: (outcome: string, ageMs: number) => void;
  /** A message was delivered that something is still to be done about. */
  readonly onTodo: () => void;
}

/** Deliveries: written together with what they tell of, and sent until they have arrived. */
export interface Outbox {
  /**
   * The writes that make events' deliveries due, for the subscriptions that want them.
   * @returns also what makes them be sent, to be called once the writes are committed
   */
  prepare(
    events: readonly GovernanceEvent[],
    wants: (subscription: Subscription, event: GovernanceEvent) => boolean,
  ): Promise<{ readonly writes: readonly Write[]; readonly release: () => void }>;
  /** Sends what is due, soon. */
  wake(): void;
  /** Whether nothing waits to be sent at this moment. */
  idle(): boolean;
  stop(): Promise<void>;
}

export function createOutbox(parts: Parts): Outbox {
  const {
    state,
    lease,
    rest,
    pacer,
    subscriptions,
    materials,
    keys,
    log,
    now = Date.now,
    onDelivered,
    onTodo,
  } = parts;
  const outbox = collectionOf<Delivery>(state, "outbox");
  const announced = collectionOf<Announced>(state, "announced");
  const stopping = new AbortController();
  /** Channels that are being served, each by one loop. */
  const serving = new Map<string, Promise<void>>();
  let queue: Promise<Map<string, Delivery>> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  let orders = now();

  const load = () => {
    queue ??= outbox.list();
    queue.catch(() => {
      queue = undefined;
    });
    return queue;
  };
  /** Writes what was learnt, unless another process has taken over. */
  const commit = async (id: string, next: Delivery | undefined, more: readonly Write[] = []) => {
    const applied = await state.commit([
      lease.guard,
      next ? outbox.put(id, next) : outbox.delete(id),
      ...more,
    ]);
    if (!applied) throw new TakenOver();
    const held = await load();
    if (next) held.set(id, next);
    else held.delete(id);
  };

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
    if (event.kind === "opened" || event.kind === "digest") return undefined;
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
  ) => {
    const first = event.kind === "opened" || event.kind === "digest";
    const left = Math.min(deadline, lease.validUntil()) - now();
    // Checked by the clock just before: a process that was frozen meanwhile must not send.
    if (left <= 0) throw new TakenOver();
    const signal = AbortSignal.any([AbortSignal.timeout(left), stopping.signal]);
    const post: Post = {
      payload,
      nonce: markOf(id),
      roleId: first ? subscription.roleId : null,
      replyTo: known && !known.threadId ? known.messageId : undefined,
    };
    const attempt = async (what: Post) => {
      if (subscription.forum && !known?.threadId) {
        const threadId = await postToForum(rest, channelId, title, what, subscription.tagId, signal);
        return { messageId: threadId, threadId, revision };
      }
      return { messageId: await postMessage(rest, known?.threadId ?? channelId, what, signal), revision };
    };
    try {
      return await attempt(post);
    } catch (error) {
      if (!hasCode(error, DISCORD.invalidForm)) throw error;
      // Discord is stricter with pictures' addresses than anything it says of them.
      return attempt({ ...post, payload: withoutPictures(payload) });
    }
  };

  /** Looks whether an interrupted send arrived. Without Read Message History nothing is found: rather twice than never. */
  const find = async (id: string, { event, channelId, claim }: Delivery, subscription: Subscription) => {
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

  /** Records a delivery that has arrived. */
  const record = async (
    id: string,
    delivery: Delivery,
    subscription: Subscription,
    sent: { messageId: string; threadId?: string; revision?: number; gone?: boolean },
  ) => {
    const { event, channelId } = delivery;
    const opens = event.kind === "opened" || event.kind === "digest";
    const todo = [
      ...(event.kind === "opened" && subscription.thread && !subscription.forum ? (["thread"] as const) : []),
      ...(subscription.publish && !subscription.forum ? (["publish"] as const) : []),
    ];
    const document: Announced = {
      messageId: sent.messageId,
      in: sent.threadId ?? channelId,
      at: now(),
      ...(sent.threadId ? { threadId: sent.threadId } : {}),
      ...(event.kind === "opened" && !sent.gone ? { revision: sent.revision ?? 0 } : {}),
      ...(sent.gone ? { gone: true } : {}),
      ...(todo.length > 0 && !sent.gone ? { todo } : {}),
    };
    const kept = opens
      ? keysOf(event).map((key, at) => {
          // A digest is one message for several requests: what is to be done about it is done once.
          const { todo: once, ...shared } = document;
          return announced.put(announcedId(key, channelId), at === 0 ? document : shared);
        })
      : document.todo
        ? [announced.put(newsId(event.key, channelId, eventId(event)), document)]
        : [];
    await commit(id, undefined, [...kept, subscriptions.healthWrite(channelId, { deliveredAt: now() })]);
    if (document.todo) onTodo();
    onDelivered?.("delivered", now() - delivery.at);
    log.info({ delivery: id, channel: channelId, message: sent.messageId }, "Delivered");
  };

  const complain = async (channelId: string, error: string, more: object = {}) => {
    const health = await subscriptions.health(channelId);
    await subscriptions.setHealth(channelId, { ...health, error, erroredAt: now(), ...more });
  };

  /** What a failure means: wait and try again, pause the subscription, or forget the channel. */
  const fail = async (
    id: string,
    delivery: Delivery,
    subscription: Subscription,
    error: unknown,
    { sending, known }: { sending: boolean; known: Announced | undefined },
  ) => {
    const { channelId, event } = delivery;
    const problem = problemOf(error);
    log.warn({ err: error, delivery: id, channel: channelId, problem }, "A delivery failed");
    const { claim, ...unclaimed } = delivery;
    const later = (ms: number) => ({ ...unclaimed, attempts: delivery.attempts + 1, notBefore: now() + ms });
    if (problem === "deleted-by-somebody" && sending) {
      await record(id, delivery, subscription, { messageId: "", gone: true });
      return;
    }
    const closedToUs = problem === "channel-deleted" || problem === "permanent" || problem === "no-access";
    if (closedToUs && known?.threadId && event.kind !== "digest") {
      // Its thread was deleted or locked: the news stands alone, and the subscription is well.
      await commit(id, unclaimed, [
        announced.put(announcedId(event.key, channelId), { ...known, gone: true }),
      ]);
      return;
    }
    if (problem === "channel-deleted") {
      await commit(id, undefined);
      await dropChannel(channelId);
      return;
    }
    if (problem === "invalid" || now() - delivery.at > GIVE_UP_MS) {
      await commit(id, undefined);
      onDelivered?.("given-up", now() - delivery.at);
      log.error({ err: error, delivery: id, channel: channelId }, "A delivery is given up");
      await complain(channelId, problem === "invalid" ? wordsFor(error) : "given up after a day of trying");
      return;
    }
    if (problem === "permanent" || problem === "no-access") {
      const left =
        problem === "no-access" &&
        subscription.guildId !== null &&
        !(await isMember(rest, subscription.guildId).catch(() => true));
      // It waits, with what is behind it, until the subscription is taken up again or a day has passed.
      await commit(id, later(PAUSED_MS));
      onDelivered?.("paused", now() - delivery.at);
      await complain(channelId, left ? "the bot is no longer in the server" : wordsFor(error), {
        paused: true,
        ...(left ? { goneSince: now() } : {}),
      });
      return;
    }
    const backoff =
      Math.min(RETRY_MS.first * 2 ** delivery.attempts, RETRY_MS.most) * (0.75 + Math.random() / 2);
    const next = later(retryAfterOf(error) ?? backoff);
    // Not known to have failed, or not looked up yet: the claim stays, so that it is looked up first.
    const doubtful = claim !== undefined && (problem === "unknown" || !sending);
    await commit(id, doubtful ? { ...next, claim } : next);
    await complain(channelId, wordsFor(error));
  };

  const dropChannel = async (channelId: string) => {
    for (const [id, each] of await load()) if (each.channelId === channelId) await commit(id, undefined);
    await subscriptions.remove(channelId);
    log.info({ channel: channelId }, "A subscribed channel was deleted; its subscription is removed");
  };

  const deliver = async (id: string, delivery: Delivery) => {
    const subscription = await subscriptions.get(delivery.channelId);
    const health = await subscriptions.health(delivery.channelId);
    if (!subscription || (health.paused && now() - delivery.at > GIVE_UP_MS)) {
      await commit(id, undefined);
      return;
    }
    if (health.paused) {
      await commit(id, { ...delivery, notBefore: now() + PAUSED_MS });
      return;
    }
    let current = delivery;
    let known: Announced | undefined;
    let sending = false;
    try {
      const sent = delivery.claim && (await find(id, delivery, subscription));
      if (sent) {
        await record(id, delivery, subscription, sent);
        return;
      }
      const rendered = await render(id, delivery.event);
      known = await announcedFor(delivery);
      await pacer.turn();
      const deadline = now() + CLAIM_MS;
      current = { ...delivery, claim: { epoch: lease.epoch, at: now(), deadline } };
      await commit(id, current);
      sending = true;
      await record(
        id,
        current,
        subscription,
        await send(id, current, subscription, { ...rendered, known }, deadline),
      );
    } catch (error) {
      if (error instanceof TakenOver || stopping.signal.aborted) throw error;
      await fail(id, current, subscription, error, { sending, known });
    }
  };

  /** When a delivery may be worked on: a claim of another process is its own until its deadline. */
  const dueAt = ({ notBefore, claim }: Delivery): number =>
    Math.max(notBefore, claim && claim.epoch !== lease.epoch ? claim.deadline + CLOCK_SKEW_MS : 0);

  /** Serves one channel, in the order of what happened, until nothing is due there. */
  const serve = async (channelId: string) => {
    for (;;) {
      if (stopping.signal.aborted) return;
      const own = [...(await load())]
        .filter(([, each]) => each.channelId === channelId)
        .sort(([, a], [, b]) => a.order - b.order);
      const [next] = own;
      if (!next || dueAt(next[1]) > now()) return;
      await deliver(...next);
    }
  };

  const start = async () => {
    clearTimeout(timer);
    const all = [...(await load()).values()];
    const first = new Map<string, Delivery>();
    for (const each of all) {
      const earliest = first.get(each.channelId);
      if (!earliest || each.order < earliest.order) first.set(each.channelId, each);
    }
    let soonest = Number.POSITIVE_INFINITY;
    for (const [channelId, delivery] of first) {
      const due = dueAt(delivery);
      if (due > now()) soonest = Math.min(soonest, due);
      else if (!serving.has(channelId)) {
        // Side by side: a channel that is slow, limited or forbidden holds up no other.
        const work = serve(channelId)
          .catch((err: unknown) => {
            if (err instanceof TakenOver || stopping.signal.aborted) return;
            log.error({ err, channel: channelId }, "A channel could not be served; it is tried again");
          })
          .finally(() => {
            serving.delete(channelId);
            if (!stopping.signal.aborted) soon ??= setTimeout(wake, AGAIN_MS);
          });
        serving.set(channelId, work);
      }
    }
    timer =
      soonest === Number.POSITIVE_INFINITY ? undefined : setTimeout(wake, Math.max(50, soonest - now()));
  };

  function wake(): void {
    clearTimeout(soon);
    soon = undefined;
    if (stopping.signal.aborted) return;
    start().catch((err: unknown) => {
      log.error({ err }, "The outbox could not be read; trying again");
      soon ??= setTimeout(wake, 2_000);
    });
  }

  return {
    async prepare(events, wants) {
      const prepared = new Map<string, Delivery>();
      const all = events.length === 0 ? [] : await subscriptions.all();
      const health = new Map(
        await Promise.all(
          all.map(async ({ channelId }) => [channelId, await subscriptions.health(channelId)] as const),
        ),
      );
      const held = await load();
      for (const event of events) {
        for (const subscription of all) {
          const { channelId } = subscription;
          const doing = health.get(channelId);
          if (doing?.goneSince !== undefined && now() - doing.goneSince > LEFT_MS) {
            await subscriptions.remove(channelId);
            continue;
          }
          if (doing?.paused || !subscription.topics[TOPIC_OF[event.kind]] || !wants(subscription, event))
            continue;
          const id = `${eventId(event)}@${channelId}`;
          orders += 1;
          const delivery: Delivery = {
            event,
            channelId,
            at: now(),
            order: orders,
            attempts: 0,
            notBefore: 0,
          };
          prepared.set(id, delivery);
        }
      }
      return {
        writes: [...prepared].map(([id, delivery]) => outbox.add(id, delivery)),
        release: () => {
          for (const [id, delivery] of prepared) held.set(id, delivery);
          if (prepared.size > 0) wake();
        },
      };
    },
    wake,
    idle: () => serving.size === 0,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      clearTimeout(soon);
      await Promise.allSettled(serving.values());
    },
  };
}

/** Another process does the background work now, or this one is stopping: nothing more is written or sent. */
class TakenOver extends Error {}
