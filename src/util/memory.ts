import { ageOf } from "./clock.js";
import { joinedRun } from "./single-flight.js";
import { withTimeout } from "./timeouts.js";
import { MINUTE, SECOND } from "./units.js";

/** Time after which a value in memory is read again, in ms, because another process may have changed it. */
const MEMORY_MS = MINUTE;
/** Maximum time that a person's answer waits for the state, in ms. It is the same as for the cache. */
const WAIT_MS = 100;
/** Delay before the value is read again after a failure, in ms. */
const AGAIN_MS = 5 * SECOND;

/**
 * Returns a function that caches the result of `read` for a minute. If the value cannot be read in time, the function returns the
 * previous one, or `undefined` if there is none.
 */
export function inMemory<T>(
  read: () => Promise<T>,
  onError: (err: unknown) => void,
  now: () => number = Date.now,
): () => Promise<T | undefined> {
  let value: T | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const refresh = joinedRun(async () => {
    try {
      value = await read();
      readAt = now();
    } catch (err) {
      onError(err);
      readAt = now() - MEMORY_MS + AGAIN_MS;
    }
  });
  return async () => {
    if (ageOf(readAt, now()) >= MEMORY_MS) await withTimeout(refresh(), WAIT_MS, () => undefined);
    return value;
  };
}
