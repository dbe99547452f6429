import type { TrackedVoteRequest } from "../../storage/catalogue.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { lazy } from "../../util/single-flight.js";
import type { GovernanceEvent } from "./events.js";

/** All tracked requests, read once and then kept in memory by whoever does the background work. */
export interface TrackedVoteRequests {
  all(): Promise<Map<string, TrackedVoteRequest>>;
  get(key: string): Promise<TrackedVoteRequest | undefined>;
  put(key: string, request: TrackedVoteRequest): Write;
}

/** The tracked vote requests of a state, read once and kept by reference. */
export function createTrackedVoteRequests({ voteRequests }: State): TrackedVoteRequests {
  const all = lazy(() => voteRequests.list());
  return { all, get: async (key) => (await all()).get(key), put: voteRequests.put };
}

/** What one read has brought: what is known now, and what is to be announced of it. */
export interface Findings {
  readonly learnt: Map<string, TrackedVoteRequest>;
  readonly events: GovernanceEvent[];
}
