import type { Registry } from "prom-client";

/** Counters of one network. */
export interface NetworkMetrics {
  read(endpoint: string, source: string): void;
  request(outcome: { status: string; priority: string; ms: number; waitedMs: number }): void;
  delivery(feed: string, outcome: string, ageMs: number): void;
  poll(feed: string, outcome: string, ms: number): void;
  unforeseen(endpoint: string, field: string): void;
}

/** All counters. Without a port to read them from, they do not count. */
export interface Metrics {
  /** @param name the command with its subcommand, `link` or `complete` */
  interaction(name: string, outcome: string, ms: number): void;
  lease(held: boolean): void;
  /** Returns a network's counters, by its name in NETWORKS. */
  of(network: string | undefined): NetworkMetrics;
  /** The registry behind /metrics; `undefined` if metrics are off. */
  readonly registry: Registry | undefined;
}

const nothing = () => {};
const NONE: Metrics = {
  interaction: nothing,
  lease: nothing,
  of: () => ({ read: nothing, request: nothing, delivery: nothing, poll: nothing, unforeseen: nothing }),
  registry: undefined,
};

/** In seconds: Discord wants an answer in 3, and people in less. */
const ANSWER_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2.5, 5, 10];
const DELIVERY_BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

/**
 * Prometheus metrics, names as docs/operating.md explains them. The library is loaded only where they can be read.
 * @param feeds the names of what can be announced
 * @param networks the names of the networks; a label tells them apart if there are several
 * @param gateway how many shards are ready, of how many
 */
export async function createMetrics(
  wanted: boolean,
  feeds: readonly string[],
  networks: readonly (string | undefined)[],
  gateway: () => { readonly ready: number; readonly all: number },
): Promise<Metrics> {
  if (!wanted) return NONE;
  // A CommonJS package has its names on its default once it is bundled.
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
    help: "Age of an announcement when it was delivered, given up or paused, by feed",
    labelNames: ["feed", "outcome", ...perNetwork],
    buckets: DELIVERY_BUCKETS,
    registers,
  });
  const polls = new Histogram({
    name: "crier_poll_seconds",
    help: "Polls of a feed: done, partial or failed",
    labelNames: ["feed", "outcome", ...perNetwork],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  // A series that is born with its first event shows no increase: an alert on the first would never come.
  for (const of of networks.map(labelOf)) {
    for (const feed of feeds) {
      for (const outcome of ["delivered", "given-up", "paused"]) deliveries.zero({ ...of, feed, outcome });
      for (const outcome of ["done", "partial", "failed"]) polls.zero({ ...of, feed, outcome });
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
    interaction: (name, outcome, ms) => interactions.observe({ name, outcome }, ms / 1_000),
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
        poll: (feed, outcome, ms) => polls.observe({ ...label, feed, outcome }, ms / 1_000),
      };
    },
    registry,
  };
}
