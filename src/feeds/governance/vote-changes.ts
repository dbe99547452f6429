import type { Vote } from "../../explorer/schema/governance.js";
import { voterKey, voterName } from "../../ledger/votes.js";
import type { TrackedVoteRequest } from "../../storage/catalogue.js";
import { isWholeId } from "../../text/ids.js";
import type { GovernanceEvent } from "./events.js";

type VotesEvent = Extract<GovernanceEvent, { kind: "votes" }>;
type VoteChange = VotesEvent["votes"][number];

/** What a read of the votes changes of one request. */
interface VoteChanges {
  readonly changes: Pick<TrackedVoteRequest, "votes" | "voteSequence" | "unconfirmedVotes" | "needsDetail">;
  /** All that it found, as one; none where it found nothing. */
  readonly events: readonly VotesEvent[];
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

/** The key that a voter's vote was kept under, whichever of its names that was; undefined where it has none yet. */
const keptKey = (votes: Votes, vote: Vote): string | undefined =>
  [vote.identifier, vote.accountName, vote.company].find(
    (name) => name !== null && Object.hasOwn(votes, name),
  ) ?? undefined;

/**
 * Whether rows may name voters that are known by other names: some that are known are missing from them, and some of theirs
 * are not known, and one kind goes by parties and the other by names. Then nobody can tell who is new.
 */
function isAmbiguous(votes: Votes, rows: readonly Vote[]): boolean {
  const seen = new Set(rows.map((row) => keptKey(votes, row)));
  const missing = Object.keys(votes).filter((key) => !seen.has(key));
  return rows.some((row) => {
    const key = keptKey(votes, row) === undefined ? voterKey(row) : null;
    return key !== null && missing.some((other) => isWholeId(other) !== isWholeId(key));
  });
}

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
  if (isAmbiguous(votes, own)) {
    const { voteSequence, unconfirmedVotes } = request;
    const changes = {
      votes,
      voteSequence,
      ...(unconfirmedVotes ? { unconfirmedVotes } : {}),
      needsDetail: true,
    };
    return { changes, events: [] };
  }
  const unconfirmedVotes: Record<string, boolean> = {};
  const found: VoteChange[] = [];
  let voteSequence = request.voteSequence;
  for (const row of own) {
    const { accept } = row;
    const voter = keptKey(votes, row) ?? voterKey(row);
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
    found.push({ voter: voterName(row) ?? voter, from: before, to: accept });
  }
  const isUnsure = Object.keys(unconfirmedVotes).length > 0;
  return {
    changes: { votes, voteSequence, unconfirmedVotes, ...(isUnsure ? { needsDetail: true } : {}) },
    events: found.length > 0 ? [{ kind: "votes", key, sequence: voteSequence, votes: found }] : [],
  };
}
