import { ifAnswered } from "../explorer/errors.js";
import { readPages, together } from "../explorer/paging.js";
import type { Vote, VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { withTimeout } from "../util/timeouts.js";
import { SECOND } from "../util/units.js";
import { readDetail } from "./vote-requests.js";
import { isOver } from "./vote-rules.js";
import { byVoter, type CastVote, type Voter, votersIn, votesIn } from "./votes.js";

/** Vote requests that are looked at, the newest of those that have ended. */
const MAX_REQUESTS = 50;
/** Of those, so many whose contracts are read, which say when each vote was cast. */
const MAX_DETAILS = 5;
/** A person does not wait for them any longer than this, in ms. */
const DETAILS_MS = 3 * SECOND;
/** Pages of votes, and of vote requests, read at the most. */
const MAX_VOTE_PAGES = 10;
const MAX_LIST_PAGES = 3;

/** Super validators that a record is made of; there are some dozens. */
const MAX_VOTERS = 200;

/** How one super validator voted on one request that has ended. */
export interface Ballot {
  readonly request: VoteRequestListItem;
  /** Null where it missed the vote. */
  readonly accept: boolean | null;
  /** Epoch ms, where the explorer says. */
  readonly castAt: number | null;
}

/** How one super validator has voted. */
export interface VoterRecord {
  readonly voter: Voter;
  /** The newest first, from the first request on that it is seen voting on. */
  readonly ballots: readonly Ballot[];
}

/** How all of them have voted. */
export interface Records {
  readonly voters: readonly VoterRecord[];
  /** The requests whose votes are known to the end, the newest first; and how many have ended that were looked at. */
  readonly requests: readonly VoteRequestListItem[];
  readonly looked: number;
}

/** Votes by the id that they name their request by. */
function grouped(votes: readonly Vote[]): ReadonlyMap<string, Vote[]> {
  const groups = new Map<string, Vote[]>();
  for (const vote of votes) {
    if (vote.trackingCid === null) continue;
    const group = groups.get(vote.trackingCid);
    if (group) group.push(vote);
    else groups.set(vote.trackingCid, [vote]);
  }
  return groups;
}

/** A request's own votes, whichever of its ids they name. */
const votesOf = (
  { trackingCid, contractId }: VoteRequestListItem,
  groups: ReadonlyMap<string, Vote[]>,
): Vote[] =>
  [...new Set([trackingCid, contractId])].flatMap((id) => (id === null ? [] : (groups.get(id) ?? [])));

const isWhole = ({ yesCount: yes, noCount: no }: VoteRequestListItem, votes: readonly Vote[]): boolean =>
  yes !== null && no !== null && votersIn(votes.filter(({ accept }) => accept !== null)).length === yes + no;

/** The votes of the newest requests as their contracts have them, as far as they are answered in time. */
async function readContracts(explorer: Explorer, rows: readonly VoteRequestListItem[]) {
  const found = new Map<VoteRequestListItem, readonly CastVote[]>();
  const reading = rows.slice(0, MAX_DETAILS).map(async (row) => {
    const detail = await ifAnswered(readDetail(explorer, row));
    const votes = detail ? votesIn(detail.rawPayload) : null;
    if (votes) found.set(row, votes);
  });
  await withTimeout(Promise.all(reading), DETAILS_MS, () => undefined);
  return new Map(found);
}

/**
 * How the super validators have voted on the last requests that have ended, as far as the explorer gives the votes. Who missed a
 * vote is known only of a request whose votes are as many as its tally counts, and of those who had voted before.
 * @throws {ExplorerError}
 */
export async function readRecords(explorer: Explorer, now: number): Promise<Reading<Records>> {
  const list = await readPages(
    "voteRequests",
    (page) => explorer.voteRequests(page),
    () => false,
    MAX_LIST_PAGES,
  );
  const ended = list.data
    .filter((row) => isOver(row, now))
    .sort((a, b) => (b.createdAt ?? 0) - (a.createdAt ?? 0))
    .slice(0, MAX_REQUESTS);
  const contracts = await readContracts(explorer, ended);
  const listed = ended.filter((row) => !contracts.has(row));
  const votes = await readPages(
    "votes",
    (page) => explorer.votes(page),
    (rows) => {
      const groups = grouped(rows);
      return listed.every((row) => isWhole(row, votesOf(row, groups)));
    },
    MAX_VOTE_PAGES,
  );
  const groups = grouped(votes.data);
  const known = ended.flatMap((request) => {
    const own = contracts.get(request) ?? votesOf(request, groups).map((vote) => ({ ...vote, castAt: null }));
    return isWhole(request, own) ? [{ request, votes: own, byName: byVoter(own) }] : [];
  });
  const voters = votersIn(known.flatMap((each) => each.votes)).slice(0, MAX_VOTERS);
  const records = voters.map((voter): VoterRecord => {
    const ballots = known.map(({ request, byName }): Ballot => {
      const vote = voter.aliases.map((alias) => byName.get(alias)).find((each) => each !== undefined);
      return { request, accept: vote?.accept ?? null, castAt: vote?.castAt ?? null };
    });
    const first = ballots.findLastIndex(({ accept }) => accept !== null);
    return { voter, ballots: ballots.slice(0, first + 1) };
  });
  const requests = known.map(({ request }) => request);
  return together({ voters: records, requests, looked: ended.length }, list, votes);
}

/** How long before the deadline a record's votes were usually cast, in ms: the median; undefined where nobody says. */
export function usualLead({ ballots }: VoterRecord): number | undefined {
  const leads = ballots
    .flatMap(({ castAt, request: { voteBefore } }) =>
      castAt === null || voteBefore === null ? [] : [voteBefore - castAt],
    )
    .sort((a, b) => a - b);
  return leads[Math.floor(leads.length / 2)];
}
