import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import { toAction, toTitle } from "../../ledger/actions.js";
import { type Standing, standingOf } from "../../ledger/vote-phase.js";
import { earliest, identityOf, tallyIn, type VoteRequest } from "../../ledger/vote-requests.js";
import {
  type Closing,
  castIn,
  isOpen,
  isOver,
  neededFor,
  readableDate,
  statusGroup,
  type Tally,
} from "../../ledger/vote-rules.js";
import { ageOf } from "../../util/clock.js";
import { digest } from "../../util/digest.js";
import { defined } from "../../util/present.js";
import { DAY, HOUR } from "../../util/units.js";
import type { TrackedVoteRequest } from "./collections.js";
import { hasVanished, isLongPast } from "./endings.js";

/** Fields whose changes are announced. */
export type Terms = TrackedVoteRequest["terms"];

/** Maximum number of stored contract ids. */
const MAX_CONTRACT_IDS = 40;

/** Returns a request's key in the state: a short hash of its identity. It never changes. */
export const requestKey = (identity: string): string => digest(identity, 16);

const termsOf = (row: VoteRequestListItem, before: Terms | undefined): Terms => ({
  title: row.title ?? before?.title ?? null,
  action: before?.action ?? null,
  // A missing field is not a change.
  voteBefore: row.voteBefore ?? before?.voteBefore ?? null,
  // A date that cannot be read is no change either, and is not kept once it is missing.
  targetEffectiveAt:
    readableDate(row.targetEffectiveAt) ?? readableDate(before?.targetEffectiveAt) ?? row.targetEffectiveAt,
});

/** True if two versions of a request have the same dates. */
const hasSameDates = (a: Terms, b: Terms): boolean =>
  a.voteBefore === b.voteBefore && a.targetEffectiveAt === b.targetEffectiveAt;

/** True if one read of the list has shown other dates, and the next one has not confirmed them yet. */
export const mayHaveMoved = ({ terms, unconfirmed, isDisputed, missedReads }: TrackedVoteRequest): boolean =>
  // While a request is not listed, other dates cannot be confirmed. Reads that keep disagreeing must not hold the reminders back.
  missedReads === 0 && !isDisputed && unconfirmed !== undefined && !hasSameDates(unconfirmed, terms);

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * Returns a request that is seen for the first time.
 * @param baseline true if it existed before the bot watched, so that neither it nor its votes are announced
 */
export function firstSeen(
  row: VoteRequestListItem,
  now: number,
  baseline: boolean,
): TrackedVoteRequest | undefined {
  const identity = identityOf(row);
  // Ignore a row with neither a status nor a deadline. The next read may be complete.
  const hasStatusOrDate =
    statusGroup(row.status) !== "other" || row.voteBefore !== null || row.targetEffectiveAt !== null;
  if (identity === null || !hasStatusOrDate) return undefined;
  const isRowOpen = isOpen(row, now);
  // Without a status, a request past its dates has not ended for certain.
  if (!baseline && !isRowOpen && !isOver(row, now)) return undefined;
  const request = {
    identity,
    contractIds: row.contractId === null ? [] : [row.contractId],
    status: row.status,
    requester: row.requester,
    terms: termsOf(row, undefined),
    ...tallyIn(row),
    revision: 1,
    missedReads: 0,
    voteSequence: 0,
    changeSequence: 0,
    reminded: [],
  };
  if (!isRowOpen) return { ...request, phase: "ignored", closedAt: now };
  if (baseline) return { ...request, phase: "open" };
  // For a request that opened while the bot was watching, all votes are announced. For an older one, only
  // later votes are.
  const needsDetail = castIn({ yes: row.yesCount, no: row.noCount }) > 0;
  return { ...request, phase: "open", votes: {}, needsDetail };
}

/** The changes in a row. */
export interface RowDifference {
  readonly next: TrackedVoteRequest;
  readonly changedFrom?: Terms;
  readonly closed: boolean;
}

/** True if a row is older than the version that was seen last. */
function isStale(known: TrackedVoteRequest, row: VoteRequestListItem): boolean {
  const index = known.contractIds.indexOf(row.contractId ?? "");
  const isOlder = index >= 0 && index < known.contractIds.length - 1;
  // Votes are never withdrawn, so an unknown version with fewer votes is older than the known one.
  const wasMissed = index < 0 && castIn({ yes: row.yesCount, no: row.noCount }) < castIn(known);
  return isOlder || wasMissed;
}

interface TermsDifference {
  /** The terms to store. */
  readonly terms: Terms;
  /** Terms that the next complete read must confirm. */
  readonly unconfirmed?: Terms;
  /** True if they show other dates than the unconfirmed ones before. */
  readonly isDisputed?: boolean;
  /** The earlier terms, if a change is confirmed. */
  readonly changedFrom?: Terms;
  /** True if the row contains a value that was unknown. */
  readonly learnt: boolean;
}

/** Keeps the known title if the new one means the same, such as a constructor's name and its words. */
const withTitle = (terms: Terms, { title }: Terms): Terms =>
  toTitle(terms.title) === toTitle(title) ? { ...terms, title } : terms;

/** Returns the terms with what two reads in a row agree on. The title and the dates are confirmed separately. */
const agreedIn = (was: Terms, before: Terms, terms: Terms): Terms => ({
  ...(hasSameDates(before, terms) ? terms : was),
  title: before.title === terms.title ? terms.title : was.title,
});

function compareTerms(
  known: TrackedVoteRequest,
  row: VoteRequestListItem,
  confirming: boolean,
): TermsDifference {
  const terms = withTitle(termsOf(row, known.terms), known.terms);
  // A value that was unknown before is not a change.
  const was: Terms = {
    title: known.terms.title ?? terms.title,
    action: known.terms.action,
    voteBefore: known.terms.voteBefore ?? terms.voteBefore,
    targetEffectiveAt: readableDate(known.terms.targetEffectiveAt) ?? terms.targetEffectiveAt,
  };
  const hasLearnt = !isSame(was, known.terms);
  if (isSame(terms, was)) return { terms: was, learnt: hasLearnt };
  const { unconfirmed: before, isDisputed } = known;
  // A read of the first page precedes a complete one and cannot confirm anything, so keep the earlier value.
  if (!confirming)
    return {
      terms: was,
      learnt: hasLearnt,
      ...defined({ unconfirmed: before, isDisputed }),
    };
  const confirmed = before ? agreedIn(was, before, terms) : was;
  const areDatesOpen = !hasSameDates(confirmed, terms);
  return {
    terms: confirmed,
    learnt: hasLearnt,
    ...defined({
      changedFrom: isSame(confirmed, was) ? undefined : was,
      unconfirmed: isSame(confirmed, terms) ? undefined : terms,
      isDisputed: (areDatesOpen && before && !hasSameDates(before, was)) || undefined,
    }),
  };
}

/** True if an open request may be shown as one that is no longer listed. */
const isShownAsGone = (known: TrackedVoteRequest): boolean => known.phase === "open" && hasVanished(known);

/** Resets the count of missed reads. Returns the same object if it was zero. */
const presentRequest = (known: TrackedVoteRequest): TrackedVoteRequest =>
  known.missedReads === 0
    ? known
    : { ...known, missedReads: 0, revision: known.revision + (isShownAsGone(known) ? 1 : 0) };

/** Updates the outcome of a closed request, which a row may state in other words. */
function restate(known: TrackedVoteRequest, row: VoteRequestListItem): TrackedVoteRequest {
  const isOutcome = statusGroup(row.status) !== "open" && row.status !== null;
  if (!isOutcome || (row.status === known.status && !known.endUnconfirmed)) return presentRequest(known);
  const { endUnconfirmed, ...rest } = presentRequest(known);
  return { ...rest, status: row.status, revision: known.revision + 1 };
}

/** Time after its end within which another outcome of a request is announced, in ms. Later, the explorer may only use other words. */
const CORRECTED_MS = 7 * DAY;
/** Time for which the explorer must state another outcome, in ms, because two servers of it may differ for a while. */
const CONFIRMED_MS = HOUR;

const outcomeOf = (status: string | null) =>
  statusGroup(status) === "implemented" ? "accepted" : statusGroup(status);

/** True if the bot saw a request end: also one that opened and ended while it was away. Version 0.2.0 stored no `openUntil`. */
export const sawEnd = ({ phase, openUntil }: TrackedVoteRequest): boolean =>
  phase === "closed" || (phase === "ignored" && openUntil !== undefined);

/** Remembers the outcome that was announced, and since when the explorer states another one. */
export function withTold(
  known: TrackedVoteRequest,
  next: TrackedVoteRequest,
  now: number,
): TrackedVoteRequest {
  const { endUnconfirmed, status } = known;
  const isRestated = sawEnd(known) && !endUnconfirmed && next.status !== status;
  if (!isRestated) return next;
  const toldStatus = known.toldStatus === undefined ? status : known.toldStatus;
  return { ...next, toldStatus, restatedAt: now };
}

/**
 * Reopens a request that the explorer has listed as open for a while after its end, because the end was a mistake. Until then, it
 * only remembers since when. An end is final if it was never announced, or a week ago, or if a known outcome is long past the request's
 * dates.
 * @param row the request in a complete read
 */
export function withReopening(
  next: TrackedVoteRequest,
  row: VoteRequestListItem,
  now: number,
): TrackedVoteRequest {
  const isOld = ageOf(next.closedAt ?? 0, now) >= CORRECTED_MS;
  const isFinal = !sawEnd(next) || isOld || (isLongPast(next, now) && !next.endUnconfirmed);
  if (next.phase === "open" || isFinal) return next;
  const { listedOpenAt, ...ended } = next;
  if (statusGroup(row.status) !== "open" || isStale(next, row))
    return listedOpenAt === undefined ? next : ended;
  if (listedOpenAt === undefined) return { ...next, listedOpenAt: now };
  if (ageOf(listedOpenAt, now) < CONFIRMED_MS) return next;
  const { closedAt, openUntil, endUnconfirmed, toldStatus, restatedAt, ...open } = ended;
  return { ...open, phase: "open", status: row.status, reopenedAt: now, revision: next.revision + 1 };
}

/** True while the explorer has stated another outcome only for a short time, which may be a mistake. */
export const isInDoubt = ({ status, toldStatus, restatedAt }: TrackedVoteRequest, now: number): boolean =>
  restatedAt !== undefined &&
  ageOf(restatedAt, now) < CONFIRMED_MS &&
  (toldStatus === undefined || outcomeOf(status) !== outcomeOf(toldStatus));

/**
 * True if the explorer has stated another outcome for a while than the one that was announced. An accepted request that is carried
 * out is none.
 */
export function isCorrected(next: TrackedVoteRequest, now: number): boolean {
  const { toldStatus, closedAt, restatedAt, status } = next;
  if (toldStatus === undefined || closedAt === undefined || restatedAt === undefined) return false;
  const isOther = outcomeOf(status) !== "other" && outcomeOf(status) !== outcomeOf(toldStatus);
  return isOther && ageOf(closedAt, now) < CORRECTED_MS && ageOf(restatedAt, now) >= CONFIRMED_MS;
}

/**
 * Compares a row with the tracked request. A row with an older contract id is stale and ignored. A closed
 * request only changes its status.
 * @param confirming true for a complete read. Changed terms count once two of these agree
 */
export function compare(
  known: TrackedVoteRequest,
  row: VoteRequestListItem,
  confirming: boolean,
  now: number,
): RowDifference {
  const isClosed = isOver({ ...termsOf(row, known.terms), status: row.status }, now);
  if (isStale(known, row) && !isClosed) return { next: presentRequest(known), closed: false };
  if (known.phase !== "open")
    return { next: confirming ? restate(known, row) : presentRequest(known), closed: false };

  const { unconfirmed, isDisputed, changedFrom, learnt, ...compared } = compareTerms(known, row, confirming);
  // The dates of a request that has ended are not confirmed by later reads.
  const terms = isClosed && !isStale(known, row) ? termsOf(row, known.terms) : compared.terms;
  const tally = {
    yes: row.yesCount ?? known.yes,
    no: row.noCount ?? known.no,
    pending: row.abstainCount ?? known.pending,
  };
  const tallyMoved = tally.yes !== known.yes || tally.no !== known.no;
  const status = row.status ?? known.status;
  const isShown =
    isShownAsGone(known) ||
    tallyMoved ||
    changedFrom !== undefined ||
    learnt ||
    isClosed ||
    status !== known.status;
  const { contractId } = row;
  const newIds = contractId === null || known.contractIds.includes(contractId) ? [] : [contractId];
  // Each vote makes a new version, also if two votes leave the tally as it was.
  const isVersionNew = newIds.length > 0 && known.contractIds.length > 0;
  const { unconfirmed: before, isDisputed: wasDisputed, toldOverdue, ...rest } = known;
  // With another decision date, it may become overdue again.
  const isMoved = changedFrom !== undefined && changedFrom.targetEffectiveAt !== terms.targetEffectiveAt;
  const nextRequest: TrackedVoteRequest = {
    ...rest,
    ...tally,
    contractIds: [...known.contractIds, ...newIds].slice(-MAX_CONTRACT_IDS),
    missedReads: 0,
    phase: isClosed ? "closed" : "open",
    status,
    requester: known.requester ?? row.requester,
    terms,
    ...defined({
      needsDetail: tallyMoved || isVersionNew || rest.needsDetail,
      unconfirmed: isClosed ? undefined : unconfirmed,
      isDisputed: isClosed ? undefined : isDisputed,
      toldOverdue: isMoved ? undefined : toldOverdue,
    }),
    revision: known.revision + (isShown ? 1 : 0),
    changeSequence: known.changeSequence + (changedFrom ? 1 : 0),
  };
  return { next: nextRequest, closed: isClosed, ...defined({ changedFrom }) };
}

/** Returns the key of the tracked request with one of the row's ids, or else a key from the row's identity. */
export function keyOf(
  known: ReadonlyMap<string, TrackedVoteRequest>,
  row: VoteRequestListItem,
  identity: string,
): string {
  const ownKey = requestKey(identity);
  if (known.has(ownKey)) return ownKey;
  for (const [key, { contractIds }] of known) {
    if (contractIds.some((id) => id === row.trackingCid || id === row.contractId)) return key;
  }
  return ownKey;
}

/**
 * Returns a tracked request's tally from the list, or from the known votes if there are at least as many.
 * Votes are read after the list, and the tally should include a vote that was just announced. Without counts in
 * the list, an empty set of known votes is not a tally of zero.
 */
export function tallyOf(request: TrackedVoteRequest): Tally {
  const { yes, no, pending, votes, unconfirmedVotes, needsDetail } = request;
  const knownVotes = Object.values(votes ?? {});
  const countedVotes = {
    yes: knownVotes.filter((accept) => accept === true).length,
    no: knownVotes.filter((accept) => accept === false).length,
  };
  const isCounted = yes !== null && no !== null;
  const additionalVotes = isCounted ? castIn(countedVotes) - castIn({ yes, no }) : 0;
  // Until the votes are read again, one of them may have been changed.
  const isUnsure =
    Object.keys(unconfirmedVotes ?? {}).length > 0 ||
    (isCounted && needsDetail === true && additionalVotes === 0);
  if (isUnsure || additionalVotes < 0 || (!isCounted && knownVotes.length === 0)) return { yes, no, pending };
  return { ...countedVotes, pending: pending && Math.max(0, pending - additionalVotes) };
}

/** Returns the time span in which a tracked request ended. `undefined` if the bot did not see it end. */
function closingOf({ openUntil, closedAt, endUnconfirmed }: TrackedVoteRequest): Closing | undefined {
  const wasSeen = openUntil !== undefined && closedAt !== undefined && !endUnconfirmed;
  return wasSeen ? { after: openUntil, by: closedAt } : undefined;
}

/** True if the bot saw before the quorum date that enough had voted. Votes are never withdrawn, so they still have. */
export const sawQuorum = ({ quorumAt, enoughYesAt, terms }: TrackedVoteRequest): boolean =>
  terms.voteBefore !== null && (quorumAt ?? enoughYesAt ?? Infinity) < terms.voteBefore;

/** Returns a tracked request as a vote request. */
export function toVoteRequest(tracked: TrackedVoteRequest): VoteRequest {
  const { identity, terms, status, requester } = tracked;
  return {
    identity,
    contractId: tracked.contractIds.at(-1) ?? null,
    ids: [...new Set([identity, ...tracked.contractIds])],
    title: terms.title,
    action: { ...toAction(null), words: terms.action },
    // The last known status is not the outcome.
    status: tracked.endUnconfirmed ? null : status,
    isGone: tracked.endUnconfirmed,
    closed: closingOf(tracked),
    requester,
    requesterName: null,
    requesterImg: null,
    createdAt: tracked.openedAt ?? null,
    enoughYesAt: tracked.enoughYesAt,
    hasExpired: tracked.hasExpired ?? (sawQuorum(tracked) ? false : undefined),
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
 * Adds the tracked title and dates to a request from the explorer, because its details may come from the
 * cache. Uses the tally with more votes, because votes are never withdrawn.
 */
export function withTracked(request: VoteRequest, tracked: TrackedVoteRequest): VoteRequest {
  const ownTally = toVoteRequest(tracked);
  const { title, status, isGone, closed, createdAt, voteBefore, targetEffectiveAt } = ownTally;
  const { yes, no, pending } = castIn(request) > castIn(ownTally) ? request : ownTally;
  return {
    ...request,
    title: tracked.terms.title === null ? request.title : title,
    status,
    isGone,
    closed,
    createdAt: earliest(createdAt, request.createdAt),
    yes,
    no,
    pending,
    voteBefore,
    targetEffectiveAt,
    enoughYesAt: ownTally.enoughYesAt,
    hasExpired: ownTally.hasExpired,
  };
}

/**
 * Returns the number of votes that a tracked request needs.
 * @param superValidators returns the number of super validators. Only called if the tally does not contain it
 */
export async function neededForTracked(
  tracked: TrackedVoteRequest,
  superValidators: () => Promise<number | undefined>,
): Promise<number | undefined> {
  const request = toVoteRequest(tracked);
  return neededFor(request, undefined) ?? neededFor(request, await superValidators());
}

/**
 * Returns a tracked request's standing.
 * @param needed number of votes for a decision
 */
export const trackedStanding = (
  tracked: TrackedVoteRequest,
  needed: number | undefined,
  now: number,
): Standing => standingOf(toVoteRequest(tracked), needed, now);
