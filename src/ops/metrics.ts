import { setTimeout as delay } from "node:timers/promises";
import type { Registry } from "prom-client";

/** Metrics of one network. */
export interface NetworkMetrics {
  read(endpoint: string, source: string): void;
  request(outcome: { status: string; priority: string; ms: number; waitedMs: number }): void;
  delivery(feed: string, outcome: string, ageMs: number): void;
  poll(feed: string, outcome: string, ms: number): void;
  unforeseen(endpoint: string, field: string): void;
  keyRefused(isRefused: boolean): void;
  /** Receives a function that reads the age of the oldest waiting announcement in ms. `undefined` while another process sends them. */
  waiting(read: (() => Promise<number>) | undefined): void;
}

/** All metrics. They are disabled if no port is configured to read them from. */
export interface Metrics {
  /** Records an interaction. @param name the command with its subcommand, `link` or `complete` */
  interaction(name: string, outcome: string, ms: number): void;
  lease(held: boolean): void;
  /** Returns the metrics of a network by its name in NETWORKS. */
  of(network: string | undefined): NetworkMetrics;
  /** The registry behind /metrics; `undefined` if metrics are off. */
  readonly registry: Registry | undefined;
}

const nothing = () => {};
const NONE: Metrics = {
  interaction: nothing,
  lease: nothing,
  of: () => ({
    read: nothing,
    request: nothing,
    delivery: nothing,
    poll: nothing,
    unforeseen: nothing,
    keyRefused: nothing,
    waiting: nothing,
  }),
  registry: undefined,
};

/** Outcomes of an interaction that are the bot's fault, or its state's. */
const FAILURES: ReadonlySet<string> = new Set(["error", "late", "storage"]);

/** Histogram buckets in seconds. Discord expects an answer within 3 s, and people expect it sooner. */
const ANSWER_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2.5, 5, 10];
/** Maximum time that /metrics waits for the state, in ms. */
const STATE_MS = 1_000;
const DELIVERY_BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

/**
 * Creates the Prometheus metrics (docs/operating.md). The library is loaded only if they are wanted.
 * @param feeds names of the feeds
 * @param networks names of the networks. If there are several, the metrics have a `network` label
 * @param gateway returns the number of ready shards, and of all shards
 */
export async function createMetrics(
  wanted: boolean,
  feeds: readonly string[],
  networks: readonly (string | undefined)[],
  gateway: () => { readonly ready: number; readonly all: number },
): Promise<Metrics> {
  if (!wanted) return NONE;
  // In the bundle, the exports of a CommonJS package are on its default export.
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = (await import("prom-client"))
    .default;
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const perNetwork = networks.length > 1 ? ["network"] : [];
  const labelOf = (network: string | undefined) => (networks.length > 1 && network ? { network } : {});

  const interactions = new Histogram({
    name: "crier_interaction_seconds",
    help: "Time from an interaction's arrival to its answer, by command and outcome",
    labelNames: ["name", "outcome"],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  const failures = new Counter({
    name: "crier_interaction_failures_total",
    help: "Interactions that ended with error, late or storage",
    labelNames: ["outcome"],
    registers,
  });
  // The series of `interactions` are too many to start at zero.
  for (const outcome of FAILURES) failures.inc({ outcome }, 0);
  const reads = new Counter({
    name: "crier_reads_total",
    help: "Readings by endpoint and by where they came from: memory, redis, stale or upstream",
    labelNames: ["endpoint", "source", ...perNetwork],
    registers,
  });
  const unforeseen = new Counter({
    name: "crier_unforeseen_total",
    help: "Answers that differ from the explorer's documentation, by endpoint and field",
    labelNames: ["endpoint", "field", ...perNetwork],
    registers,
  });
  const refusedKeys = new Gauge({
    name: "crier_explorer_key_refused",
    help: "1 while the explorer refuses the API key",
    labelNames: perNetwork,
    registers,
  });
  const requests = new Histogram({
    name: "crier_upstream_seconds",
    help: "Requests to the explorer by status and priority, without their wait in the queue",
    labelNames: ["status", "priority", ...perNetwork],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  const waits = new Histogram({
    name: "crier_upstream_wait_seconds",
    help: "Time that requests to the explorer waited in the queue, by priority",
    labelNames: ["priority", ...perNetwork],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  const deliveries = new Histogram({
    name: "crier_delivery_age_seconds",
    help: "Age of an announcement when it was delivered, given up, paused or refused by a person, by feed",
    labelNames: ["feed", "outcome", ...perNetwork],
    buckets: DELIVERY_BUCKETS,
    registers,
  });
  const waiting = new Map<string, () => Promise<number>>();
  new Gauge({
    name: "crier_delivery_waiting_seconds",
    help: "Age of the oldest announcement that could be sent and was not",
    labelNames: perNetwork,
    registers,
    async collect() {
      const readOne = async (network: string | undefined) => {
        const reading = waiting.get(network ?? "")?.() ?? 0;
        // The last value stays if the state cannot be read in time. The other metrics do not wait for it.
        const timeout = delay(STATE_MS, undefined, { ref: false });
        const waitedMs = await Promise.race([reading, timeout]).catch(() => undefined);
        if (waitedMs !== undefined) this.set(labelOf(network), waitedMs / 1_000);
      };
      await Promise.all(networks.map(readOne));
    },
  });
  const polls = new Histogram({
    name: "crier_poll_seconds",
    help: "Polls of a feed: done, partial or failed",
    labelNames: ["feed", "outcome", ...perNetwork],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  // Start all series at zero. A series that starts with its first event shows no increase, so an alert would miss that event.
  for (const label of networks.map(labelOf)) {
    refusedKeys.set(label, 0);
    for (const feed of feeds) {
      for (const outcome of ["delivered", "given-up", "paused", "refused"])
        deliveries.zero({ ...label, feed, outcome });
      for (const outcome of ["done", "partial", "failed"]) polls.zero({ ...label, feed, outcome });
    }
  }
  const lease = new Gauge({
    name: "crier_lease_held",
    help: "1 while this process does the background work",
    registers,
  });
  new Gauge({
    name: "crier_shards_ready",
    help: "Shards of this process that are connected to the gateway",
    registers,
    collect() {
      this.set(gateway().ready);
    },
  });
  new Gauge({
    name: "crier_shards",
    help: "Shards that this process runs",
    registers,
    collect() {
      this.set(gateway().all);
    },
  });

  return {
    interaction(name, outcome, ms) {
      interactions.observe({ name, outcome }, ms / 1_000);
      if (FAILURES.has(outcome)) failures.inc({ outcome });
    },
    lease: (held) => lease.set(held ? 1 : 0),
    of(network) {
      const label = labelOf(network);
      return {
        read: (endpoint, source) => reads.inc({ ...label, endpoint, source }),
        request({ status, priority, ms, waitedMs }) {
          requests.observe({ ...label, status, priority }, ms / 1_000);
          waits.observe({ ...label, priority }, waitedMs / 1_000);
        },
        delivery: (feed, outcome, ageMs) => deliveries.observe({ ...label, feed, outcome }, ageMs / 1_000),
        unforeseen: (endpoint, field) => unforeseen.inc({ ...label, endpoint, field }),
        waiting(read) {
          if (read) waiting.set(network ?? "", read);
          else waiting.delete(network ?? "");
        },
        keyRefused: (isRefused) => refusedKeys.set(label, isRefused ? 1 : 0),
        poll: (feed, outcome, ms) => polls.observe({ ...label, feed, outcome }, ms / 1_000),
      };
    },
    registry,
  };
}
