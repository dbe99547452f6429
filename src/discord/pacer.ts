import { setTimeout as delay } from "node:timers/promises";
import { createTurns } from "../util/turns.js";

/** Discord allows a bot 50 requests a second: one each 21 ms stays just under it in any second. */
const EVERY_MS = 21;

/** Spaces requests out, the urgent ones first; servers take turns, however many channels one of them has. */
export interface Pacer {
  /**
   * Resolves when a request may be sent; edits give way to new messages.
   * @param line whom it is for: a server's id, or a channel's where the server is not known
   */
  turn(line: string, urgency?: "message" | "edit"): Promise<void>;
}

/** @param everyMs the time between two requests */
export function createPacer(everyMs = EVERY_MS): Pacer {
  const waiting = { message: createTurns<() => void>(), edit: createTurns<() => void>() };
  let running = false;

  const run = async () => {
    running = true;
    let next = performance.now();
    for (;;) {
      const turn = waiting.message.next() ?? waiting.edit.next();
      if (!turn) break;
      turn.item();
      next = Math.max(next + everyMs, performance.now() + everyMs / 2);
      await delay(Math.max(0, next - performance.now()));
    }
    running = false;
  };
  return {
    turn: (line, urgency = "message") =>
      new Promise((resolve) => {
        waiting[urgency].add(line, resolve);
        if (!running) void run();
      }),
  };
}
