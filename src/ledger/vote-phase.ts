import { UNREADABLE_AT } from "../util/clock.js";
import { DAY, HOUR } from "../util/units.js";
import {
  castIn,
  decidedBy,
  isCounted,
  isOver,
  readableDate,
  type Tally,
  type VoteState,
  votableUntil,
} from "./vote-rules.js";

/**
 * Phase of a vote request (docs/ledger.md, "How it ends"):
 * - `voting`: votes can be cast and changed, or the votes that would decide are not known
 * - `expired`: too few super validators had voted by the quorum date, and the request has not been closed yet
 * - `rejected`: there are enough no votes, or too few yes votes on the decision date, and it has not been closed yet
 * - `ready`: there are enough yes votes, and it does not wait for a date
 * - `overdue`: it has been ready for an hour without being carried out. Votes still count
 * - `ended`: the explorer says that it is over
 */
export type VotePhase = "voting" | "expired" | "rejected" | "ready" | "overdue" | "ended";

/** Labels of the phases in which a request is decided but not closed yet. */
export const PHASE_WORDS: Readonly<Partial<Record<VotePhase, string>>> = {
  expired: "expired, not closed yet",
  rejected: "rejected by the votes, not closed yet",
  ready: "ready to close",
  overdue: "overdue",
};

/** Describes a request that the explorer no longer lists. */
export const OUTCOME_UNKNOWN = "ended, outcome unknown";

/** A future date of a request. */
export interface VoteDate {
  readonly name: "quorum by" | "decided on";
  /** Epoch ms. */
  readonly at: number;
}

/** A request's phase, its start, and its next date. */
export interface Standing {
  readonly phase: VotePhase;
  /** Time when it expired, was rejected or became ready, epoch ms. null if unknown. */
  readonly since: number | null;
  /** The next date by which a vote matters. null if there is no future date, or if votes no longer matter. */
  readonly next: VoteDate | null;
}

/** Time after which a ready request that is not carried out is overdue, in ms. */
export const OVERDUE_MS = HOUR;

/** The parts of a request that its standing depends on. */
export interface Standable extends VoteState, Tally {
  /** Votes from the contract with their times (epoch ms), if it is available. */
  readonly votes?: readonly { readonly accept: boolean | null; readonly castAt: number | null }[] | null;
  /** Time when the bot first saw enough yes votes, epoch ms. */
  readonly enoughYesAt?: number | undefined;
  /** True if the bot saw too few votes at the quorum date, false if it saw enough. */
  readonly hasExpired?: boolean | undefined;
}

/**
 * Returns the number of votes that were cast before a time; null if it is unknown. Later votes do not save a request that had too
 * few by then.
 */
function castBy(request: Standable, at: number): number | null {
  const { votes, hasExpired } = request;
  const counted = isCounted(request) ? castIn(request) : null;
  // A vote that was changed after the date has only its new time.
  if (hasExpired === false) return counted;
  const castVotes = votes?.filter(({ accept }) => accept !== null) ?? [];
  const areDated = castVotes.length > 0 && castVotes.every(({ castAt }) => castAt !== null);
  // The bot may have seen too few because the explorer was behind.
  if (areDated) return castVotes.filter(({ castAt }) => (castAt ?? 0) < at).length;
  return hasExpired ? 0 : counted;
}

/** Returns the time of the last needed yes vote, epoch ms: from the contract, or as the bot saw it. null if neither is known. */
export function enoughYesSince(
  { votes, enoughYesAt }: Pick<Standable, "votes" | "enoughYesAt">,
  needed: number,
): number | null {
  const yesVoteTimes = (votes ?? []).flatMap(({ accept, castAt }) => (accept === true ? (castAt ?? []) : []));
  return yesVoteTimes.sort((a, b) => a - b)[needed - 1] ?? enoughYesAt ?? null;
}

/** Returns a request's quorum date. null if it is unknown. */
export const quorumDate = ({ voteBefore }: Pick<Standable, "voteBefore">): VoteDate | null =>
  voteBefore === null ? null : { name: "quorum by", at: voteBefore };

/** Returns the next date that matters. null if there is none. */
function nextDate(request: Standable, isEnough: boolean, now: number): VoteDate | null {
  const decidedAt = readableDate(request.targetEffectiveAt);
  const possibleDates: readonly (VoteDate | null)[] = [
    // Once enough have voted, their votes are counted on the day of the decision.
    isEnough && decidedAt !== null ? null : quorumDate(request),
    decidedAt === null ? null : { name: "decided on", at: votableUntil(request) ?? 0 },
  ];
  return possibleDates.find((each) => each !== null && each.at > now) ?? null;
}

/**
 * Returns a request's standing. Screens, reminders, digests, calendars, completion and alerts all use this function.
 * @param needed number of votes for a decision. If it is `undefined`, only the explorer's status ends the request
 * @param now epoch ms
 */
export function standingOf(request: Standable, needed: number | undefined, now: number): Standing {
  const { voteBefore, targetEffectiveAt } = request;
  if (isOver(request, now)) return { phase: "ended", since: null, next: null };
  const isEnough = needed !== undefined && castIn(request) >= needed;
  const nextStanding = nextDate(request, isEnough, now);
  const voting: Standing = { phase: "voting", since: null, next: nextStanding };
  if (needed === undefined) return voting;
  const side = decidedBy(request, needed);
  const isPast = voteBefore !== null && now >= voteBefore;
  // Without enough votes by its quorum date, it can only end, no matter who votes later.
  const inTime = targetEffectiveAt !== null && isPast ? castBy(request, voteBefore) : null;
  if (inTime !== null && inTime < needed) return { phase: "expired", since: voteBefore, next: null };
  // Enough no votes reject a request at any time. Votes can still be changed until it is closed.
  if (side === "no") return { phase: "rejected", since: null, next: nextStanding };
  const ready = (since: number | null): Standing => {
    const isOverdue = since !== null && now - since >= OVERDUE_MS;
    return { phase: isOverdue ? "overdue" : "ready", since, next: null };
  };
  if (targetEffectiveAt === null) {
    if (side === "yes") return ready(enoughYesSince(request, needed) ?? (isPast ? voteBefore : null));
    return isPast && isCounted(request) ? { phase: "expired", since: voteBefore, next: null } : voting;
  }
  // The explorer says when it ends.
  if (targetEffectiveAt === UNREADABLE_AT) return voting;
  const decidedAt = votableUntil(request) ?? targetEffectiveAt;
  if (now < decidedAt) return voting;
  if (side === "yes") return ready(Math.max(decidedAt, enoughYesSince(request, needed) ?? decidedAt));
  return isCounted(request) ? { phase: "rejected", since: decidedAt, next: null } : voting;
}

/** True if, as far as is known, a vote on the request can still change something. */
export const isVotable = ({ phase }: Standing): boolean => phase !== "ended" && phase !== "expired";

/** True if a vote can still change something: also after the only date of a request, until it is closed (docs/ledger.md). */
export const mayStillVote = (
  { targetEffectiveAt }: Pick<Standable, "targetEffectiveAt">,
  standing: Standing,
): boolean => isVotable(standing) || (standing.phase === "expired" && targetEffectiveAt === null);

/** A request that is open for less time than this is short, in ms. Requests are usually open for at least seven days. */
const SHORT_MS = 2 * DAY;

/** Returns the time from the opening of a request to a deadline, in ms. `undefined` if it is unknown. */
export const windowOf = (openedAt: number | null | undefined, deadline: number | null): number | undefined =>
  openedAt == null || deadline === null || deadline <= openedAt ? undefined : deadline - openedAt;

/** Returns the voting time of a short request in ms, such as the four hours of an emergency. `undefined` for other requests. */
export function shortWindow({
  createdAt,
  voteBefore,
}: {
  readonly createdAt: number | null;
  readonly voteBefore: number | null;
}): number | undefined {
  const window = windowOf(createdAt, voteBefore);
  return window !== undefined && window < SHORT_MS ? window : undefined;
}
