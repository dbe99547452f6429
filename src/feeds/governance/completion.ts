import { ifAnswered } from "../../explorer/errors.js";
import { readDetail } from "../../ledger/vote-requests.js";
import { ageOf } from "../../util/clock.js";
import { MINUTE } from "../../util/units.js";
import type { TrackedVoteRequest } from "./collections.js";
import type { ReadFindings, RequestDeps } from "./requests.js";

/** Time after which details that could not be read are asked for again, in ms. */
const RETRY_MS = 2 * MINUTE;

/** The result of a reading: true if the explorer has the details. Missing if it did not answer. */
interface Completed {
  readonly key: string;
  readonly hasDetail?: boolean;
}

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
  let reading: Promise<Completed> | undefined;

  const readOne = async (key: string, { identity, contractIds }: TrackedVoteRequest): Promise<Completed> => {
    const detail = readDetail(explorer, { contractId: contractIds.at(-1) ?? null, trackingCid: identity });
    return (await ifAnswered(detail.then((found) => ({ key, hasDetail: found != null })))) ?? { key };
  };

  /** Returns a finished reading, if there is one. @throws what it threw, unless the explorer did not answer */
  const takeFinished = async (): Promise<Completed | undefined> => {
    const isRunning = Symbol();
    let isFinished = true;
    try {
      const outcome = await Promise.race([reading, Promise.resolve(isRunning)]);
      isFinished = outcome !== isRunning;
      return typeof outcome === "symbol" ? undefined : outcome;
    } finally {
      if (isFinished) reading = undefined;
    }
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
    const finished = reading && (await takeFinished());
    const request = finished && knownRequests.get(finished.key);
    if (request && finished.hasDetail !== undefined) {
      askedAt.delete(finished.key);
      const { isIncomplete, ...complete } = request;
      learnt.set(finished.key, { ...complete, revision: complete.revision + (finished.hasDetail ? 1 : 0) });
    }
    const isDue = ([key, each]: readonly [string, TrackedVoteRequest]) =>
      each.isIncomplete === true && !learnt.has(key) && ageOf(askedAt.get(key) ?? 0, now()) > RETRY_MS;
    const next = reading ? undefined : [...knownRequests].find(isDue);
    if (next) {
      const [key, each] = next;
      askedAt.set(key, now());
      reading = readOne(key, each);
      // Its error is thrown by the next poll.
      reading.catch(() => {});
    }
    return { learnt, events: [] };
  };
}
