import { votableUntil } from "../../ledger/vote-rules.js";
import { DAY } from "../../util/units.js";
import type { TrackedVoteRequest } from "./collections.js";

/** Time after which a closed request is shrunk to its key, in ms. The key is kept. */
const PRUNE_MS = 180 * DAY;
/** Number of consecutive complete reads without a request after which it counts as gone. */
const MISSED_READS = 2;

/** True if the list has lacked a request for so long that it is no mistake. */
export const hasVanished = ({ missedReads }: Pick<TrackedVoteRequest, "missedReads">): boolean =>
  missedReads >= MISSED_READS;

/** True if a request is more than a day past its last date. */
export function isLongPast({ terms }: Pick<TrackedVoteRequest, "terms">, now: number): boolean {
  const deadline = votableUntil(terms) ?? 0;
  return deadline > 0 && now > deadline + DAY;
}

/** Returns a request that is missing from one more complete read, and stays open. */
export const missedAgain = (known: TrackedVoteRequest): TrackedVoteRequest => ({
  ...known,
  missedReads: Math.min(known.missedReads + 1, MISSED_READS),
});

/**
 * Returns a request that is missing from a complete read, with one more missed read or as closed. It is
 * closed once its details state the outcome, or a day after its last deadline if the outcome stays unknown.
 * @param status the outcome in its details, or null
 */
export function afterMissing(
  known: TrackedVoteRequest,
  status: string | null,
  now: number,
): TrackedVoteRequest {
  const missed = missedAgain(known);
  if (!hasVanished(missed) || (status === null && !isLongPast(known, now))) return missed;
  const closed = {
    ...missed,
    phase: "closed" as const,
    status: status ?? known.status,
    closedAt: now,
    openUntil: null,
    revision: known.revision + 1,
  };
  return status === null ? { ...closed, endUnconfirmed: true } : closed;
}

/**
 * Shrinks a long-closed request to its key, so that an old row is not announced again. Returns `undefined` if it is too early.
 */
export function pruned(known: TrackedVoteRequest, now: number): TrackedVoteRequest | undefined {
  if (known.closedAt === undefined || now - known.closedAt < PRUNE_MS) return undefined;
  const { votes, unconfirmed, isDisputed, closedAt, openUntil, ...kept } = known;
  const terms = { title: null, action: null, voteBefore: null, targetEffectiveAt: null };
  return { ...kept, phase: "ignored", contractIds: [], reminded: [], terms };
}
