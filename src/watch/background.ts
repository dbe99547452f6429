import type { REST } from "discord.js";
import type { IdKeys } from "../discord/links.js";
import { createPacer } from "../discord/pacer.js";
import type { Directory } from "../explorer/directory.js";
import { SAMPLE_MS } from "../explorer/prices.js";
import type { ExplorerService } from "../explorer/service.js";
import type { Log } from "../ops/log.js";
import type { Metrics, PollOutcome } from "../ops/metrics.js";
import type { LeasedWork } from "../storage/lease.js";
import type { State } from "../storage/state.js";
import { createDirectoryFiller, DIRECTORY_MS } from "./directory.js";
import { createEdits } from "./edits.js";
import { createGovernanceWatch } from "./governance.js";
import { createMaterials } from "./materials.js";
import { createOutbox } from "./outbox.js";
import { samplePrice } from "./prices.js";
import { repeat } from "./repeat.js";
import { createKnownRequests } from "./requests.js";
import type { Subscriptions } from "./subscriptions.js";

interface Parts {
  readonly state: State;
  readonly explorer: ExplorerService;
  readonly directory: Directory;
  /** Of its own, so that a thousand announcements do not stand before a person's answer. */
  readonly rest: REST;
  readonly subscriptions: Subscriptions;
  readonly keys: IdKeys;
  readonly pollMs: number;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** How often delivered messages are looked after, in ms: nothing is asked of anybody where nothing has changed. */
const UPKEEP_MS = 1_000;

/** The background work, as whoever holds the lease does it: read, compare, tell. Everything is built anew with each lease. */
export function createBackground({
  state,
  explorer,
  directory,
  rest,
  subscriptions,
  keys,
  pollMs,
  metrics,
  log,
}: Parts): LeasedWork {
  let stop = async () => {};
  return {
    async start(lease) {
      const requests = createKnownRequests(state);
      const pacer = createPacer();
      const materials = createMaterials({
        explorer: explorer.for("background", { maxAgeMs: 10_000 }),
        keys,
        known: requests.get,
      });
      const shared = { state, lease, rest, pacer, materials, log };
      const outbox = createOutbox({
        ...shared,
        subscriptions,
        keys,
        onTodo: () => edits.touch(),
        onDelivered: metrics.delivery,
      });
      const edits = createEdits({ ...shared, known: requests.get, mayEdit: outbox.idle });
      const watch = createGovernanceWatch({
        explorer: explorer.for("background", { maxAgeMs: 0 }),
        state,
        lease,
        subscriptions,
        outbox,
        edits,
        requests,
        pollMs,
        log,
      });
      outbox.wake();
      metrics.lease(true);
      const poll = async () => {
        const startedAt = performance.now();
        let outcome: PollOutcome = "failed";
        try {
          outcome = await watch.poll();
        } finally {
          metrics.poll(outcome, performance.now() - startedAt);
        }
      };
      const polling = repeat(poll, pollMs, log, "reading of the vote requests");
      const upkeep = repeat(edits.run, UPKEEP_MS, log);
      // What people or the watch have just read will do; fifty pages that nobody asked for are not kept.
      const casual = explorer.for("background", { maxAgeMs: SAMPLE_MS, keep: false });
      const sampling = repeat(
        () => samplePrice(explorer.for("background", { maxAgeMs: 0 }), state, lease),
        SAMPLE_MS,
        log,
      );
      const ending = new AbortController();
      const fill = createDirectoryFiller({
        directory,
        explorer: casual,
        state,
        lease,
        log,
        ended: ending.signal,
      });
      const filling = repeat(fill, DIRECTORY_MS, log);
      stop = async () => {
        metrics.lease(false);
        ending.abort();
        const jobs = [polling, upkeep, sampling, filling, outbox];
        await Promise.all(jobs.map((job) => job.stop()));
      };
    },
    stop: () => stop(),
  };
}
