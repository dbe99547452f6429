import { MINUTE, SECOND } from "../util/units.js";
import type { EndpointName } from "./endpoints.js";
import type { ExplorerError } from "./errors.js";
import type { RequestQueue } from "./queue.js";

/** Maximum pause for a Retry-After, and the first pause for a 429 without one, in ms. It doubles with each further one. */
const MAX_PAUSE_MS = MINUTE;
const DEFAULT_PAUSE_MS = 2 * SECOND;

/** Creates the pauses that the explorer asks for: of the whole queue after a 429, of one endpoint after another failure. */
export function createPauses(queue: Pick<RequestQueue, "pause">) {
  /** Number of consecutive pauses, and the end of the latest one (monotonic clock, ms). */
  let [limitedInARow, pausedUntil] = [0, 0];
  /** Ends of the pauses of endpoints that failed with a Retry-After (monotonic clock, ms). */
  const endpointPauses = new Map<EndpointName, number>();
  /**
   * Pauses the queue after a 429 for as long as the explorer asks, and if it does not say how long, for longer each time. Another
   * failure only pauses its endpoint.
   */
  const after = ({ problem, retryAfterMs }: ExplorerError, endpoint: EndpointName): void => {
    if (problem === "failing" && retryAfterMs)
      endpointPauses.set(endpoint, performance.now() + Math.min(retryAfterMs, MAX_PAUSE_MS));
    if (problem !== "limited") return;
    // Requests that were refused together are one refusal.
    if (pausedUntil <= performance.now()) limitedInARow += 1;
    const growingMs = DEFAULT_PAUSE_MS * 2 ** (limitedInARow - 1) * (0.5 + Math.random());
    // A wait of zero would send the retries at once.
    const pauseMs = Math.min(retryAfterMs || growingMs, MAX_PAUSE_MS);
    pausedUntil = Math.max(pausedUntil, performance.now() + pauseMs);
    queue.pause(pauseMs);
  };

  /** Time until an endpoint's pause ends, in ms. */
  const pauseOf = (endpoint: EndpointName): number =>
    Math.max(0, (endpointPauses.get(endpoint) ?? 0) - performance.now());

  return {
    after,
    of: pauseOf,
    /** Notes that a request was answered. */
    noteSuccess(): void {
      limitedInARow = 0;
    },
  };
}
