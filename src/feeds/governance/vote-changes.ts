import type { Vote } from "../../explorer/schema/governance.js";
import { aliasesOf, voterKey, voterName } from "../../ledger/votes.js";
import { isPartyId, isWholeId } from "../../text/ids.js";
import { defined } from "../../util/present.js";
import type { TrackedVoteRequest } from "./collections.js";
import type { GovernanceEvent } from "./events.js";

type VotesEvent = Extract<GovernanceEvent, { kind: "votes" }>;
type VoteChange = VotesEvent["votes"][number];

/** Changes found by a read of the votes. */
interface VoteChanges {
  readonly changes: Pick<TrackedVoteRequest, "votes" | "voteSequence" | "unconfirmedVotes" | "needsDetail">;
  /** All changes in one event. Empty if there are none. */
  readonly events: readonly VotesEvent[];
}

/** True for the requester's own Yes, which is cast with the request. A company name only counts if no other voter has it. */
const isOwn = (requester: readonly string[], { accept, ...vote }: Vote, all: readonly Vote[]): boolean =>
  accept === true &&
  [...aliasesOf({ accept, ...vote }), ...ownCompany(vote, all)].some((name) => requester.includes(name));

const ownCompany = ({ company }: Pick<Vote, "company">, all: readonly Vote[]): string[] =>
  company !== null && all.filter((each) => each.company === company).length === 1 ? [company] : [];

/** Returns the votes on a request. A row contains the id of the request's first version, or of any later one. */
export const votesOn = <Row extends Vote>(
  { identity, contractIds }: TrackedVoteRequest,
  rows: readonly Row[],
): Row[] =>
  rows.filter(({ trackingCid }) => trackingCid === identity || contractIds.some((id) => id === trackingCid));

type Votes = ReadonlyMap<string, boolean | null>;

/** Returns the key of a voter's stored vote, under any of the voter's names. `undefined` if there is none. */
const keptKey = (votes: Votes, vote: Vote): string | undefined =>
  aliasesOf(vote).find((name) => votes.has(name));

/**
 * True if the rows may contain known voters under other names. This is the case if some known voters are missing, some rows are
 * unknown, and one group has parties while the other has names. It is then unclear which votes are new.
 */
function isAmbiguous(votes: Votes, rows: readonly Vote[]): boolean {
  const seenKeys = new Set(rows.map((row) => keptKey(votes, row)));
  const missingKeys = [...votes.keys()].filter((key) => !seenKeys.has(key));
  return rows.some((row) => {
    const key = keptKey(votes, row) === undefined ? voterKey(row) : null;
    return key !== null && missingKeys.some((other) => isWholeId(other) !== isWholeId(key));
  });
}

/**
 * Compares the votes of a request with the known ones. A new vote is announced at once, a changed vote once
 * two reads agree. If no votes were known before, none are announced.
 * @param own the votes on this request
 * @param requester the requester's names. Its own Yes is cast with the request
 */
export function compareVotes(
  key: string,
  request: TrackedVoteRequest,
  own: readonly Vote[],
  requester: readonly string[],
): VoteChanges {
  const votes = new Map(Object.entries(request.votes ?? {}));
  if (isAmbiguous(votes, own)) {
    const { voteSequence, unconfirmedVotes } = request;
    const changes = {
      votes: Object.fromEntries(votes),
      voteSequence,
      ...defined({ unconfirmedVotes }),
      needsDetail: true,
    };
    return { changes, events: [] };
  }
  const before = new Map(Object.entries(request.unconfirmedVotes ?? {}));
  const unconfirmedVotes = new Map<string, boolean>();
  const foundChanges: VoteChange[] = [];
  let voteSequence = request.voteSequence;
  for (const row of own) {
    const { accept } = row;
    const voter = keptKey(votes, row) ?? voterKey(row);
    if (voter === null || accept === null) continue;
    const previousVote = votes.get(voter) ?? null;
    if (previousVote === accept) continue;
    if (previousVote !== null && before.get(voter) !== accept) {
      unconfirmedVotes.set(voter, accept);
      continue;
    }
    votes.set(voter, accept);
    if (request.votes === undefined || (previousVote === null && isOwn(requester, row, own))) continue;
    voteSequence += 1;
    const name = voterName(row) ?? voter;
    const party = isPartyId(row.identifier ?? "") && row.identifier !== name ? row.identifier : null;
    foundChanges.push({
      voter: name,
      ...defined({ party: party ?? undefined }),
      from: previousVote,
      to: accept,
    });
  }
  return {
    changes: {
      votes: Object.fromEntries(votes),
      voteSequence,
      unconfirmedVotes: Object.fromEntries(unconfirmedVotes),
      ...defined({ needsDetail: unconfirmedVotes.size > 0 || undefined }),
    },
    events:
      foundChanges.length > 0 ? [{ kind: "votes", key, sequence: voteSequence, votes: foundChanges }] : [],
  };
}
