import { ifAnswered } from "../explorer/errors.js";
import { readPagesOf, together } from "../explorer/paging.js";
import type { Vote, VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { yieldIfBusy } from "../util/event-loop.js";
import { addTo } from "../util/groups.js";
import { withTimeout } from "../util/timeouts.js";
import { DAY, SECOND } from "../util/units.js";
import { median } from "./rhythm.js";
import { identityOf, readDetail } from "./vote-requests.js";
import { type Closing, isOver, readableDate, statusGroup } from "./vote-rules.js";
import { byVoter, type CastVote, type Voter, votersIn, votesIn } from "./votes.js";

/** Maximum number of ended vote requests in a record. The newest are used. */
const MAX_REQUESTS = 50;
/** Maximum number of requests whose contracts are fetched, to get the time of each vote. */
const MAX_DETAILS = 5;
/** Maximum time that a person waits for the contracts, in ms. */
const DETAILS_MS = 3 * SECOND;
/** Maximum number of pages of votes, and of vote requests. */
const MAX_VOTE_PAGES = 10;
const MAX_LIST_PAGES = 3;

/** Maximum number of super validators with a record. There are a few dozen. */
const MAX_VOTERS = 200;

/** A super validator's vote on one ended request. */
export interface Ballot {
  readonly request: VoteRequestListItem;
  /** null if it did not vote. */
  readonly accept: boolean | null;
  /** True if it did not vote although it had time to. */
  readonly isMissed: boolean;
  /** Epoch ms. null if unknown. */
  readonly castAt: number | null;
}

/** The voting record of one super validator. */
export interface VoterRecord {
  readonly voter: Voter;
  /**
   * Newest first. They start with the first request that it voted on, and end with the last one if it is a former super
   * validator.
   */
  readonly ballots: readonly Ballot[];
  /** True if it is no longer a super validator. */
  readonly isFormer: boolean;
}

/** Information that the bot has in addition to the lists of requests and votes. */
export interface KnownEndings {
  /** True if a voter is no longer a super validator. */
  isFormer(voter: Voter): boolean;
  /** Returns the times of a vote request that only the bot has seen. */
  seenOf(identity: string | null): { readonly closed?: Closing | undefined };
}

/**
 * Minimum time that a request must be open for votes on it to count as missed, in ms. It does not apply if the request ended at
 * one of its dates.
 */
const TIME_TO_VOTE = DAY;

/**
 * True if everybody had time to vote, because the request ended at one of its dates or was open for a day. Enough votes can end a
 * request within minutes.
 */
export function hadTime(
  request: VoteRequestListItem,
  votes: readonly CastVote[],
  closing: Closing | undefined,
): boolean {
  const { createdAt, targetEffectiveAt } = request;
  const group = statusGroup(request.status);
  if (group === "expired" || group === "other") return true;
  if (group !== "rejected" && readableDate(targetEffectiveAt) !== null) return true;
  if (createdAt === null) return false;
  const castTimes = votes.flatMap(({ castAt }) => castAt ?? []);
  // The contract's time may be that of the last vote.
  const openedAt = Math.min(createdAt, ...castTimes);
  return Math.max(closing?.after ?? 0, ...castTimes) - openedAt >= TIME_TO_VOTE;
}

/** The voting records of all super validators. */
export interface Records {
  readonly voters: readonly VoterRecord[];
  /** Requests whose votes are completely known, newest first, and the number of ended requests that were examined. */
  readonly requests: readonly VoteRequestListItem[];
  readonly looked: number;
}

/** Groups votes by the request id that they contain. */
function grouped(votes: readonly Vote[]): ReadonlyMap<string, Vote[]> {
  const groups = new Map<string, Vote[]>();
  for (const vote of votes) if (vote.trackingCid !== null) addTo(groups, vote.trackingCid, vote);
  return groups;
}

/** Returns the votes of a request. They contain either of its ids. */
const votesOf = (
  { trackingCid, contractId }: VoteRequestListItem,
  groups: ReadonlyMap<string, Vote[]>,
): Vote[] =>
  [...new Set([trackingCid, contractId])].flatMap((id) => (id === null ? [] : (groups.get(id) ?? [])));

const isWhole = ({ yesCount: yes, noCount: no }: VoteRequestListItem, votes: readonly Vote[]): boolean =>
  yes !== null && no !== null && votersIn(votes.filter(({ accept }) => accept !== null)).length === yes + no;

/** Reads the votes of the newest requests from their contracts, as far as they are answered in time. */
async function readContracts(explorer: Explorer, rows: readonly VoteRequestListItem[]) {
  const foundContracts = new Map<VoteRequestListItem, readonly CastVote[]>();
  const reading = rows.slice(0, MAX_DETAILS).map(async (row) => {
    const detail = await ifAnswered(readDetail(explorer, row));
    const votes = detail ? votesIn(detail.rawPayload) : null;
    if (votes) foundContracts.set(row, votes);
  });
  await withTimeout(Promise.all(reading), DETAILS_MS, () => undefined);
  return new Map(foundContracts);
}

/**
 * Returns how super validators voted on the most recently ended requests. A vote counts as missed only if the number of votes
 * matches the tally, and only for super validators that had voted before and had time to vote.
 * @throws {ExplorerError}
 */
export async function readRecords(
  explorer: Explorer,
  known: KnownEndings,
  now: number,
): Promise<Reading<Records>> {
  const list = await readPagesOf(explorer, "voteRequests", () => false, MAX_LIST_PAGES);
  const endedRequests = list.data
    .filter((row) => isOver(row, now))
    .sort((a, b) => (b.createdAt ?? 0) - (a.createdAt ?? 0))
    .slice(0, MAX_REQUESTS);
  const contracts = await readContracts(explorer, endedRequests);
  const listedRequests = endedRequests.filter((row) => !contracts.has(row));
  const votes = await readPagesOf(
    explorer,
    "votes",
    (rows) => {
      const groups = grouped(rows);
      return listedRequests.every((row) => isWhole(row, votesOf(row, groups)));
    },
    MAX_VOTE_PAGES,
  );
  // Many people may ask at once, and each answer goes through all votes.
  await yieldIfBusy();
  const groups = grouped(votes.data);
  const knownBallots = endedRequests.flatMap((request) => {
    const ownVotes: readonly CastVote[] =
      contracts.get(request) ?? votesOf(request, groups).map((vote) => ({ ...vote, castAt: null }));
    const closing = known.seenOf(identityOf(request)).closed;
    const mayMiss = hadTime(request, ownVotes, closing);
    return isWhole(request, ownVotes)
      ? [{ request, votes: ownVotes, byName: byVoter(ownVotes), mayMiss }]
      : [];
  });
  const voters = votersIn(knownBallots.flatMap((each) => each.votes)).slice(0, MAX_VOTERS);
  const records = voters.map((voter): VoterRecord => {
    const ballots = knownBallots.map(({ request, byName, mayMiss }): Ballot => {
      const vote = voter.aliases.map((alias) => byName.get(alias)).find((each) => each !== undefined);
      const accept = vote?.accept ?? null;
      return { request, accept, isMissed: accept === null && mayMiss, castAt: vote?.castAt ?? null };
    });
    const hasVoted = ({ accept }: Ballot) => accept !== null;
    const isFormer = known.isFormer(voter);
    const newest = isFormer ? ballots.findIndex(hasVoted) : 0;
    return { voter, isFormer, ballots: ballots.slice(newest, ballots.findLastIndex(hasVoted) + 1) };
  });
  const requests = knownBallots.map(({ request }) => request);
  return together({ voters: records, requests, looked: endedRequests.length }, list, votes);
}

/** Returns the median time between a record's votes and the deadline, in ms; `undefined` if the times are unknown. */
export function usualLead({ ballots }: VoterRecord): number | undefined {
  return median(
    ballots.flatMap(({ castAt, request: { voteBefore } }) =>
      castAt === null || voteBefore === null ? [] : [voteBefore - castAt],
    ),
  );
}
