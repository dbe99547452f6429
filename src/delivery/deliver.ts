import { LeaseLost } from "../storage/lease.js";
import { StateError } from "../storage/store.js";
import { ageOf, believed, SKEW_MS } from "../util/clock.js";
import type { Announced, Delivery, Subscription } from "./collections.js";
import { GIVE_UP_MS } from "./decisions.js";
import { isLateDrill } from "./drill.js";
import { createFail, PAUSED_MS } from "./failing.js";
import { type Feed, receives } from "./feed.js";
import { type Attempt, createRecord, givenUpWrites, type SendingContext } from "./recording.js";
import { createSender, lineOf } from "./send.js";

/** Duration of a claim, in ms. The request is aborted when it ends. Until then, no other process sends the delivery. */
const CLAIM_MS = 8_000;
/** Maximum time that a later message waits for the thread of its announcement, in ms. */
const THREAD_MS = 10_000;

/** True if a subject's first message was sent after its end, and after this news about it was queued. It says the same. */
const saysAlready = ({ isOver, editedAt, at }: Announced, news: Pick<Delivery, "at">): boolean =>
  isOver === true && editedAt === undefined && at >= news.at;

/** Creates the function that sends a delivery: it claims, sends and records it, and handles failures. */
export function createDeliver(context: SendingContext) {
  const { lease, renderer, pacer, feedOf, subscriptions, commit, postpone, waitingFor } = context;
  const { stopping, now, discordTime } = context;
  const sender = createSender(context);
  const record = createRecord(context);
  const fail = createFail(context, record);

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

  /** Returns the subscriptions that still want a delivery. They may have been paused, changed or replaced since the event. */
  const wantingOf = (
    { drill, event, at }: Delivery,
    feed: Feed,
    subscribed: readonly Subscription[],
  ): readonly Subscription[] => {
    // A subscription that began after the event has been told what was open then.
    const isOlder = ({ since }: Subscription) => believed(since, now(), SKEW_MS) <= at + SKEW_MS;
    // A drill has no topic.
    const wanting = subscribed.filter(
      (each) => !each.isPaused && (drill || (isOlder(each) && receives(each, feed, event))),
    );
    return feed.nearest?.(wanting, event) ?? wanting;
  };

  /** True if other deliveries that wait for the channel say everything that this one says. */
  const isCovered = async ({ id, feed, delivery }: Attempt, wanting: readonly Subscription[]) => {
    if (!feed.isCovered || delivery.drill) return false;
    const waiting = [...(await waitingFor(delivery.channelId))].flatMap(([otherId, other]) =>
      otherId !== id && other.feed === delivery.feed && !other.drill ? [other.event] : [],
    );
    return feed.isCovered(delivery.event, waiting, wanting);
  };

  /** Claims a delivery and sends its message. */
  const send = async (attempt: Attempt, wanting: readonly Subscription[]): Promise<void> => {
    const { id, feed, subscription, delivery, known } = attempt;
    await pacer.turn(lineOf(subscription));
    // Render as late as possible, so that the content is current.
    attempt.stage = "rendering";
    const rendered = await feed.render(delivery.event, renderer.mark(id), wanting);
    if (!rendered) {
      await commit(id, undefined);
      return;
    }
    const deadline = now() + CLAIM_MS;
    const placeId = known?.threadId ?? delivery.channelId;
    attempt.delivery = {
      ...delivery,
      claim: { epoch: lease.epoch, at: discordTime(), deadline, placeId },
    };
    await commit(id, attempt.delivery);
    attempt.stage = "sending";
    const usualLoudness =
      feed.loudnessOf?.(delivery.event, wanting) ?? (feed.begins(delivery.event) ? "ping" : "normal");
    const loudness = rendered.isOver && usualLoudness === "ping" ? "normal" : usualLoudness;
    const roleIds = [...new Set(wanting.flatMap(({ roleId }) => roleId ?? []))];
    const sent = await sender.send(attempt, { rendered, loudness, roleIds }, deadline);
    await record(attempt, { ...sent, isOver: rendered.isOver === true });
  };

  /** Sends a delivery, unless its message has arrived already, is no longer wanted, or has to wait. */
  const proceed = async (
    attempt: Attempt,
    wanting: readonly Subscription[],
    isOutOfDate: boolean,
  ): Promise<void> => {
    const { id, feed, delivery } = attempt;
    // Read before the search: if the announcement's thread was deleted, the search fails, and the channel still exists.
    attempt.known = await sender.announcedFor(feed, delivery);
    const { known } = attempt;
    const arrived = delivery.claim && (await sender.find(attempt));
    if (arrived) await record(attempt, arrived);
    else if (isOutOfDate || (await isCovered(attempt, wanting))) await commit(id, undefined);
    else if (known?.todo?.includes("thread") && ageOf(known.at, now()) < THREAD_MS)
      await commit(id, { ...delivery, notBefore: now() + 1_000 });
    else if (known && saysAlready(known, delivery)) await commit(id, undefined);
    else await send(attempt, wanting);
  };

  return async (id: string, stored: Delivery): Promise<void> => {
    const feed = feedOf(stored);
    const delivery = feed ? await readdressed(stored, feed) : stored;
    const subscribed = feed ? await subscriptions.recipients(delivery) : [];
    const wanting = feed ? wantingOf(delivery, feed, subscribed) : [];
    const subscription = wanting[0] ?? subscribed[0];
    const { paused = false } = await subscriptions.health(delivery.channelId);
    const isOutOfDate = wanting.length === 0 || isLateDrill(delivery, now());
    const isUnwanted = isOutOfDate && !delivery.claim;
    if (!feed || !subscription || isUnwanted) {
      await commit(id, undefined);
      return;
    }
    if (paused && now() - delivery.at > GIVE_UP_MS) {
      await commit(id, undefined, await givenUpWrites(feed, delivery));
      return;
    }
    if (paused) {
      await postpone(id, { ...delivery, notBefore: now() + PAUSED_MS });
      return;
    }
    const attempt: Attempt = { id, feed, subscription, delivery, stage: "finding" };
    try {
      await proceed(attempt, wanting, isOutOfDate);
    } catch (error) {
      // A failed commit is not a failed delivery.
      if (error instanceof LeaseLost || error instanceof StateError || stopping.aborted) throw error;
      await fail(attempt, error);
    }
  };
}
