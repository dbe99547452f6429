import { setImmediate as nextTurn } from "node:timers/promises";

/** Text up to this length is processed without yielding, in characters. */
const SHORT = 200_000;

/** The last turn that was given out. Callers get separate turns, because the work of several callers in one turn would add up. */
let lastTurn: Promise<void> = Promise.resolve();

/**
 * Yields to the event loop before more work on a text of this length, in characters. Each caller gets its own turn. Returns
 * immediately for short text.
 */
export async function yieldFor(length: number): Promise<void> {
  if (length <= SHORT) return;
  lastTurn = lastTurn.then(() => nextTurn());
  await lastTurn;
}
