import { setTimeout as delay } from "node:timers/promises";
import { createTurns } from "../util/turns.js";

/** Interval between requests, in ms. It is slightly longer than Discord's limit of 50 requests a second requires. */
const EVERY_MS = 21;

/** Spaces out requests. New messages go before edits, and servers take turns, regardless of their number of channels. */
export interface Pacer {
  /**
   * Resolves when a request may be sent. Edits wait for new messages.
   * @param line the queue: a server's id, or a channel's id if the server is unknown
   */
  turn(line: string, urgency?: "message" | "edit"): Promise<void>;
}

/** Creates a pacer. @param everyMs interval between requests, in ms */
export function createPacer(everyMs = EVERY_MS): Pacer {
  const waitingTurns = { message: createTurns<() => void>(), edit: createTurns<() => void>() };
  let isRunning = false;

  const runWaiting = async () => {
    isRunning = true;
    let nextTurnAt = performance.now();
    for (;;) {
      const turn = waitingTurns.message.next() ?? waitingTurns.edit.next();
      if (!turn) break;
      turn.item();
      nextTurnAt = Math.max(nextTurnAt + everyMs, performance.now() + everyMs / 2);
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
  };
}
