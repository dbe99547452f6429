/** The deliveries that wait, by channel, each channel's in the order of events. */
export interface Waiting {
  /** Holds one behind the others of its channel, or in its place what is newly known of it. */
  hold(id: string, delivery: Delivery): void;
  release(id: string): void;
  /** A channel's, the first one first. */
  of(channelId: string): ReadonlyMap<string, Delivery>;
  /** The first one of each channel. */
  first(): Iterable<Delivery>;
}

const NONE: ReadonlyMap<string, Delivery> = new Map();

/** Creates an empty queue. */
export function createWaiting(): Waiting {
  const channels = new Map<string, Map<string, Delivery>>();
  const channelOf = new Map<string, string>();
  return {
    hold(id, delivery) {
      const { channelId } = delivery;
      const channelDeliveries = channels.get(channelId) ?? new Map<string, Delivery>();
      channels.set(channelId, channelDeliveries.set(id, delivery));
      channelOf.set(id, channelId);
    },
    release(id) {
      const channelId = channelOf.get(id) ?? "";
      const channelDeliveries = channels.get(channelId);
      channelDeliveries?.delete(id);
      if (channelDeliveries?.size === 0) channels.delete(channelId);
      channelOf.delete(id);
    },
    of: (channelId) => channels.get(channelId) ?? NONE,
    *first() {
      for (const channelDeliveries of channels.values()) {
        const [delivery] = channelDeliveries.values();
        if (delivery) yield delivery;
      }
    },
  };
}

import type { Delivery } from "./collections.js";
