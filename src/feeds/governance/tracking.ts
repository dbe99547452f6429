import { hash } from "node:crypto";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import { toAction, toTitle } from "../../ledger/actions.js";
import { identityOf, tallyIn, type VoteRequest } from "../../ledger/vote-requests.js";
import {
  castIn,
  decidedBy,
  isOpen,
  isOver,
  neededFor,
  statusGroup,
  type Tally,
} from "../../ledger/vote-rules.js";
import type { TrackedVoteRequest } from "../../storage/catalogue.js";

/** What is announced when it changes. */
export type Terms = TrackedVoteRequest["terms"];

/** How many of its contract ids are kept. */
const MAX_CONTRACT_IDS = 40;

/** A request's key in the state: a short hash of its identity, kept for ever. */
export function requestKey(identity: string): string {
  return hash("sha256", identity, "base64url").slice(0, 16);
}

const termsOf = (row: VoteRequestListItem, before: Terms | undefined): Terms => ({
  title: row.title ?? before?.title ?? null,
  action: before?.action ?? null,
  // A field that is missing for once is no change.
  voteBefore: row.voteBefore ?? before?.voteBefore ?? null,
  targetEffectiveAt: row.targetEffectiveAt ?? before?.targetEffectiveAt ?? null,
});

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * What is to be known of a request that nothing is known of yet.
 * @param baseline whether it was there before anything was watched: then it is not announced, nor are its votes
 */
export function firstSeen(
  row: VoteRequestListItem,
  now: number,
  baseline: boolean,
): TrackedVoteRequest | undefined {
  const identity = identityOf(row);
  // A row that says neither its status nor a deadline is half an answer: the next read tells.
  const says =
    statusGroup(row.status) !== "other" || row.voteBefore !== null || row.targetEffectiveAt !== null;
  if (identity === null || !says) return undefined;
  const open = isOpen(row, now);
  return {
    identity,
    contractIds: row.contractId === null ? [] : [row.contractId],
    phase: open ? "open" : "ignored",
    status: row.status,
    requester: row.requester,
    terms: termsOf(row, undefined),
    ...tallyIn(row),
    revision: 1,
    missedReads: 0,
    // Seen from its opening, all its votes are news, those cast before it was seen too; of an older one, those that come
    // from now on.
    ...(baseline || !open
      ? {}
      : { votes: {}, needsDetail: castIn({ yes: row.yesCount, no: row.noCount }) > 0 }),
    voteSequence: 0,
    changeSequence: 0,
    reminded: [],
    ...(open ? {} : { closedAt: now }),
  };
}

/**
 * Which way enough have voted, where that was not told before. What was so when it was first looked at is not told.
 * @returns the request with that kept
 */
export function decide(request: TrackedVoteRequest): {
  readonly next: TrackedVoteRequest;
  readonly way?: "yes" | "no";
  readonly needed?: number;
} {
  const needed = neededFor(request, undefined);
  const way = decidedBy(request, needed);
  const { decided } = request;
  if (decided && (way === undefined || decided.includes(way))) return { next: request };
  const next = { ...request, decided: [...(decided ?? []), ...(way ? [way] : [])] };
  return decided && way && needed !== undefined ? { next, way, needed } : { next };
}

/** What a row changes. */
export interface Difference {
  readonly next: TrackedVoteRequest;
  readonly changedFrom?: Terms;
  readonly closed: boolean;
}

/** Whether a row is of an earlier version of its request than one that was seen. */
function isStale(known: TrackedVoteRequest, row: VoteRequestListItem): boolean {
  const index = known.contractIds.indexOf(row.contractId ?? "");
  const isOlder = index >= 0 && index < known.contractIds.length - 1;
  // Votes are never taken back: a version nobody has seen, with fewer of them, was missed and is old.
  const wasMissed = index < 0 && castIn({ yes: row.yesCount, no: row.noCount }) < castIn(known);
  return isOlder || wasMissed;
}

interface TermsDifference {
  /** The terms to go on with. */
  readonly terms: Terms;
  /** Terms that the next complete read must confirm. */
  readonly unconfirmed?: Terms;
  /** What they were, where a change is confirmed. */
  readonly changedFrom?: Terms;
  /** Whether something is known now that was not. */
  readonly learnt: boolean;
}

/** Terms with the title as it was, where it says the same: a constructor and its words do. */
const withTitle = (terms: Terms, { title }: Terms): Terms =>
  toTitle(terms.title) === toTitle(title) ? { ...terms, title } : terms;

function compareTerms(
  known: TrackedVoteRequest,
  row: VoteRequestListItem,
  confirming: boolean,
): TermsDifference {
  const terms = withTitle(termsOf(row, known.terms), known.terms);
  // What was not known before is learnt, and no change.
  const was: Terms = {
    title: known.terms.title ?? terms.title,
    action: known.terms.action,
    voteBefore: known.terms.voteBefore ?? terms.voteBefore,
    targetEffectiveAt: known.terms.targetEffectiveAt ?? terms.targetEffectiveAt,
  };
  const learnt = !isSame(was, known.terms);
  if (isSame(terms, was)) return { terms: was, learnt };
  if (confirming && isSame(terms, known.unconfirmed)) return { terms, changedFrom: was, learnt };
  // A look at the first page alone comes before a whole one at the same answer: it only keeps what another poll said.
  const unconfirmed = confirming ? terms : known.unconfirmed;
  return { terms: was, learnt, ...(unconfirmed ? { unconfirmed } : {}) };
}

/** A request that this read did not miss: the same object where no read before had missed it. */
const present = (known: TrackedVoteRequest): TrackedVoteRequest =>
  known.missedReads === 0 ? known : { ...known, missedReads: 0 };

/** A request that is over, of which a row may still state the outcome in other words. */
function restate(known: TrackedVoteRequest, row: VoteRequestListItem): TrackedVoteRequest {
  const restated = statusGroup(row.status) !== "open" && row.status !== null && row.status !== known.status;
  return restated ? { ...present(known), status: row.status, revision: known.revision + 1 } : present(known);
}

/**
 * Compares a row with what is known of its request. A row with an older contract id is a stale answer and changes
 * nothing, and neither does one for a request that is closed, but for the words of its status.
 * @param confirming whether the row is of a complete read: terms count once two of them agree
 */
export function compare(
  known: TrackedVoteRequest,
  row: VoteRequestListItem,
  confirming: boolean,
  now: number,
): Difference {
  const closed = isOver({ ...termsOf(row, known.terms), status: row.status }, now);
  if (isStale(known, row) && !closed) return { next: present(known), closed: false };
  if (known.phase !== "open") return { next: restate(known, row), closed: false };

  const { terms, unconfirmed, changedFrom, learnt } = compareTerms(known, row, confirming);
  const tally = {
    yes: row.yesCount ?? known.yes,
    no: row.noCount ?? known.no,
    pending: row.abstainCount ?? known.pending,
  };
  const tallyMoved = tally.yes !== known.yes || tally.no !== known.no;
  const status = row.status ?? known.status;
  const isShown = tallyMoved || changedFrom !== undefined || learnt || closed || status !== known.status;
  const { contractId } = row;
  const newIds = contractId === null || known.contractIds.includes(contractId) ? [] : [contractId];
  const { unconfirmed: before, ...rest } = known;
  const next: TrackedVoteRequest = {
    ...rest,
    ...tally,
    contractIds: [...known.contractIds, ...newIds].slice(-MAX_CONTRACT_IDS),
    missedReads: 0,
    ...(tallyMoved ? { needsDetail: true } : {}),
    phase: closed ? "closed" : "open",
    status,
    requester: known.requester ?? row.requester,
    terms,
    ...(unconfirmed ? { unconfirmed } : {}),
    revision: known.revision + (isShown ? 1 : 0),
    changeSequence: known.changeSequence + (changedFrom ? 1 : 0),
  };
  return { next, closed, ...(changedFrom ? { changedFrom } : {}) };
}

/** A request's key: that of the tracked one which has had one of the row's ids, else of its own identity. */
export function keyOf(
  known: ReadonlyMap<string, TrackedVoteRequest>,
  row: VoteRequestListItem,
  identity: string,
): string {
  const own = requestKey(identity);
  if (known.has(own)) return own;
  for (const [key, { contractIds }] of known) {
    if (contractIds.some((id) => id === row.trackingCid || id === row.contractId)) return key;
  }
  return own;
}

/**
 * How a tracked request stands: as the list counts it, or with all votes that are known, where those are no fewer: they are
 * read after the list, and whoever is told of a vote finds it in the tally.
 */
export function tallyOf({ yes, no, pending, votes, unconfirmedVotes }: TrackedVoteRequest): Tally {
  const known = Object.values(votes ?? {});
  const counted = {
    yes: known.filter((accept) => accept === true).length,
    no: known.filter((accept) => accept === false).length,
  };
  const more = castIn(counted) - castIn({ yes, no });
  const isUnsure = Object.keys(unconfirmedVotes ?? {}).length > 0;
  if (more < 0 || isUnsure) return { yes, no, pending };
  return { ...counted, pending: pending && Math.max(0, pending - more) };
}

/** What is tracked of a request, as the request itself. */
export function toVoteRequest(tracked: TrackedVoteRequest): VoteRequest {
  const { identity, terms, status, requester } = tracked;
  return {
    identity,
    contractId: tracked.contractIds.at(-1) ?? null,
    ids: [...new Set([identity, ...tracked.contractIds])],
    title: terms.title,
    action: { ...toAction(null), words: terms.action },
    status,
    requester,
    requesterName: null,
    requesterImg: null,
    createdAt: null,
    voteBefore: terms.voteBefore,
    targetEffectiveAt: terms.targetEffectiveAt,
    ...tallyOf(tracked),
    reasonUrl: null,
    reasonBody: null,
    votes: null,
    detail: "none",
  };
}

/**
 * A request as the explorer told of it, with the title and dates that are tracked: a detail may come from the cache. Its tally is
 * that which counts more votes: they are never taken back.
 */
export function withTracked(request: VoteRequest, tracked: TrackedVoteRequest): VoteRequest {
  const own = toVoteRequest(tracked);
  const { title, status, voteBefore, targetEffectiveAt } = own;
  const { yes, no, pending } = castIn(request) > castIn(own) ? request : own;
  return {
    ...request,
    title: tracked.terms.title === null ? request.title : title,
    status,
    yes,
    no,
    pending,
    voteBefore,
    targetEffectiveAt,
  };
}
