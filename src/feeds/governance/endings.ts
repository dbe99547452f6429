import type { TrackedVoteRequest } from "../../storage/catalogue.js";
import { DAY } from "../../util/units.js";

/** A closed request's details are forgotten after this long, in ms; its key never. */
const PRUNE_MS = 180 * DAY;
/** Complete reads in a row that a request must be missing from before it counts as gone. */
export const MISSED_READS = 2;

/**
 * A request that is missing from a complete read: missed once more, or closed. It is closed once its detail states an end, or
 * a day after its last deadline, when nobody says how it ended.
 * @param status the end that its detail states; null where it states none
 */
export function afterMissing(
  known: TrackedVoteRequest,
  status: string | null,
  now: number,
): TrackedVoteRequest {
  const missedReads = Math.min(known.missedReads + 1, MISSED_READS);
  const deadline = Math.max(known.terms.voteBefore ?? 0, known.terms.targetEffectiveAt ?? 0);
  const isOverdue = deadline > 0 && now > deadline + DAY;
  if (missedReads < MISSED_READS || (status === null && !isOverdue)) return { ...known, missedReads };
  return {
    ...known,
    missedReads,
    phase: "closed",
    status: status ?? known.status,
    ...(status === null ? { endUnconfirmed: true } : {}),
    closedAt: now,
    revision: known.revision + 1,
  };
}

/** What stays of a request that closed long ago: its key, or an old row would be announced anew. Undefined where it is not time yet. */
export function pruned(known: TrackedVoteRequest, now: number): TrackedVoteRequest | undefined {
  if (known.closedAt === undefined || now - known.closedAt < PRUNE_MS) return undefined;
  const { votes, unconfirmed, closedAt, ...kept } = known;
  const terms = { title: null, action: null, voteBefore: null, targetEffectiveAt: null };
  return { ...kept, phase: "ignored", contractIds: [], reminded: [], terms };
}
