import { LeaseLost } from "../storage/lease.js";
import { StateError, type Write } from "../storage/store.js";
import { ageOf } from "../util/clock.js";
import { yieldIfBusy } from "../util/event-loop.js";
import { type Bundle, type Delivery, deliveryId, requestedDrills } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { dueAt, mayBeNext } from "./decisions.js";
import { createDeliver } from "./deliver.js";
import { drillEventId, drillOf, isLateDrill } from "./drill.js";
import { bundlesOf, deliveriesIn, fanOut, type Listeners } from "./fan-out.js";
import type { Feed } from "./feed.js";
import type { SendingContext } from "./recording.js";
import { createStoredQueue } from "./stored-queue.js";

/** Delay before the queue is checked again after a channel was served, in ms. */
const AGAIN_MS = 250;
/**
 * Maximum number of channels served concurrently. Discord allows 50 requests a second. A channel that does
 * not respond occupies a slot only until its deadline.
 */
const MAX_CHANNELS = 200;
/** Maximum time until the queue is checked again while deliveries wait for their time, in ms. */
const LONGEST_SLEEP_MS = 10_000;
/** Pause after a failed write to the state, in ms. */
const STATE_PAUSE_MS = 5_000;

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
  const { state, lease, subscriptions, feeds, log, now } = context;
  const stopping = new AbortController();
  /** Channels that are being served, with one loop each. */
  const serving = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  /** Time until which sending is paused (monotonic clock). */
  let pausedUntil = 0;

  const feedOf = ({ feed: name, drill }: Pick<Delivery, "feed" | "drill">): Feed | undefined => {
    const feed = feeds.get(name);
    return feed && drill ? drillOf(feed) : feed;
  };

  const queue = createStoredQueue(context, feedOf);
  const { addAll, unpack, nextOrder, waitingFor } = queue;

  const deliver = createDeliver({ ...context, ...queue, feedOf, stopping: stopping.signal });

  const subjectsOf = (delivery: Delivery): readonly string[] =>
    feedOf(delivery)?.subjectsOf(delivery.event) ?? [];
  /** Returns the delivery of a channel that is due first, with its time (epoch ms). */
  const nextIn = (deliveries: ReadonlyMap<string, Delivery>) => {
    let next: { readonly id: string; readonly delivery: Delivery; readonly at: number } | undefined;
    for (const [id, delivery] of mayBeNext(deliveries, subjectsOf)) {
      const startsAt = dueAt(delivery, lease.epoch, now());
      if (!next || (next.at > now() && startsAt < next.at)) next = { id, delivery, at: startsAt };
    }
    return next;
  };

  /** Serves one channel in the order of events, until no delivery is due. */
  const serve = async (channelId: string) => {
    for (;;) {
      if (stopping.signal.aborted) return;
      const next = nextIn(await waitingFor(channelId));
      if (!next || next.at > now()) return;
      await deliver(next.id, next.delivery);
    }
  };

  const startServing = async () => {
    clearTimeout(timer);
    const remainingMs = pausedUntil - performance.now();
    if (remainingMs > 0) {
      timer = setTimeout(wake, remainingMs);
      return;
    }
    let soonestAt = Number.POSITIVE_INFINITY;
    for (const [channelId, deliveries] of (await queue.load()).channels()) {
      const dueTime = nextIn(deliveries)?.at ?? Number.POSITIVE_INFINITY;
      if (dueTime > now()) soonestAt = Math.min(soonestAt, dueTime);
      else if (!serving.has(channelId) && serving.size < MAX_CHANNELS) {
        // Channels are served concurrently, so that a slow, rate-limited or forbidden one does not block
        // others.
        const channelWork = serve(channelId)
          .catch((err: unknown) => {
            if (err instanceof LeaseLost || stopping.signal.aborted) return;
            if (err instanceof StateError) pausedUntil = performance.now() + STATE_PAUSE_MS;
            // The store logs its own errors.
            else log.error({ err, channel: channelId }, "Deliveries to a channel failed; retrying");
          })
          .finally(() => {
            serving.delete(channelId);
            if (!stopping.signal.aborted) soon ??= setTimeout(wake, AGAIN_MS);
          });
        serving.set(channelId, channelWork);
        await yieldIfBusy();
      }
    }
    // Timers pause while the machine is suspended, so the clock is checked at intervals.
    const waitMs = Math.min(Math.max(50, soonestAt - now()), LONGEST_SLEEP_MS);
    timer = soonestAt === Number.POSITIVE_INFINITY ? undefined : setTimeout(wake, waitMs);
  };

  function wake(): void {
    clearTimeout(soon);
    soon = undefined;
    if (stopping.signal.aborted) return;
    startServing().catch((err: unknown) => {
      if (!(err instanceof StateError || err instanceof LeaseLost))
        log.error({ err }, "The outbox cannot be read; retrying");
      soon ??= setTimeout(wake, 2_000);
    });
  }

  function reread(): void {
    queue.reread();
    wake();
  }

  /** Starts sending committed deliveries. */
  const release = async (deliveries: ReadonlyMap<string, Delivery>) => {
    // The stored deliveries may have been reloaded before these were committed, so load them only now.
    const waitingDeliveries = await queue.load();
    for (const [id, delivery] of deliveries) waitingDeliveries.hold(id, delivery);
    wake();
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
    wake,
    idle: () => serving.size === 0,
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
      clearTimeout(timer);
      clearTimeout(soon);
      await Promise.allSettled([...serving.values(), unpacking]);
    },
  };
}
