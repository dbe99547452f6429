/** The rules of a vote (docs/ledger.md, "How it ends"), and what the explorer's words for its state mean. */

/** What a status means; `other` for words nobody has seen, which are shown as given. */
export type StatusGroup = "open" | "accepted" | "implemented" | "rejected" | "expired" | "failed" | "other";

/** The API documents no words: these are those of the explorer, of the ledger (VRO_…) and of its own interface. */
const STATUSES: ReadonlyMap<string, StatusGroup> = new Map([
  ["inprogress", "open"],
  ["open", "open"],
  ["active", "open"],
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

/** What tells whether a vote is over: its status, and its two dates in epoch ms. */
export interface VoteState {
  readonly status: string | null;
  /** By then enough must have voted. */
  readonly voteBefore: number | null;
  /** Then the yes votes are counted, where there is such a date. */
  readonly targetEffectiveAt: number | null;
}

/** Until when votes can be cast and changed, epoch ms: the effective date where there is one. Null where nobody says. */
export const votableUntil = ({ voteBefore, targetEffectiveAt }: Omit<VoteState, "status">): number | null =>
  targetEffectiveAt === null ? voteBefore : Math.max(targetEffectiveAt, voteBefore ?? 0);

/**
 * Whether a vote is over: by its status, or, where that is a word nobody knows, once no more votes can be cast. A status
 * that is missing says nothing.
 */
export function isOver(state: VoteState, now: number): boolean {
  const group = statusGroup(state.status);
  if (group !== "other") return group !== "open";
  const until = votableUntil(state);
  return state.status !== null && until !== null && now >= until;
}

/** Whether votes can still be cast, as far as is known: by the status, or by the dates where that says nothing. */
export function isOpen(state: VoteState, now: number): boolean {
  const group = statusGroup(state.status);
  return group === "other" ? now < (votableUntil(state) ?? 0) : group === "open";
}

/** Votes as they are counted; null where the explorer does not say. */
export interface Tally {
  readonly yes: number | null;
  readonly no: number | null;
  /** Those who have not voted yet: the ledger knows no abstention. */
  readonly pending: number | null;
}

/** How many have voted, either way. */
export const castIn = ({ yes, no }: Pick<Tally, "yes" | "no">): number => (yes ?? 0) + (no ?? 0);

/** Votes that carry a request, one a super validator: 13→9, 14→10, 15→10, 16→11, 20→14. */
export const votesNeeded = (superValidators: number): number =>
  Math.ceil((superValidators + Math.floor((superValidators - 1) / 3) + 1) / 2);

/**
 * How many votes a request needs, as an estimate: by the super validators that its own tally counts, else by the
 * dashboard's. Undefined where neither is known.
 */
export function neededFor(
  { yes, no, pending }: Tally,
  superValidators: number | undefined,
): number | undefined {
  const counted = yes === null || no === null || pending === null ? 0 : yes + no + pending;
  const all = counted || superValidators;
  return all ? votesNeeded(all) : undefined;
}

/** Whether enough have voted one way; undefined where they have not, or it is not known how many are needed. */
export function decidedBy({ yes, no }: Tally, needed: number | undefined): "yes" | "no" | undefined {
  if (needed === undefined) return undefined;
  if ((no ?? 0) >= needed) return "no";
  return (yes ?? 0) >= needed ? "yes" : undefined;
}

/**
 * The deadline that matters at a moment, epoch ms: that by which enough must have voted, while they have not; else the end of
 * voting. Null where nobody says, or none lies ahead.
 */
export function nextDeadline(
  { voteBefore, targetEffectiveAt }: Omit<VoteState, "status">,
  tally: Tally,
  needed: number | undefined,
  now: number,
): number | null {
  const isEnough = needed !== undefined && castIn(tally) >= needed;
  // Too few have voted in time: it has expired, whether or not anybody has said so yet.
  if (needed !== undefined && !isEnough && voteBefore !== null && voteBefore <= now) return null;
  const ahead = [isEnough ? null : voteBefore, votableUntil({ voteBefore, targetEffectiveAt })];
  return ahead.find((each) => each !== null && each > now) ?? null;
}
