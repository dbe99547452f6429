import { type Budget, type Priority, SHARES } from "./budget.js";
import { ExplorerError } from "./errors.js";

/** A pause that is longer than a person waits fails their requests at once, in ms. */
const MAX_WAIT_MS = 8_000;

const pausedError = () => new ExplorerError("limited", "The explorer wants a pause", { unsent: true });

interface Task {
  readonly start: () => Promise<void>;
  readonly fail: (error: ExplorerError) => void;
}

/** The one queue that every upstream request passes. */
export interface RequestQueue {
  /**
   * Does work when the turn of its priority has come.
   * @param promote gives it the priority of people: somebody waits for it now
   * @throws {ExplorerError} "busy" when the signal aborts first; whatever the work throws
   */
  run<T>(priority: Priority, work: () => Promise<T>, signal: AbortSignal, promote?: AbortSignal): Promise<T>;
  /** Starts nothing for so many ms: the explorer wants a pause. */
  pause(ms: number): void;
  /** Fails everything that waits. */
  clear(error: ExplorerError): void;
  /** Tasks that wait, by priority. */
  waiting(priority: Priority): number;
}

interface QueueOptions {
  readonly budget: Budget;
  /** Tasks under way at once. */
  readonly concurrency: number;
  readonly now?: () => number;
}

/** A queue that starts no more than the budget and `concurrency` allow, people's requests first. */
export function createQueue({
  budget,
  concurrency,
  now = () => performance.now(),
}: QueueOptions): RequestQueue {
  const queues: Record<Priority, Set<Task>> = { people: new Set(), background: new Set() };
  const running: Record<Priority, number> = { people: 0, background: 0 };
  // One place stays free for a person while the background is busy, and one for the background.
  const places: Record<Priority, number> = {
    people: concurrency,
    background: Math.max(1, concurrency - 1),
  };
  let pausedUntil = 0;
  let wake: NodeJS.Timeout | undefined;
  let pumping = false;
  let again = false;
  /** Started since both priorities last had something waiting. */
  let served: Record<Priority, number> = { people: 0, background: 0 };

  const mayStart = (priority: Priority): boolean => {
    if (queues[priority].size === 0 || running.people + running.background >= concurrency) return false;
    const other = priority === "people" ? "background" : "people";
    const kept =
      priority === "people" && concurrency > 1 && queues[other].size > 0 && running[other] === 0 ? 1 : 0;
    return running[priority] < places[priority] - kept;
  };

  const sleep = (ms: number) => {
    clearTimeout(wake);
    wake = setTimeout(pump, ms);
  };

  const startOne = (priority: Priority) => {
    const [task] = queues[priority];
    if (task === undefined) return;
    queues[priority].delete(task);
    running[priority] += 1;
    const contested = queues.people.size > 0 && queues.background.size > 0;
    served = contested ? { ...served, [priority]: served[priority] + 1 } : { people: 0, background: 0 };
    task.start().finally(() => {
      running[priority] -= 1;
      pump();
    });
  };

  /** Starts the next task; gives the ms to sleep, or undefined when there is nothing to wait for but the end of one. */
  const step = async (): Promise<number | undefined> => {
    let soonest: number | undefined;
    const owed = served.background * SHARES.people < served.people * SHARES.background;
    for (const priority of owed ? (["background", "people"] as const) : (["people", "background"] as const)) {
      if (!mayStart(priority)) continue;
      const paused = pausedUntil - now();
      const wait = paused > 0 ? paused : await budget.take(priority);
      if (wait <= 0) {
        startOne(priority);
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
    run: (priority, work, signal, promote) =>
      new Promise((resolve, reject) => {
        const settle = () => {
          signal.removeEventListener("abort", leave);
          promote?.removeEventListener("abort", toFront);
        };
        const task: Task = {
          start: async () => {
            settle();
            try {
              resolve(await work());
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
          for (const queue of Object.values(queues)) queue.delete(task);
          task.fail(new ExplorerError("busy", "The queue was too long", { unsent: true }));
        };
        const toFront = () => {
          if (queues.background.delete(task)) queues.people.add(task);
          pump();
        };
        if (signal.aborted) {
          leave();
          return;
        }
        if (priority === "people" && pausedUntil - now() > MAX_WAIT_MS) {
          task.fail(pausedError());
          return;
        }
        signal.addEventListener("abort", leave, { once: true });
        promote?.addEventListener("abort", toFront, { once: true });
        queues[promote?.aborted ? "people" : priority].add(task);
        pump();
      }),
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, now() + ms);
      if (ms <= MAX_WAIT_MS) return;
      // Nobody waits that long.
      const all = [...queues.people];
      queues.people.clear();
      for (const task of all) task.fail(pausedError());
    },
    clear(error) {
      for (const queue of Object.values(queues)) {
        const all = [...queue];
        queue.clear();
        for (const task of all) task.fail(error);
      }
    },
    waiting: (priority) => queues[priority].size,
  };
}
