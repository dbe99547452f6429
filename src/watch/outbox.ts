import type { REST } from "discord.js";
import type { IdKeys } from "../discord/links.js";
import type { MessagePayload } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import {
  crosspost,
  findByMark,
  findPostByMark,
  isMember,
  openThread,
  type Post,
  postMessage,
  postToForum,
  problemOf,
  retryAfterOf,
  setArchived,
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
/** Temporary errors are retried with backoff for a day. */
const GIVE_UP_MS = 24 * 3_600_000;
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
  } = parts;
  const outbox = collectionOf<Delivery>(state, "outbox");
  const announced = collectionOf<Announced>(state, "announced");
  const stopping = new AbortController();
  /** Channels that are being served, each by one loop. */
  const serving = new Map<string, Promise<void>>();
  let queued: Map<string, Delivery> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let orders = now();

  const load = async () => {
    queued ??= await outbox.list();
    return queued;
  };
  /** Writes what was learnt, unless another process has taken over. */
  const commit = async (id: string, next: Delivery | undefined, more: readonly Write[] = []) => {
    const applied = await state.commit([
      lease.guard,
      next ? outbox.put(id, next) : outbox.delete(id),
      ...more,
    ]);
    if (!applied) throw new TakenOver();
    if (next) queued?.set(id, next);
    else queued?.delete(id);
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
    if (subscription.forum && !known?.threadId) {
      const threadId = await postToForum(rest, channelId, title, post, subscription.tagId, signal);
      return { messageId: threadId, threadId, revision };
    }
    return { messageId: await postMessage(rest, known?.threadId ?? channelId, post, signal), revision };
  };

  /** Looks whether an interrupted send arrived. Without Read Message History nothing is found: rather twice than never. */
  const find = async (id: string, { event, channelId, claim }: Delivery, subscription: Subscription) => {
    const since = (claim?.at ?? now()) - CLOCK_SKEW_MS - 60_000;
    const thread = (await announcedFor({ event, channelId }))?.threadId;
    await pacer.turn();
    if (subscription.forum && !thread) {
      const postId =
        subscription.guildId &&
        (await findPostByMark(rest, channelId, subscription.guildId, markOf(id), since));
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
    const writes = opens
      ? keysOf(event).map((key) => announced.put(announcedId(key, channelId), document))
      : [];
    await commit(id, undefined, [...writes, subscriptions.healthWrite(channelId, { deliveredAt: now() })]);
    onDelivered?.("delivered", now() - delivery.at);
    log.info({ delivery: id, channel: channelId, message: sent.messageId }, "Delivered");
    if (todo.length > 0 && !sent.gone) await finish(channelId, sent.messageId, event, document, todo);
    if (event.kind === "closed") await archive(event.key, channelId);
  };

  /** What follows a send: its thread, and sending it on. */
  const finish = async (
    channelId: string,
    messageId: string,
    event: GovernanceEvent,
    document: Announced,
    todo: Announced["todo"],
  ) => {
    try {
      const next: { threadId?: string } = {};
      if (todo?.includes("thread") && event.kind === "opened") {
        await pacer.turn();
        const { material } = await materials.of(event);
        await openThread(rest, channelId, messageId, material.proposal.title ?? "Vote request");
        next.threadId = messageId;
      }
      if (todo?.includes("publish")) {
        await pacer.turn();
        await crosspost(rest, channelId, messageId);
      }
      if (event.kind !== "opened") return;
      const { todo: done, ...sent } = document;
      await state.commit([
        lease.guard,
        announced.put(announcedId(event.key, channelId), { ...sent, ...next }),
      ]);
    } catch (err) {
      log.warn({ err, channel: channelId, message: messageId }, "A thread or a crosspost could not be made");
      await complain(channelId, `its thread or crosspost failed: ${wordsFor(err)}`);
    }
  };

  const archive = async (key: string, channelId: string) => {
    const threadId = (await announced.get(announcedId(key, channelId)))?.threadId;
    if (threadId === undefined) return;
    await setArchived(rest, threadId, true).catch((err: unknown) =>
      log.debug({ err, thread: threadId }, "A thread could not be archived"),
    );
  };

  const complain = async (channelId: string, error: string, more: object = {}) => {
    const health = await subscriptions.health(channelId);
    await subscriptions.setHealth(channelId, { ...health, error, erroredAt: now(), ...more });
  };

  /** What a failure means: wait and try again, pause the subscription, or forget the channel. */
  const fail = async (id: string, delivery: Delivery, subscription: Subscription, error: unknown) => {
    const { channelId } = delivery;
    const problem = problemOf(error);
    log.warn({ err: error, delivery: id, channel: channelId, problem }, "A delivery failed");
    if (problem === "deleted-by-somebody") {
      await record(id, delivery, subscription, { messageId: "", gone: true });
      return;
    }
    if (problem === "channel-deleted") {
      await commit(id, undefined);
      await dropChannel(channelId);
      return;
    }
    if (problem === "permanent" || problem === "no-access") {
      const left =
        problem === "no-access" &&
        subscription.guildId !== null &&
        !(await isMember(rest, subscription.guildId).catch(() => true));
      // Given up for this one; what comes after `/subscribe resume` is told again.
      await commit(id, undefined);
      onDelivered?.("paused", now() - delivery.at);
      await complain(channelId, left ? "the bot is no longer in the server" : wordsFor(error), {
        paused: true,
        ...(left ? { goneSince: now() } : {}),
      });
      return;
    }
    if (now() - delivery.at > GIVE_UP_MS) {
      await commit(id, undefined);
      onDelivered?.("given-up", now() - delivery.at);
      await complain(channelId, "given up after a day of trying");
      return;
    }
    const backoff =
      Math.min(RETRY_MS.first * 2 ** delivery.attempts, RETRY_MS.most) * (0.75 + Math.random() / 2);
    const wait = retryAfterOf(error) ?? backoff;
    const { claim, ...unclaimed } = delivery;
    const next = { ...unclaimed, attempts: delivery.attempts + 1, notBefore: now() + wait };
    // Not known to have failed: the claim stays, so that it is looked up first.
    await commit(id, problem === "unknown" && claim ? { ...next, claim } : next);
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
    if (!subscription || health.paused) {
      await commit(id, undefined);
      return;
    }
    let current = delivery;
    try {
      if (delivery.claim) {
        const sent = await find(id, delivery, subscription);
        if (sent) {
          await record(id, delivery, subscription, sent);
          return;
        }
      }
      const rendered = await render(id, delivery.event);
      const known = await announcedFor(delivery);
      await pacer.turn();
      const deadline = now() + CLAIM_MS;
      current = { ...delivery, claim: { epoch: lease.epoch, at: now(), deadline } };
      await commit(id, current);
      const sent = await send(id, current, subscription, { ...rendered, known }, deadline);
      await record(id, current, subscription, sent);
    } catch (error) {
      if (error instanceof TakenOver || stopping.signal.aborted) throw error;
      await fail(id, current, subscription, error);
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
            if (!stopping.signal.aborted && !timer) timer = setTimeout(wake, 250);
          });
        serving.set(channelId, work);
      }
    }
    timer =
      soonest === Number.POSITIVE_INFINITY ? undefined : setTimeout(wake, Math.max(50, soonest - now()));
  };

  function wake(): void {
    timer = undefined;
    if (stopping.signal.aborted) return;
    start().catch((err: unknown) => {
      log.error({ err }, "The outbox could not be read; trying again");
      timer = setTimeout(wake, 2_000);
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
      await Promise.allSettled(serving.values());
    },
  };
}

/** Another process does the background work now, or this one is stopping: nothing more is written or sent. */
class TakenOver extends Error {}
