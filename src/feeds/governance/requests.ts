import type { FeedDeps } from "../../delivery/module.js";
import { ifAnswered } from "../../explorer/errors.js";
import type { VoteRequestDetail } from "../../explorer/schema/governance.js";
import type { Explorer } from "../../explorer/service.js";
import { readDetail } from "../../ledger/vote-requests.js";
import type { State } from "../../storage/state.js";
import { yieldIfBusy } from "../../util/event-loop.js";
import { lazy } from "../../util/single-flight.js";
import { type TrackedVoteRequest, trackedVoteRequests } from "./collections.js";
import type { GovernanceEvent } from "./events.js";

/** All tracked requests. */
export type TrackedVoteRequests = ReturnType<typeof createTrackedVoteRequests>;

/**
 * Creates a cache of the tracked vote requests in a state. The lease holder reads them once.
 * @param onRead called with each request when they are read
 */
export function createTrackedVoteRequests(
  state: State,
  onRead: (request: TrackedVoteRequest) => void = () => {},
) {
  const requests = state.open(trackedVoteRequests);
  const read = async (): Promise<Map<string, TrackedVoteRequest>> => {
    const tracked = new Map(await requests.list());
    for (const each of tracked.values()) {
      await yieldIfBusy();
      onRead(each);
    }
    return tracked;
  };
  let loadRequests = lazy(read);
  return {
    all: () => loadRequests(),
    get: async (key: string) => (await loadRequests()).get(key),
    put: requests.put,
    /** Keys of requests about which a message was just written without the details (`TrackedVoteRequest.isIncomplete`). */
    incomplete: new Set<string>(),
    /** True if a request's document could not be read, and the request has not been tracked again since. */
    wasSetAside: async (key: string) => !(await loadRequests()).has(key) && requests.wasSetAside(key),
    /** Clears the cache. */
    reread(): void {
      loadRequests = lazy(read);
    },
  };
}

/** Details of a request. `undefined` if the explorer does not answer, null if there are none. */
export type Detail = VoteRequestDetail | null | undefined;

/** Reads the details of a tracked request's newest version. */
export const readTrackedDetail = (
  explorer: Explorer,
  { identity, contractIds }: Pick<TrackedVoteRequest, "identity" | "contractIds">,
): Promise<Detail> =>
  ifAnswered(
    readDetail(explorer, { contractId: contractIds.at(-1) ?? null, trackingCid: identity }).then(
      (detail) => detail ?? null,
    ),
  );

/** Dependencies of the checks of tracked vote requests. */
export interface RequestDeps extends Pick<FeedDeps, "state" | "names" | "now"> {
  /** Returns fresh readings only. */
  readonly explorer: Explorer;
  readonly requests: TrackedVoteRequests;
  /** Returns the number of super validators, for tallies that do not contain it. */
  readonly superValidators: () => Promise<number | undefined>;
}

/** The result of comparing one read with the tracked requests. */
export interface ReadFindings {
  readonly learnt: Map<string, TrackedVoteRequest>;
  readonly events: GovernanceEvent[];
}
