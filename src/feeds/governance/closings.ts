import { ifAnswered } from "../../explorer/errors.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import type { Explorer } from "../../explorer/service.js";
import { isOver } from "../../ledger/vote-rules.js";
import type { TrackedVoteRequest } from "../../storage/catalogue.js";
import { afterMissing, MISSED_READS, pruned } from "./endings.js";
import type { GovernanceEvent } from "./events.js";
import type { Findings, TrackedVoteRequests } from "./requests.js";

interface ClosingsDeps {
  /** Takes nothing but new readings. */
  readonly explorer: Explorer;
  readonly requests: TrackedVoteRequests;
  readonly now: () => number;
}

/** What a complete read says by what it lacks, and what has been over for long. */
export function createClosings({ explorer, requests, now }: ClosingsDeps) {
  /** A status by which `/details` says that a request is over; null where it does not. */
  const confirmedEnd = async ({ contractIds, identity }: TrackedVoteRequest): Promise<string | null> => {
    for (const id of new Set([contractIds.at(-1) ?? identity, identity])) {
      const detail = (await ifAnswered(explorer.voteRequest({ id })))?.data;
      if (detail && isOver(detail, now())) return detail.status;
    }
    return null;
  };

  return {
    /** Requests that were open and are missing from a complete read. */
    async findVanished(rows: readonly VoteRequestListItem[]): Promise<Findings> {
      const present = new Set(rows.flatMap((row) => [row.trackingCid, row.contractId]));
      const learnt = new Map<string, TrackedVoteRequest>();
      const events: GovernanceEvent[] = [];
      for (const [key, known] of await requests.all()) {
        const isThere = present.has(known.identity) || known.contractIds.some((id) => present.has(id));
        if (known.phase !== "open" || isThere) continue;
        const status = known.missedReads + 1 < MISSED_READS ? null : await confirmedEnd(known);
        const next = afterMissing(known, status, now());
        if (next.phase === "closed") events.push({ kind: "closed", key, status });
        if (next.phase === "closed" || next.missedReads !== known.missedReads) learnt.set(key, next);
      }
      return { learnt, events };
    },

    /** Forgets the details of what closed long ago. */
    async findOld(): Promise<Findings> {
      const learnt = new Map<string, TrackedVoteRequest>();
      for (const [key, known] of await requests.all()) {
        const kept = pruned(known, now());
        if (kept) learnt.set(key, kept);
      }
      return { learnt, events: [] };
    },
  };
}
