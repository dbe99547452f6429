import { lateAfter } from "../../ledger/rhythm.js";
import { compareVersions, isVersion, type VersionSurvey } from "../../ledger/versions.js";
import { defined } from "../../util/present.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import type { ValidatorWatch } from "./collections.js";

/** Durations of a silence after which its alert is repeated, in ms. */
const WORSE_MS = [6 * HOUR, DAY] as const;

/** Returns the number of time limits that a silence has passed, 0 for none. */
export const levelOf = (silentMs: number, afterMs: number): number =>
  [afterMs, ...WORSE_MS.filter((limit) => limit > afterMs)].filter((limit) => silentMs > limit).length;

/** Result of a reading for one subscription. */
export type Verdict =
  /** Nothing has changed. */
  | { readonly kind: "nothing" }
  /** The last report is too old in this reading. The next reading must confirm it. */
  | { readonly kind: "unconfirmed" }
  | { readonly kind: "silent"; readonly level: number }
  | { readonly kind: "worse"; readonly level: number }
  | { readonly kind: "back" };

interface Silence {
  /** Time of the last report, epoch ms. */
  readonly seenAt: number;
  readonly afterMs: number;
  /** A last report that was too old in the previous reading. */
  readonly unconfirmed: number | undefined;
  /** The open alert: the last report before it, and its announced level. */
  readonly open: { readonly since: number; readonly level: number } | undefined;
  /** True if no validator may be reported as silent now. */
  readonly onHold: boolean;
  /** True in the first reading after a hold, which confirms nothing. */
  readonly isAfterHold?: boolean;
  /** Time of the explorer's newest data, epoch ms. */
  readonly asOf: number;
}

/**
 * Decides by the time of the last report only. A validator is silent if two consecutive readings have the
 * same time and it is too old in both. It is back with any newer time.
 */
export function judge(silence: Silence): Verdict {
  const { seenAt, afterMs, unconfirmed, open, onHold, isAfterHold = false, asOf } = silence;
  if (open && seenAt > open.since) return { kind: "back" };
  const reached = onHold ? 0 : levelOf(asOf - seenAt, afterMs);
  if (reached === 0 || (open && (isAfterHold || reached <= open.level))) return { kind: "nothing" };
  if (open) return { kind: "worse", level: reached };
  const isConfirmed = unconfirmed === seenAt && !isAfterHold;
  return isConfirmed ? { kind: "silent", level: reached } : { kind: "unconfirmed" };
}

/**
 * Returns the window in ms within which validators that go silent share one alert. Their last reports before
 * an outage are spread over one interval.
 */
export const togetherMs = (intervalMs: number): number => Math.max(15 * MINUTE, intervalMs);

/** Minimum number, and minimum share of the validators that reported before, for several silences to share one alert. */
const LEAST_MANY = 5;
const LEAST_SHARE = 0.1;

/** Number of validators that went silent together, and of those that were active before. */
export interface GroupSilence {
  readonly silent: number;
  readonly total: number;
}

/**
 * Counts the validators that went silent together with this one. `undefined` if there are too few for a group.
 * @param since its last report, epoch ms
 * @param seen the last reports of all validators in the part of the list that was read
 * @param intervalMs the network's reporting interval
 * @param asOf time of the explorer's newest data, epoch ms
 */
export function manyAt(
  since: number,
  seen: readonly number[],
  intervalMs: number,
  asOf: number,
): GroupSilence | undefined {
  const windowStart = since - togetherMs(intervalMs);
  // A validator whose next report is not late yet is alive, even if a subscription called this one silent
  // early.
  const windowEnd = Math.min(since + togetherMs(intervalMs), asOf - lateAfter(intervalMs));
  const silent = seen.filter((at) => at >= windowStart && at <= windowEnd).length;
  const alive = seen.filter((at) => at > windowEnd).length;
  const total = silent + alive;
  return silent >= LEAST_MANY && silent >= LEAST_SHARE * total ? { silent, total } : undefined;
}

/** Share of active validators that makes a version the standard. */
const MOST = 0.6;
/** Time behind the standard version after which a validator is reported, in ms. */
const OUTDATED_MS = DAY;

/**
 * Returns the version that a validator should run, if enough active validators run it and this one is older.
 * `undefined` if it is not behind, null if that is unknown.
 */
export function behindWhat(running: string | null, survey: VersionSurvey): string | null | undefined {
  const { mostCommon, counts, active } = survey;
  if (mostCommon === null || active === 0 || running === null || !isVersion(running)) return null;
  if ((counts.get(mostCommon) ?? 0) < MOST * active) return undefined;
  return compareVersions(running, mostCommon) < 0 ? mostCommon : undefined;
}

type VersionMemory = Pick<ValidatorWatch, "behind" | "toldVersion">;

/**
 * Decides if an outdated validator is reported: a day after it fell behind, once for each version.
 * @returns the updated memory, and the version to report
 */
export function judgeVersion(
  target: string | null | undefined,
  { behind, toldVersion }: VersionMemory,
  now: number,
): { readonly memory: VersionMemory; readonly tell?: string } {
  const toldFields = defined({ toldVersion });
  if (target === null) return { memory: defined({ toldVersion, behind }) };
  if (target === undefined) return { memory: toldFields };
  const behindSince = behind?.target === target ? Math.min(behind.since, now) : now;
  const memory = { ...toldFields, behind: { target, since: behindSince } };
  // The network may go back to a version that was told before.
  const isNews = toldVersion === undefined || compareVersions(target, toldVersion) > 0;
  const isDue = now - behindSince >= OUTDATED_MS && isNews;
  return isDue ? { memory: { ...memory, toldVersion: target }, tell: target } : { memory };
}

/** Remaining traffic at which alerts are sent, in percent. */
const LOW_PERCENT = [20, 10] as const;
/** Percentage points by which traffic must rise before an alert can repeat. */
const ROSE_POINTS = 5;

/** Bytes of traffic as decimal strings, null if unknown. */
interface Traffic {
  readonly isSv: boolean | null;
  readonly consumed: string | null;
  readonly limit: string | null;
  readonly purchased: string | null;
}

/**
 * Returns the remaining traffic in percent. `undefined` for super validators, which have no limit, and while
 * a purchase is in progress, because bought and counted traffic differ.
 */
export function trafficLeft({ isSv, consumed, limit, purchased }: Traffic): number | undefined {
  if (isSv !== false || consumed === null || purchased === null || limit === null) return undefined;
  const [used, bought] = [Number(consumed), Number(purchased)];
  if (Number(limit) !== bought || !(bought > 0) || !(used >= 0)) return undefined;
  // In this order, a fifth is exactly 20.
  return Math.max(0, (100 * (bought - used)) / bought);
}

type TrafficMemory = NonNullable<ValidatorWatch["traffic"]>;

/** Decides if low traffic is reported. Two readings must agree, and traffic must rise before the next report. */
export function judgeTraffic(
  left: number | undefined,
  memory: TrafficMemory | undefined,
  now: number,
): { readonly memory: TrafficMemory; readonly tell?: number } {
  const { unconfirmed, told, sequence = 0 } = memory ?? {};
  const readFields = { readAt: now, sequence };
  if (left === undefined) return { memory: { ...readFields, ...defined({ told }) } };
  const reached = LOW_PERCENT.findLast((percent) => left < percent);
  const forgotten = told !== undefined && left >= told + ROSE_POINTS;
  const previousLevel = forgotten ? LOW_PERCENT.find((percent) => left < percent) : told;
  const keptFields = { ...readFields, ...defined({ told: previousLevel }) };
  if (reached === undefined || (previousLevel !== undefined && reached >= previousLevel))
    return { memory: keptFields };
  if (unconfirmed === undefined) return { memory: { ...keptFields, unconfirmed: reached } };
  // Both readings must be below a limit.
  const confirmed = Math.max(unconfirmed, reached);
  const doubted = reached < confirmed ? { unconfirmed: reached } : {};
  return { memory: { ...readFields, told: confirmed, sequence: sequence + 1, ...doubted }, tell: confirmed };
}

/**
 * True if a validator that the explorer had stopped listing is listed again with a new report. A poll reads only the first pages,
 * so the list of all validators counts as well.
 * @param goneAt time when it was no longer listed, epoch ms
 * @param isSeen true if the poll has read a report after `goneAt`
 * @param lastReport its last report in the list of all validators, which may be half an hour old; `undefined` if it is not there
 */
export const isListedAgain = (
  goneAt: number,
  isSeen: boolean,
  lastReport: number | undefined,
  now: number,
): boolean => isSeen || (lastReport !== undefined && lastReport > goneAt && lastReport <= now);
