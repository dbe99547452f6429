import { StateError, type Write } from "../storage/store.js";
import { ageOf } from "../util/clock.js";
import { type Bundle, type Delivery, deliveryId, requestedDrills } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { createDeliver } from "./deliver.js";
import { drillEventId, drillOf, isLateDrill } from "./drill.js";
import { bundlesOf, deliveriesIn, fanOut, type Listeners } from "./fan-out.js";
import type { Feed } from "./feed.js";
import type { SendingContext } from "./recording.js";
import { createServing } from "./serving.js";
import { createStoredQueue } from "./stored-queue.js";

/** Transactional outbox: deliveries are committed together with their cause, and retried until they are sent. */
export interface Outbox {
  /** Returns the writes that record deliveries for events, and a function that starts sending once they are committed. */
  prepare(
    feed: Feed,
    events: readonly unknown[],
    listeners: Listeners,
  ): Promise<{ readonly writes: readonly Write[]; readonly release: () => void }>;
  /** Picks up requested drills. */
  pickUpDrills(): Promise<void>;
  /** Reloads the stored deliveries. Called after a commit with an unknown result. */
  reread(): void;
  /** Schedules sending of due deliveries. */
  wake(): void;
  /** True if no delivery is being sent. */
  idle(): boolean;
  /**
   * Returns the waiting time of the oldest delivery that could be sent, in ms. 0 if none is waiting.
   * @param exceptFeed a feed to exclude
   */
  waitingMs(exceptFeed?: string): Promise<number>;
  stop(): Promise<void>;
}

/** Creates the outbox. Deliveries are committed with their cause and sent by the lease holder. */
export function createOutbox(context: DeliveryContext & Pick<SendingContext, "onRecorded">): Outbox {
  const { state, subscriptions, feeds, now } = context;
  const stopping = new AbortController();

  const feedOf = ({ feed: name, drill }: Pick<Delivery, "feed" | "drill">): Feed | undefined => {
    const feed = feeds.get(name);
    return feed && drill ? drillOf(feed) : feed;
  };

  const queue = createStoredQueue(context, feedOf);
  const { addAll, unpack, nextOrder } = queue;

  const serving = createServing({
    ...context,
    queue,
    subjectsOf: (delivery) => feedOf(delivery)?.subjectsOf(delivery.event) ?? [],
    deliver: createDeliver({ ...context, ...queue, feedOf, stopping: stopping.signal }),
    stopping: stopping.signal,
  });

  function reread(): void {
    queue.reread();
    serving.wake();
  }

  /** Starts sending committed deliveries. */
  const release = async (deliveries: ReadonlyMap<string, Delivery>) => {
    // The stored deliveries may have been reloaded before these were committed, so load them only now.
    const waitingDeliveries = await queue.load();
    for (const [id, delivery] of deliveries) waitingDeliveries.hold(id, delivery);
    serving.wake();
  };
  /** The unpacking of bundles, one after another, because deliveries to a channel are sent in their order. */
  let unpacking: Promise<void> = Promise.resolve();
  const unpackAll = async (committed: readonly Bundle[]) => {
    for (const bundle of committed) if (await unpack(bundle)) await release(deliveriesIn(bundle));
  };

  return {
    async prepare(feed, events, listeners) {
      await queue.load();
      const [first, ...others] = bundlesOf(await fanOut(feed, events, listeners, { nextOrder, now }));
      if (!first) return { writes: [], release() {} };
      const deliveries = deliveriesIn(first);
      return {
        writes: [...addAll(deliveries), ...queue.addBundles(others)],
        release() {
          const readBefore = queue.rereads();
          unpacking = unpacking
            // After a reread they are known, and may have been sent already.
            .then(() => (queue.rereads() === readBefore ? release(deliveries) : undefined))
            .then(() => unpackAll(others))
            // After a failure, the stored bundles and deliveries are read again.
            .catch(reread);
        },
      };
    },
    async pickUpDrills() {
      await queue.load();
      for (const [id, { at, ...drill }] of await state.open(requestedDrills).list()) {
        const drillFields = { ...drill, event: feedOf({ ...drill, drill: true })?.readEvent(drill.event) };
        const isLate = drillFields.event === undefined || isLateDrill({ at, drill: true }, now());
        const { feed, channelId } = drillFields;
        const delivery = {
          ...drillFields,
          at: now(),
          order: nextOrder(),
          attempts: 0,
          notBefore: 0,
          drill: true,
        };
        const deliveries = new Map(
          isLate ? [] : [[deliveryId(feed, drillEventId(id), channelId), delivery] as const],
        );
        try {
          await state.commit([state.open(requestedDrills).delete(id), ...addAll(deliveries)]);
          await release(deliveries);
        } catch (error) {
          // It may have been applied.
          if (error instanceof StateError) reread();
          throw error;
        }
      }
    },
    reread,
    wake: serving.wake,
    idle: serving.idle,
    async waitingMs(exceptFeed) {
      let oldestMs = 0;
      for (const { feed, channelId, at, drill } of (await queue.load()).first()) {
        const waitedMs = drill || feed === exceptFeed ? 0 : ageOf(at, now());
        // Most deliveries are sent at once, so this lookup is rare.
        if (
          waitedMs > oldestMs &&
          Number.isFinite(waitedMs) &&
          !(await subscriptions.health(channelId)).paused
        )
          oldestMs = waitedMs;
      }
      return oldestMs;
    },
    async stop() {
      stopping.abort();
      await Promise.allSettled([serving.stop(), unpacking]);
    },
  };
}
