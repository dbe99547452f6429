import type { CollectionDefinition } from "../storage/collection.js";
import type { DeliveryContext } from "./context.js";
import type { Feed } from "./feed.js";
import type { Publisher } from "./module.js";
import type { Outbox } from "./outbox.js";
import type { Subscriptions } from "./subscriptions.js";
import type { Upkeep } from "./upkeep.js";

interface PublisherContext extends Pick<DeliveryContext, "state" | "subscriptions" | "janitor"> {
  readonly outbox: Pick<Outbox, "prepare">;
  readonly upkeep: Pick<Upkeep, "touch">;
}

/**
 * Creates the publisher of a feed: the only place where what a poll has found is committed, together with the deliveries that it
 * makes due. Because it is one commit, each announcement is delivered exactly once.
 */
export function createPublisher(
  feed: Feed,
  collections: readonly CollectionDefinition[],
  context: PublisherContext,
): Publisher {
  const { state, outbox, upkeep, subscriptions, janitor } = context;
  const { name } = feed.definition;
  // Read once a poll: thousands of people have a channel each.
  let healths: ReturnType<Subscriptions["healths"]> | undefined;
  return {
    async subscriptions() {
      healths = undefined;
      return (await subscriptions.all()).filter((each) => each.feed === name);
    },
    async isHeard({ isPaused, channelId }) {
      if (isPaused) return false;
      healths ??= subscriptions.healths();
      return !(await healths).get(channelId)?.paused;
    },
    async publish({ events = [], writes = [], changed = [], ended = [], onWritten }) {
      const deliveries = await outbox.prepare(feed, events);
      const deletions = await janitor.endSubjects(collections, ended);
      const batch = [...writes, ...deletions, ...deliveries.writes];
      if (batch.length > 0) await state.commit(batch);
      onWritten?.();
      if (changed.length > 0) upkeep.touch(name, changed);
      deliveries.release();
    },
  };
}
