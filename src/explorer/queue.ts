import { createTurns } from "../util/turns.js";
import { type Budget, type Priority, SHARES } from "./budget.js";
import { ExplorerError } from "./errors.js";
import type { Waiters } from "./waiters.js";

/** A pause that is longer than a person waits fails their requests at once, in ms. */
const MAX_WAIT_MS = 8_000;

const pausedError = () => new ExplorerError("limited", "The explorer wants a pause", { unsent: true });

interface Task {
  /** Whether somebody who waits for it may send one more. */
  readonly isAllowed: () => boolean;
  readonly start: () => Promise<void>;
  readonly fail: (error: ExplorerError) => void;
}

/** The one queue that every upstream request passes. */
export interface RequestQueue {
  /**
   * Does work once it is the turn of somebody who waits for it.
   * @param isAllowed whether any of those may send one more: asked when the turn has come, before anything of the budget is taken
   * @throws {ExplorerError} "busy" when the signal aborts first, "spent" where it is not allowed; whatever the work throws
   */
  run<T>(
    waiters: Waiters,
    work: () => Promise<T>,
    signal: AbortSignal,
    isAllowed?: () => boolean,
  ): Promise<T>;
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

/** The one line of the background. */
const BACKGROUND = "";

/**
 * A queue that starts no more than the budget and `concurrency` allow, people's requests first. People take turns: nobody
 * waits for more than one request of each of the others, however many one of them has made.
 */
export function createQueue({
  budget,
  concurrency,
  now = () => performance.now(),
}: QueueOptions): RequestQueue {
  const queues = { people: createTurns<Task>(), background: createTurns<Task>() } as const;
  const running: Record<Priority, number> = { people: 0, background: 0 };
  /** How many are under way for each person. */
  const runningFor = new Map<string, number>();
  // One place stays free for another person, too.
  const isWithinShare = (line: string): boolean =>
    line === BACKGROUND || (runningFor.get(line) ?? 0) < Math.max(1, concurrency - 1);
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

  const leaveAll = (task: Task) => {
    for (const queue of Object.values(queues)) queue.delete(task);
  };
  /** The one whose turn it is; those that nobody may send leave the queue. */
  const peek = (priority: Priority): Task | undefined => {
    for (;;) {
      const task = queues[priority].peek(isWithinShare);
      if (!task || task.isAllowed()) return task;
      leaveAll(task);
      task.fail(
        new ExplorerError("spent", "Everybody who waits has used up their requests", { unsent: true }),
      );
    }
  };

  const mayStart = (priority: Priority): boolean => {
    if (running.people + running.background >= concurrency) return false;
    if (!peek(priority)) return false;
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
    const turn = queues[priority].next(isWithinShare);
    if (!turn) return;
    const { line, item: task } = turn;
    leaveAll(task);
    running[priority] += 1;
    runningFor.set(line, (runningFor.get(line) ?? 0) + 1);
    const contested = queues.people.size > 0 && queues.background.size > 0;
    served = contested ? { ...served, [priority]: served[priority] + 1 } : { people: 0, background: 0 };
    task.start().finally(() => {
      running[priority] -= 1;
      const left = (runningFor.get(line) ?? 0) - 1;
      if (left > 0) runningFor.set(line, left);
      else runningFor.delete(line);
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
      // A pause may have begun meanwhile.
      if (wait <= 0 && pausedUntil <= now()) {
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
    run: (waiters, work, signal, isAllowed = () => true) =>
      new Promise((resolve, reject) => {
        const settle = () => {
          signal.removeEventListener("abort", leave);
          waiters.onJoined = undefined;
        };
        const task: Task = {
          isAllowed,
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
          leaveAll(task);
          task.fail(new ExplorerError("busy", "The queue was too long", { unsent: true }));
        };
        if (signal.aborted) {
          leave();
          return;
        }
        if (!waiters.background && pausedUntil - now() > MAX_WAIT_MS) {
          task.fail(pausedError());
          return;
        }
        signal.addEventListener("abort", leave, { once: true });
        const stand = (person: string | undefined) => {
          if (person === undefined) queues.background.add(BACKGROUND, task);
          else queues.people.add(person, task);
          pump();
        };
        waiters.onJoined = stand;
        if (waiters.background) stand(undefined);
        for (const person of waiters.people) stand(person);
      }),
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, now() + ms);
      if (ms <= MAX_WAIT_MS) return;
      // Nobody waits that long.
      for (const task of queues.people.clear()) if (!queues.background.has(task)) task.fail(pausedError());
    },
    clear(error) {
      const all = new Set(Object.values(queues).flatMap((queue) => queue.clear()));
      for (const task of all) task.fail(error);
    },
    waiting: (priority) => queues[priority].size,
  };
}
