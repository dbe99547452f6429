import { setTimeout as delay } from "node:timers/promises";
import { createTurns } from "../util/turns.js";
import { type Budget, type Priority, SHARES } from "./budget.js";
import { ExplorerError } from "./errors.js";
import type { Waiters } from "./waiters.js";

/** Maximum pause that people's requests wait for, in ms. A longer pause fails them at once. */
const MAX_WAIT_MS = 8_000;

const pausedError = () => new ExplorerError("limited", "The explorer asked for a pause", { unsent: true });

const spentError = () =>
  new ExplorerError("spent", "All waiting callers have used up their requests", { unsent: true });

interface Task {
  readonly waiters: Waiters;
  readonly start: () => Promise<void>;
  readonly fail: (error: ExplorerError) => void;
}

/** The queue that all upstream requests pass through. */
export interface RequestQueue {
  /**
   * Runs the work when its turn comes, if one of its waiters may send another request then.
   * @throws {ExplorerError} "busy" if the signal aborts before the work starts, "spent" if the work is not allowed, or the work's
   * own error
   */
  run<T>(waiters: Waiters, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /**
   * Takes a token for a request that replaces a running one. False if none is left, or if the queue is paused.
   * @param patienceMs how long it waits for a token, in ms
   */
  mayCheck(patienceMs: number): Promise<boolean>;
  /** Returns why work cannot be sent now: no one who waits for it may send a request, or the explorer has asked for a pause. */
  refusal(waiters: Waiters): ExplorerError | undefined;
  /** Pauses the queue for this time, in ms, because the explorer asked for it. */
  pause(ms: number): void;
  /** Rejects all waiting tasks with this error. */
  clear(error: ExplorerError): void;
  /** Returns the number of waiting tasks of a priority. */
  waiting(priority: Priority): number;
}

interface QueueOptions {
  readonly budget: Budget;
  /** Maximum number of concurrent tasks. */
  readonly concurrency: number;
}

/** Name of the only line in the background queue. */
const BACKGROUND = "";

/**
 * Creates a queue that respects the budget and `concurrency`, and prefers people's requests. People take turns: each waits for at
 * most one request of every other person.
 */
export function createQueue({ budget, concurrency }: QueueOptions): RequestQueue {
  const queues = { people: createTurns<Task>(), background: createTurns<Task>() } as const;
  const runningCounts: Record<Priority, number> = { people: 0, background: 0 };
  /** Number of running requests by person. */
  const runningFor = new Map<string, number>();
  // One slot also stays free for other people.
  const isWithinShare = (line: string): boolean =>
    line === BACKGROUND || (runningFor.get(line) ?? 0) < Math.max(1, concurrency - 1);
  // Background tasks leave one slot free for people. In return, `mayStart` leaves one free for waiting background tasks.
  const places: Record<Priority, number> = {
    people: concurrency,
    background: Math.max(1, concurrency - 1),
  };
  let pausedUntil = 0;
  let wake: NodeJS.Timeout | undefined;
  let pumping = false;
  let wasWoken = false;
  /** Tasks started per priority since tasks of both priorities have been waiting. */
  let servedCounts: Record<Priority, number> = { people: 0, background: 0 };

  const leaveAll = (task: Task) => {
    for (const queue of Object.values(queues)) queue.delete(task);
  };
  /** Returns the next task. Tasks that may no longer be sent are removed and rejected. */
  const peek = (priority: Priority): Task | undefined => {
    for (;;) {
      const task = queues[priority].peek(isWithinShare);
      if (!task || task.waiters.isAllowed()) return task;
      leaveAll(task);
      task.fail(spentError());
    }
  };

  const mayStart = (priority: Priority): boolean => {
    if (runningCounts.people + runningCounts.background >= concurrency) return false;
    if (!peek(priority)) return false;
    const otherPriority = priority === "people" ? "background" : "people";
    const reservedSlots =
      priority === "people" &&
      concurrency > 1 &&
      queues[otherPriority].size > 0 &&
      runningCounts[otherPriority] === 0
        ? 1
        : 0;
    return runningCounts[priority] < places[priority] - reservedSlots;
  };

  const startOne = (priority: Priority) => {
    const turn = queues[priority].next(isWithinShare);
    if (!turn) return;
    const { line, item: task } = turn;
    leaveAll(task);
    runningCounts[priority] += 1;
    runningFor.set(line, (runningFor.get(line) ?? 0) + 1);
    const contested = queues.people.size > 0 && queues.background.size > 0;
    servedCounts = contested
      ? { ...servedCounts, [priority]: servedCounts[priority] + 1 }
      : { people: 0, background: 0 };
    task.start().finally(() => {
      runningCounts[priority] -= 1;
      const remainingCount = (runningFor.get(line) ?? 0) - 1;
      if (remainingCount > 0) runningFor.set(line, remainingCount);
      else runningFor.delete(line);
      pump();
    });
  };

  /**
   * Starts the next task if possible. Returns 0 if a task was started, or the time to sleep in ms. Returns `undefined` if only a
   * new task or the end of a running one can change anything.
   */
  const startNext = async (): Promise<number | undefined> => {
    let soonestMs: number | undefined;
    const owed = servedCounts.background * SHARES.people < servedCounts.people * SHARES.background;
    for (const priority of owed ? (["background", "people"] as const) : (["people", "background"] as const)) {
      if (!mayStart(priority)) continue;
      const paused = pausedUntil - performance.now();
      const waitMs = paused > 0 ? paused : await budget.take(priority);
      // A pause may have begun while waiting for the budget.
      if (waitMs <= 0 && pausedUntil <= performance.now()) {
        startOne(priority);
        return 0;
      }
      soonestMs = Math.min(soonestMs ?? waitMs, waitMs);
    }
    return soonestMs;
  };

  function pump(): void {
    wasWoken = true;
    if (pumping) return;
    pumping = true;
    void (async () => {
      let waitMs: number | undefined;
      while (wasWoken || waitMs === 0) {
        wasWoken = false;
        waitMs = await startNext();
      }
      pumping = false;
      if (waitMs === undefined) return;
      clearTimeout(wake);
      wake = setTimeout(pump, waitMs);
    })();
  }

  return {
    run: (waiters, work, signal) =>
      new Promise((resolve, reject) => {
        const settle = () => {
          signal.removeEventListener("abort", leave);
          waiters.onJoined = undefined;
        };
        const task: Task = {
          waiters,
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
        if (!waiters.background && pausedUntil - performance.now() > MAX_WAIT_MS) {
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
    refusal(waiters) {
      if (!waiters.isAllowed()) return spentError();
      return pausedUntil > performance.now() ? pausedError() : undefined;
    },
    async mayCheck(patienceMs) {
      const giveUpAt = performance.now() + patienceMs;
      for (;;) {
        if (pausedUntil > performance.now()) return false;
        const waitMs = await budget.take("background");
        if (waitMs <= 0) return true;
        if (performance.now() + waitMs > giveUpAt) return false;
        await delay(waitMs);
      }
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, performance.now() + ms);
      if (ms <= MAX_WAIT_MS) return;
      // People do not wait that long.
      for (const task of queues.people.clear()) if (!queues.background.has(task)) task.fail(pausedError());
    },
    clear(error) {
      const allTasks = new Set(Object.values(queues).flatMap((queue) => queue.clear()));
      for (const task of allTasks) task.fail(error);
    },
    waiting: (priority) => queues[priority].size,
  };
}
