import { ExplorerError, ifAnswered } from "../../explorer/errors.js";
import type { ValidatorDetail, ValidatorSummary } from "../../explorer/schema/validators.js";
import type { Explorer, Reading } from "../../explorer/service.js";
import { MINUTE } from "../../util/units.js";

/** Maximum number of requests of a poll, and of list pages among them. */
const MAX_REQUESTS = 12;
const MAX_PAGES = 10;
const PAGE = 100;
/** If at most this many watched validators remain, they are read one by one. */
const FEW = 2;
/** A report further in the future than this comes from a wrong clock, in ms. */
const AHEAD_MS = 5 * MINUTE;

/** A validator's data in one reading. */
export interface Seen {
  readonly seenAt: number;
  readonly active: boolean | null;
  readonly version: string | null;
}

/** Data read by a poll. */
export interface ActivityReading {
  /** Validators by party, from the list and from single requests. */
  readonly seen: ReadonlyMap<string, Seen>;
  /** Watched validators that the explorer does not know. */
  readonly absent: ReadonlySet<string>;
  /** Validators that exist, although the explorer returned no report time. */
  readonly present: ReadonlySet<string>;
  /** Last report of each listed validator, epoch ms. All validators if `isWhole` is true. */
  readonly listed: readonly number[];
  readonly isWhole: boolean;
  /** The newest and oldest of these reports, null if no time is plausible. */
  readonly newestAt: number | null;
  readonly oldestAt: number | null;
  /** True if most reports are in the future, so that the explorer's times cannot be used. */
  readonly isAhead: boolean;
  /** Reads the list at least down to a time. Returns the last reports. */
  times(until: number): Promise<readonly number[]>;
  /** True if the poll may send another request. */
  mayAsk(): boolean;
  /** Returns a validator's details, `undefined` if the poll may not send another request. */
  detail(party: string): Promise<ValidatorDetail | undefined>;
}

/**
 * Reads the list of validators, newest reports first, until every watched one was found. The last few are
 * read by id.
 * @param explorer returns fresh readings only
 * @param watched parties, those not read for the longest time first
 * @throws {ExplorerError} if the first page of the list cannot be read
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
  let isBroken = false;
  let aheadCount = 0;

  const noteRow = (
    party: string | null,
    row: Pick<ValidatorSummary, "lastActiveAt" | "active" | "version">,
  ) => {
    const { lastActiveAt: seenAt, active, version } = row;
    if (party === null) return;
    if (seenAt === null || seenAt > now() + AHEAD_MS) {
      presentParties.add(party);
      return;
    }
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
      if (row.lastActiveAt === null) continue;
      if (row.lastActiveAt <= now() + AHEAD_MS) listedTimes.push(row.lastActiveAt);
      else aheadCount += 1;
    }
  };
  const mayReadPage = () => !isWhole && !isBroken && pages < MAX_PAGES && requests < MAX_REQUESTS;
  /** Reads a further page. If it fails, the pages before it still count: one bad page must not silence every alert. */
  const readFurther = () =>
    readPage().catch((error: unknown) => {
      if (!(error instanceof ExplorerError)) throw error;
      isBroken = true;
    });
  const missingParties = () =>
    watched.filter((party) => !seenValidators.has(party) && !presentParties.has(party));

  await readPage();
  while (missingParties().length > FEW && mayReadPage()) await readFurther();
  const newestAt = listedTimes.length > 0 ? Math.max(...listedTimes) : null;
  const oldestAt = listedTimes.length > 0 ? Math.min(...listedTimes) : null;
  const isAhead = aheadCount > listedTimes.length;
  const readList = { listed: [...listedTimes], isWhole, newestAt, oldestAt, isAhead };

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
      while (Math.min(...listedTimes) > until && mayReadPage()) await readFurther();
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
  if (reading.problem) throw new ExplorerError(reading.problem, "The validators could not be read");
  return reading;
}
