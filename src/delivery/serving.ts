import { LeaseLost } from "../storage/lease.js";
import { StateError } from "../storage/store.js";
import { yieldIfBusy } from "../util/event-loop.js";
import type { Delivery } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { dueAt, mayBeNext } from "./decisions.js";
import type { createStoredQueue } from "./stored-queue.js";

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

interface ServingDeps extends Pick<DeliveryContext, "lease" | "log" | "now"> {
  readonly queue: Pick<ReturnType<typeof createStoredQueue>, "load" | "waitingFor">;
  /** Returns the subjects of a delivery's event. */
  readonly subjectsOf: (delivery: Delivery) => readonly string[];
  /** Sends a delivery and records the result. */
  readonly deliver: (id: string, delivery: Delivery) => Promise<void>;
  readonly stopping: AbortSignal;
}

/** Sends due deliveries, channel by channel. */
export interface Serving {
  /** Schedules sending of due deliveries. */
  wake(): void;
  /** True if no delivery is being sent. */
  idle(): boolean;
  /** Resolves once nothing is being sent. Called after `stopping` is aborted. */
  stop(): Promise<void>;
}

/** Creates the loops that serve channels. Each channel receives its deliveries in the order of events. */
export function createServing({
  queue,
  subjectsOf,
  deliver,
  stopping,
  lease,
  log,
  now,
}: ServingDeps): Serving {
  /** Channels that are being served, with one loop each. */
  const serving = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  /** Time until which sending is paused (monotonic clock). */
  let pausedUntil = 0;

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
      if (stopping.aborted) return;
      const next = nextIn(await queue.waitingFor(channelId));
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
            if (err instanceof LeaseLost || stopping.aborted) return;
            if (err instanceof StateError) pausedUntil = performance.now() + STATE_PAUSE_MS;
            // The store logs its own errors.
            else log.error({ err, channel: channelId }, "Deliveries to a channel failed; retrying");
          })
          .finally(() => {
            serving.delete(channelId);
            if (!stopping.aborted) soon ??= setTimeout(wake, AGAIN_MS);
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
    if (stopping.aborted) return;
    startServing().catch((err: unknown) => {
      if (!(err instanceof StateError || err instanceof LeaseLost))
        log.error({ err }, "The outbox cannot be read; retrying");
      soon ??= setTimeout(wake, 2_000);
    });
  }

  return {
    wake,
    idle: () => serving.size === 0,
    async stop() {
      clearTimeout(timer);
      clearTimeout(soon);
      await Promise.allSettled(serving.values());
    },
  };
}
