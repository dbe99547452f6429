import { LRUCache } from "lru-cache";
import type { Names } from "../../directory/names.js";
import { ifAnswered } from "../../explorer/errors.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import type { Explorer } from "../../explorer/service.js";
import { areStillVoters, readMissing } from "../../ledger/missing-votes.js";
import {
  countSuperValidators,
  findVoteRequest,
  fromExplorer,
  type VoteRequest,
} from "../../ledger/vote-requests.js";
import { castIn, isOver, neededFor } from "../../ledger/vote-rules.js";
import type { Voter } from "../../ledger/votes.js";
import type { TrackedVoteRequest } from "../../storage/catalogue.js";
import { lazy, singleFlight } from "../../util/single-flight.js";
import { withTimeout } from "../../util/timeouts.js";
import { toVoteRequest, withTracked } from "./tracking.js";

/** What messages about a vote request are made of. */
export interface Snapshot {
  readonly request: VoteRequest;
  /** Yes votes that carry it, as an estimate. */
  readonly needed: number | undefined;
  /** See TrackedVoteRequest. */
  readonly revision: number;
  /** Whether it is over, as this reading says or what is tracked. */
  readonly isOver: boolean;
  /** Who has not voted, read together with the rest; null where that is not sure. */
  readonly missing: () => Promise<readonly Voter[] | null>;
}

/** Snapshots, each read once for all the channels that are served within a few seconds. */
export interface Snapshots {
  /** @param row what the list said of it, where nothing else can be read */
  of(key: string, row?: VoteRequestListItem): Promise<Snapshot>;
}

interface SnapshotDeps {
  readonly explorer: Explorer;
  readonly tracked: (key: string) => Promise<TrackedVoteRequest | undefined>;
  /** Is told what is read of each request's action. */
  readonly names: Pick<Names, "learn">;
  readonly now: () => number;
}

const KEPT_MS = 20_000;
/** An announcement does not wait longer than this for its detail, in ms: what the list says will do. */
export const DETAIL_MS = 8_000;

/** Reads a request's detail, and does with what is tracked where the explorer does not answer. */
export function createSnapshots({ explorer, tracked, names, now }: SnapshotDeps): Snapshots {
  const kept = new LRUCache<string, Promise<Snapshot>>({ max: 100, ttl: KEPT_MS });

  const load = async (
    known: TrackedVoteRequest | undefined,
    row: VoteRequestListItem | undefined,
  ): Promise<Snapshot> => {
    const found = known && ifAnswered(findVoteRequest(explorer, known.identity));
    const reading = found && (await withTimeout(found, DETAIL_MS, () => undefined));
    const detailed = reading?.data;
    if (detailed?.detail === "read" && detailed.identity !== null)
      names.learn(detailed.identity, detailed.action);
    const listed = row ? fromExplorer(row, null) : known ? toVoteRequest(known) : fromExplorer(null, null);
    // A detail that was not answered is not left out in silence: the message says so.
    const read = detailed ?? { ...listed, detail: "unanswered" as const };
    const request = known ? withTracked(read, known) : read;
    const superValidators = await withTimeout(countSuperValidators(explorer), DETAIL_MS, () => undefined);
    const ended = isOver(read, now()) || isOver(request, now());
    const missing = lazy(async () => {
      // A reading that lacks votes which were seen before tells nothing of who is missing.
      if (!reading || reading.problem || castIn(reading.data) < castIn(request)) return null;
      const found = readMissing(explorer, reading).then(async (voters) =>
        voters && (await areStillVoters(explorer, voters)) ? voters : null,
      );
      return withTimeout(found, DETAIL_MS, () => null);
    });
    return {
      request,
      needed: neededFor(request, superValidators),
      revision: known?.revision ?? 0,
      isOver: ended,
      missing,
    };
  };

  return {
    async of(key, row) {
      const known = await tracked(key);
      const id = `${key}:${known?.revision}:${row ? "row" : ""}`;
      return singleFlight(kept, id, () => load(known, row), true);
    },
  };
}
