import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Creates a function that spreads work over turns of the event loop. The returned promise resolves at once for the first calls of
 * a turn, and a turn later for each further group, so that fifty requests that arrive together do not form one long turn.
 * @param perTurn number of calls per turn
 */
export function createSpread(perTurn: number): () => Promise<void> {
  let begun = 0;
  let next: Promise<void> | undefined;
  const untilNext = () => {
    next ??= nextTurn().then(() => {
      begun = 0;
      next = undefined;
    });
    return next;
  };
  return async () => {
    while (begun >= perTurn) await untilNext();
    begun += 1;
    void untilNext();
  };
}
