import { ErrorCode, hasCode, isRateLimit } from "../discord/errors.js";
import { isDeleted, isMember, setArchived } from "../discord/post.js";
import { problemOf, retryAfterOf, wordsFor } from "../discord/problems.js";
import { LeaseLost } from "../storage/lease.js";
import type { Collection } from "../storage/state.js";
import { StateError, type Write } from "../storage/store.js";
import { ageOf } from "../util/clock.js";
import {
  type Announced,
  announcedId,
  announcements,
  type Delivery,
  newsId,
  type Subscription,
  watchers,
} from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { backoffMs, GIVE_UP_MS, resultOf } from "./decisions.js";
import { isLateDrill } from "./drill.js";
import { type Feed, receives } from "./feed.js";
import { type createSender, lineOf, type Sent } from "./send.js";

/**
 * Duration of a claim, in ms. The request is aborted when it ends. Until then, no other process sends the
 * delivery.
 */
const CLAIM_MS = 8_000;
/** Maximum time that a later message waits for the thread of its announcement, in ms. */
const THREAD_MS = 10_000;
/** Interval at which a paused channel is checked again, in ms. */
const PAUSED_MS = 8_000;

/** The last error of a channel whose server the bot has left. */
export const LEFT_SERVER = "the bot is no longer in the server";

interface DeliverContext extends DeliveryContext {
  /** Returns the feed of a delivery. */
  readonly feedOf: (delivery: Delivery) => Feed | undefined;
  readonly sender: ReturnType<typeof createSender>;
  /**
   * Writes a delivery's new state, or deletes it. Returns false if an expectation in `more` has failed.
   * @throws {LeaseLost}
   */
  readonly commit: (id: string, next: Delivery | undefined, more?: readonly Write[]) => Promise<boolean>;
  /** Changes a delivery in memory only. */
  readonly postpone: (id: string, next: Delivery) => Promise<void>;
  /** Returns the pending deliveries of a channel. */
  readonly waitingFor: (channelId: string) => Promise<ReadonlyMap<string, Delivery>>;
  readonly stopping: AbortSignal;
  /** Called with the ids of recorded messages that need upkeep. */
  readonly onRecorded: (ids: readonly string[]) => void;
}

/** Returns the steps that remain after a message was sent. */
function followUps(
  { thread, publish, forum }: Subscription,
  beginsOne: boolean,
): NonNullable<Announced["todo"]> {
  if (forum) return [];
  return [...(beginsOne && thread ? (["thread"] as const) : []), ...(publish ? (["publish"] as const) : [])];
}

/** True if a subject's first message was sent after its end, and after this news about it was queued. It says the same. */
const saysAlready = ({ isOver, editedAt, at }: Announced, news: Pick<Delivery, "at">): boolean =>
  isOver === true && editedAt === undefined && at >= news.at;

/**
 * Returns the documents for a sent message: one for each subject that it begins, or one while follow-up
 * steps remain.
 */
function writesFor(
  announced: Collection<Announced>,
  feed: Feed,
  { event, channelId, drill }: Delivery,
  subscription: Subscription,
  sent: Arrived,
  at: number,
): Write[] {
  if (drill) return [];
  const subjects = feed.subjectsOf(event);
  const beginsSubject = feed.begins(event) && subjects.length > 0;
  const beginsOne = beginsSubject && subjects.length === 1;
  // A message in a thread cannot be published.
  const todo = sent.gone
    ? []
    : followUps({ ...subscription, publish: subscription.publish && sent.in === channelId }, beginsOne);
  const commonFields = {
    feed: feed.definition.name,
    channelId,
    messageId: sent.messageId,
    in: sent.in,
    at,
    pings: sent.pings,
  };
  const message = {
    ...commonFields,
    ...(sent.threadId ? { threadId: sent.threadId } : {}),
    ...(beginsOne && !sent.gone ? { revision: sent.revision ?? 0 } : {}),
    ...(beginsOne && sent.isOver ? { isOver: true } : {}),
    ...(sent.gone ? { gone: true } : {}),
  };
  const withTodo = todo.length > 0 ? { todo } : {};
  const eventId = feed.idOf(event);
  const followedSubjects = todo.length > 0 ? [subjects[0] ?? eventId] : [];
  const recordedSubjects = beginsSubject ? subjects : followedSubjects;
  const writes = recordedSubjects.map((subject, index) => {
    // If a message has several subjects, its follow-up steps are done once.
    const document: Announced = {
      ...message,
      subject,
      news: !beginsSubject,
      ...(index === 0 ? withTodo : {}),
    };
    const id = beginsSubject
      ? announcedId(message.feed, subject, channelId)
      : newsId(message.feed, subject, channelId, eventId);
    return announced.put(id, document);
  });
  // News without an announcement may have opened a post in a forum. Later news goes there, and not into a post for each.
  if (!beginsSubject && sent.threadId !== undefined && !sent.gone)
    for (const subject of subjects)
      writes.push(
        announced.put(announcedId(message.feed, subject, channelId), { ...message, subject, news: false }),
      );
  const ownMessageName = sent.gone ? undefined : feed.lastsAs?.(event);
  if (ownMessageName === undefined) return writes;
  const lasting: Announced = {
    ...commonFields,
    subject: ownMessageName,
    news: false,
    revision: sent.revision ?? 0,
  };
  return [...writes, announced.put(announcedId(commonFields.feed, ownMessageName, channelId), lasting)];
}

/** Creates the function that sends a delivery: it claims, sends and records it, and handles failures. */
export function createDeliver(context: DeliverContext) {
  const {
    state,
    lease,
    rest,
    renderer,
    pacer,
    feedOf,
    subscriptions,
    janitor,
    sender,
    commit,
    postpone,
    waitingFor,
    stopping,
    log,
    now,
  } = context;
  const { discordTime, onDelivered, onRecorded } = context;
  const announced = state.open(announcements);

  /**
   * Repeats a commit until it succeeds, or until its subscriptions are removed, whose documents must not be written again.
   * @param attempt commits with the expectation that the subscription is unchanged
   * @returns false if no subscription is left
   */
  const whileSubscribed = async (
    delivery: Delivery,
    attempt: (unchanged: Write) => Promise<boolean>,
  ): Promise<boolean> => {
    for (;;) {
      const [recipient] = await subscriptions.recipients(delivery);
      const unchanged = recipient && (await subscriptions.unchanged(recipient));
      if (!unchanged) return false;
      if (await attempt(unchanged)) return true;
    }
  };

  /** Records a delivery that was sent. */
  const record = async (
    id: string,
    feed: Feed,
    delivery: Delivery,
    subscription: Subscription,
    sent: Arrived,
  ) => {
    const { channelId } = delivery;
    const writes = writesFor(announced, feed, delivery, subscription, sent, now());
    const healthyWrite = subscriptions.healthWrite(channelId, { deliveredAt: now() });
    const isRecorded = await whileSubscribed(delivery, async (unchanged) => {
      if (!delivery.drill) return commit(id, undefined, [...writes, healthyWrite, unchanged]);
      // A drill that arrived shows that the last error is over.
      const { error, erroredAt, ...health } = await subscriptions.health(channelId);
      const more = error === undefined ? [] : [subscriptions.healthWrite(channelId, health), unchanged];
      return commit(id, undefined, more);
    });
    if (!isRecorded) {
      await commit(id, undefined);
      return;
    }
    // Archive a drill in a forum, so that it does not stay among the open posts.
    if (delivery.drill && sent.threadId) await setArchived(rest, sent.threadId, true).catch(() => {});
    if (writes.length > 0) onRecorded(writes.map(({ id: recorded }) => recorded));
    onDelivered(delivery.feed, "delivered", now() - delivery.at);
    log.info({ delivery: id, channel: channelId, message: sent.messageId }, "Delivered");
  };

  const recordError = (delivery: Delivery, error: string, more: object = {}) =>
    whileSubscribed(delivery, async (unchanged) => {
      const { channelId } = delivery;
      const health = { ...(await subscriptions.health(channelId)), error, erroredAt: now(), ...more };
      return state.commit([unchanged, subscriptions.healthWrite(channelId, health)]);
    });

  const dropChannel = async (channelId: string) => {
    for (const id of [...(await waitingFor(channelId)).keys()]) await commit(id, undefined);
    await janitor.removeChannels([channelId]);
    log.info({ channel: channelId }, "A subscribed channel was deleted; removed its subscriptions");
  };

  /**
   * Pauses a channel that the bot can't write to. Its deliveries wait until it is resumed or a day has
   * passed.
   */
  const pause = async (
    id: string,
    waiting: Delivery,
    { guildId, userId, channelId }: Subscription,
    error: unknown,
  ) => {
    const hasLeftServer =
      problemOf(error) === "no-access" &&
      guildId !== null &&
      !(await isMember(rest, guildId).catch(() => true));
    const people = state.open(watchers);
    const isWaiting = await whileSubscribed(waiting, async (unchanged) => {
      const person = userId === null ? undefined : await people.get(userId);
      // The person is told with their next command.
      const refusalWrites =
        userId && person
          ? [people.expect(userId, person), people.put(userId, { channelId, refusedAt: now() })]
          : [];
      return commit(id, waiting, [unchanged, ...refusalWrites]);
    });
    if (!isWaiting) {
      await commit(id, undefined);
      return;
    }
    // The operator cannot change what a person refuses.
    onDelivered(waiting.feed, userId === null ? "paused" : "refused", now() - waiting.at);
    await recordError(waiting, hasLeftServer ? LEFT_SERVER : wordsFor(error), {
      paused: true,
      ...(hasLeftServer ? { goneSince: now() } : {}),
    });
  };

  /** Writes the result of a failed delivery. */
  const fail = async (
    id: string,
    feed: Feed,
    delivery: Delivery,
    subscription: Subscription,
    error: unknown,
    { stage, known }: { stage: Stage; known: Announced | undefined },
  ) => {
    const { channelId, event, at, attempts } = delivery;
    const sending = stage === "sending";
    // Rendering asks about other channels, people and roles, so its errors do not concern this channel.
    const problem = stage === "rendering" ? "unknown" : problemOf(error);
    log.warn({ err: error, delivery: id, channel: channelId, problem }, "A delivery failed");
    const { claim, ...unclaimed } = delivery;
    const retryLater = (ms: number) => ({ ...unclaimed, attempts: attempts + 1, notBefore: now() + ms });
    const [subject] = feed.subjectsOf(event);
    // The search for a message that may have been sent fails where it was sent.
    const searchedId = stage === "finding" ? claim?.placeId : undefined;
    const placeId = searchedId ?? (subject === undefined ? undefined : known?.threadId) ?? channelId;
    // The bot may lack the permission in the whole channel. The thread still exists, so wait for the permission.
    const isForbidden =
      problem === "no-access" || (subscription.forum && hasCode(error, ErrorCode.MissingPermissions));
    const hasThread = placeId !== channelId && !isForbidden;
    const result = resultOf({ problem, isSending: sending, hasThread, ageMs: now() - at });
    // If the message may have been sent, keep the claim, so that the next attempt looks for it first.
    const isDoubtful = claim !== undefined && (problem === "unknown" || !sending);
    const laterAttempt = (ms: number) => (isDoubtful ? { ...retryLater(ms), claim } : retryLater(ms));
    const variable = subscriptions.variableOf(subscription);
    switch (result) {
      case "arrived":
        await record(id, feed, delivery, subscription, {
          messageId: "",
          in: channelId,
          gone: true,
          pings: "",
        });
        return;
      case "stand-alone": {
        const knownId = announcedId(delivery.feed, subject ?? "", channelId);
        const goneWrites = known
          ? [announced.expect(knownId, known), announced.put(knownId, { ...known, gone: true })]
          : [];
        await commit(id, unclaimed, goneWrites);
        return;
      }
      case "drop-channel":
        if (!(await isDeleted(rest, channelId)))
          await commit(id, laterAttempt(backoffMs(attempts, Math.random())));
        else if (variable !== undefined) {
          log.error(
            { channel: channelId, variable },
            "Discord knows no channel with the id in this variable",
          );
          await pause(id, laterAttempt(PAUSED_MS), subscription, error);
        } else {
          await commit(id, undefined);
          await dropChannel(channelId);
        }
        return;
      case "give-up":
        await commit(id, undefined);
        onDelivered(delivery.feed, "given-up", now() - at);
        log.error({ err: error, delivery: id, channel: channelId }, "Gave up a delivery");
        await recordError(
          delivery,
          problem === "invalid" ? wordsFor(error) : "given up after a day of trying",
        );
        return;
      case "pause":
        await pause(id, laterAttempt(PAUSED_MS), subscription, error);
        return;
      case "retry": {
        await commit(id, laterAttempt(retryAfterOf(error) || backoffMs(attempts, Math.random())));
        // Waiting for a turn is no error.
        if (stage !== "rendering" && !isRateLimit(error)) await recordError(delivery, wordsFor(error));
      }
    }
  };

  /**
   * Returns the delivery for all of the channel's subscriptions if its own is gone and another one wants the event. An edit may have
   * replaced it, such as by one for more validators.
   */
  const readdressed = async (delivery: Delivery, feed: Feed): Promise<Delivery> => {
    if (delivery.subject === null || (await subscriptions.recipients(delivery)).length > 0) return delivery;
    const toAll = { ...delivery, subject: null };
    const isWanted = (await subscriptions.recipients(toAll)).some((each) =>
      receives(each, feed, delivery.event),
    );
    return isWanted ? toAll : delivery;
  };

  return async (id: string, stored: Delivery): Promise<void> => {
    const feed = feedOf(stored);
    const delivery = feed ? await readdressed(stored, feed) : stored;
    const subscribed = feed ? await subscriptions.recipients(delivery) : [];
    // Some of them may have been paused since the event.
    const recipients = subscribed.filter(({ isPaused }) => !isPaused);
    // Their settings may have changed, too. A drill has no topic.
    const allWanting = recipients.filter(
      (each) => feed && (delivery.drill || receives(each, feed, delivery.event)),
    );
    const wanting = feed?.nearest?.(allWanting, delivery.event) ?? allWanting;
    const [subscription] = wanting;
    const roleIds = [...new Set(wanting.flatMap(({ roleId }) => roleId ?? []))];
    const health = await subscriptions.health(delivery.channelId);
    const [anyRecipient] = subscribed;
    const isOutOfDate = !subscription || isLateDrill(delivery, now());
    const isUnwanted = isOutOfDate && !delivery.claim;
    if (!feed || !anyRecipient || isUnwanted || (health.paused && now() - delivery.at > GIVE_UP_MS)) {
      await commit(id, undefined);
      return;
    }
    if (health.paused) {
      await postpone(id, { ...delivery, notBefore: now() + PAUSED_MS });
      return;
    }
    let currentDelivery = delivery;
    let knownAnnouncement: Announced | undefined;
    let stage: Stage = "finding";
    try {
      // Read before the search: if the announcement's thread was deleted, the search fails, and the channel still exists.
      knownAnnouncement = await sender.announcedFor(feed, delivery);
      const arrived = delivery.claim && (await sender.find(id, feed, delivery, subscription ?? anyRecipient));
      if (arrived) {
        await record(id, feed, delivery, subscription ?? anyRecipient, arrived);
        return;
      }
      if (isOutOfDate) {
        await commit(id, undefined);
        return;
      }
      if (knownAnnouncement?.todo?.includes("thread") && ageOf(knownAnnouncement.at, now()) < THREAD_MS) {
        await commit(id, { ...delivery, notBefore: now() + 1_000 });
        return;
      }
      if (knownAnnouncement && saysAlready(knownAnnouncement, delivery)) {
        await commit(id, undefined);
        return;
      }
      await pacer.turn(lineOf(subscription));
      // Render as late as possible, so that the content is current.
      stage = "rendering";
      const rendered = await feed.render(delivery.event, renderer.mark(id), wanting);
      if (!rendered) {
        await commit(id, undefined);
        return;
      }
      const deadline = now() + CLAIM_MS;
      const placeId = knownAnnouncement?.threadId ?? delivery.channelId;
      const claim = { epoch: lease.epoch, at: discordTime(), deadline, placeId };
      currentDelivery = { ...delivery, claim };
      await commit(id, currentDelivery);
      stage = "sending";
      const usualLoudness =
        feed.loudnessOf?.(delivery.event) ?? (feed.begins(delivery.event) ? "ping" : "normal");
      const loudness = rendered.isOver && usualLoudness === "ping" ? "normal" : usualLoudness;
      const message = { rendered, known: knownAnnouncement, loudness, roleIds };
      const sentMessage = await sender.send(id, currentDelivery, subscription, message, deadline);
      const isOver = rendered.isOver === true;
      await record(id, feed, currentDelivery, subscription, { ...sentMessage, isOver });
    } catch (error) {
      // A failed commit is not a failed delivery.
      if (error instanceof LeaseLost || error instanceof StateError || stopping.aborted) throw error;
      await fail(id, feed, currentDelivery, subscription ?? anyRecipient, error, {
        stage,
        known: knownAnnouncement,
      });
    }
  };
}

/** The part of a delivery in which an error occurred. */
type Stage = "finding" | "rendering" | "sending";

type Arrived = Sent & { readonly gone?: boolean; readonly isOver?: boolean };
