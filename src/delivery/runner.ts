import type { CollectionDefinition } from "../storage/collection.js";
import type { DeliveryContext } from "./context.js";
import type { Findings, PollOutcome, RunningFeed, Subscribers } from "./module.js";
import type { Outbox } from "./outbox.js";
import type { Subscriptions } from "./subscriptions.js";
import type { Upkeep } from "./upkeep.js";

interface RunnerContext extends Pick<DeliveryContext, "state" | "subscriptions" | "janitor"> {
  readonly outbox: Pick<Outbox, "prepare">;
  readonly upkeep: Pick<Upkeep, "touch">;
}

/** Returns the subscriptions of a feed, as its polls see them. */
function createSubscribers(feedName: string, subscriptions: Subscriptions): Subscribers {
  // Read once a poll: thousands of people have a channel each.
  let healths: ReturnType<Subscriptions["healths"]> | undefined;
  return {
    async subscriptions() {
      healths = undefined;
      return (await subscriptions.all()).filter((each) => each.feed === feedName);
    },
    async isHeard({ isPaused, channelId }) {
      if (isPaused) return false;
      healths ??= subscriptions.healths();
      return !(await healths).get(channelId)?.paused;
    },
  };
}

/**
 * Creates the runner of a feed's polls: the only code that commits what a poll has found. The findings and the deliveries that
 * they make due are one commit, so each announcement is delivered exactly once.
 */
export function createRunner(
  { feed, poll, keep }: RunningFeed,
  collections: readonly CollectionDefinition[],
  context: RunnerContext,
) {
  const { state, outbox, upkeep, subscriptions, janitor } = context;
  const { name } = feed.definition;
  const subscribers = createSubscribers(name, subscriptions);

  /** Returns a function that sends the deliveries that were committed. */
  const commit = async ({ events = [], writes = [], changed = [], ended = [] }: Findings) => {
    const deliveries = await outbox.prepare(feed, events);
    const deletions = await janitor.endSubjects(collections, ended);
    const batch = [...writes, ...deletions, ...deliveries.writes];
    if (batch.length > 0) await state.commit(batch);
    if (changed.length > 0) upkeep.touch(name, changed);
    return deliveries.release;
  };

  return {
    /** Polls once. @throws {StateError} @throws {ExplorerError} */
    async poll(): Promise<PollOutcome> {
      const steps = poll(subscribers);
      let step = await steps.next();
      while (!step.done) {
        const release = await commit(step.value);
        // The feed goes on first: the messages are rendered from what it knows once its findings are written.
        const nextStep = steps.next();
        release();
        step = await nextStep;
      }
      return step.value;
    },
    keep: keep && (() => keep(subscribers)),
  };
}
