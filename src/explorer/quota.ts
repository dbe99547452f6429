import { ExplorerError } from "./errors.js";

/** Who a request is for: a person who waits, or the bot's own work. */
export type Lane = "people" | "background";

/** What share of the requests each lane may count on; each may also use what the other leaves. */
const SHARES: Readonly<Record<Lane, number>> = { people: 0.75, background: 0.25 };

/** Where the right to send a request comes from. */
export interface Tokens {
  /** Takes one: 0 when it was there, else the ms after which to ask again. */
  take(lane: Lane): number | Promise<number>;
}

/** A bucket's numbers: its income in tokens a ms, and how many it holds at most, by lane. */
export function bucketOf(perMinute: number): Readonly<Record<Lane, { rate: number; most: number }>> {
  const burst = perMinute / 12;
  const of = (lane: Lane) => ({
    rate: (perMinute / 60_000) * SHARES[lane],
    most: Math.max(1, burst * SHARES[lane]),
  });
  return { people: of("people"), background: of("background") };
}

/**
 * A token bucket for each lane. What a full bucket would earn flows into the other one, so an idle lane's share is
 * the other's to use, and a busy one keeps its own.
 */
export function createTokens(perMinute: number, now: () => number = Date.now): Tokens {
  const bucket = bucketOf(perMinute);
  const level = { people: bucket.people.most, background: bucket.background.most };
  let filledAt = now();

  const fill = () => {
    const elapsed = Math.max(0, now() - filledAt);
    filledAt = now();
    let spilled = 0;
    for (const lane of ["people", "background"] as const) {
      const next = level[lane] + bucket[lane].rate * elapsed;
      level[lane] = Math.min(bucket[lane].most, next);
      spilled += next - level[lane];
    }
    for (const lane of ["people", "background"] as const) {
      const taken = Math.min(spilled, bucket[lane].most - level[lane]);
      level[lane] += taken;
      spilled -= taken;
    }
  };

  return {
    take(lane) {
      fill();
      if (level[lane] < 1) return Math.ceil((1 - level[lane]) / (perMinute / 60_000));
      level[lane] -= 1;
      return 0;
    },
  };
}

/** A pause that is longer than a person waits fails their requests at once, in ms. */
const LONGEST_WAIT_MS = 8_000;

const heldError = () => new ExplorerError("limited", "The explorer asked for a pause", { unsent: true });

interface Job {
  readonly start: () => Promise<void>;
  readonly fail: (error: ExplorerError) => void;
}

/** The one queue that every upstream request passes. */
export interface Quota {
  /**
   * Runs a task when its lane's turn has come.
   * @param hurry moves it to the people's lane: somebody waits for it now
   * @throws {ExplorerError} "busy" when the signal aborts first; whatever the task throws
   */
  run<T>(lane: Lane, task: () => Promise<T>, signal: AbortSignal, hurry?: AbortSignal): Promise<T>;
  /** Starts nothing for so many ms: the explorer asked for a pause. */
  hold(ms: number): void;
  /** Fails everything that waits. */
  clear(error: ExplorerError): void;
  /** Tasks that wait, by lane. */
  waiting(lane: Lane): number;
}

interface Options {
  readonly tokens: Tokens;
  /** Tasks under way at once. */
  readonly concurrency: number;
  readonly now?: () => number;
}

export function createQuota({ tokens, concurrency, now = Date.now }: Options): Quota {
  const queues: Record<Lane, Set<Job>> = { people: new Set(), background: new Set() };
  const running: Record<Lane, number> = { people: 0, background: 0 };
  // One place stays free for a person while the background is busy, and one for the background.
  const places: Record<Lane, number> = {
    people: concurrency,
    background: Math.max(1, concurrency - 1),
  };
  let heldUntil = 0;
  let wake: NodeJS.Timeout | undefined;
  let pumping = false;
  let again = false;
  /** Started since both lanes last had something waiting. */
  let served: Record<Lane, number> = { people: 0, background: 0 };

  const mayStart = (lane: Lane): boolean => {
    if (queues[lane].size === 0 || running.people + running.background >= concurrency) return false;
    const other = lane === "people" ? "background" : "people";
    const kept =
      lane === "people" && concurrency > 1 && queues[other].size > 0 && running[other] === 0 ? 1 : 0;
    return running[lane] < places[lane] - kept;
  };

  const sleep = (ms: number) => {
    clearTimeout(wake);
    wake = setTimeout(pump, ms);
  };

  const startOne = (lane: Lane) => {
    const [job] = queues[lane];
    if (job === undefined) return;
    queues[lane].delete(job);
    running[lane] += 1;
    const contested = queues.people.size > 0 && queues.background.size > 0;
    served = contested ? { ...served, [lane]: served[lane] + 1 } : { people: 0, background: 0 };
    job.start().finally(() => {
      running[lane] -= 1;
      pump();
    });
  };

  /** Starts the next job; gives the ms to sleep, or undefined when there is nothing to wait for but a job's end. */
  const step = async (): Promise<number | undefined> => {
    let soonest: number | undefined;
    const owed = served.background * SHARES.people < served.people * SHARES.background;
    for (const lane of owed ? (["background", "people"] as const) : (["people", "background"] as const)) {
      if (!mayStart(lane)) continue;
      const held = heldUntil - now();
      const wait = held > 0 ? held : await tokens.take(lane);
      if (wait <= 0) {
        startOne(lane);
        return 0;
      }
      soonest = Math.min(soonest ?? wait, wait);
    }
    return soonest;
  };

  function pump(): void {
    again = true;
    if (pumping) return;
    pumping = true;
    void (async () => {
      let wait: number | undefined;
      while (again || wait === 0) {
        again = false;
        wait = await step();
      }
      pumping = false;
      if (wait !== undefined) sleep(wait);
    })();
  }

  return {
    run: (lane, task, signal, hurry) =>
      new Promise((resolve, reject) => {
        const settle = () => {
          signal.removeEventListener("abort", leave);
          hurry?.removeEventListener("abort", overtake);
        };
        const job: Job = {
          start: async () => {
            settle();
            try {
              resolve(await task());
            } catch (error) {
              reject(error);
            }
          },
          fail: (error) => {
            settle();
            reject(error);
          },
        };
        const leave = () => {
          for (const queue of Object.values(queues)) queue.delete(job);
          job.fail(new ExplorerError("busy", "The queue was too long", { unsent: true }));
        };
        const overtake = () => {
          if (queues.background.delete(job)) queues.people.add(job);
          pump();
        };
        if (signal.aborted) {
          leave();
          return;
        }
        if (lane === "people" && heldUntil - now() > LONGEST_WAIT_MS) {
          job.fail(heldError());
          return;
        }
        signal.addEventListener("abort", leave, { once: true });
        hurry?.addEventListener("abort", overtake, { once: true });
        queues[hurry?.aborted ? "people" : lane].add(job);
        pump();
      }),
    hold(ms) {
      heldUntil = Math.max(heldUntil, now() + ms);
      if (ms <= LONGEST_WAIT_MS) return;
      // Nobody waits that long.
      const jobs = [...queues.people];
      queues.people.clear();
      for (const job of jobs) job.fail(heldError());
    },
    clear(error) {
      for (const queue of Object.values(queues)) {
        const jobs = [...queue];
        queue.clear();
        for (const job of jobs) job.fail(error);
      }
    },
    waiting: (lane) => queues[lane].size,
  };
}
