import { ifAnswered } from "../../explorer/errors.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import { isOver, statusGroup } from "../../ledger/vote-rules.js";
import type { TrackedVoteRequest } from "./collections.js";
import { afterMissing, MISSED_READS, missedAgain, pruned } from "./endings.js";
import type { GovernanceEvent } from "./events.js";
import type { ReadFindings, RequestDeps } from "./requests.js";

/** Creates the checks for requests that are missing from a complete read, and for requests that closed long ago. */
export function createClosings({
  explorer,
  requests,
  now,
}: Pick<RequestDeps, "explorer" | "requests" | "now">) {
  /** Returns the final status in the details of a request, or that they say it is open. Neither if they cannot be read. */
  const confirmedEnd = async ({ contractIds, identity }: TrackedVoteRequest) => {
    let isOpen = false;
    for (const id of new Set([contractIds.at(-1) ?? identity, identity])) {
      const detail = (await ifAnswered(explorer.voteRequest({ id })))?.data;
      if (detail && isOver(detail, now())) return { status: detail.status, isOpen: false };
      isOpen ||= detail?.status != null && statusGroup(detail.status) === "open";
    }
    return { status: null, isOpen };
  };

  return {
    /** Finds requests that were open and are missing from a complete read. */
    async findVanished(rows: readonly VoteRequestListItem[]): Promise<ReadFindings> {
      const presentIds = new Set(rows.flatMap((row) => [row.trackingCid, row.contractId]));
      const learntRequests = new Map<string, TrackedVoteRequest>();
      const events: GovernanceEvent[] = [];
      for (const [key, known] of await requests.all()) {
        const isThere = presentIds.has(known.identity) || known.contractIds.some((id) => presentIds.has(id));
        if (known.phase !== "open" || isThere) continue;
        const isMissedOnce = known.missedReads + 1 < MISSED_READS;
        const { status, isOpen } = isMissedOnce ? { status: null, isOpen: true } : await confirmedEnd(known);
        const nextRequest = isOpen ? missedAgain(known) : afterMissing(known, status, now());
        if (nextRequest.phase === "closed")
          events.push({ kind: "closed", key, status, correctedAt: known.reopenedAt });
        if (nextRequest.phase === "closed" || nextRequest.missedReads !== known.missedReads)
          learntRequests.set(key, nextRequest);
      }
      return { learnt: learntRequests, events };
    },

    /** Finds requests that closed long ago, and shrinks them. */
    async findOld(): Promise<ReadFindings> {
      const learntRequests = new Map<string, TrackedVoteRequest>();
      for (const [key, known] of await requests.all()) {
        const prunedRequest = pruned(known, now());
        if (prunedRequest) learntRequests.set(key, prunedRequest);
      }
      return { learnt: learntRequests, events: [] };
    },
  };
}
