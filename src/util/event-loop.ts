import { setImmediate as nextTurn } from "node:timers/promises";

/** What is shorter is worked on at once, in characters. */
const SHORT = 200_000;

/** One after another: what several long things have done in one turn adds up. */
let last: Promise<void> = Promise.resolve();

/**
 * Waits for a turn of the event loop of one's own before more is done with something so long, in characters: whatever else is
 * due comes between. Short things do not wait.
 */
export async function yieldFor(length: number): Promise<void> {
  if (length <= SHORT) return;
  last = last.then(() => nextTurn());
  await last;
}
