import { setTimeout as delay } from "node:timers/promises";
import { type REST, RESTEvents } from "discord.js";
import type { Log } from "../log.js";
import { createTurns } from "../util/turns.js";

/** Interval between requests, in ms. It is slightly longer than Discord's limit of 50 requests a second requires. */
const EVERY_MS = 21;
/** Interval between requests while Discord refuses many of them, in ms. */
const SLOW_EVERY_MS = 100;
/**
 * Number of refused requests in ten minutes after which the others are sent at a slower pace. With 6,000 more, they stay below the
 * 10,000 for which Discord bans an address.
 */
export const MANY_REFUSALS = 2_000;

/** Spaces out requests. New messages go before edits, and servers take turns, regardless of their number of channels. */
export interface Pacer {
  /**
   * Resolves when a request may be sent. Edits wait for new messages.
   * @param line the queue: a server's id, or a channel's id if the server is unknown
   */
  turn(line: string, urgency?: "message" | "edit"): Promise<void>;
  /** Sends requests at a slower pace for this time, in ms. */
  slowDown(ms: number): void;
}

/** Creates a pacer. @param everyMs interval between requests, in ms */
export function createPacer(everyMs = EVERY_MS): Pacer {
  const waitingTurns = { message: createTurns<() => void>(), edit: createTurns<() => void>() };
  let isRunning = false;
  /** End of the slower pace (monotonic clock, ms). */
  let slowUntil = 0;

  const runWaiting = async () => {
    isRunning = true;
    let nextTurnAt = performance.now();
    for (;;) {
      const turn = waitingTurns.message.next() ?? waitingTurns.edit.next();
      if (!turn) break;
      turn.item();
      const intervalMs = performance.now() < slowUntil ? SLOW_EVERY_MS : everyMs;
      nextTurnAt = Math.max(nextTurnAt + intervalMs, performance.now() + intervalMs / 2);
      await delay(Math.max(0, nextTurnAt - performance.now()));
    }
    isRunning = false;
  };
  return {
    turn: (line, urgency = "message") =>
      new Promise((resolve) => {
        waitingTurns[urgency].add(line, resolve);
        if (!isRunning) void runWaiting();
      }),
    slowDown(ms) {
      slowUntil = performance.now() + ms;
    },
  };
}

/** Slows a pacer down while Discord refuses many requests of these clients (option `invalidRequestWarningInterval`). */
export function slowOnRefusals(pacer: Pacer, clients: readonly REST[], log: Pick<Log, "warn">): void {
  for (const rest of clients)
    rest.on(RESTEvents.InvalidRequestWarning, ({ count, remainingTime }) => {
      log.warn({ count }, "Discord refused many requests; sending at a slower pace");
      pacer.slowDown(remainingTime);
    });
}
