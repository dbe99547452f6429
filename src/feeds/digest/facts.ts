import * as z from "zod";
import type { Names } from "../../directory/names.js";
import { ifAnswered } from "../../explorer/errors.js";
import { readPages } from "../../explorer/paging.js";
import type { ValidatorSummary } from "../../explorer/schema/validators.js";
import type { Explorer } from "../../explorer/service.js";
import { readIntervals } from "../../ledger/network-rhythm.js";
import { readSamples } from "../../ledger/price-history.js";
import { priceAt, sampleSince } from "../../ledger/prices.js";
import { judgeReports } from "../../ledger/rhythm.js";
import { surveyVersions } from "../../ledger/versions.js";
import { standingOf } from "../../ledger/vote-phase.js";
import { countSuperValidators, identityOf, tallyIn } from "../../ledger/vote-requests.js";
import { castIn, isOpen, neededFor, type Tally } from "../../ledger/vote-rules.js";
import type { State } from "../../storage/state.js";
import { cut } from "../../text/plain.js";
import { digest } from "../../util/digest.js";
import { lazy } from "../../util/single-flight.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import { trackedVoteRequests } from "../governance/collections.js";
import type { DigestMemory } from "./collections.js";

/** Things of a kind that a digest names; the others are counted. */
const MAX_NAMED = 8;

const several = <Item extends z.ZodType>(item: Item) =>
  z.object({ count: z.number(), named: z.array(item).max(MAX_NAMED) });
const request = z.object({ id: z.string(), title: z.string() });

/** The content of a digest: everything that happened in a period. */
export const facts = z.object({
  opened: several(request),
  closed: several(request.extend({ status: z.string().nullable() })),
  /** Name of the next date. Missing in events of earlier versions. */
  soon: several(request.extend({ until: z.number(), date: z.string().optional() })),
  /** Votes cast on closed requests, and the possible votes. */
  participation: z.object({ cast: z.number(), all: z.number() }).nullable(),
  /** null if the validators could not be read, or their earlier state is unknown. */
  validators: z
    .object({ joined: several(z.string()), silent: several(z.string()), back: several(z.string()) })
    .nullable(),
  /** The most common version now and before. */
  version: z.object({ now: z.string(), percent: z.number(), before: z.string().nullable() }).nullable(),
  /** USD. `since` is the time of the first price (epoch ms) if that is later than the start of the period. */
  price: z.object({ from: z.string(), to: z.string(), since: z.number().optional() }).nullable(),
});

export type Facts = Readonly<z.infer<typeof facts>>;

interface SourceDeps {
  readonly explorer: Explorer;
  readonly state: State;
  readonly names: Names;
  readonly now: number;
}

/** Pages of vote requests that a digest looks through. */
const MAX_PAGES = 3;

/** Creates the sources of digests. Each is read once for all digests that are due together. */
export function createSources({ explorer, state, names, now }: SourceDeps) {
  return {
    names,
    now,
    /** @throws {ExplorerError} */
    requests: lazy(async () => {
      const listedRequests = await readPages(
        "voteRequests",
        (page) => explorer.voteRequests(page),
        () => false,
        MAX_PAGES,
      );
      const tracked = [...(await state.open(trackedVoteRequests).list()).values()];
      // Requests that had ended before they were first seen have no known end.
      const closedRequests = tracked.filter(({ phase }) => phase === "closed");
      return {
        rows: listedRequests.data,
        closedAt: new Map(closedRequests.map((each) => [each.identity, each.closedAt])),
      };
    }),
    validators: lazy(async () => {
      const validatorPages = await ifAnswered(
        readPages(
          "validators",
          (page) => explorer.validators(page),
          () => false,
        ),
      );
      return validatorPages?.complete ? validatorPages.data : undefined;
    }),
    samples: lazy(() => readSamples(state)),
    superValidators: lazy(() => countSuperValidators(explorer)),
    intervals: lazy(() => readIntervals(state)),
  };
}

/** Sources of digests. */
export type Sources = ReturnType<typeof createSources>;

const listOf = <T>(all: readonly T[]) => ({ count: all.length, named: all.slice(0, MAX_NAMED) });

/** A deadline within this is near, in ms. */
const SOON_MS = 7 * DAY;

/** Returns the votes cast on requests and the possible votes; null if a tally does not say how many are missing. */
export function participationIn(
  tallies: readonly Tally[],
  superValidators: number | undefined,
): Facts["participation"] {
  const castCount = tallies.reduce((sum, each) => sum + castIn(each), 0);
  const possibleCount = tallies.reduce(
    (sum, each) =>
      sum + (each.pending === null ? (superValidators ?? Number.NaN) : castIn(each) + each.pending),
    0,
  );
  return possibleCount > 0 ? { cast: castCount, all: Math.max(castCount, possibleCount) } : null;
}

/** Reads the changes of vote requests. @throws {ExplorerError} */
async function readRequests(sources: Sources, since: number) {
  const { requests, names, now } = sources;
  const { rows, closedAt } = await requests();
  const superValidators = await sources.superValidators();
  const toldRows = rows.flatMap((row) => {
    const id = identityOf(row);
    return id === null ? [] : [{ row, id, title: cut(names.voteRequest({ ...row, identity: id }), 120) }];
  });
  const isWithin = (at: number | null | undefined) => at != null && at > since && at <= now;
  const closedRows = toldRows.filter(({ row, id }) => !isOpen(row, now) && isWithin(closedAt.get(id)));
  const soon = toldRows
    .filter(({ row }) => isOpen(row, now))
    .flatMap(({ row, id, title }) => {
      const request = { ...row, ...tallyIn(row) };
      const { next } = standingOf(request, neededFor(request, superValidators), now);
      return next && next.at - now <= SOON_MS ? [{ id, title, until: next.at, date: next.name }] : [];
    })
    .sort((a, b) => a.until - b.until);
  return {
    opened: listOf(
      toldRows.filter(({ row }) => isWithin(row.createdAt)).map(({ id, title }) => ({ id, title })),
    ),
    closed: listOf(closedRows.map(({ row, id, title }) => ({ id, title, status: row.status }))),
    soon: listOf(soon),
    participation: participationIn(
      closedRows.map(({ row }) => tallyIn(row)),
      superValidators,
    ),
  };
}

/** If the newest report is older than this plus an interval, the explorer is behind and says nothing about silence, in ms. */
const BEHIND_MS = 20 * MINUTE;

const short = ({ validator }: ValidatorSummary): string => digest(validator ?? "");

/** Returns the active and the silent validators; `undefined` if that is unknown now. */
async function lookAtValidators({ validators, intervals, now }: Sources) {
  const rows = (await validators())?.filter(({ validator }) => validator !== null);
  if (!rows || rows.length === 0) return undefined;
  const newestReport = rows.reduce((latest, { lastActiveAt }) => Math.max(latest, lastActiveAt ?? 0), 0);
  const intervalOf = await intervals();
  if (now - newestReport > BEHIND_MS + intervalOf(null).ms) return undefined;
  const standingOf = ({ validator, lastActiveAt }: ValidatorSummary) =>
    judgeReports(lastActiveAt, intervalOf(validator).ms, newestReport).standing;
  const { mostCommon, counts, active } = surveyVersions(rows);
  const percent = mostCommon === null ? 0 : Math.round((100 * (counts.get(mostCommon) ?? 0)) / active);
  return {
    listed: rows,
    // A validator whose last report is not known is neither.
    alive: rows.filter((each) => ["reporting", "late"].includes(standingOf(each))),
    silent: rows.filter((each) => standingOf(each) === "silent"),
    version: mostCommon === null ? null : { now: cut(mostCommon, 40), percent },
  };
}

/** Returns the validators' state for comparison with the next digest; the previous one if it is unknown now. */
export async function remember(
  sources: Sources,
  before: DigestMemory | undefined,
): Promise<Pick<DigestMemory, "alive" | "silent" | "unlisted" | "version">> {
  const seenValidators = await lookAtValidators(sources);
  const { alive = [], silent = [], unlisted = [] } = before ?? {};
  if (!seenValidators)
    return { alive: before?.alive, silent: before?.silent, unlisted, version: before?.version ?? null };
  const listed = new Set(seenValidators.listed.map(short));
  return {
    alive: seenValidators.alive.map(short),
    silent: seenValidators.silent.map(short),
    unlisted: [...new Set([...unlisted, ...alive, ...silent])].filter((each) => !listed.has(each)),
    version: seenValidators.version?.now ?? null,
  };
}

/** Reads the changes of validators and their versions. */
async function readValidators(
  sources: Sources,
  before: DigestMemory,
): Promise<Pick<Facts, "validators" | "version">> {
  const seenValidators = await lookAtValidators(sources);
  const version = seenValidators?.version ?? null;
  const toldFacts = {
    version: version && { ...version, before: before.version === version.now ? null : before.version },
  };
  const { alive, silent, unlisted = [] } = before;
  if (!seenValidators || !alive || !silent) return { ...toldFacts, validators: null };
  const [wasAlive, wasSilent] = [new Set(alive), new Set(silent)];
  const namedRows = (rows: readonly ValidatorSummary[]) =>
    listOf(
      rows.map(({ validator, validatorName }) =>
        cut(validatorName ?? sources.names.called(validator ?? ""), 60),
      ),
    );
  const wasKnown = new Set([...alive, ...silent, ...unlisted]);
  const isNew = (each: ValidatorSummary) => !wasKnown.has(short(each));
  return {
    ...toldFacts,
    validators: {
      joined: namedRows([...seenValidators.alive, ...seenValidators.silent].filter(isNew)),
      silent: namedRows(seenValidators.silent.filter((each) => wasAlive.has(short(each)))),
      back: namedRows(seenValidators.alive.filter((each) => wasSilent.has(short(each)))),
    },
  };
}

/** Maximum distance between a stored price and the start or the end of a period, in ms. */
const NEAR_PRICE_MS = 3 * HOUR;

/** Reads everything that happened since a time. @throws {ExplorerError} if the vote requests cannot be read */
export async function readFacts(sources: Sources, before: DigestMemory): Promise<Facts> {
  const samples = await sources.samples();
  const { now } = sources;
  const priceNow = priceAt(samples, now, NEAR_PRICE_MS);
  const [pricedAt = now, priceBefore] = sampleSince(samples, before.at, NEAR_PRICE_MS, now) ?? [];
  const isYoung = pricedAt > before.at + NEAR_PRICE_MS;
  return {
    ...(await readRequests(sources, before.at)),
    ...(await readValidators(sources, before)),
    price:
      priceBefore !== undefined && priceNow !== undefined
        ? { from: priceBefore, to: priceNow, ...(isYoung ? { since: pricedAt } : {}) }
        : null,
  };
}
