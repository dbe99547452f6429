import { LRUCache } from "lru-cache";
import type { Directory } from "../directory/directory.js";
import { ifAnswered } from "../explorer/errors.js";
import type { Page } from "../explorer/schema/page.js";
import type { ValidatorSummary } from "../explorer/schema/validators.js";
import type { Explorer, Reading } from "../explorer/service.js";
import type { Interval } from "../ledger/network-rhythm.js";
import { BEHIND_MS, judgeReports, type ReportStanding } from "../ledger/rhythm.js";
import { type Markdown, md, timestampWithAge } from "../text/markdown.js";
import { pastTime } from "../util/clock.js";
import { perObject, rememberLast } from "../util/per-object.js";
import { standstillLine } from "./standstill.js";
import type { ScreenContext } from "./view.js";

type ReportRow = Pick<ValidatorSummary, "validator" | "lastActiveAt">;

/** Returns a validator's reporting state, as of one reading. */
export type Standings = (each: ReportRow) => ReportStanding;

/** Returns a validator's reporting interval, or the network's for null. */
export type Intervals = (party: string | null) => Interval;

/** Number of readings whose standings are kept. A screen has at most a few, and the intervals are read again every minute. */
const MAX_READINGS = 20;
const knownStandings = perObject((_: Intervals) => new LRUCache<number, Standings>({ max: MAX_READINGS }));

/**
 * Judges validators by their own reporting intervals. A cached list is shown many times, and its validators are judged once.
 * @param asOf the explorer's newest data, epoch ms
 */
function standingsAt(intervals: Intervals, asOf: number): Standings {
  const known = knownStandings(intervals);
  const standings =
    known.get(asOf) ??
    perObject(({ validator, lastActiveAt }) =>
      judgeReports(pastTime(lastActiveAt, asOf), intervals(validator).ms, asOf),
    );
  known.set(asOf, standings);
  return standings;
}

/** A page of the list of validators. */
export type ValidatorPage = Reading<Page<ValidatorSummary>>;

/** The page of the list that has the newest reports. */
export const NEWEST = { page: 0, size: 100, status: "ACTIVE", orderBy: "DESC" } as const;

/** Returns the time of the newest report among rows, epoch ms, if it is so old that the explorer may be behind; otherwise null. */
function oldNewestIn(rows: readonly ReportRow[], intervals: Intervals, fetchedAt: number): number | null {
  const newestAt = rows.reduce(
    (latest, each) => Math.max(latest, pastTime(each.lastActiveAt, fetchedAt) ?? 0),
    0,
  );
  return newestAt > 0 && fetchedAt - newestAt > BEHIND_MS + intervals(null).ms ? newestAt : null;
}

/** Returns the explorer's newest report, epoch ms, and the reporting states as of then if the explorer is behind. */
export const judgeNewest = rememberLast((intervals: Intervals, { data, fetchedAt }: ValidatorPage) => {
  const behindSince = oldNewestIn(data.content, intervals, fetchedAt);
  const standings = standingsAt(intervals, behindSince ?? fetchedAt);
  const isSilent = (each: ValidatorSummary) => standings(each).standing === "silent";
  return { behindSince, standings, isSilent };
});

/** Says how old the explorer's newest report is. @param newestAt epoch ms */
export const lagLine = (newestAt: number): Markdown =>
  md`⚠️ The explorer is behind: its newest report is from ${timestampWithAge(newestAt)}.`;

/**
 * Judges rows as of the explorer's newest data. If one of them seems to be silent, it reads the newest reports, because the
 * explorer may be behind.
 * @returns the reporting states, and if it is behind the time of its newest report, epoch ms, and a line that says so
 */
export async function judgeRows(
  explorer: Pick<Explorer, "validators">,
  intervals: Intervals,
  rows: readonly ReportRow[],
  fetchedAt: number,
): Promise<{
  readonly standings: Standings;
  readonly lagLines: readonly Markdown[];
  readonly behindSince?: number;
}> {
  const standings = standingsAt(intervals, fetchedAt);
  const isAnySilent = rows.some((each) => standings(each).standing === "silent");
  // A row that has just reported shows that the explorer is not behind.
  if (!isAnySilent || oldNewestIn(rows, intervals, fetchedAt) === null) return { standings, lagLines: [] };
  const newest = await ifAnswered(explorer.validators(NEWEST));
  const behindSince = newest ? judgeNewest(intervals, newest).behindSince : null;
  if (behindSince === null) return { standings, lagLines: [] };
  return { standings: standingsAt(intervals, behindSince), lagLines: [lagLine(behindSince)], behindSince };
}

/**
 * Judges the rows of a screen.
 * @returns the reporting states, the lines that say if the network stands still or the explorer is behind, and the time of the data
 * that they are judged by (epoch ms)
 */
export async function judgeShown(
  { explorer, rhythms }: Pick<ScreenContext, "explorer" | "rhythms">,
  rows: readonly ReportRow[],
  fetchedAt: number,
): Promise<{ readonly standings: Standings; readonly lines: readonly Markdown[]; readonly asOf: number }> {
  const intervals = await rhythms.intervals();
  const { standings, lagLines, behindSince } = await judgeRows(explorer, intervals, rows, fetchedAt);
  const standstill = await standstillLine(rhythms, behindSince);
  return { standings, lines: standstill ? [standstill] : lagLines, asOf: behindSince ?? fetchedAt };
}

/** Judges validators of the directory, each as of the time when it was last read: other answers update single entries. */
export const directoryStandings =
  (
    directory: Pick<Directory, "asOf">,
    intervals: (party: string | null) => Pick<Interval, "ms">,
  ): Standings =>
  ({ validator, lastActiveAt }) => {
    const asOf = directory.asOf("validator", validator ?? "") ?? 0;
    return judgeReports(pastTime(lastActiveAt, asOf), intervals(validator).ms, asOf);
  };

/** Says what the explorer calls a validator, if that differs from the bot's judgement. Empty otherwise. */
export function disagreement(standing: ReportStanding["standing"], active: boolean | null): string {
  const isExpected = standing === "late" ? active : active === (standing === "reporting");
  if (active === null || (isExpected && standing !== "unknown")) return "";
  return `the explorer calls it ${active ? "active" : "inactive"}`;
}
