import type { REST } from "discord.js";
import type { Renderer } from "../discord/message.js";
import type { Pacer } from "../discord/pacer.js";
import { isMember, setArchived } from "../discord/post.js";
import { problemOf, retryAfterOf, wordsFor } from "../discord/problems.js";
import type { Log } from "../log.js";
import {
  type Announced,
  announcedId,
  type Delivery,
  newsId,
  type Subscription,
} from "../storage/catalogue.js";
import { type Lease, LeaseLost } from "../storage/lease.js";
import type { State } from "../storage/state.js";
import { StateError, type Write } from "../storage/store.js";
import { DAY, MINUTE } from "../util/units.js";
import type { Feed } from "./feed.js";
import { type createSender, lineOf, type Sent } from "./send.js";
import type { Subscriptions } from "./subscriptions.js";

/** A claim lasts this long: the send is aborted then, and nobody else touches it before. */
const CLAIM_MS = 8_000;
/** Temporary errors are retried with backoff for a day. */
const GIVE_UP_MS = DAY;
/** News waits this long for the thread of its announcement, in ms. */
const THREAD_MS = 10_000;
/** How often a paused channel is looked at again, in ms. */
const PAUSED_MS = 8_000;
const RETRY_MS = { first: 1_000, most: 15 * MINUTE };

/** Called with what came of a delivery, and how old it was then, in ms. */
export type OnDelivered = (feed: string, outcome: "delivered" | "given-up" | "paused", ageMs: number) => void;

interface DeliverDeps {
  readonly state: State;
  readonly lease: Lease;
  readonly rest: REST;
  readonly renderer: Renderer;
  readonly pacer: Pacer;
  /** The feed that a delivery is of, as far as it is concerned. */
  readonly feedOf: (delivery: Delivery) => Feed | undefined;
  readonly subscriptions: Subscriptions;
  readonly sender: ReturnType<typeof createSender>;
  /** Writes what was learnt of a delivery, or that it is done. @throws {LeaseLost} */
  readonly commit: (id: string, next: Delivery | undefined, more?: readonly Write[]) => Promise<void>;
  /** The deliveries that wait for a channel. */
  readonly waitingFor: (channelId: string) => Promise<ReadonlyMap<string, Delivery>>;
  readonly stopping: AbortSignal;
  readonly log: Log;
  readonly now: () => number;
  /** What time it is at Discord, epoch ms. */
  readonly discordTime: () => number;
  readonly onDelivered: OnDelivered;
  readonly onRecorded: (ids: readonly string[]) => void;
}

/** What is still to be done about a message once it stands. */
function followUps(
  { thread, publish, forum }: Subscription,
  beginsOne: boolean,
): NonNullable<Announced["todo"]> {
  if (forum) return [];
  return [...(beginsOne && thread ? (["thread"] as const) : []), ...(publish ? (["publish"] as const) : [])];
}

/** One delivery from its claim to its record, and what each failure means. */
export function createDeliver(deps: DeliverDeps) {
  const {
    state,
    lease,
    rest,
    renderer,
    pacer,
    feedOf,
    subscriptions,
    sender,
    commit,
    waitingFor,
    stopping,
    log,
    now,
  } = deps;
  const { discordTime, onDelivered, onRecorded } = deps;
  const { announced } = state;

  /** The documents that a message leaves: one for each subject that it begins, or one while more is to be done about it. */
  const documentsOf = (
    feed: Feed,
    { event, channelId, drill }: Delivery,
    subscription: Subscription,
    sent: Arrived,
  ) => {
    if (drill) return [];
    const subjects = feed.subjectsOf(event);
    const begins = feed.begins(event) && subjects.length > 0;
    const beginsOne = begins && subjects.length === 1;
    const todo = sent.gone ? [] : followUps(subscription, beginsOne);
    const place = {
      feed: feed.definition.name,
      channelId,
      messageId: sent.messageId,
      in: sent.in,
      at: now(),
    };
    const message = {
      ...place,
      ...(sent.threadId ? { threadId: sent.threadId } : {}),
      ...(beginsOne && !sent.gone ? { revision: sent.revision ?? 0 } : {}),
      ...(sent.gone ? { gone: true } : {}),
    };
    const withTodo = todo.length > 0 ? { todo } : {};
    const eventId = feed.idOf(event);
    const kept = begins ? subjects : todo.length > 0 ? [subjects[0] ?? eventId] : [];
    const writes = kept.map((subject, index) => {
      // One message for several subjects: what is to be done about it is done once.
      const document: Announced = { ...message, subject, news: !begins, ...(index === 0 ? withTodo : {}) };
      const id = begins
        ? announcedId(message.feed, subject, channelId)
        : newsId(message.feed, subject, channelId, eventId);
      return announced.put(id, document);
    });
    const own = sent.gone ? undefined : feed.lastsAs?.(event);
    if (own === undefined) return writes;
    const lasting: Announced = { ...place, subject: own, news: false, revision: sent.revision ?? 0 };
    return [...writes, announced.put(announcedId(place.feed, own, channelId), lasting)];
  };

  /** Records a delivery that has arrived. */
  const record = async (
    id: string,
    feed: Feed,
    delivery: Delivery,
    subscription: Subscription,
    sent: Arrived,
  ) => {
    const { channelId } = delivery;
    if ((await subscriptions.recipients(delivery)).length === 0) {
      // Removed meanwhile: nothing is kept of it.
      await commit(id, undefined);
      return;
    }
    const writes = documentsOf(feed, delivery, subscription, sent);
    const well = subscriptions.healthWrite(channelId, { deliveredAt: now() });
    await commit(id, undefined, delivery.drill ? [] : [...writes, well]);
    // A forum's drill does not stand among its open posts.
    if (delivery.drill && sent.threadId) await setArchived(rest, sent.threadId, true).catch(() => {});
    if (writes.length > 0) onRecorded(writes.map(({ id: recorded }) => recorded));
    onDelivered(delivery.feed, "delivered", now() - delivery.at);
    log.info({ delivery: id, channel: channelId, message: sent.messageId }, "Delivered");
  };

  const complain = async (channelId: string, error: string, more: object = {}) => {
    const health = await subscriptions.health(channelId);
    await subscriptions.setHealth(channelId, { ...health, error, erroredAt: now(), ...more });
  };

  const dropChannel = async (channelId: string) => {
    for (const id of [...(await waitingFor(channelId)).keys()]) await commit(id, undefined);
    await subscriptions.removeChannel(channelId);
    log.info({ channel: channelId }, "A subscribed channel was deleted; its subscription is removed");
  };

  /** Pauses a channel that is closed to the bot: the delivery waits, with what is behind it, until it is resumed or a day has passed. */
  const pause = async (
    id: string,
    waiting: Delivery,
    { guildId, userId, channelId }: Subscription,
    error: unknown,
  ) => {
    const left =
      problemOf(error) === "no-access" &&
      guildId !== null &&
      !(await isMember(rest, guildId).catch(() => true));
    // A person hears of it with their next command.
    const person = userId === null ? undefined : await state.people.get(userId);
    const hear = userId && person ? [state.people.put(userId, { channelId, refusedAt: now() })] : [];
    await commit(id, waiting, hear);
    onDelivered(waiting.feed, "paused", now() - waiting.at);
    await complain(waiting.channelId, left ? "the bot is no longer in the server" : wordsFor(error), {
      paused: true,
      ...(left ? { goneSince: now() } : {}),
    });
  };

  /** What a failure means: wait and try again, pause the subscription, or forget the channel. */
  const fail = async (
    id: string,
    feed: Feed,
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
      await record(id, feed, delivery, subscription, { messageId: "", in: channelId, gone: true });
      return;
    }
    const closedToUs = problem === "channel-deleted" || problem === "permanent" || problem === "no-access";
    const [subject] = feed.subjectsOf(event);
    if (closedToUs && known?.threadId && subject !== undefined) {
      // Its thread was deleted or locked: the news stands alone, and the subscription is well.
      const place = announcedId(delivery.feed, subject, channelId);
      await commit(id, unclaimed, [announced.put(place, { ...known, gone: true })]);
      return;
    }
    if (problem === "channel-deleted") {
      await commit(id, undefined);
      await dropChannel(channelId);
      return;
    }
    if (problem === "invalid" || now() - delivery.at > GIVE_UP_MS) {
      await commit(id, undefined);
      onDelivered(delivery.feed, "given-up", now() - delivery.at);
      log.error({ err: error, delivery: id, channel: channelId }, "A delivery is given up");
      await complain(channelId, problem === "invalid" ? wordsFor(error) : "given up after a day of trying");
      return;
    }
    if (closedToUs) {
      await pause(id, later(PAUSED_MS), subscription, error);
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

  return async (id: string, delivery: Delivery): Promise<void> => {
    const feed = feedOf(delivery);
    const recipients = feed ? await subscriptions.recipients(delivery) : [];
    const wanting = recipients.filter((each) => feed?.wants(each, delivery.event));
    const [subscription] = wanting.length > 0 ? wanting : recipients;
    const roleIds = [...new Set(wanting.flatMap(({ roleId }) => roleId ?? []))];
    const health = await subscriptions.health(delivery.channelId);
    if (!feed || !subscription || (health.paused && now() - delivery.at > GIVE_UP_MS)) {
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
      const arrived = delivery.claim && (await sender.find(id, feed, delivery, subscription));
      if (arrived) {
        await record(id, feed, delivery, subscription, arrived);
        return;
      }
      known = await sender.announcedFor(feed, delivery);
      if (known?.todo?.includes("thread") && now() - known.at < THREAD_MS) {
        await commit(id, { ...delivery, notBefore: now() + 1_000 });
        return;
      }
      await pacer.turn(lineOf(subscription));
      // Only now: what it says is as new as can be, however long the turn took.
      const rendered = await feed.render(
        delivery.event,
        renderer.mark(id),
        wanting.length > 0 ? wanting : recipients,
      );
      if (!rendered) {
        await commit(id, undefined);
        return;
      }
      const deadline = now() + CLAIM_MS;
      current = { ...delivery, claim: { epoch: lease.epoch, at: discordTime(), deadline } };
      await commit(id, current);
      sending = true;
      const loudness = feed.loudnessOf?.(delivery.event) ?? (feed.begins(delivery.event) ? "ping" : "normal");
      const message = { rendered, known, loudness, roleIds };
      const sent = await sender.send(id, current, subscription, message, deadline);
      await record(id, feed, current, subscription, sent);
    } catch (error) {
      // What the state does not take says nothing of the delivery.
      if (error instanceof LeaseLost || error instanceof StateError || stopping.aborted) throw error;
      await fail(id, feed, current, subscription, error, { sending, known });
    }
  };
}

type Arrived = Sent & { readonly gone?: boolean };
