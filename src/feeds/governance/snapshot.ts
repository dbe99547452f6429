import { LRUCache } from "lru-cache";
import type { Names } from "../../directory/names.js";
import { ifAnswered, problemIs } from "../../explorer/errors.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import type { Explorer } from "../../explorer/service.js";
import { readFormer, readMissing } from "../../ledger/missing-votes.js";
import {
  countSuperValidators,
  findVoteRequest,
  fromExplorer,
  type VoteRequest,
} from "../../ledger/vote-requests.js";
import { castIn, isOver, neededFor } from "../../ledger/vote-rules.js";
import type { MissingVotes } from "../../ledger/votes.js";
import { lazy, singleFlight } from "../../util/single-flight.js";
import { withTimeout } from "../../util/timeouts.js";
import { isUnknown } from "./closings.js";
import type { TrackedVoteRequest } from "./collections.js";
import type { TrackedVoteRequests } from "./requests.js";
import { toVoteRequest, withTracked } from "./tracking.js";

/** The content of messages about a vote request. */
export interface Snapshot {
  readonly request: VoteRequest;
  /** Estimated number of yes votes that accept it. */
  readonly needed: number | undefined;
  /** See TrackedVoteRequest. */
  readonly revision: number;
  /** True if the explorer or the tracked request says that it is over. */
  readonly isOver: boolean;
  /**
   * True if the explorer no longer lists it and has no details: the ledger archives a request that is carried out or voted down. It is
   * shown as one whose end is unknown.
   */
  readonly isUnlisted?: boolean;
  /** Returns the super validators that have not voted, or null if that is uncertain. */
  readonly missing: () => Promise<MissingVotes | null>;
}

interface SnapshotDeps {
  readonly explorer: Explorer;
  /** Returns older readings too. The directory asks for each super validator once an hour, so that these are cache hits. */
  readonly hourly: Explorer;
  readonly requests: Pick<TrackedVoteRequests, "get" | "incomplete">;
  /** Learns each request's action. */
  readonly names: Pick<Names, "isFormer" | "learn">;
  readonly now: () => number;
}

const KEPT_MS = 20_000;
/** Timeout for the details of an announcement, in ms. After that, the list's data is used. */
export const DETAIL_MS = 8_000;
/** Timeout for the missing votes, in ms. Without them, a reminder pings no one. */
const MISSING_MS = 30_000;

const isMissing = problemIs("missing");

/**
 * Creates the reading of a request's snapshot: from its details, or from tracked data if the explorer does not answer. All channels that
 * are served within a few seconds share one.
 */
export function createSnapshots({ explorer, hourly, requests, names, now }: SnapshotDeps) {
  const keptSnapshots = new LRUCache<string, Promise<Snapshot>>({ max: 100, ttl: KEPT_MS });

  const loadSnapshot = async (
    key: string,
    known: TrackedVoteRequest | undefined,
    row: VoteRequestListItem | undefined,
  ): Promise<Snapshot> => {
    let isUnlisted = false;
    const noteMissing = async (error: unknown): Promise<never> => {
      isUnlisted = isMissing(error) && known !== undefined && (await isUnknown(explorer, known));
      throw error;
    };
    const foundRequest = known && ifAnswered(findVoteRequest(explorer, known.identity).catch(noteMissing));
    const reading = foundRequest && (await withTimeout(foundRequest, DETAIL_MS, () => undefined));
    const detailed = reading?.data;
    if (detailed?.detail === "read" && detailed.identity !== null)
      names.learn(detailed.identity, detailed.action);
    const listedRequest = known && !row ? toVoteRequest(known) : fromExplorer(row ?? null, null);
    // Mark the missing details, so that the message says so.
    const readRequest = detailed ?? { ...listedRequest, detail: "unanswered" as const };
    if (known && readRequest.detail === "unanswered" && !isUnlisted) requests.incomplete.add(key);
    const request = known ? withTracked(readRequest, known) : readRequest;
    const superValidators = await withTimeout(countSuperValidators(explorer), DETAIL_MS, () => undefined);
    const hasEnded = isOver(readRequest, now()) || isOver(request, now());
    const missingVoters = lazy(async () => {
      // A reading with fewer votes than are known cannot tell which votes are missing.
      if (!reading || reading.problem || castIn(reading.data) < castIn(request)) return null;
      const foundVoters = readMissing(explorer, reading, (voters) =>
        readFormer(hourly, voters, names.isFormer),
      );
      return withTimeout(foundVoters, MISSING_MS, () => null);
    });
    return {
      request: isUnlisted && !hasEnded ? { ...request, isGone: true, status: null } : request,
      needed: neededFor(request, superValidators),
      revision: known?.revision ?? 0,
      isOver: hasEnded,
      isUnlisted,
      missing: missingVoters,
    };
  };

  /** @param row its row in the list, used if the details cannot be read */
  return async (key: string, row?: VoteRequestListItem): Promise<Snapshot> => {
    const knownRequest = await requests.get(key);
    const id = `${key}:${knownRequest?.revision}:${row ? "row" : ""}`;
    return singleFlight(keptSnapshots, id, () => loadSnapshot(key, knownRequest, row), true);
  };
}
