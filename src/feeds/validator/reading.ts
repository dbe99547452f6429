import { ExplorerError, ifAnswered } from "../../explorer/errors.js";
import type { ValidatorDetail, ValidatorSummary } from "../../explorer/schema/validators.js";
import type { Explorer, Reading } from "../../explorer/service.js";
import { MINUTE } from "../../util/units.js";

/** Maximum number of requests of a poll, and of list pages among them. */
const MAX_REQUESTS = 12;
const MAX_PAGES = 10;
const PAGE = 100;
/** So few that are left are read one by one. */
const FEW = 2;
/** A report that is further in the future than this is from a wrong clock, in ms. */
const AHEAD_MS = 5 * MINUTE;

/** A validator's data in one reading. */
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
  /** Validators that exist, although the explorer returned no data. */
  readonly present: ReadonlySet<string>;
  /** The last report of each listed validator, epoch ms: of all of them if the list was read to its end. */
  readonly listed: readonly number[];
  readonly isWhole: boolean;
  /** The newest and the oldest of them; null if none can be believed. */
  readonly newestAt: number | null;
  readonly oldestAt: number | null;
  /** When each in the list was last seen, down to a moment and further. */
  times(until: number): Promise<readonly number[]>;
  /** True if the poll may send another request. */
  mayAsk(): boolean;
  /** One validator's details, while it may. */
  detail(party: string): Promise<ValidatorDetail | undefined>;
}

/**
 * Reads the list of validators, newest reports first, until every watched one was seen. The few that remain are read by id.
 * @param explorer returns fresh readings only
 * @param watched parties, the longest unread first
 * @throws {ExplorerError} if the list cannot be read
 */
export async function readActivity(
  explorer: Explorer,
  watched: readonly string[],
  now: () => number,
): Promise<ActivityReading> {
  const seenValidators = new Map<string, Seen>();
  const absent = new Set<string>();
  const presentParties = new Set<string>();
  const listedTimes: number[] = [];
  let requests = 0;
  let pages = 0;
  let isWhole = false;

  const noteRow = (
    party: string | null,
    row: Pick<ValidatorSummary, "lastActiveAt" | "active" | "version">,
  ) => {
    const { lastActiveAt: seenAt, active, version } = row;
    if (party === null || seenAt === null || seenAt > now() + AHEAD_MS) return;
    const previousRow = seenValidators.get(party);
    if (!previousRow || seenAt > previousRow.seenAt) seenValidators.set(party, { seenAt, active, version });
  };
  const readPage = async () => {
    requests += 1;
    const { data } = fresh(await explorer.validators({ page: pages, size: PAGE }));
    pages += 1;
    isWhole = data.last === true || data.sent < PAGE;
    for (const row of data.content) {
      noteRow(row.validator, row);
      if (row.lastActiveAt !== null && row.lastActiveAt <= now() + AHEAD_MS)
        listedTimes.push(row.lastActiveAt);
    }
  };
  const mayReadPage = () => !isWhole && pages < MAX_PAGES && requests < MAX_REQUESTS;
  const missingParties = () => watched.filter((party) => !seenValidators.has(party));

  await readPage();
  while (missingParties().length > FEW && mayReadPage()) await readPage();
  const newestAt = listedTimes.length > 0 ? Math.max(...listedTimes) : null;
  const oldestAt = listedTimes.length > 0 ? Math.min(...listedTimes) : null;
  const readList = { listed: [...listedTimes], isWhole, newestAt, oldestAt };

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
  for (const party of missingParties()) {
    const foundDetail = await detail(party);
    if (foundDetail !== undefined && foundDetail !== "missing") noteRow(party, foundDetail);
    else if (foundDetail === "missing" && requests < MAX_REQUESTS) {
      requests += 1;
      const exists = await ifAnswered(explorer.validatorExists({ validatorId: party }));
      if (exists && !exists.problem) (exists.data ? presentParties : absent).add(party);
    }
  }

  return {
    seen: seenValidators,
    absent,
    present: presentParties,
    ...readList,
    async times(until) {
      while (Math.min(...listedTimes) > until && mayReadPage()) await readPage();
      return listedTimes;
    },
    mayAsk: () => requests < MAX_REQUESTS,
    async detail(party) {
      const foundDetail = await detail(party);
      return foundDetail === "missing" ? undefined : foundDetail;
    },
  };
}

/** @throws {ExplorerError} for a reading that is not new */
function fresh<T>(reading: Reading<T>): Reading<T> {
  if (reading.problem) throw new ExplorerError(reading.problem, "No new reading could be had");
  return reading;
}
