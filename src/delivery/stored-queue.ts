import type { Write } from "../storage/store.js";
import { lazy } from "../util/single-flight.js";
import { type Bundle, bundledDeliveries, type Delivery, pendingDeliveries } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { bundleId, deliveriesIn } from "./fan-out.js";
import type { Feed } from "./feed.js";

/** Creates the queues of pending deliveries in memory, one for each channel, in the order of events. */
function createWaiting() {
  const channels = new Map<string, Map<string, Delivery>>();
  const channelOf = new Map<string, string>();
  return {
    /** Adds a delivery to the end of its channel's queue, or updates it in place. */
    hold(id: string, delivery: Delivery): void {
      const { channelId } = delivery;
      const channelDeliveries = channels.get(channelId) ?? new Map<string, Delivery>();
      channels.set(channelId, channelDeliveries.set(id, delivery));
      channelOf.set(id, channelId);
    },
    release(id: string): void {
      const channelId = channelOf.get(id) ?? "";
      const channelDeliveries = channels.get(channelId);
      channelDeliveries?.delete(id);
      if (channelDeliveries?.size === 0) channels.delete(channelId);
      channelOf.delete(id);
    },
    /** Returns the deliveries of each channel, in order. */
    channels: (): ReadonlyMap<string, ReadonlyMap<string, Delivery>> => channels,
    /** Returns the first delivery of each channel. */
    *first(): Iterable<Delivery> {
      for (const channelDeliveries of channels.values()) {
        const [delivery] = channelDeliveries.values();
        if (delivery) yield delivery;
      }
    },
  };
}

const NONE: ReadonlyMap<string, Delivery> = new Map();

/**
 * Creates the queue of pending deliveries: in the state, and in memory once they are read.
 * @param feedOf returns a delivery's feed
 */
export function createStoredQueue(
  { state, now }: Pick<DeliveryContext, "state" | "now">,
  feedOf: (delivery: Delivery) => Feed | undefined,
) {
  const outbox = state.open(pendingDeliveries);
  const bundles = state.open(bundledDeliveries);
  let lastOrder = now();
  let rereads = 0;

  const addAll = (deliveries: ReadonlyMap<string, Delivery>): Write[] =>
    [...deliveries].map(([id, delivery]) => outbox.add(id, delivery));
  /** Writes the deliveries of a bundle instead of it. Returns false if that has been done already. */
  const unpack = (bundle: Bundle, id = bundleId(bundle)): Promise<boolean> =>
    state.commit([bundles.expect(id, bundle), bundles.delete(id), ...addAll(deliveriesIn(bundle))]);

  /** Reads the pending deliveries. An event that its feed cannot parse does not affect others. */
  const readPending = async () => {
    for (const [id, bundle] of await bundles.list()) await unpack(bundle, id);
    const waitingDeliveries = createWaiting();
    const storedDeliveries: (readonly [id: string, delivery: Delivery])[] = [];
    for await (const each of outbox.entries()) storedDeliveries.push(each);
    for (const [id, delivery] of storedDeliveries.sort(([, a], [, b]) => a.order - b.order)) {
      lastOrder = Math.max(lastOrder, delivery.order);
      const event = feedOf(delivery)?.readEvent(delivery.event);
      if (event === undefined)
        await outbox.setAside(id, delivery, `its feed "${delivery.feed}" cannot read its event`);
      else waitingDeliveries.hold(id, { ...delivery, event });
    }
    return waitingDeliveries;
  };
  let loadWaiting = lazy(readPending);

  return {
    addAll,
    unpack,
    /** Returns the writes that store bundles. */
    addBundles: (added: readonly Bundle[]): Write[] => added.map((each) => bundles.add(bundleId(each), each)),
    /** Returns the pending deliveries, and reads them first if necessary. */
    load: () => loadWaiting(),
    /** Returns the pending deliveries of a channel. */
    waitingFor: async (channelId: string) => (await loadWaiting()).channels().get(channelId) ?? NONE,
    /**
     * Writes a delivery's new state, or deletes it. Returns false if an expectation in `more` has failed.
     * @throws {LeaseLost}
     */
    async commit(id: string, next: Delivery | undefined, more: readonly Write[] = []): Promise<boolean> {
      if (!(await state.commit([next ? outbox.put(id, next) : outbox.delete(id), ...more]))) return false;
      const waitingDeliveries = await loadWaiting();
      if (next) waitingDeliveries.hold(id, next);
      else waitingDeliveries.release(id);
      return true;
    },
    /** Changes a delivery in memory only: until the next start, or until it is written for another reason. */
    postpone: async (id: string, next: Delivery) => (await loadWaiting()).hold(id, next),
    nextOrder: () => ++lastOrder,
    /** Reads the stored deliveries again when they are needed. */
    reread(): void {
      rereads += 1;
      loadWaiting = lazy(readPending);
    },
    /** Number of times that the stored deliveries were read again. */
    rereads: () => rereads,
  };
}
