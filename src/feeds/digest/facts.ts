import * as z from "zod";
import { progress } from "../../delivery/collections.js";
import type { AnswerDeps } from "../../delivery/feed.js";
import { readSamples } from "../../ledger/price-history.js";
import { plausible, priceAt, sampleSince } from "../../ledger/prices.js";
import type { VotePhase } from "../../ledger/vote-phase.js";
import { countSuperValidators } from "../../ledger/vote-requests.js";
import { castIn, isCounted, outcomeKnown, type Tally } from "../../ledger/vote-rules.js";
import { MAX_LABEL } from "../../screens/parts.js";
import { timestampSchema } from "../../storage/timestamp.js";
import { cut } from "../../text/plain.js";
import { ageOf } from "../../util/clock.js";
import { lazy } from "../../util/single-flight.js";
import { HOUR, MINUTE, SECOND } from "../../util/units.js";
import { type TrackedVoteRequest, trackedVoteRequests } from "../governance/collections.js";
import { neededForTracked, sawEnd, toVoteRequest, trackedStanding } from "../governance/tracking.js";
import { PROGRESS as GOVERNANCE } from "../governance/watch.js";
import { readChronicle, UNREAD_MS } from "./chronicle.js";
import { type Happening, happenings } from "./collections.js";

/** Maximum number of items of a kind that a digest names. The others are only counted. */
const MAX_NAMED = 5;

const several = <Item extends z.ZodType>(item: Item) => z.object({ count: z.number(), named: z.array(item) });
/** Default of a list that events of earlier versions do not have. */
const NONE = { count: 0, named: [] };
const request = z.object({ id: z.string(), title: z.string() });

/** The content of a digest: everything that happened in a period. */
export const facts = z.object({
  opened: several(request),
  /** The status is null if the outcome is unknown. */
  closed: several(
    request.extend({
      status: z.string().nullable(),
      yes: z.number().nullable().default(null),
      no: z.number().nullable().default(null),
    }),
  ),
  /** Open requests that were decided within the period. */
  decided: several(request.extend({ words: z.string() })).default(NONE),
  /** Open requests that are overdue, however long. */
  overdue: several(request).default(NONE),
  /** Name of the next date. Missing in events of earlier versions. */
  soon: several(request.extend({ until: timestampSchema, date: z.string().optional() })),
  /** Time from which endings of votes are known (epoch ms), if that is later than the start of the period. */
  votesSince: timestampSchema.optional(),
  /** Time of the last complete read of the votes (epoch ms), if it was before the end of the period. */
  votesReadAt: timestampSchema.optional(),
  /** Number of votes cast on closed requests, and of votes that could have been cast. */
  participation: z.object({ cast: z.number(), all: z.number() }).nullable(),
  /** null if the validators have never been read. */
  validators: z
    .object({
      joined: several(z.string()),
      silent: several(z.string()),
      back: several(z.string()),
      /** Time from which validators are known (epoch ms), if that is later than the start of the period. */
      since: timestampSchema.optional(),
      /** Time within the period during which they could not be read, in ms. */
      unreadMs: z.number().optional(),
    })
    .nullable(),
  /** The most common version now and before. */
  version: z.object({ now: z.string(), percent: z.number(), before: z.string().nullable() }).nullable(),
  /** USD. `since` is the time of the first price (epoch ms) if that is later than the start of the period. */
  price: z.object({ from: z.string(), to: z.string(), since: timestampSchema.optional() }).nullable(),
});

export type Facts = Readonly<z.infer<typeof facts>>;

/** Time range in epoch ms. Its start is exclusive: an event at that moment belongs to the period before. */
interface TimeRange {
  readonly since: number;
  readonly until: number;
}

/** Period of a digest, and the server that receives it. */
export interface DigestScope extends TimeRange {
  /** Time when the next digest is due, epoch ms. */
  readonly nextAt: number;
  readonly guildId: string | null;
}

const isWithin = (at: number | undefined, { since, until }: TimeRange): boolean =>
  at !== undefined && at > since && at <= until;

interface SourceDeps extends Pick<AnswerDeps, "state" | "names" | "explorer" | "now"> {
  /** Returns the parties that a server watches. */
  readonly watchedBy: (guildId: string | null) => Promise<ReadonlySet<string>>;
  readonly isSuperValidator: (party: string, name: string | null) => boolean;
}

/** The facts about vote requests, which are the same for all servers. */
type RequestFacts = Pick<
  Facts,
  "opened" | "closed" | "decided" | "overdue" | "soon" | "participation" | "votesSince" | "votesReadAt"
>;

/** Maximum wait of all digests together for names that have not been read yet, in ms. */
const NAMES_MS = 8 * SECOND;

/** Creates the data sources of digests. Each is read once for all digests that are due together. */
export function createSources({ state, names, explorer, now, ...deps }: SourceDeps) {
  const namesUntil = performance.now() + NAMES_MS;
  return {
    ...deps,
    async readNames(requests: readonly TrackedVoteRequest[]): Promise<void> {
      const rows = requests.map(({ identity, terms, contractIds }) => ({
        title: terms.title,
        trackingCid: identity,
        contractId: contractIds.at(-1) ?? null,
      }));
      await names.read(rows, Math.max(0, namesUntil - performance.now()));
    },
    names,
    now,
    /** Loads the names that announcements used, so that a digest after a restart uses the same ones. */
    summaries: lazy(() => names.load().catch(() => {})),
    requests: lazy(async () => [...(await state.open(trackedVoteRequests).list()).values()]),
    /** Time of the last complete read of the vote requests. */
    votesReadAt: lazy(async () => (await state.open(progress).get(GOVERNANCE))?.completeAt),
    chronicle: lazy(() => readChronicle(state)),
    happenings: lazy(async () => [...(await state.open(happenings).list()).values()]),
    samples: lazy(() => readSamples(state)),
    /** The number of super validators; `undefined` if it cannot be read. */
    superValidators: lazy(() => countSuperValidators(explorer)),
    /** Facts by period. Most digests are due together, with the same one. */
    requestFacts: new Map<string, Promise<RequestFacts>>(),
  };
}

export type Sources = ReturnType<typeof createSources>;

const listOf = <T>(all: readonly T[]) => ({ count: all.length, named: all.slice(0, MAX_NAMED) });

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
async function collectRequests(sources: Sources, range: DigestScope): Promise<RequestFacts> {
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
  const openRequests = tracked.filter(({ phase }) => phase === "open");
  const closedRequests = newestFirst(endingTime);
  const standings = await Promise.all(
    openRequests.map(async (each) => {
      const needed = await neededForTracked(each, sources.superValidators);
      return { each, standing: trackedStanding(each, needed, sources.now) };
    }),
  );
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

/** A shorter part of a gap within a period is not mentioned, in ms. */
const SHORT_GAP_MS = 5 * MINUTE;

/** Collects the recorded changes of validators and of their most common version. */
async function collectValidators(
  { names, chronicle, happenings: recorded, watchedBy, isSuperValidator }: Sources,
  range: DigestScope,
): Promise<Pick<Facts, "validators" | "version">> {
  const known = await chronicle();
  if (!known) return { validators: null, version: null };
  const happened = (await recorded()).filter(({ at }) => isWithin(at, range)).sort((a, b) => a.at - b.at);
  const watched = await watchedBy(range.guildId);
  const rankOf = ([party, name]: readonly [string, string | null]) => {
    if (watched.has(party)) return 0;
    return isSuperValidator(party, name) ? 1 : 2;
  };
  const namesOf = (kind: Happening["kind"]) => {
    const parties = new Map(
      happened.flatMap((each) =>
        each.kind === kind && "party" in each ? [[each.party, each.name] as const] : [],
      ),
    );
    const ranked = [...parties].sort((a, b) => rankOf(a) - rankOf(b));
    return listOf(ranked.map(([party, name]) => cut(name ?? names.called(party), 60)));
  };
  const gaps = happened.flatMap((each) =>
    each.kind === "unread" ? [each.at - Math.max(each.from, range.since)] : [],
  );
  const sinceLastMs = range.until - Math.max(known.readAt, range.since);
  if (sinceLastMs > UNREAD_MS) gaps.push(sinceLastMs);
  const unreadMs = gaps.reduce((sum, each) => sum + each, 0);
  const { version } = known;
  const before = happened.find((each) => each.kind === "version")?.from ?? null;
  return {
    validators: {
      joined: namesOf("joined"),
      silent: namesOf("silent"),
      back: namesOf("back"),
      since: known.startedAt > range.since ? known.startedAt : undefined,
      unreadMs: unreadMs >= SHORT_GAP_MS ? unreadMs : undefined,
    },
    version: version && {
      now: version.name,
      percent: version.percent,
      before: before === version.name ? null : before,
    },
  };
}

/** Maximum distance between a stored price and the start or the end of a period, in ms. */
const NEAR_PRICE_MS = 3 * HOUR;

async function collectPrice({ samples }: Sources, { since, until }: TimeRange): Promise<Facts["price"]> {
  const allSamples = plausible(await samples(), until);
  const priceNow = priceAt(allSamples, until, NEAR_PRICE_MS);
  const [pricedAt, priceBefore] = sampleSince(allSamples, since, NEAR_PRICE_MS, until) ?? [];
  if (pricedAt === undefined || priceBefore === undefined || priceNow === undefined) return null;
  return {
    from: priceBefore,
    to: priceNow,
    since: pricedAt > since + NEAR_PRICE_MS ? pricedAt : undefined,
  };
}

/**
 * Collects everything that was recorded for a period.
 * @throws {StateError}
 */
export async function collectFacts(sources: Sources, range: DigestScope): Promise<Facts> {
  const period = `${range.since}/${range.until}/${range.nextAt}`;
  const requestFacts = sources.requestFacts.get(period) ?? collectRequests(sources, range);
  sources.requestFacts.set(period, requestFacts);
  return {
    ...(await requestFacts),
    ...(await collectValidators(sources, range)),
    price: await collectPrice(sources, range),
  };
}
