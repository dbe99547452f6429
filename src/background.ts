import type { REST } from "discord.js";
import type { Charts } from "./charts/charts.js";
import type { PollSettings } from "./config.js";
import type { OnDelivered } from "./delivery/deliver.js";
import type { Feed, FeedModule, PollOutcome, Publisher, RunningFeed, SelfReport } from "./delivery/feed.js";
import { createOutbox } from "./delivery/outbox.js";
import { createSubscriptions, type FixedSubscription } from "./delivery/subscriptions.js";
import { createUpkeep } from "./delivery/upkeep.js";
import type { Directory } from "./directory/directory.js";
import { createDirectoryFiller, DIRECTORY_MS } from "./directory/fill.js";
import type { Names } from "./directory/names.js";
import type { Renderer } from "./discord/message.js";
import type { Pacer } from "./discord/pacer.js";
import { ExplorerError } from "./explorer/errors.js";
import type { ExplorerService } from "./explorer/service.js";
import { samplePrice } from "./ledger/price-history.js";
import { SAMPLE_MS } from "./ledger/prices.js";
import type { Log } from "./log.js";
import { createVitals } from "./ops/vitals.js";
import { type Lease, type LeasedState, type LeasedWork, LeaseLost, leased } from "./storage/lease.js";
import type { State } from "./storage/state.js";
import { StateError } from "./storage/store.js";
import { createNotice } from "./util/notice.js";
import { type Job, repeat } from "./util/repeat.js";
import { withTimeout } from "./util/timeouts.js";
import { DAY, SECOND } from "./util/units.js";

/** What the background work of one network is made of. */
export interface BackgroundDeps {
  readonly feeds: readonly FeedModule[];
  /** The network's own. */
  readonly state: State;
  readonly explorer: ExplorerService;
  readonly directory: Directory;
  /** Takes over the names that the state keeps. */
  readonly loadDirectory: () => Promise<void>;
  readonly names: Names;
  /** Of its own, so that a thousand announcements do not stand before a person's answer. */
  readonly rest: REST;
  /** Spaces the requests of all networks out. */
  readonly pacer: Pacer;
  /** What time it is at Discord, epoch ms. */
  readonly discordTime: () => number;
  /** Known once the state has been read. */
  readonly environment: () => readonly FixedSubscription[];
  readonly renderer: Renderer;
  readonly charts: Charts;
  readonly polls: PollSettings;
  /** What ails the explorer, and what it answers otherwise than documented. */
  readonly self: Omit<SelfReport, "waitingMs">;
  readonly log: Log;
  readonly onDelivered: OnDelivered;
  readonly onPoll: (feed: string, outcome: PollOutcome, ms: number) => void;
}

/** How often delivered messages are looked after, in ms: where nothing has changed, that takes no request. */
const UPKEEP_MS = SECOND;

/** Announcements wait so long for the names that are kept, in ms: less than a lease lasts. */
const NAMES_MS = 3 * SECOND;

/** How often drills are looked for that somebody asked for, in ms. */
const DRILLS_MS = SECOND;

/** The background work of one network. */
export interface Background extends LeasedWork {
  /** What does not go on, in words; empty where all does. */
  stalled(): Promise<readonly string[]>;
}

/**
 * The background work of one network, as whoever holds the lease does it: read, compare, announce. Everything is built anew with
 * each lease.
 */
export function createBackground(deps: BackgroundDeps): Background {
  let stop = async () => {};
  let stalled: Background["stalled"] = async () => ["it has not begun"];
  return {
    async start(_, lease) {
      // What is kept of names comes before anything that says them; where it cannot be read, ids must do, and its own job says so.
      const named = deps.loadDirectory().catch(() => {});
      await Promise.all([deps.names.load(), withTimeout(named, NAMES_MS, () => undefined)]);
      const work = startWork(deps, leased(deps.state, lease), lease);
      stop = () => work.stop();
      stalled = () => work.stalled();
    },
    stop: () => stop(),
    stalled: () => stalled(),
  };
}

/**
 * What whoever holds the lease does besides, once for all networks.
 * @param chores done once a day
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

/** What does not go on, of all networks. */
export const stalledOf = async (backgrounds: readonly Background[]): Promise<readonly string[]> =>
  (await Promise.all(backgrounds.map((each) => each.stalled()))).flat();

function startWork(deps: BackgroundDeps, state: LeasedState, lease: Lease) {
  const { explorer, directory, names, rest, discordTime, renderer, charts, polls, log, onDelivered, onPoll } =
    deps;
  const now = Date.now;
  const vitals = createVitals();
  const self = { ...deps.self, waitingMs: (but?: string) => outbox.waitingMs(but) };
  const running = deps.feeds.map((feed) => {
    const pollMs = feed.pollMs(polls);
    const created = feed.create(
      { explorer, state, renderer, charts, directory, names, rest, self, log, now },
      pollMs,
    );
    return { ...created, pollMs, isVital: feed.isVital ?? false };
  });
  const feeds = new Map(running.map(({ feed }) => [feed.definition.name, feed]));
  const subscriptions = createSubscriptions(state, deps.environment);
  const shared = { state, lease, rest, renderer, pacer: deps.pacer, feeds, subscriptions, log, now };
  const outbox = createOutbox({
    ...shared,
    discordTime,
    onDelivered(...delivered) {
      vitals.moved();
      onDelivered(...delivered);
    },
    onRecorded: (ids) => upkeep.note(ids),
  });
  const upkeep = createUpkeep({ ...shared, mayEdit: outbox.idle });
  outbox.wake();

  /**
   * A job that ends quietly where the lease is lost: the process that lost it says so, and stops them all. That the explorer
   * does not answer it is said once; of an explorer that is left alone altogether, its breaker has said so, and of a state that
   * cannot be read or written, its store.
   */
  const job = (work: () => Promise<void>, everyMs: number, name: string, namedSlow = false) => {
    const unanswered = createNotice<unknown>(
      (err) =>
        log.warn(
          { err, job: name },
          "A background job gets no answer from the explorer; it runs again at its time",
        ),
      () => log.info({ job: name }, "A background job is answered by the explorer again"),
    );
    const run = async () => {
      await work();
      unanswered.ends();
    };
    return repeat(run, everyMs, log, {
      ...(namedSlow ? { name } : {}),
      onError: (err) => {
        if (err instanceof LeaseLost || err instanceof StateError) return;
        if (err instanceof ExplorerError && err.unsent) return;
        if (err instanceof ExplorerError) unanswered.begins(err);
        else log.error({ err, job: name }, "A background job failed; it runs again at its time");
      },
    });
  };
  const publisherOf = (feed: Feed): Publisher => {
    const { name } = feed.definition;
    return {
      subscriptions: async () => (await subscriptions.all()).filter((each) => each.feed === name),
      isHeard: async ({ isPaused, channelId }) =>
        !isPaused && !(await subscriptions.health(channelId)).paused,
      prepare: (events) => outbox.prepare(feed, events),
      touch: (subjects) => upkeep.touch(name, subjects),
    };
  };
  type Polled = RunningFeed & { readonly pollMs: number };
  const keepJob = ({ feed, keep, pollMs }: Polled) => {
    const publisher = publisherOf(feed);
    return keep ? [job(() => keep(publisher), pollMs, `upkeep of ${feed.definition.name}`)] : [];
  };
  const pollJob = ({ feed, poll, pollMs }: Polled) => {
    const { name } = feed.definition;
    const publisher = publisherOf(feed);
    return job(
      async () => {
        const startedAt = performance.now();
        let outcome: PollOutcome = "failed";
        try {
          outcome = await poll(publisher);
        } catch (err) {
          if (err instanceof StateError) {
            // Nobody knows whether it was written: what waits, and what is shown, is looked at anew.
            outbox.reread();
            upkeep.touch(name);
          }
          // Each later poll brings the same news: one that fails is no cause for alarm, and its breaker says what is.
          if (!(err instanceof ExplorerError)) throw err;
          log.debug({ err, feed: name }, "The explorer could not be read; trying again at the next poll");
        } finally {
          if (outcome !== "failed") vitals.read(name);
          onPoll(name, outcome, performance.now() - startedAt);
        }
      },
      pollMs,
      `poll of ${name}`,
      true,
    );
  };

  const ending = new AbortController();
  const fill = createDirectoryFiller({
    directory,
    load: deps.loadDirectory,
    names,
    // What people or the feeds have just read will do; fifty pages that nobody wants are not kept.
    explorer: explorer.for("background", { maxAgeMs: SAMPLE_MS, keep: false }),
    state,
    ended: ending.signal,
  });
  const newest = explorer.for("background", { maxAgeMs: 0 });
  const jobs = [
    ...running.map(pollJob),
    ...running.flatMap(keepJob),
    job(upkeep.run, UPKEEP_MS, "upkeep of messages"),
    job(outbox.takeUpDrills, DRILLS_MS, "taking up of drills"),
    job(() => samplePrice(newest, state), SAMPLE_MS, "sample of the price"),
    job(fill, DIRECTORY_MS, "reading of names"),
    outbox,
  ];
  return {
    stalled: async () => [
      ...vitals.unread(
        running.flatMap(({ feed, pollMs, isVital }) =>
          isVital ? [{ name: feed.definition.name, pollMs }] : [],
        ),
      ),
      ...vitals.stuck(await outbox.waitingMs()),
    ],
    async stop() {
      ending.abort();
      await Promise.all(jobs.map((each) => each.stop()));
    },
  };
}
