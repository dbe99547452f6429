import type { CollectionDefinition } from "../storage/collection.js";
import { lazy } from "../util/single-flight.js";
import type { DeliveryContext } from "./context.js";
import { type Listeners, readListeners } from "./fan-out.js";
import type { Feed } from "./feed.js";
import type { Findings, PollOutcome, RunningFeed, Subscribers } from "./module.js";
import type { Outbox } from "./outbox.js";
import type { Subscriptions } from "./subscriptions.js";
import type { Upkeep } from "./upkeep.js";

interface RunnerContext extends Pick<DeliveryContext, "state" | "subscriptions" | "janitor" | "now"> {
  readonly outbox: Pick<Outbox, "prepare">;
  readonly upkeep: Pick<Upkeep, "touch">;
}

const NOBODY: Listeners = { all: [], byChannel: new Map() };

/** Creates the view of a feed's subscriptions for a poll. */
function createSubscribers({ definition: { name } }: Feed, { subscriptions, now }: RunnerContext) {
  const lazyListeners = () => lazy(() => readListeners(subscriptions, name, now()));
  // Read once per poll, because thousands of people have a channel each.
  let healths: ReturnType<Subscriptions["healths"]> | undefined;
  let listeners = lazyListeners();
  const subscribers: Subscribers = {
    async subscriptions() {
      healths = undefined;
      listeners = lazyListeners();
      return subscriptions.toFeed(name);
    },
    async isHeard({ isPaused, channelId }) {
      if (isPaused) return false;
      healths ??= subscriptions.healths();
      return !(await healths).get(channelId)?.paused;
    },
  };
  // Never older than the subscriptions that the feed has read, so that they include all channels for which it finds something.
  return { subscribers, listeners: () => listeners() };
}

/**
 * Creates the runner of a feed's polls, the only code that commits the findings of a poll. Findings and their
 * deliveries are one commit, so each announcement is recorded exactly once.
 */
export function createRunner(
  { feed, poll, keep }: RunningFeed,
  collections: readonly CollectionDefinition[],
  context: RunnerContext,
) {
  const { state, outbox, upkeep, janitor } = context;
  const { name } = feed.definition;

  /** Commits findings. Returns a function that sends their deliveries. */
  const commit = async (
    { events = [], writes = [], changed = [], ended = [] }: Findings,
    listeners: () => Promise<Listeners>,
  ) => {
    const deliveries = await outbox.prepare(feed, events, events.length > 0 ? await listeners() : NOBODY);
    const deletions = await janitor.endSubjects(collections, ended);
    const batch = [...writes, ...deletions, ...deliveries.writes];
    if (batch.length > 0) await state.commit(batch);
    if (changed.length > 0) upkeep.touch(name, changed);
    return deliveries.release;
  };

  return {
    /**
     * Polls once.
     * @throws {StateError}
     * @throws {ExplorerError}
     */
    async poll(): Promise<PollOutcome> {
      const { subscribers, listeners } = createSubscribers(feed, context);
      const steps = poll(subscribers);
      let step = await steps.next();
      while (!step.done) {
        const release = await commit(step.value, listeners);
        // Let the feed continue before sending, because messages are rendered from its data after the commit.
        const nextStep = steps.next();
        release();
        step = await nextStep;
      }
      return step.value;
    },
    keep: keep && (() => keep(createSubscribers(feed, context).subscribers)),
  };
}
