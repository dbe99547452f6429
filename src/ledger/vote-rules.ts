import { UNREADABLE_AT } from "../util/clock.js";

/** The rules of a vote (docs/ledger.md, "How it ends"), and the meaning of the explorer's status words. */

/** Meaning of a status. `other` is an unknown word, which is shown as it is. */
export type StatusGroup = "open" | "accepted" | "implemented" | "rejected" | "expired" | "failed" | "other";

/** The API documents no statuses. These words come from the explorer's API, the ledger (VRO_…) and the explorer's website. */
const STATUSES: ReadonlyMap<string, StatusGroup> = new Map([
  ["inprogress", "open"],
  ["open", "open"],
  ["active", "open"],
  ["readytoclose", "open"],
  ["accepted", "accepted"],
  ["approved", "accepted"],
  ["vroaccepted", "accepted"],
  ["implemented", "implemented"],
  ["executed", "implemented"],
  ["rejected", "rejected"],
  ["vrorejected", "rejected"],
  ["expired", "expired"],
  ["vroexpired", "expired"],
  ["vroacceptedbutactionfailed", "failed"],
]);

/** Groups the known words for a status without regard to case or punctuation. */
export const statusGroup = (status: string | null): StatusGroup =>
  STATUSES.get(status?.toLowerCase().replace(/[^a-z]/g, "") ?? "") ?? "other";

const STATUS_WORDS: Readonly<Partial<Record<StatusGroup, string>>> = {
  open: "In progress",
  accepted: "Accepted",
  implemented: "Implemented",
  rejected: "Rejected",
  expired: "Expired",
  failed: "Accepted, but the action failed",
};

/** Returns a status in words, however the explorer spells it. An unknown status stays as it is. */
export const statusWords = (status: string | null): string =>
  STATUS_WORDS[statusGroup(status)] ?? status ?? "status not known";

/** The time span in which the bot saw a request end. Epoch ms. */
export interface Closing {
  /** Time of the last reading in which it was open. null if unknown. */
  readonly after: number | null;
  /** Time of the first reading in which it had ended. */
  readonly by: number;
}

/** The parts of a request that decide if its vote is over. Dates are in epoch ms. */
export interface VoteState {
  /** True if the explorer no longer lists the request, and never said how it ended. Its status is then null. */
  readonly isGone?: boolean | undefined;
  /** The time span in which the bot saw it end. `undefined` if the bot did not see that. */
  readonly closed?: Closing | undefined;
  readonly status: string | null;
  /** Quorum date: enough super validators must have voted by then. */
  readonly voteBefore: number | null;
  /** Decision date: the yes votes are counted then. null if there is none, `UNREADABLE_AT` if it cannot be read. */
  readonly targetEffectiveAt: number | null;
}

/** Returns a decision date that can be read, epoch ms. null if it cannot, or if there is none. */
export const readableDate = (targetEffectiveAt: number | null | undefined): number | null =>
  targetEffectiveAt === UNREADABLE_AT ? null : (targetEffectiveAt ?? null);

/**
 * Returns the time until which votes can be cast, epoch ms: the decision date if there is one that can be read, else the quorum date.
 * null if unknown.
 */
export function votableUntil({ voteBefore, targetEffectiveAt }: Omit<VoteState, "status">): number | null {
  const decidedAt = readableDate(targetEffectiveAt);
  return decidedAt === null ? voteBefore : Math.max(decidedAt, voteBefore ?? 0);
}

/**
 * True if a vote is over: the explorer no longer lists it, its status says so, or its status is an unknown word and its dates
 * have passed. A missing status is ignored.
 */
export function isOver(state: VoteState, now: number): boolean {
  if (state.isGone) return true;
  const group = statusGroup(state.status);
  if (group !== "other") return group !== "open";
  const votableEnd = votableUntil(state);
  return state.status !== null && votableEnd !== null && now >= votableEnd;
}

/** True if votes can still be cast by the status, or by the dates if the status is missing or unknown. */
export function isOpen(state: VoteState, now: number): boolean {
  if (state.isGone) return false;
  const group = statusGroup(state.status);
  return group === "other" ? now < (votableUntil(state) ?? 0) : group === "open";
}

/** Number of votes. null if the explorer does not say. */
export interface Tally {
  readonly yes: number | null;
  readonly no: number | null;
  /** Number of super validators that have not voted yet. The ledger has no abstentions. */
  readonly pending: number | null;
}

/** True if the explorer says how many voted yes, and how many no. */
export const isCounted = ({ yes, no }: Pick<Tally, "yes" | "no">): boolean => yes !== null && no !== null;

/** Returns the number of votes cast. A count that is not known is zero. */
export const castIn = ({ yes, no }: Pick<Tally, "yes" | "no">): number => (yes ?? 0) + (no ?? 0);

/** Returns the number of votes that decide a request. Each super validator has one vote: 13→9, 14→10, 15→10, 16→11, 20→14. */
export const votesNeeded = (superValidators: number): number =>
  Math.ceil((superValidators + Math.floor((superValidators - 1) / 3) + 1) / 2);

/**
 * Estimates the number of votes for a decision from the super validators in the tally, or else on the dashboard. `undefined` if
 * both are unknown.
 */
export function neededFor(
  { yes, no, pending }: Tally,
  superValidators: number | undefined,
): number | undefined {
  const countedVoters = yes === null || no === null || pending === null ? 0 : yes + no + pending;
  const allVoters = countedVoters || superValidators;
  return allVoters ? votesNeeded(allVoters) : undefined;
}

/** Returns the side with enough votes; `undefined` if there is none, or the needed number is unknown. */
export function decidedBy({ yes, no }: Tally, needed: number | undefined): "yes" | "no" | undefined {
  if (needed === undefined) return undefined;
  if ((no ?? 0) >= needed) return "no";
  return (yes ?? 0) >= needed ? "yes" : undefined;
}

/** True if the status of an ended request says how it ended. */
export const outcomeKnown = (status: string | null): boolean =>
  status !== null && statusGroup(status) !== "open";
