import { setImmediate as nextTurn } from "node:timers/promises";

/** Text up to this length is handled at once, in characters. */
const SHORT = 200_000;

/** One after another: what several long things have done in one turn adds up. */
let lastTurn: Promise<void> = Promise.resolve();

/**
 * Waits for a turn of the event loop of one's own before more is done with something so long, in characters: whatever else is
 * due comes between. Short things do not wait.
 */
export async function yieldFor(length: number): Promise<void> {
  if (length <= SHORT) return;
  lastTurn = lastTurn.then(() => nextTurn());
  await lastTurn;
}
