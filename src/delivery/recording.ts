import { setArchived } from "../discord/post.js";
import type { Collection } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import { defined, present } from "../util/present.js";
import {
  type Announced,
  announcedId,
  announcements,
  type Delivery,
  newsId,
  type Subscription,
} from "./collections.js";
import type { DeliveryContext } from "./context.js";
import type { Feed } from "./feed.js";
import type { createStoredQueue } from "./stored-queue.js";
import type { Subscriptions } from "./subscriptions.js";

/** A delivery that is being sent. It changes on the way, so that a failure knows how far it came. */
export interface Attempt {
  readonly id: string;
  readonly feed: Feed;
  /** The subscription whose settings the message follows. */
  readonly subscription: Subscription;
  delivery: Delivery;
  stage: "finding" | "rendering" | "sending";
  /** The announcement that it follows up on. */
  known?: Announced | undefined;
}

/** A message that was sent. */
export interface Sent {
  readonly messageId: string;
  /** The channel or thread of the message. */
  readonly in: string;
  readonly threadId?: string;
  readonly revision?: number;
  /** Mentions at the start of its text. */
  readonly pings: string;
}

/** A message that was sent, or that a person has deleted since. */
export type Arrived = Sent & { readonly gone?: boolean; readonly isOver?: boolean };

/** Dependencies for sending deliveries. */
export interface SendingContext
  extends DeliveryContext,
    Pick<ReturnType<typeof createStoredQueue>, "commit" | "postpone" | "waitingFor"> {
  /** Returns the feed of a delivery. */
  readonly feedOf: (delivery: Delivery) => Feed | undefined;
  /** Called with the ids of recorded messages that need upkeep. */
  readonly onRecorded: (ids: readonly string[]) => void;
  readonly stopping: AbortSignal;
}

/**
 * Repeats a commit until it succeeds. It stops if the subscriptions were removed, so that their documents are not written again.
 * @param attempt commits with the expectation that the subscription is unchanged
 * @returns false if no subscription is left
 */
export async function whileSubscribed(
  subscriptions: Subscriptions,
  delivery: Delivery,
  attempt: (unchanged: Write) => Promise<boolean>,
): Promise<boolean> {
  for (;;) {
    const [recipient] = await subscriptions.recipients(delivery);
    const unchanged = recipient && (await subscriptions.unchanged(recipient));
    if (!unchanged) return false;
    if (await attempt(unchanged)) return true;
  }
}

/** Returns the steps that remain after a message was sent. */
function followUps(
  { thread, publish, forum }: Subscription,
  beginsOne: boolean,
): NonNullable<Announced["todo"]> {
  return forum ? [] : present([beginsOne && thread && "thread", publish && "publish"]);
}

/** Returns the documents for a sent message: one for each subject that it begins, or one while follow-up steps remain. */
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
    ...defined({
      threadId: sent.threadId,
      revision: beginsOne && !sent.gone ? (sent.revision ?? 0) : undefined,
      isOver: (beginsOne && sent.isOver) || undefined,
      gone: sent.gone || undefined,
    }),
  };
  const eventId = feed.idOf(event);
  const followedSubjects = todo.length > 0 ? [subjects[0] ?? eventId] : [];
  // Later news about the others must not reply to a message that does not name them.
  const namedSubjects = feed.namedIn?.(event, subscription) ?? subjects;
  const recordedSubjects = beginsSubject ? namedSubjects : followedSubjects;
  const writes = recordedSubjects.map((subject, index) => {
    // If a message has several subjects, its follow-up steps are done once.
    const document: Announced = {
      ...message,
      subject,
      news: !beginsSubject,
      ...defined({ todo: index === 0 && todo.length > 0 ? todo : undefined }),
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
        announced.put(announcedId(message.feed, subject, channelId), {
          ...message,
          subject,
          news: false,
          byNews: true,
        }),
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

/**
 * Returns the writes that keep the announcement in an earlier post, which refused this news, such as a locked one. Without them, the new
 * post would take its place, and it would never be edited again.
 */
async function keptPosts(
  announced: Collection<Announced>,
  feed: Feed,
  { event, channelId, drill }: Delivery,
  sent: Arrived,
): Promise<Write[]> {
  if (drill || feed.begins(event) || sent.threadId === undefined || sent.gone) return [];
  const { name } = feed.definition;
  const writes = feed.subjectsOf(event).map(async (subject) => {
    const known = await announced.get(announcedId(name, subject, channelId));
    const isReplaced = known?.revision !== undefined && known.messageId !== sent.messageId;
    return isReplaced ? [announced.put(newsId(name, subject, channelId, known.messageId), known)] : [];
  });
  return (await Promise.all(writes)).flat();
}

/** Returns what a feed writes because a delivery is given up. */
export const givenUpWrites = async (feed: Feed, { drill, event }: Delivery): Promise<readonly Write[]> =>
  drill ? [] : ((await feed.givenUp?.(event)) ?? []);

/** Creates the function that records a delivery that was sent. */
export function createRecord(context: SendingContext) {
  const { state, rest, subscriptions, commit, onDelivered, onRecorded, log, now } = context;
  const announced = state.open(announcements);
  /**
   * Archives the thread of news about a subject that has ended, because the news opened it. If the announcement is still edited, its
   * last edit does that.
   */
  const archiveEnded = async ({ feed, delivery, known }: Attempt, sent: Arrived): Promise<void> => {
    const [subject] = feed.subjectsOf(delivery.event);
    const isFinal = known ? known.isOver === true || known.byNews === true : !feed.begins(delivery.event);
    const threadId = known?.threadId ?? sent.threadId;
    if (delivery.drill || sent.gone || !isFinal || threadId === undefined || subject === undefined) return;
    const ended = await feed.lasting?.stateOf(subject, delivery.channelId);
    if (ended && ended.endedAt !== null) await setArchived(rest, threadId, true).catch(() => {});
  };
  return async (attempt: Attempt, sent: Arrived): Promise<void> => {
    const { id, feed, delivery, subscription } = attempt;
    const { channelId } = delivery;
    const writes = [
      ...(await keptPosts(announced, feed, delivery, sent)),
      ...writesFor(announced, feed, delivery, subscription, sent, now()),
    ];
    const healthyWrite = subscriptions.healthWrite(channelId, { deliveredAt: now() });
    const isRecorded = await whileSubscribed(subscriptions, delivery, async (unchanged) => {
      if (!delivery.drill) return commit(id, undefined, [...writes, healthyWrite, unchanged]);
      // A drill that arrived shows that the last error is over.
      const { error, erroredAt, ...health } = await subscriptions.health(channelId);
      const healthWrites =
        error === undefined ? [] : [subscriptions.healthWrite(channelId, health), unchanged];
      return commit(id, undefined, healthWrites);
    });
    if (!isRecorded) {
      await commit(id, undefined);
      return;
    }
    // Archive a drill in a forum, so that it does not stay among the open posts.
    if (delivery.drill && sent.threadId) await setArchived(rest, sent.threadId, true).catch(() => {});
    await archiveEnded(attempt, sent);
    if (writes.length > 0) onRecorded(writes.map(({ id: recorded }) => recorded));
    onDelivered(delivery.feed, "delivered", now() - delivery.at);
    log.info({ delivery: id, channel: channelId, message: sent.messageId }, "Delivered");
  };
}
