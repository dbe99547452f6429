import type { PollSettings } from "./config.js";
import type { DeliveryContext } from "./delivery/context.js";
import { createDepartures } from "./delivery/departures.js";
import { createFarewells } from "./delivery/farewells.js";
import { createJanitor } from "./delivery/janitor.js";
import {
  collectionsOf,
  type FeedDeps,
  type FeedModule,
  type PollOutcome,
  type SelfReport,
} from "./delivery/module.js";
import { createOutbox } from "./delivery/outbox.js";
import { createRunner } from "./delivery/runner.js";
import { createSubscriptions, type FixedSubscription } from "./delivery/subscriptions.js";
import { createUpkeep } from "./delivery/upkeep.js";
import { createDirectoryFiller, DIRECTORY_MS } from "./directory/fill.js";
import { ExplorerError } from "./explorer/errors.js";
import { samplePrice } from "./ledger/price-history.js";
import { SAMPLE_MS } from "./ledger/prices.js";
import { createRoundsReader } from "./ledger/rounds.js";
import type { Log } from "./log.js";
import { createVitals } from "./ops/vitals.js";
import { type Lease, type LeasedWork, LeaseLost, leased } from "./storage/lease.js";
import type { State } from "./storage/state.js";
import { StateError } from "./storage/store.js";
import { createNotice } from "./util/notice.js";
import { type Job, repeat } from "./util/repeat.js";
import { unlessAborted, withTimeout } from "./util/timeouts.js";
import { DAY, HOUR, MINUTE, SECOND } from "./util/units.js";

/** Everything that the background work of a network needs. */
export interface BackgroundDeps
  extends Omit<FeedDeps, "self" | "state" | "lease" | "subscriptions" | "now">,
    Pick<DeliveryContext, "discordTime" | "onDelivered"> {
  readonly feeds: readonly FeedModule[];
  readonly state: State;
  /** Loads the stored names into the directory. */
  readonly loadDirectory: () => Promise<void>;
  /** Returns the subscriptions from the environment. They are complete only after the state has been read. */
  readonly environment: () => readonly FixedSubscription[];
  readonly polls: PollSettings;
  /** Reports the explorer's problems and undocumented answers. */
  readonly self: Omit<SelfReport, "waitingMs" | "unread">;
  readonly onPoll: (feed: string, outcome: PollOutcome, ms: number) => void;
  /** Receives a function that reads the age of the oldest waiting announcement in ms, and `undefined` at the end of the work. */
  readonly onWaiting: (read: (() => Promise<number>) | undefined) => void;
}

/** Interval at which delivered messages are updated, in ms. A run without changes sends no request. */
const UPKEEP_MS = SECOND;

/** Maximum time that announcements wait for the stored names, in ms. It is shorter than a lease. */
const NAMES_MS = 3 * SECOND;

/** Interval at which requested drills are picked up, in ms. */
const DRILLS_MS = SECOND;

/** Interval at which documents without a subscription are deleted, in ms. */
const SWEEP_MS = HOUR;
/** Longest interval at which the rounds are read, in ms, so that a standstill is noticed. */
const ROUNDS_MS = 5 * MINUTE;

/** The background work of one network. */
export interface Background extends LeasedWork {
  /** Describes the stalled jobs. Empty if all jobs are running. */
  stalled(): Promise<readonly string[]>;
}

/**
 * Creates the background work of one network: polling, comparing and announcing. It runs while this process holds the lease, and
 * is rebuilt for each lease.
 */
export function createBackground(deps: BackgroundDeps): Background {
  let work: ReturnType<typeof startWork> | undefined;
  return {
    async start(_, lease) {
      // Load stored names first, so that the first messages can use them. If that fails, messages show ids, and the loading job
      // logs the error.
      const namesLoaded = deps.loadDirectory().catch(() => {});
      await Promise.all([deps.names.load(), withTimeout(namesLoaded, NAMES_MS, () => undefined)]);
      work = startWork(deps, leased(deps.state, lease), lease);
    },
    stop: async () => work?.stop(),
    stalled: async () => work?.stalled() ?? ["it has not begun"],
  };
}

/**
 * Creates the daily chores that the lease holder does once for all networks.
 * @param chores each runs once a day
 */
export function createHousekeeping(
  chores: readonly ((state: State) => Promise<void>)[],
  log: Log,
  onLease: (held: boolean) => void,
): LeasedWork {
  let jobs: readonly Job[] = [];
  return {
    async start(state) {
      onLease(true);
      jobs = chores.map((chore) => repeat(() => chore(state), DAY, log));
    },
    async stop() {
      onLease(false);
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}

/** Describes the stalled jobs of all networks. */
export const stalledOf = async (backgrounds: readonly Background[]): Promise<readonly string[]> =>
  (await Promise.all(backgrounds.map((each) => each.stalled()))).flat();

function startWork(deps: BackgroundDeps, state: State, lease: Lease) {
  const { explorer, directory, names, polls, log, onDelivered, onPoll } = deps;
  const now = Date.now;
  const vitals = createVitals();
  const ending = new AbortController();
  const vitalFeeds = deps.feeds.flatMap(({ isVital, definition: { name }, pollMs }) =>
    isVital ? [{ name, pollMs: pollMs(polls) }] : [],
  );
  const self = {
    ...deps.self,
    waitingMs: (exceptFeed?: string) => outbox.waitingMs(exceptFeed),
    unread: () => vitals.late(vitalFeeds),
  };
  const subscriptions = createSubscriptions(state, deps.environment);
  const feedDeps: FeedDeps = { ...deps, state, lease, subscriptions, self, now };
  const runningFeeds = deps.feeds.map((feedModule) => {
    const pollMs = feedModule.pollMs(polls);
    return { feedModule, pollMs, ...feedModule.create(feedDeps, pollMs) };
  });
  const feeds = new Map(runningFeeds.map(({ feed }) => [feed.definition.name, feed]));
  const janitor = createJanitor(state, subscriptions, collectionsOf(deps.feeds));
  const context: DeliveryContext = {
    ...deps,
    state,
    lease,
    feeds,
    subscriptions,
    janitor,
    now,
    onDelivered(...delivered) {
      vitals.moved();
      onDelivered(...delivered);
    },
  };
  const outbox = createOutbox({ ...context, onRecorded: (ids) => upkeep.note(ids) });
  const upkeep = createUpkeep({ ...context, mayEdit: outbox.idle });
  outbox.wake();
  deps.onWaiting(() => outbox.waitingMs());

  /**
   * Starts a job. It ignores errors that are logged elsewhere: a lost lease (logged by the process that lost it), errors of the
   * state (by the store), and unsent requests to the explorer (by the circuit breaker). If the explorer does not answer, that is
   * logged once.
   */
  const job = (work: () => Promise<void>, everyMs: number, name: string, namedSlow = false) => {
    const unanswered = createNotice<unknown>(
      (err) =>
        log.warn(
          { err, job: name },
          "The explorer did not answer a background job; retrying at its next run",
        ),
      () => log.info({ job: name }, "The explorer answers the background job again"),
    );
    const run = async () => {
      await work();
      if (!ending.signal.aborted) unanswered.ends();
    };
    return repeat(run, everyMs, log, {
      name: namedSlow ? name : undefined,
      onError: (err) => {
        if (err instanceof LeaseLost || err instanceof StateError) return;
        if (err instanceof ExplorerError && err.unsent) return;
        if (err instanceof ExplorerError) unanswered.begins(err);
        else log.error({ err, job: name }, "A background job failed; retrying at its next run");
      },
    });
  };
  /**
   * Ends a job that reads the explorer as soon as the work stops, because it may wait for minutes. If another process has taken over,
   * it can no longer store anything.
   */
  const unlessEnded = <Result>(reading: Promise<Result>) => unlessAborted(reading, ending.signal);
  const feedJobs = (running: (typeof runningFeeds)[number]) => {
    const { feed, feedModule, pollMs } = running;
    const { name } = feed.definition;
    const { poll, keep } = createRunner(running, feedModule.collections ?? [], {
      ...context,
      outbox,
      upkeep,
    });
    const pollJob = job(
      async () => {
        const startedAt = performance.now();
        let outcome: PollOutcome | undefined = "failed";
        try {
          outcome = await unlessEnded(poll());
        } catch (err) {
          if (err instanceof StateError) {
            // The commit may have been written in spite of the error, and Redis may have lost an earlier one, so read everything again.
            for (const each of runningFeeds) each.reread?.();
            outbox.reread();
            upkeep.touch(name);
          }
          // A failed poll is no cause for alarm, because the next one finds the same news. If the explorer is down, its circuit
          // breaker logs it. It stays closed if the explorer answers something else, so that a feed that stays unread is logged.
          if (!(err instanceof ExplorerError) || vitals.late([{ name, pollMs }]).length > 0) throw err;
          log.debug({ err, feed: name }, "The explorer could not be read; trying again at the next poll");
        } finally {
          if (outcome !== undefined && outcome !== "failed") vitals.read(name);
          if (outcome !== undefined) onPoll(name, outcome, performance.now() - startedAt);
        }
      },
      pollMs,
      `poll of ${name}`,
      true,
    );
    return keep ? [pollJob, job(keep, pollMs, `upkeep of ${name}`)] : [pollJob];
  };

  const newestOnly = explorer.for("background", { maxAgeMs: 0 });
  const fillDirectory = createDirectoryFiller({
    directory,
    load: deps.loadDirectory,
    names,
    // Answers that people or feeds have just fetched are fresh enough. Pages that are read only for their names are not cached.
    explorer: explorer.for("background", { maxAgeMs: SAMPLE_MS, keep: false }),
    newest: newestOnly,
    state,
    ended: ending.signal,
  });
  const followers = new Set(
    deps.feeds.flatMap(({ definition, followsRounds }) => (followsRounds ? [definition.name] : [])),
  );
  const readNewestRound = createRoundsReader(newestOnly, state, now);
  const readRounds = async () =>
    readNewestRound((await subscriptions.all()).some(({ feed }) => followers.has(feed)));
  const jobs = [
    ...runningFeeds.flatMap(feedJobs),
    job(upkeep.run, UPKEEP_MS, "upkeep of messages"),
    job(outbox.pickUpDrills, DRILLS_MS, "pickup of drills"),
    job(createFarewells(context), UPKEEP_MS, "closing of messages"),
    job(() => unlessEnded(samplePrice(newestOnly, state, now)), SAMPLE_MS, "sample of the price"),
    job(
      () => unlessEnded(readRounds()),
      Math.min(polls.watchPollSeconds * SECOND, ROUNDS_MS),
      "reading of the rounds",
    ),
    job(() => unlessEnded(fillDirectory()), DIRECTORY_MS, "reading of names"),
    job(janitor.sweep, SWEEP_MS, "sweep of the state"),
    job(createDepartures({ ...context, stopping: ending.signal }), HOUR, "lookup of quiet channels"),
    outbox,
  ];
  return {
    stalled: async () => [...vitals.unread(vitalFeeds), ...vitals.stuck(await outbox.waitingMs())],
    async stop() {
      ending.abort();
      deps.onWaiting(undefined);
      await Promise.all(jobs.map((each) => each.stop()));
    },
  };
}
