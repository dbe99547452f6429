import { ageOf } from "../../util/clock.js";
import { MINUTE } from "../../util/units.js";
import type { TrackedVoteRequest } from "./collections.js";
import { type Detail, type ReadFindings, type RequestDeps, readTrackedDetail } from "./requests.js";

/** Time after which details that could not be read are asked for again, in ms. */
const RETRY_MS = 2 * MINUTE;

/**
 * Creates the check that reads the details which messages lack, because the explorer did not answer when they were written. It reads
 * those of one request at a time, and no poll waits for them.
 */
export function createCompletion({
  explorer,
  requests,
  now,
}: Pick<RequestDeps, "explorer" | "requests" | "now">) {
  const askedAt = new Map<string, number>();
  let isReading = false;
  /** Returns the result of the last reading, or throws its error, once it has finished. */
  let finished: (() => { readonly key: string; readonly detail: Detail }) | undefined;

  const read = (key: string, request: TrackedVoteRequest): void => {
    askedAt.set(key, now());
    isReading = true;
    readTrackedDetail(explorer, request)
      .then(
        (detail) => {
          finished = () => ({ key, detail });
        },
        (error: unknown) => {
          finished = () => {
            throw error;
          };
        },
      )
      .finally(() => {
        isReading = false;
      });
  };

  /** Marks the requests whose messages lack the details, also for after a restart, and those that are complete. */
  return async (): Promise<ReadFindings> => {
    const knownRequests = await requests.all();
    const learnt = new Map<string, TrackedVoteRequest>();
    for (const key of requests.incomplete) {
      const request = knownRequests.get(key);
      if (request && !request.isIncomplete) learnt.set(key, { ...request, isIncomplete: true });
    }
    requests.incomplete.clear();
    const takeFinished = finished;
    finished = undefined;
    const result = takeFinished?.();
    const request = result && knownRequests.get(result.key);
    if (request && result.detail !== undefined) {
      askedAt.delete(result.key);
      const { isIncomplete, ...complete } = request;
      const isMoved = result.detail !== null;
      learnt.set(result.key, { ...complete, revision: complete.revision + (isMoved ? 1 : 0) });
    }
    const isDue = ([key, each]: readonly [string, TrackedVoteRequest]) =>
      each.isIncomplete === true && !learnt.has(key) && ageOf(askedAt.get(key) ?? 0, now()) > RETRY_MS;
    const next = isReading ? undefined : [...knownRequests].find(isDue);
    if (next) read(...next);
    return { learnt, events: [] };
  };
}
