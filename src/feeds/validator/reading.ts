import { ExplorerError, ifAnswered } from "../../explorer/errors.js";
import type { ValidatorDetail, ValidatorSummary } from "../../explorer/schema/validators.js";
import type { Explorer, Reading } from "../../explorer/service.js";
import { MINUTE } from "../../util/units.js";

/** What a poll may cost, in requests; and of those, pages of the list. */
const MAX_REQUESTS = 12;
const MAX_PAGES = 10;
const PAGE = 100;
/** So few that are left are read one by one. */
const FEW = 2;
/** A validator that was seen further ahead than this, in ms, was not: somebody's clock is wrong. */
const AHEAD_MS = 5 * MINUTE;

/** What one reading tells of a validator. */
export interface Seen {
  readonly seenAt: number;
  readonly active: boolean | null;
  readonly version: string | null;
}

/** One poll's reading. */
export interface ActivityReading {
  /** By party: those of the list, and those that were read one by one. */
  readonly seen: ReadonlyMap<string, Seen>;
  /** Watched ones of which the explorer says that there is no such validator. */
  readonly absent: ReadonlySet<string>;
  /** And those of which it says that there is one, though it gives nothing of it. */
  readonly present: ReadonlySet<string>;
  /** When the newest of all reports was, epoch ms; null where none can be believed. */
  readonly newestAt: number | null;
  /** When each in the list was last seen, down to a moment and further. */
  times(until: number): Promise<readonly number[]>;
  /** Whether the poll may still ask for something. */
  mayAsk(): boolean;
  /** One validator's details, while it may. */
  detail(party: string): Promise<ValidatorDetail | undefined>;
}

/**
 * Reads the list of validators, the last seen first, until every watched one has been seen; the few that are far behind by
 * their ids.
 * @param explorer takes nothing but new readings
 * @param watched parties, those whose last reading is the longest ago first
 * @throws {ExplorerError} where the list cannot be read
 */
export async function readActivity(
  explorer: Explorer,
  watched: readonly string[],
  now: () => number,
): Promise<ActivityReading> {
  const seen = new Map<string, Seen>();
  const absent = new Set<string>();
  const present = new Set<string>();
  const listed: number[] = [];
  let requests = 0;
  let pages = 0;
  let isWhole = false;

  const note = (party: string | null, row: Pick<ValidatorSummary, "lastActiveAt" | "active" | "version">) => {
    const { lastActiveAt: seenAt, active, version } = row;
    if (party === null || seenAt === null || seenAt > now() + AHEAD_MS) return;
    const before = seen.get(party);
    if (!before || seenAt > before.seenAt) seen.set(party, { seenAt, active, version });
  };
  const readPage = async () => {
    requests += 1;
    const { data } = fresh(await explorer.validators({ page: pages, size: PAGE }));
    pages += 1;
    isWhole = data.last === true || data.sent < PAGE;
    for (const row of data.content) {
      note(row.validator, row);
      if (row.lastActiveAt !== null && row.lastActiveAt <= now() + AHEAD_MS) listed.push(row.lastActiveAt);
    }
  };
  const mayReadPage = () => !isWhole && pages < MAX_PAGES && requests < MAX_REQUESTS;
  const missing = () => watched.filter((party) => !seen.has(party));

  await readPage();
  while (missing().length > FEW && mayReadPage()) await readPage();
  const newestAt = listed.length > 0 ? Math.max(...listed) : null;

  const detail = async (party: string): Promise<ValidatorDetail | "missing" | undefined> => {
    if (requests >= MAX_REQUESTS) return undefined;
    requests += 1;
    try {
      return fresh(await explorer.validator({ validatorId: party })).data;
    } catch (error) {
      if (!(error instanceof ExplorerError)) throw error;
      return error.problem === "missing" ? "missing" : undefined;
    }
  };
  for (const party of missing()) {
    const found = await detail(party);
    if (found !== undefined && found !== "missing") note(party, found);
    else if (found === "missing" && requests < MAX_REQUESTS) {
      requests += 1;
      const exists = await ifAnswered(explorer.validatorExists({ validatorId: party }));
      if (exists && !exists.problem) (exists.data ? present : absent).add(party);
    }
  }

  return {
    seen,
    absent,
    present,
    newestAt,
    async times(until) {
      while (Math.min(...listed) > until && mayReadPage()) await readPage();
      return listed;
    },
    mayAsk: () => requests < MAX_REQUESTS,
    async detail(party) {
      const found = await detail(party);
      return found === "missing" ? undefined : found;
    },
  };
}

/** @throws {ExplorerError} for a reading that is not new */
function fresh<T>(reading: Reading<T>): Reading<T> {
  if (reading.problem) throw new ExplorerError(reading.problem, "No new reading could be had");
  return reading;
}
