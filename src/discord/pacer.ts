import { setTimeout as delay } from "node:timers/promises";

/** Discord allows a bot 50 requests a second: one each 21 ms stays just under it in any second. */
const EVERY_MS = 21;

/** Spaces requests out, the urgent ones first. */
export interface Pacer {
  /** Resolves when a request may be sent; edits give way to new messages. */
  turn(urgency?: "message" | "edit"): Promise<void>;
}

/** @param everyMs the time between two requests */
export function createPacer(everyMs = EVERY_MS): Pacer {
  const waiting = { message: [] as (() => void)[], edit: [] as (() => void)[] };
  let running = false;

  const run = async () => {
    running = true;
    let next = performance.now();
    for (;;) {
      const go = waiting.message.shift() ?? waiting.edit.shift();
      if (!go) break;
      go();
      next = Math.max(next + everyMs, performance.now() + everyMs / 2);
      await delay(Math.max(0, next - performance.now()));
    }
    running = false;
  };
  return {
    turn: (urgency = "message") =>
      new Promise((resolve) => {
        waiting[urgency].push(resolve);
        if (!running) void run();
      }),
  };
}
