import type { VotePhase } from "../../ledger/vote-phase.js";
import { castIn, isCounted, outcomeKnown, type Tally } from "../../ledger/vote-rules.js";
import { MAX_LABEL } from "../../screens/parts.js";
import { ageOf } from "../../util/clock.js";
import { MINUTE } from "../../util/units.js";
import type { TrackedVoteRequest } from "../governance/collections.js";
import { neededForTracked, sawEnd, toVoteRequest, trackedStanding } from "../governance/tracking.js";
import { type DigestScope, type Facts, isWithin, listOf, MAX_NAMED, type VoteFacts } from "./facts.js";
import type { Sources } from "./sources.js";

/** Maximum age of the last read at the end of a period, in ms. An older read does not cover the period. */
const UNREAD_VOTES_MS = 15 * MINUTE;
/** Requests first seen within this time after the very first one existed before the bot started, in ms. */
const BASELINE_MS = MINUTE;

/** Returns the number of votes cast and of possible votes. null if a tally does not say how many were cast, or are missing. */
export function participationIn(
  tallies: readonly Tally[],
  superValidators: number | undefined,
): Facts["participation"] {
  if (!tallies.every(isCounted)) return null;
  const castCount = tallies.reduce((sum, each) => sum + castIn(each), 0);
  const possibleCount = tallies.reduce(
    (sum, each) =>
      sum + (each.pending === null ? (superValidators ?? Number.NaN) : castIn(each) + each.pending),
    0,
  );
  return possibleCount > 0 ? { cast: castCount, all: Math.max(castCount, possibleCount) } : null;
}

/**
 * Returns the time when the bot began to watch votes. `undefined` if it was an earlier version, or if there are no requests yet.
 */
export function watchedSince(requests: readonly TrackedVoteRequest[]): number | undefined {
  const firstSeenAt = requests.reduce(
    (first, { seenAt }) => Math.min(first, seenAt ?? 0),
    Number.POSITIVE_INFINITY,
  );
  return firstSeenAt > 0 && Number.isFinite(firstSeenAt) ? firstSeenAt : undefined;
}

/**
 * Returns the time that decides which digest reports a request as opened. This is the time when the explorer
 * first listed it. For requests that are older than the bot, it is the time when they were opened.
 */
export function openingTime(
  {
    openedAt,
    seenAt,
    phase,
    openUntil,
  }: Pick<TrackedVoteRequest, "openedAt" | "seenAt"> &
    Partial<Pick<TrackedVoteRequest, "phase" | "openUntil">>,
  since: number | undefined,
): number | undefined {
  // A request that had long ended when it was first listed is old.
  const isOld = phase === "ignored" && openUntil === undefined;
  const isListedLater = !isOld && seenAt !== undefined && seenAt > (since ?? 0) + BASELINE_MS;
  return isListedLater ? seenAt : (openedAt ?? undefined);
}

/** Returns the time when the bot learned that a request had ended. `undefined` if it ended before the bot started. */
const endingTime = (request: TrackedVoteRequest): number | undefined =>
  sawEnd(request) ? request.closedAt : undefined;

/** Words for requests that are decided and not closed yet. */
const DECIDED_WORDS: Readonly<Partial<Record<VotePhase, string>>> = {
  expired: "expired",
  rejected: "rejected by the votes",
  ready: "enough yes votes",
};

/** Collects the changes of vote requests. */
export async function collectVotes(sources: Sources, range: DigestScope): Promise<VoteFacts> {
  const { names } = sources;
  await sources.summaries();
  const tracked = await sources.requests();
  const since = watchedSince(tracked);
  const named = (each: TrackedVoteRequest) => ({
    id: each.identity,
    title: names.voteRequest(toVoteRequest(each), MAX_LABEL),
  });
  const newestFirst = (timeOf: (each: TrackedVoteRequest) => number | undefined) =>
    tracked
      .filter((each) => isWithin(timeOf(each), range))
      .sort((a, b) => (timeOf(b) ?? 0) - (timeOf(a) ?? 0));
  const closedRequests = newestFirst(endingTime);
  const openRequests = tracked.filter(({ phase }) => phase === "open");
  const judgedRequests = openRequests.map(async (each) => {
    if (await sources.isUnlisted(each)) return [];
    const needed = await neededForTracked(each, sources.superValidators);
    return [{ each, standing: trackedStanding(each, needed, sources.now) }];
  });
  const standings = (await Promise.all(judgedRequests)).flat();
  const openedRequests = newestFirst((each) => openingTime(each, since));
  const overdueOnes = standings.filter(({ standing: { phase } }) => phase === "overdue");
  const decidedOnes = standings.filter(
    ({ each, standing: { phase, since: at } }) =>
      DECIDED_WORDS[phase] !== undefined && isWithin(at ?? each.stageAt, range),
  );
  const dueOnes = standings
    .flatMap(({ each, standing: { next } }) => (next && next.at <= range.nextAt ? [{ each, next }] : []))
    .sort((a, b) => a.next.at - b.next.at);
  const openOnes = [overdueOnes, decidedOnes, dueOnes].map((all) => all.map(({ each }) => each));
  await sources.readNames(
    [openedRequests, closedRequests, ...openOnes].flatMap((all) => all.slice(0, MAX_NAMED)),
  );
  const tallies = closedRequests.map(toVoteRequest);
  const votesReadAt = await sources.votesReadAt();
  const isUncounted = tallies.some(({ pending }) => pending === null);
  return {
    opened: listOf(openedRequests.map(named)),
    closed: listOf(
      closedRequests.map((each) => {
        const { yes, no } = toVoteRequest(each);
        const isKnown = !each.endUnconfirmed && outcomeKnown(each.status);
        return { ...named(each), status: isKnown ? each.status : null, yes, no };
      }),
    ),
    decided: listOf(
      decidedOnes.map(({ each, standing }) => ({
        ...named(each),
        words: DECIDED_WORDS[standing.phase] ?? "decided",
      })),
    ),
    overdue: listOf(overdueOnes.map(({ each }) => named(each))),
    soon: listOf(dueOnes.map(({ each, next }) => ({ ...named(each), until: next.at, date: next.name }))),
    participation: participationIn(tallies, isUncounted ? await sources.superValidators() : undefined),
    votesSince: since !== undefined && since > range.since ? since : undefined,
    votesReadAt:
      votesReadAt !== undefined && ageOf(votesReadAt, range.until) > UNREAD_VOTES_MS
        ? votesReadAt
        : undefined,
  };
}
