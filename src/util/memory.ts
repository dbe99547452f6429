import { ageOf } from "./clock.js";
import { singleFlight } from "./single-flight.js";
import { withTimeout } from "./timeouts.js";
import { MINUTE, SECOND } from "./units.js";

/** A value in memory is read again after this time, in ms: another process may have changed it. */
const MEMORY_MS = MINUTE;
/** A person's answer waits for the state no longer than for the cache, in ms. */
const WAIT_MS = 100;
/** After a failure, it is read again after this time, in ms. */
const AGAIN_MS = 5 * SECOND;

/**
 * Returns a function that gives the value that `read` gave, read at most once a minute. If it cannot be read in time, the function
 * gives the value that was read last, or `undefined`.
 */
export function inMemory<T>(
  read: () => Promise<T>,
  onError: (err: unknown) => void,
  now: () => number = Date.now,
): () => Promise<T | undefined> {
  const flights = new Map<"value", Promise<void>>();
  let value: T | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const refresh = async () => {
    try {
      value = await read();
      readAt = now();
    } catch (err) {
      onError(err);
      readAt = now() - MEMORY_MS + AGAIN_MS;
    }
  };
  return async () => {
    if (ageOf(readAt, now()) >= MEMORY_MS)
      await withTimeout(singleFlight(flights, "value", refresh, false), WAIT_MS, () => undefined);
    return value;
  };
}
