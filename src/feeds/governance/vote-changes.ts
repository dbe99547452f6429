import type { Vote } from "../../explorer/schema/governance.js";
import { notVoted, voterKey, voterName } from "../../ledger/votes.js";
import type { TrackedVoteRequest } from "../../storage/catalogue.js";
import type { GovernanceEvent } from "./events.js";

type VoteEvent = Extract<GovernanceEvent, { kind: "vote" }>;

/** What a read of the votes changes of one request. */
interface VoteChanges {
  readonly changes: Pick<TrackedVoteRequest, "votes" | "voteSequence" | "unconfirmedVotes" | "needsDetail">;
  readonly events: readonly VoteEvent[];
}

/** Whether it is the Yes that is cast with the request itself. */
const isOwn = (requester: readonly string[], { accept, ...vote }: Vote): boolean =>
  accept === true &&
  [vote.identifier, vote.accountName, vote.company].some((name) => name !== null && requester.includes(name));

/** The votes among rows that are on a request: a row names the first version's id, or that of any later one. */
export const votesOn = <Row extends Vote>(
  { identity, contractIds }: TrackedVoteRequest,
  rows: readonly Row[],
): Row[] =>
  rows.filter(({ trackingCid }) => trackingCid === identity || contractIds.some((id) => id === trackingCid));

type Votes = Readonly<Record<string, boolean | null>>;

/** The key that a voter's vote was kept under: another endpoint may have named it otherwise. */
const keptKey = (votes: Votes, vote: Vote): string | null =>
  [vote.identifier, vote.accountName, vote.company].find(
    (name) => name !== null && Object.hasOwn(votes, name),
  ) ?? voterKey(vote);

/**
 * Compares the votes on a request as read with those known. A vote that is cast is announced at once, a changed one once
 * two reads agree; of a request whose votes were not known before, nothing is.
 * @param own the votes on that request alone
 * @param requester what the requester is called: its own Yes is cast with the request
 */
export function compareVotes(
  key: string,
  request: TrackedVoteRequest,
  own: readonly Vote[],
  requester: readonly string[],
): VoteChanges {
  const votes: Record<string, boolean | null> = { ...request.votes };
  const unconfirmedVotes: Record<string, boolean> = {};
  const events: VoteEvent[] = [];
  let voteSequence = request.voteSequence;
  for (const row of own) {
    const { accept } = row;
    const voter = keptKey(votes, row);
    if (voter === null || accept === null) continue;
    const before = votes[voter] ?? null;
    if (before === accept) continue;
    if (before !== null && request.unconfirmedVotes?.[voter] !== accept) {
      unconfirmedVotes[voter] = accept;
      continue;
    }
    votes[voter] = accept;
    if (request.votes === undefined || (before === null && isOwn(requester, row))) continue;
    voteSequence += 1;
    events.push({
      kind: "vote",
      key,
      sequence: voteSequence,
      voter: voterName(row) ?? voter,
      from: before,
      to: accept,
    });
  }
  const isUnsure = Object.keys(unconfirmedVotes).length > 0;
  return {
    changes: { votes, voteSequence, unconfirmedVotes, ...(isUnsure ? { needsDetail: true } : {}) },
    events,
  };
}

/** Super validators that have voted before and not on this request; null where not all of them are known. */
export const absentFrom = (request: TrackedVoteRequest, rows: readonly Vote[]): readonly string[] | null =>
  notVoted(votesOn(request, rows), rows, request.pending);
