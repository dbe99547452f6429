import { ifAnswered, problemIs } from "../../explorer/errors.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import type { Explorer } from "../../explorer/service.js";
import { isOver, statusGroup } from "../../ledger/vote-rules.js";
import type { TrackedVoteRequest } from "./collections.js";
import { afterMissing, hasVanished, missedAgain, pruned } from "./endings.js";
import type { GovernanceEvent } from "./events.js";
import type { ReadFindings, RequestDeps } from "./requests.js";

const isMissing = problemIs("missing");

/**
 * True if neither the list nor the details know an open request any more. It may be over, or be listed again: until then, nothing is
 * said about its deadlines. The explorer may have details by only one of its ids.
 * @param isListEmpty true if the list was answered without any request. It may be wrong, or the network was reset
 */
export async function isUnknown(
  explorer: Pick<Explorer, "voteRequest">,
  known: TrackedVoteRequest,
  isListEmpty = false,
): Promise<boolean> {
  if (!isListEmpty && !hasVanished(known)) return false;
  const ids = new Set([known.contractIds.at(-1) ?? known.identity, known.identity]);
  const answers = [...ids].map((id) => explorer.voteRequest({ id }).then(() => false, isMissing));
  return (await Promise.all(answers)).every(Boolean);
}

/**
 * Returns the final status in the details of a request, or that they say it is open. Neither if they cannot be read. The details of an
 * archived contract keep its status, which was open.
 */
async function confirmedEnd(
  { explorer, now }: Pick<RequestDeps, "explorer" | "now">,
  { contractIds, identity }: TrackedVoteRequest,
) {
  const newest = contractIds.at(-1) ?? identity;
  let isOpen = false;
  for (const id of new Set([newest, identity])) {
    const detail = (await ifAnswered(explorer.voteRequest({ id })))?.data;
    if (detail && isOver(detail, now())) return { status: detail.status, isOpen: false };
    const isArchived =
      id !== newest && [identity, ...contractIds].some((each) => each === detail?.contractId);
    isOpen ||= !isArchived && detail?.status != null && statusGroup(detail.status) === "open";
  }
  return { status: null, isOpen };
}

/** Finds requests that were open and are missing from a complete read. */
export async function findVanished(
  deps: Pick<RequestDeps, "explorer" | "requests" | "now">,
  rows: readonly VoteRequestListItem[],
): Promise<ReadFindings> {
  const presentIds = new Set(rows.flatMap((row) => [row.trackingCid, row.contractId]));
  const learntRequests = new Map<string, TrackedVoteRequest>();
  const events: GovernanceEvent[] = [];
  for (const [key, known] of await deps.requests.all()) {
    const isThere = presentIds.has(known.identity) || known.contractIds.some((id) => presentIds.has(id));
    if (known.phase !== "open" || isThere) continue;
    const { status, isOpen } = hasVanished(missedAgain(known))
      ? await confirmedEnd(deps, known)
      : { status: null, isOpen: true };
    const nextRequest = isOpen ? missedAgain(known) : afterMissing(known, status, deps.now());
    if (nextRequest.phase === "closed")
      events.push({ kind: "closed", key, status, correctedAt: known.reopenedAt });
    if (nextRequest.phase === "closed" || nextRequest.missedReads !== known.missedReads)
      learntRequests.set(key, nextRequest);
  }
  return { learnt: learntRequests, events };
}

/** Finds requests that closed long ago, and shrinks them. */
export async function findOld({
  requests,
  now,
}: Pick<RequestDeps, "requests" | "now">): Promise<ReadFindings> {
  const learntRequests = new Map<string, TrackedVoteRequest>();
  for (const [key, known] of await requests.all()) {
    const prunedRequest = pruned(known, now());
    if (prunedRequest) learntRequests.set(key, prunedRequest);
  }
  return { learnt: learntRequests, events: [] };
}
