import { decidedBy, neededFor } from "../../ledger/vote-rules.js";
import { defined } from "../../util/present.js";
import type { TrackedVoteRequest } from "./collections.js";
import type { GovernanceEvent } from "./events.js";

/** A decision to announce: enough votes on one side, or no longer enough. */
export type DecisionNews = Omit<Extract<GovernanceEvent, { kind: "undecided" }>, "key" | "kind"> & {
  readonly kind: "decided" | "undecided";
};

/** Returns a decision that was announced and is no longer supported by the votes. */
function lostDecision(request: TrackedVoteRequest, needed: number | undefined): "yes" | "no" | undefined {
  if (needed === undefined) return undefined;
  return request.decided?.find((way) => {
    const votes = request[way];
    return votes !== null && votes < needed;
  });
}

/**
 * Returns a decision that was not announced yet, and the request with that decision recorded. A decision made before the first
 * read is not announced. An announced decision is withdrawn once two complete reads show that votes have changed.
 * @param superValidators the number of super validators, for tallies that do not say how many votes are missing
 * @param confirming true for a complete read
 */
export function decide(
  request: TrackedVoteRequest,
  superValidators?: number,
  confirming = true,
): { readonly next: TrackedVoteRequest; readonly news?: DecisionNews } {
  const needed = neededFor(request, superValidators);
  const { unconfirmedLoss, ...kept } = request;
  const { decided, decisionSequence = 0 } = request;
  const lostSide = lostDecision(request, needed);
  const way = decidedBy(request, needed);
  const sequence = lostSide === undefined ? decisionSequence : decisionSequence + 1;
  const newsOf = (kind: DecisionNews["kind"], side: "yes" | "no"): DecisionNews => ({
    kind,
    way: side,
    votes: request[side] ?? 0,
    needed: needed ?? 0,
    sequence,
  });
  if (way && !decided?.includes(way)) {
    // A decision withdraws an earlier one for the other side.
    const recorded = {
      ...kept,
      decided: [...(decided ?? []).filter((each) => each !== lostSide), way],
      ...defined({ neededBefore: needed }),
    };
    const nextRequest = lostSide === undefined ? recorded : { ...recorded, decisionSequence: sequence };
    return decided ? { next: nextRequest, news: newsOf("decided", way) } : { next: nextRequest };
  }
  // Without the number of votes needed, it is unknown what was decided before.
  if (!decided) return { next: needed === undefined ? request : { ...kept, decided: [] } };
  if (lostSide === undefined) return { next: unconfirmedLoss === undefined ? request : kept };
  if (!confirming) return { next: request };
  if (unconfirmedLoss !== lostSide) return { next: { ...kept, unconfirmedLoss: lostSide } };
  const remainingSides = decided.filter((each) => each !== lostSide);
  const isMoreNeeded = (request[lostSide] ?? 0) >= (request.neededBefore ?? Number.POSITIVE_INFINITY);
  return {
    next: { ...kept, decided: remainingSides, decisionSequence: sequence },
    news: { ...newsOf("undecided", lostSide), ...defined({ isMoreNeeded: isMoreNeeded || undefined }) },
  };
}
