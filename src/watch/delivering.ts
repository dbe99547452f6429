import type { REST } from "discord.js";
import type { Pacer } from "../discord/pacer.js";
import { isMember, problemOf, retryAfterOf, wordsFor } from "../discord/post.js";
import type { Log } from "../ops/log.js";
import type { Lease } from "../storage/lease.js";
import type { Collection, Write } from "../storage/state.js";
import { type Announced, announcedId, type Delivery, newsId, opens, TakenOver } from "./deliveries.js";
import { eventId, keysOf } from "./events.js";
import type { createSender, Sent } from "./sending.js";
import type { Subscription, Subscriptions } from "./subscriptions.js";

/** A claim lasts this long: the send is aborted then, and nobody else touches it before. */
const CLAIM_MS = 8_000;
/** Temporary errors are retried with backoff for a day. */
const GIVE_UP_MS = 24 * 3_600_000;
/** News waits this long for the thread of its announcement, in ms. */
const THREAD_MS = 10_000;
/** How often a paused channel is looked at again, in ms. */
const PAUSED_MS = 8_000;
const RETRY_MS = { first: 1_000, most: 15 * 60_000 };

interface Parts {
  readonly lease: Lease;
  readonly rest: REST;
  readonly pacer: Pacer;
  readonly subscriptions: Subscriptions;
  readonly announced: Collection<Announced>;
  readonly sender: ReturnType<typeof createSender>;
  /** Writes what was learnt of a delivery, or that it is done. @throws {TakenOver} */
  readonly commit: (id: string, next: Delivery | undefined, more?: readonly Write[]) => Promise<void>;
  readonly load: () => Promise<Map<string, Delivery>>;
  readonly stopping: AbortSignal;
  readonly log: Log;
  readonly now: () => number;
  readonly onDelivered: ((outcome: string, ageMs: number) => void) | undefined;
  readonly onTodo: () => void;
}

/** One delivery from its claim to its record, and what each failure means. */
export function createDelivering(parts: Parts) {
  const { lease, rest, pacer, subscriptions, announced, sender, commit, load, stopping, log, now } = parts;
  const { onDelivered, onTodo } = parts;

  /** Records a delivery that has arrived. */
  const record = async (
    id: string,
    delivery: Delivery,
    subscription: Subscription,
    sent: Sent & { readonly gone?: boolean },
  ) => {
    const { event, channelId } = delivery;
    if (!(await subscriptions.get(channelId))) {
      // Removed meanwhile: nothing is kept of it.
      await commit(id, undefined);
      return;
    }
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
    const kept = opens(event)
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
      const sent = delivery.claim && (await sender.find(id, delivery, subscription));
      if (sent) {
        await record(id, delivery, subscription, sent);
        return;
      }
      const rendered = await sender.render(id, delivery.event);
      known = await sender.announcedFor(delivery);
      if (known?.todo?.includes("thread") && now() - known.at < THREAD_MS) {
        await commit(id, { ...delivery, notBefore: now() + 1_000 });
        return;
      }
      await pacer.turn();
      const deadline = now() + CLAIM_MS;
      current = { ...delivery, claim: { epoch: lease.epoch, at: now(), deadline } };
      await commit(id, current);
      sending = true;
      await record(
        id,
        current,
        subscription,
        await sender.send(id, current, subscription, { ...rendered, known }, deadline),
      );
    } catch (error) {
      if (error instanceof TakenOver || stopping.aborted) throw error;
      await fail(id, current, subscription, error, { sending, known });
    }
  };

  return deliver;
}
