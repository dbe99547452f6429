import { setTimeout as delay } from "node:timers/promises";
import { createTurns } from "../util/turns.js";

/** Discord allows a bot 50 requests a second: one each 21 ms stays just under it in any second. */
const EVERY_MS = 21;

/** Spaces requests out, the urgent ones first; servers take turns, however many channels one of them has. */
export interface Pacer {
  /**
   * Resolves when a request may be sent; edits give way to new messages.
   * @param line whom it is for: a server's id, or a channel's if the server is not known
   */
  turn(line: string, urgency?: "message" | "edit"): Promise<void>;
}

/** @param everyMs the time between two requests */
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
