import { isDeepStrictEqual } from "node:util";
import { castIn, votableUntil } from "../../ledger/vote-rules.js";
import { defined } from "../../util/present.js";
import { HOUR } from "../../util/units.js";
import type { TrackedVoteRequest } from "./collections.js";
import { type GovernanceEvent, reminderId } from "./events.js";
import { reminderTimes } from "./reminders.js";
import type { ReadFindings, RequestDeps } from "./requests.js";
import { options } from "./topics.js";
import { mayHaveMoved, neededForTracked, sawQuorum, toVoteRequest, trackedStanding } from "./tracking.js";

/** Time after a deadline by which the explorer shows all votes that were cast in time, in ms. */
const SETTLED_MS = HOUR;

/**
 * Returns default reminders that are new in this version of the bot and already past. They count as done. One that an earlier
 * version knew may have come due during the upgrade.
 */
function passedReminders({ terms, openedAt, reminded }: TrackedVoteRequest, now: number): string[] {
  const deadlines = [terms.voteBefore, terms.targetEffectiveAt].flatMap((each) => each ?? []);
  const { byDefault, formerDefault } = options.before;
  return deadlines
    .flatMap((deadline) =>
      reminderTimes(byDefault, deadline, openedAt ?? null)
        .filter((before) => deadline - before <= now && !formerDefault?.includes(before))
        .map((before) => reminderId(deadline, before)),
    )
    .filter((each) => !reminded.includes(each));
}

/** Returns the changes of a request that only depend on the time. */
function advance(
  known: TrackedVoteRequest,
  needed: number | undefined,
  now: number,
): { readonly next: TrackedVoteRequest; readonly overdueSince?: number | null } {
  const isFirst = known.stage === undefined;
  const { enoughYesAt, hadEnough, hasExpired, quorumAt: _, ...rest } = known;
  const { yes, no } = toVoteRequest(known);
  const hasEnough = needed !== undefined && (yes ?? 0) >= needed;
  // If the last poll saw too few votes after the dates, those that are enough now have only just been cast.
  const hadTooFew = known.stage === "expired" || known.stage === "rejected";
  // The time is only known if the bot saw the request with too few votes before: after an outage, they may have come by the dates.
  const wasAway = !hadTooFew && now >= (votableUntil(known.terms) ?? Number.POSITIVE_INFINITY);
  const isEarlier = hasEnough && enoughYesAt === undefined && (hadEnough ?? (isFirst || wasAway));
  const enoughAt = hasEnough && !isEarlier ? (enoughYesAt ?? now) : undefined;
  const isOld = isFirst && known.seenAt === undefined;
  const judged = hadTooFew && enoughAt !== undefined ? { ...known, enoughYesAt: enoughAt } : known;
  const { phase, since } = trackedStanding(judged, needed, now);
  const isShown = (known.stage ?? "voting") !== phase;
  const { voteBefore, targetEffectiveAt } = known.terms;
  // If the quorum date is still ahead, the clock was wrong, or the date was moved.
  const isPast = voteBefore !== null && now >= voteBefore;
  const isSettled = isPast && now - voteBefore > SETTLED_MS;
  const isEnough = needed !== undefined && castIn({ yes, no }) >= needed;
  // If an earlier poll saw too few votes, the times of the votes decide. A vote that is changed later has only its new time.
  const wasEnough = isEnough && known.stage !== "expired" && !isSettled;
  // More super validators may need more votes.
  const before = isEnough ? (known.quorumAt ?? now) : undefined;
  const quorumAt = isPast || needed === undefined ? known.quorumAt : before;
  const hadQuorum = isPast && (wasEnough || sawQuorum(known)) && targetEffectiveAt !== null;
  const expiredNow = phase === "expired" && isSettled ? true : undefined;
  const expired = isPast ? (hasExpired ?? (hadQuorum ? false : expiredNow)) : undefined;
  const nextRequest: TrackedVoteRequest = {
    ...rest,
    stage: phase,
    revision: known.revision + (isShown ? 1 : 0),
    ...defined({
      stageAt: isShown ? now : undefined,
      enoughYesAt: enoughAt,
      hadEnough: isEarlier || undefined,
      quorumAt,
      hasExpired: expired,
      toldOverdue: phase === "overdue" || undefined,
    }),
    reminded: isOld ? [...known.reminded, ...passedReminders(known, now)] : known.reminded,
  };
  const isNews = phase === "overdue" && !known.toldOverdue && !isFirst;
  return isNews ? { next: nextRequest, overdueSince: since } : { next: nextRequest };
}

/**
 * Finds dates that have passed, and requests that are overdue.
 * @param isUnknown says if the explorer does not know a request any more, so that it is not called overdue
 * @param awaits true to leave out requests whose dates may have moved
 */
export async function findStages(
  {
    requests,
    superValidators,
    now,
  }: Pick<RequestDeps, "superValidators" | "now"> & {
    readonly requests: Pick<RequestDeps["requests"], "all">;
  },
  isUnknown: (known: TrackedVoteRequest) => Promise<boolean>,
  awaits = false,
): Promise<ReadFindings> {
  const learntRequests = new Map<string, TrackedVoteRequest>();
  const events: GovernanceEvent[] = [];
  for (const [key, known] of await requests.all()) {
    if (known.phase !== "open" || (awaits && mayHaveMoved(known))) continue;
    const { next, overdueSince } = advance(known, await neededForTracked(known, superValidators), now());
    if (isDeepStrictEqual(next, known) || (overdueSince !== undefined && (await isUnknown(known)))) continue;
    learntRequests.set(key, next);
    if (overdueSince !== undefined) events.push({ kind: "overdue", key, since: overdueSince });
  }
  return { learnt: learntRequests, events };
}
