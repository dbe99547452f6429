import type { Delivery } from "./collections.js";

/** Queue of pending deliveries for each channel, in the order of events. */
export interface Waiting {
  /** Adds a delivery to the end of its channel's queue, or updates it in place. */
  hold(id: string, delivery: Delivery): void;
  release(id: string): void;
  /** Returns a channel's deliveries, in order. */
  of(channelId: string): ReadonlyMap<string, Delivery>;
  /** Returns the first delivery of each channel. */
  first(): Iterable<Delivery>;
  /** Returns the deliveries of each channel, in order. */
  channels(): Iterable<readonly [channelId: string, deliveries: ReadonlyMap<string, Delivery>]>;
}

const NONE: ReadonlyMap<string, Delivery> = new Map();

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
    channels: () => channels,
    *first() {
      for (const channelDeliveries of channels.values()) {
        const [delivery] = channelDeliveries.values();
        if (delivery) yield delivery;
      }
    },
  };
}
