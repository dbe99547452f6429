import type { Registry } from "prom-client";

/** How a read of the vote requests went: as far as it can bring news, in part, or not at all. */
export type PollOutcome = "done" | "partial" | "failed";

/** What happens is counted here; without a port to read it from, nothing is. */
export interface Metrics {
  /** @param name the command with its subcommand, `link` or `complete` */
  interaction(name: string, outcome: string, ms: number): void;
  read(endpoint: string, source: string): void;
  request(status: string, lane: string, ms: number, waitedMs: number): void;
  delivery(outcome: string, ageMs: number): void;
  poll(outcome: PollOutcome, ms: number): void;
  lease(held: boolean): void;
  /** What /metrics answers; undefined where nothing is counted. */
  readonly registry: Registry | undefined;
}

const nothing = () => {};
const NONE: Metrics = {
  interaction: nothing,
  read: nothing,
  request: nothing,
  delivery: nothing,
  poll: nothing,
  lease: nothing,
  registry: undefined,
};

/** In seconds: Discord wants an answer in 3, and people in less. */
const ANSWER_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2.5, 5, 10];
const DELIVERY_BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

/**
 * Prometheus metrics, names as docs/operating.md explains them. The library is loaded only where they can be read.
 * @param gateway how many shards are ready, of how many
 */
export async function createMetrics(
  wanted: boolean,
  gateway: () => { readonly ready: number; readonly all: number },
): Promise<Metrics> {
  if (!wanted) return NONE;
  // A CommonJS package has its names on its default once it is bundled.
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = (await import("prom-client"))
    .default;
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

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
    labelNames: ["endpoint", "source"],
    registers,
  });
  const requests = new Histogram({
    name: "crier_upstream_seconds",
    help: "Requests to the explorer by status and lane, without their wait in the queue",
    labelNames: ["status", "lane"],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  const waits = new Histogram({
    name: "crier_upstream_wait_seconds",
    help: "Time that requests to the explorer waited in the queue, by lane",
    labelNames: ["lane"],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  const deliveries = new Histogram({
    name: "crier_delivery_age_seconds",
    help: "Age of an announcement when it was delivered, given up or paused",
    labelNames: ["outcome"],
    buckets: DELIVERY_BUCKETS,
    registers,
  });
  const polls = new Histogram({
    name: "crier_poll_seconds",
    help: "Reads of the vote requests: done, partial or failed",
    labelNames: ["outcome"],
    buckets: ANSWER_BUCKETS,
    registers,
  });
  // A series that is born with its first event shows no increase: an alert on the first would never come.
  for (const outcome of ["delivered", "given-up", "paused"]) deliveries.zero({ outcome });
  for (const outcome of ["done", "partial", "failed"]) polls.zero({ outcome });
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
    read: (endpoint, source) => reads.inc({ endpoint, source }),
    request(status, lane, ms, waitedMs) {
      requests.observe({ status, lane }, ms / 1_000);
      waits.observe({ lane }, waitedMs / 1_000);
    },
    delivery: (outcome, ageMs) => deliveries.observe({ outcome }, ageMs / 1_000),
    poll: (outcome, ms) => polls.observe({ outcome }, ms / 1_000),
    lease: (held) => lease.set(held ? 1 : 0),
    registry,
  };
}
