import { ExplorerError, ifAnswered } from "../../explorer/errors.js";
import type { ValidatorDetail, ValidatorSummary } from "../../explorer/schema/validators.js";
import type { Explorer, Reading } from "../../explorer/service.js";
import { CLOCK_ERROR_MS } from "../../util/clock.js";

/** Maximum number of requests of a poll, and of list pages among them. */
const MAX_REQUESTS = 12;
const MAX_PAGES = 10;
const PAGE = 100;
/** If at most this many watched validators remain, they are read one by one. */
const FEW = 2;

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
  /** Watched validators that the explorer does not know, among those that it was asked about. */
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
 * Reads the list of validators, newest reports first, until every watched one was found. The last few are read by id.
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
  /** Last reports in the list by party, epoch ms. The explorer may list one twice. */
  const listedReports = new Map<string, number>();
  const listedTimes = () => [...listedReports.values()];
  let requests = 0;
  let pages = 0;
  let isWhole = false;
  let isBroken = false;
  const aheadParties = new Set<string | null>();

  const noteRow = (
    party: string | null,
    row: Pick<ValidatorSummary, "lastActiveAt" | "active" | "version">,
  ) => {
    const { lastActiveAt: seenAt, active, version } = row;
    if (party === null) return;
    if (seenAt === null || seenAt > now() + CLOCK_ERROR_MS) {
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
      const { validator: party, lastActiveAt: at } = row;
      noteRow(party, row);
      if (at === null) continue;
      if (at > now() + CLOCK_ERROR_MS) aheadParties.add(party);
      else if (party !== null) listedReports.set(party, Math.max(listedReports.get(party) ?? 0, at));
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
  const listed = listedTimes();
  const newestAt = listed.length > 0 ? Math.max(...listed) : null;
  const oldestAt = listed.length > 0 ? Math.min(...listed) : null;
  const readList = { listed, isWhole, newestAt, oldestAt, isAhead: aheadParties.size > listed.length };

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
  // The details may have the time that a row lacks.
  for (const party of watched.filter((each) => !seenValidators.has(each))) {
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
      while (Math.min(...listedTimes()) > until && mayReadPage()) await readFurther();
      return listedTimes();
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
