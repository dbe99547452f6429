import type { VoteRequestDetail } from "../../explorer/schema/governance.js";
import { type CastVote, votesIn } from "../../ledger/votes.js";
import type { TrackedVoteRequest } from "./collections.js";

/**
 * Returns the votes in a request's contract. `undefined` if the contract is older than the one in the list, null if it contains no
 * votes.
 */
export function votesInContract(
  request: TrackedVoteRequest,
  { contractId, rawPayload }: VoteRequestDetail,
): readonly CastVote[] | null | undefined {
  const votes = votesIn(rawPayload);
  if (votes === null) return null;
  const countOf = (side: boolean) => votes.filter(({ accept }) => accept === side).length;
  const additionalVotes = countOf(true) + countOf(false) - ((request.yes ?? 0) + (request.no ?? 0));
  const isNewest = contractId !== null && contractId === request.contractIds.at(-1);
  // An older contract with the same number of votes may show a vote as it was before its change.
  const isSame = additionalVotes === 0 && (request.yes === null || countOf(true) === request.yes);
  return isNewest || additionalVotes > 0 || isSame ? votes : undefined;
}
