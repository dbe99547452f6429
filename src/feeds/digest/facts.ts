import * as z from "zod";
import type { Names } from "../../directory/names.js";
import { ifAnswered } from "../../explorer/errors.js";
import { readPages } from "../../explorer/paging.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import type { ValidatorSummary } from "../../explorer/schema/validators.js";
import type { Explorer } from "../../explorer/service.js";
import { readSamples } from "../../ledger/price-history.js";
import { priceAt } from "../../ledger/prices.js";
import { surveyVersions } from "../../ledger/versions.js";
import { identityOf, tallyIn } from "../../ledger/vote-requests.js";
import { castIn, isOpen, neededFor, nextDeadline } from "../../ledger/vote-rules.js";
import type { DigestMemory } from "../../storage/catalogue.js";
import type { State } from "../../storage/state.js";
import { cut } from "../../text/plain.js";
import { digest } from "../../util/digest.js";
import { lazy } from "../../util/single-flight.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";

/** Things of a kind that a digest names; the others are counted. */
const MAX_NAMED = 8;

const several = <Item extends z.ZodType>(item: Item) =>
  z.object({ count: z.number(), named: z.array(item).max(MAX_NAMED) });
const request = z.object({ id: z.string(), title: z.string() });

/** What happened between two moments, as a digest tells it. */
export const facts = z.object({
  opened: several(request),
  closed: several(request.extend({ status: z.string().nullable() })),
  soon: several(request.extend({ until: z.number() })),
  /** Votes cast on those that closed, of so many that could have been. */
  participation: z.object({ cast: z.number(), all: z.number() }).nullable(),
  /** Null where the validators could not be read, or nobody knows how they were before. */
  validators: z
    .object({ joined: several(z.string()), silent: several(z.string()), back: several(z.string()) })
    .nullable(),
  /** What most validators run, and what most ran before. */
  version: z.object({ now: z.string(), percent: z.number(), before: z.string().nullable() }).nullable(),
  /** USD. */
  price: z.object({ from: z.string(), to: z.string() }).nullable(),
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

/** What digests are made of, each read once for all that are due together. */
export function createSources({ explorer, state, names, now }: SourceDeps) {
  return {
    names,
    now,
    /** @throws {ExplorerError} */
    requests: lazy(async () => {
      const listed = await readPages(
        "voteRequests",
        (page) => explorer.voteRequests(page),
        () => false,
        MAX_PAGES,
      );
      const tracked = [...(await state.voteRequests.list()).values()];
      // Those that had ended before they were first seen ended at a time that nobody knows.
      const closed = tracked.filter(({ phase }) => phase === "closed");
      return { rows: listed.data, closedAt: new Map(closed.map((each) => [each.identity, each.closedAt])) };
    }),
    validators: lazy(async () => {
      const read = await ifAnswered(
        readPages(
          "validators",
          (page) => explorer.validators(page),
          () => false,
        ),
      );
      return read?.complete ? read.data : undefined;
    }),
    samples: lazy(() => readSamples(state)),
  };
}

/** What digests are made of. */
export type Sources = ReturnType<typeof createSources>;

const listOf = <T>(all: readonly T[]) => ({ count: all.length, named: all.slice(0, MAX_NAMED) });

/** A deadline within this is near, in ms. */
const SOON_MS = 7 * DAY;

/** How many have voted on these, of how many that could have. */
function participationIn(rows: readonly VoteRequestListItem[]): Facts["participation"] {
  const tallies = rows.map(tallyIn);
  const cast = tallies.reduce((sum, each) => sum + castIn(each), 0);
  const all = tallies.reduce((sum, each) => sum + castIn(each) + (each.pending ?? 0), 0);
  return all > 0 ? { cast, all } : null;
}

/** What happened to vote requests. @throws {ExplorerError} */
async function readRequests({ requests, names, now }: Sources, since: number) {
  const { rows, closedAt } = await requests();
  const told = rows.flatMap((row) => {
    const id = identityOf(row);
    return id === null ? [] : [{ row, id, title: cut(names.voteRequest({ ...row, identity: id }), 120) }];
  });
  const isWithin = (at: number | null | undefined) => at != null && at > since && at <= now;
  const closed = told.filter(({ row, id }) => !isOpen(row, now) && isWithin(closedAt.get(id)));
  const soon = told
    .filter(({ row }) => isOpen(row, now))
    .flatMap(({ row, id, title }) => {
      const until = nextDeadline(row, tallyIn(row), neededFor(tallyIn(row), undefined), now);
      return until !== null && until - now <= SOON_MS ? [{ id, title, until }] : [];
    })
    .sort((a, b) => a.until - b.until);
  return {
    opened: listOf(told.filter(({ row }) => isWithin(row.createdAt)).map(({ id, title }) => ({ id, title }))),
    closed: listOf(closed.map(({ row, id, title }) => ({ id, title, status: row.status }))),
    soon: listOf(soon),
    participation: participationIn(closed.map(({ row }) => row)),
  };
}

/** Who was not seen for longer than this is silent, in ms. */
const SILENT_MS = HOUR;
/** A list without anything newer says nothing of who is silent, in ms: it is the explorer that is behind. */
const LAG_MS = 20 * MINUTE;

const short = ({ validator }: ValidatorSummary): string => digest(validator ?? "");

/** Who is alive, and who is silent; undefined where that cannot be said now. */
async function lookAtValidators({ validators, now }: Sources) {
  const rows = (await validators())?.filter(({ validator }) => validator !== null);
  if (!rows || rows.length === 0) return undefined;
  const newest = rows.reduce((latest, { lastActiveAt }) => Math.max(latest, lastActiveAt ?? 0), 0);
  if (now - newest > LAG_MS) return undefined;
  const isAlive = ({ lastActiveAt }: ValidatorSummary) => now - (lastActiveAt ?? 0) <= SILENT_MS;
  const { mostCommon, counts, active } = surveyVersions(rows);
  const percent = mostCommon === null ? 0 : Math.round((100 * (counts.get(mostCommon) ?? 0)) / active);
  return {
    alive: rows.filter(isAlive),
    silent: rows.filter((each) => !isAlive(each)),
    version: mostCommon === null ? null : { now: cut(mostCommon, 40), percent },
  };
}

/** How validators do now, for the next digest to compare with; as it was, where that cannot be said. */
export async function remember(
  sources: Sources,
  before: DigestMemory | undefined,
): Promise<Pick<DigestMemory, "alive" | "silent" | "version">> {
  const seen = await lookAtValidators(sources);
  if (!seen) return { alive: before?.alive, silent: before?.silent, version: before?.version ?? null };
  return { alive: seen.alive.map(short), silent: seen.silent.map(short), version: seen.version?.now ?? null };
}

/** What happened to validators, and to what they run. */
async function readValidators(
  sources: Sources,
  before: DigestMemory,
): Promise<Pick<Facts, "validators" | "version">> {
  const seen = await lookAtValidators(sources);
  const version = seen?.version ?? null;
  const told = {
    version: version && { ...version, before: before.version === version.now ? null : before.version },
  };
  const { alive, silent } = before;
  if (!seen || !alive || !silent) return { ...told, validators: null };
  const [wasAlive, wasSilent] = [new Set(alive), new Set(silent)];
  const named = (rows: readonly ValidatorSummary[]) =>
    listOf(
      rows.map(({ validator, validatorName }) =>
        cut(validatorName ?? sources.names.called(validator ?? ""), 60),
      ),
    );
  const isNew = (each: ValidatorSummary) => !wasAlive.has(short(each)) && !wasSilent.has(short(each));
  return {
    ...told,
    validators: {
      joined: named([...seen.alive, ...seen.silent].filter(isNew)),
      silent: named(seen.silent.filter((each) => wasAlive.has(short(each)))),
      back: named(seen.alive.filter((each) => wasSilent.has(short(each)))),
    },
  };
}

/** What happened since a moment. @throws {ExplorerError} where the vote requests cannot be read */
export async function readFacts(sources: Sources, before: DigestMemory): Promise<Facts> {
  const samples = await sources.samples();
  const to = priceAt(samples, sources.now, 3 * HOUR);
  const from = priceAt(samples, before.at, 3 * HOUR);
  return {
    ...(await readRequests(sources, before.at)),
    ...(await readValidators(sources, before)),
    price: from !== undefined && to !== undefined ? { from, to } : null,
  };
}
