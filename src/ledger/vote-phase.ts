import { DAY, HOUR } from "../util/units.js";
import { castIn, decidedBy, isOver, type Tally, type VoteState, votableUntil } from "./vote-rules.js";

/**
 * Phase of a vote request (docs/ledger.md, "How a vote ends"):
 * - `voting`: votes can be cast and changed
 * - `expired`: too few had voted by the quorum date, and it was not closed yet
 * - `rejected`: enough no votes, or too few yes votes on the day of the decision, and it was not closed yet
 * - `ready`: enough yes votes and no date left to wait for
 * - `overdue`: ready for an hour, and not carried out. Votes still count
 * - `ended`: the explorer says that it is over
 */
export type VotePhase = "voting" | "expired" | "rejected" | "ready" | "overdue" | "ended";

/** Phases of requests that were not closed yet, in a few words. */
export const PHASE_WORDS: Readonly<Partial<Record<VotePhase, string>>> = {
  expired: "expired, not closed yet",
  rejected: "rejected by the votes, not closed yet",
  ready: "ready to close",
  overdue: "overdue",
};

/** Describes a request that the explorer no longer lists. */
export const OUTCOME_UNKNOWN = "ended, outcome unknown";

/** The names of a request's two dates, the same everywhere. */
export const DATE_NAMES = { quorum: "quorum by", decision: "decided on" } as const;

/** A date of a request that lies ahead. */
export interface VoteDate {
  readonly name: (typeof DATE_NAMES)[keyof typeof DATE_NAMES];
  /** Epoch ms. */
  readonly at: number;
}

/** A request's phase, its start, and its next date. */
export interface Standing {
  readonly phase: VotePhase;
  /** Since when it has expired, was rejected or is ready, epoch ms; null if that is not known. */
  readonly since: number | null;
  /** The next date by which a vote matters; null if none lies ahead, or if no vote matters any more. */
  readonly next: VoteDate | null;
}

/** A request that is ready and not carried out for this time is overdue, in ms. */
const OVERDUE_MS = HOUR;

/** The parts of a request that its standing depends on. */
export interface Standable extends VoteState, Tally {
  /** Votes with the time of each, if the contract gives them; epoch ms. */
  readonly votes?: readonly { readonly accept: boolean | null; readonly castAt: number | null }[] | null;
  /** Since when enough votes are yes, as far as the bot saw it, epoch ms. */
  readonly enoughYesAt?: number | undefined;
  /** True if the bot saw that too few had voted by the quorum date. */
  readonly hasExpired?: boolean | undefined;
}

/** Returns how many had voted at a moment: a later vote does not save a request that had too few by then. */
function castBy(request: Standable, at: number): number {
  const { votes, hasExpired } = request;
  if (hasExpired) return 0;
  const castVotes = votes?.filter(({ accept }) => accept !== null) ?? [];
  const areDated = castVotes.length > 0 && castVotes.every(({ castAt }) => castAt !== null);
  return areDated ? castVotes.filter(({ castAt }) => (castAt ?? 0) < at).length : castIn(request);
}

/** Returns when the last of the needed yes votes was cast, epoch ms; null if the contract does not say. */
function enoughYesSince({ votes, enoughYesAt }: Standable, needed: number): number | null {
  const yesVoteTimes = (votes ?? []).flatMap(({ accept, castAt }) => (accept === true ? (castAt ?? []) : []));
  return yesVoteTimes.sort((a, b) => a - b)[needed - 1] ?? enoughYesAt ?? null;
}

/** Returns the later of the moments that are known; null if none is. */
const latest = (...moments: readonly (number | null)[]): number | null => {
  const knownMoments = moments.filter((each) => each !== null);
  return knownMoments.length > 0 ? Math.max(...knownMoments) : null;
};

/** Returns the dates ahead that matter. */
function nextDate(request: Standable, isEnough: boolean, now: number): VoteDate | null {
  const { voteBefore, targetEffectiveAt } = request;
  const possibleDates: readonly (VoteDate | null)[] = [
    // Once enough have voted, their votes are counted on the day of the decision.
    voteBefore === null || (isEnough && targetEffectiveAt !== null)
      ? null
      : { name: DATE_NAMES.quorum, at: voteBefore },
    targetEffectiveAt === null ? null : { name: DATE_NAMES.decision, at: votableUntil(request) ?? 0 },
  ];
  return possibleDates.find((each) => each !== null && each.at > now) ?? null;
}

/**
 * Returns a request's standing. Screens, reminders, digests, calendars, completion and alerts all ask this.
 * @param needed number of votes for a decision; `undefined` if it is unknown, and then only the explorer's status ends it
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
  // Enough no votes reject it at any time. Until it is closed, they may still change.
  if (side === "no") return { phase: "rejected", since: null, next: nextStanding };
  const ready = (since: number | null): Standing => {
    const isOverdue = since !== null && now - since >= OVERDUE_MS;
    return { phase: isOverdue ? "overdue" : "ready", since, next: null };
  };
  const isPast = voteBefore !== null && now >= voteBefore;
  if (targetEffectiveAt === null) {
    if (side === "yes") return ready(enoughYesSince(request, needed) ?? (isPast ? voteBefore : null));
    return isPast ? { phase: "expired", since: voteBefore, next: null } : voting;
  }
  if (isPast && castBy(request, voteBefore) < needed)
    return { phase: "expired", since: voteBefore, next: null };
  if (now < (votableUntil(request) ?? 0)) return voting;
  if (side === "yes") return ready(latest(votableUntil(request), enoughYesSince(request, needed)));
  return { phase: "rejected", since: votableUntil(request), next: null };
}

/** True if a vote on the request can still change something, as far as anybody knows. */
export const isVotable = ({ phase }: Standing): boolean => phase !== "ended" && phase !== "expired";

/** A request that is open for less than this is short, in ms. The usual terms are at least seven days. */
export const SHORT_MS = 2 * DAY;

/** Returns how long a request can be voted on until a date, in ms; `undefined` if that is unknown. */
export const windowOf = (openedAt: number | null | undefined, deadline: number | null): number | undefined =>
  openedAt == null || deadline === null || deadline <= openedAt ? undefined : deadline - openedAt;

/** Returns the time to vote of a short request in ms, such as the four hours of an emergency; `undefined` for any other. */
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
