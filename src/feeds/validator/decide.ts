import { lateAfter } from "../../ledger/rhythm.js";
import type { VersionSurvey } from "../../ledger/versions.js";
import { compareVersions, isVersion } from "../../ledger/versions.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import type { ValidatorWatch } from "./collections.js";

/** A silence is told again when it has lasted for so long, in ms. */
const WORSE_MS = [6 * HOUR, DAY] as const;

/** Returns the number of limits that a silence has passed; 0 if it is none. */
export const levelOf = (silentMs: number, afterMs: number): number =>
  [afterMs, ...WORSE_MS.filter((limit) => limit > afterMs)].filter((limit) => silentMs > limit).length;

/** The meaning of a reading for one subscription. */
export type Verdict =
  /** No news. */
  | { readonly kind: "nothing" }
  /** Too old in this reading: the next one confirms it. */
  | { readonly kind: "unconfirmed" }
  | { readonly kind: "silent"; readonly level: number }
  | { readonly kind: "worse"; readonly level: number }
  | { readonly kind: "back" };

interface Silence {
  /** When it was last seen, epoch ms. */
  readonly seenAt: number;
  readonly afterMs: number;
  /** A time last seen that one reading has found too old. */
  readonly unconfirmed: number | undefined;
  /** The open alert: the time last seen it began with, and the limits it has told of. */
  readonly open: { readonly since: number; readonly level: number } | undefined;
  /** True if no validator may be called silent now. */
  readonly onHold: boolean;
  /** Up to when the explorer's data goes, epoch ms. */
  readonly asOf: number;
}

/**
 * Only the time last seen decides. A validator is silent where two readings in a row have the same time, and it is too long ago
 * in both; it is back with any newer time.
 */
export function judge({ seenAt, afterMs, unconfirmed, open, onHold, asOf }: Silence): Verdict {
  if (open && seenAt > open.since) return { kind: "back" };
  const reached = onHold ? 0 : levelOf(asOf - seenAt, afterMs);
  if (open) return reached > open.level ? { kind: "worse", level: reached } : { kind: "nothing" };
  if (reached === 0) return { kind: "nothing" };
  return unconfirmed === seenAt ? { kind: "silent", level: reached } : { kind: "unconfirmed" };
}

/**
 * Validators that go silent within this window share one alert (ms): the last reports before an outage spread over one interval.
 */
export const togetherMs = (intervalMs: number): number => Math.max(15 * MINUTE, intervalMs);

/** Several silences are one event from this number on, and from this share of the validators that reported before. */
const LEAST_MANY = 5;
const LEAST_SHARE = 0.1;

/** Validators that went silent together, out of those that were active before. */
export interface GroupSilence {
  readonly silent: number;
  readonly total: number;
}

/**
 * Returns how many validators went silent together with one; `undefined` if it did so alone.
 * @param since its last report, epoch ms
 * @param seen the last report of each validator, as far as the list was read
 * @param intervalMs how often the network's validators report
 * @param asOf up to when the explorer's data goes, epoch ms
 */
export function manyAt(
  since: number,
  seen: readonly number[],
  intervalMs: number,
  asOf: number,
): GroupSilence | undefined {
  const windowStart = since - togetherMs(intervalMs);
  // A validator whose report is not late yet is alive, however early this one was called silent.
  const windowEnd = Math.min(since + togetherMs(intervalMs), asOf - lateAfter(intervalMs));
  const silent = seen.filter((at) => at >= windowStart && at <= windowEnd).length;
  const alive = seen.filter((at) => at > windowEnd).length;
  const total = silent + alive;
  return silent >= LEAST_MANY && silent >= LEAST_SHARE * total ? { silent, total } : undefined;
}

/** Share of validators that makes a version the standard. */
const MOST = 0.6;
/** It is told after so long, in ms. */
const BEHIND_MS = DAY;

/**
 * Returns the version that a validator should run, if enough active validators run it and this one is older; `undefined` if it is
 * not behind, null if that is unknown.
 */
export function behindWhat(running: string | null, survey: VersionSurvey): string | null | undefined {
  const { mostCommon, counts, active } = survey;
  if (mostCommon === null || active === 0 || running === null || !isVersion(running)) return null;
  if ((counts.get(mostCommon) ?? 0) < MOST * active) return undefined;
  return compareVersions(running, mostCommon) < 0 ? mostCommon : undefined;
}

type VersionMemory = Pick<ValidatorWatch, "behind" | "toldVersion">;

/**
 * Decides if a validator is reported as behind: a day after it fell behind, and once for each version.
 * @returns the memory, and the version to report
 */
export function judgeVersion(
  target: string | null | undefined,
  { behind, toldVersion }: VersionMemory,
  now: number,
): { readonly memory: VersionMemory; readonly tell?: string } {
  const toldFields = toldVersion === undefined ? {} : { toldVersion };
  if (target === null) return { memory: { ...toldFields, ...(behind ? { behind } : {}) } };
  if (target === undefined) return { memory: toldFields };
  const behindSince = behind?.target === target ? Math.min(behind.since, now) : now;
  const memory = { ...toldFields, behind: { target, since: behindSince } };
  const isDue = now - behindSince >= BEHIND_MS && toldVersion !== target;
  return isDue ? { memory: { ...memory, toldVersion: target }, tell: target } : { memory };
}

/** Shares of traffic left that are told, in percent. */
const LOW_PERCENT = [20, 10] as const;
/** Traffic must rise by this many points before an alert is repeated. */
const ROSE_POINTS = 5;

/** Bytes of traffic, as decimal strings; null if the explorer does not say. */
interface Traffic {
  readonly isSv: boolean | null;
  readonly consumed: string | null;
  readonly limit: string | null;
  readonly purchased: string | null;
}

/**
 * Returns the traffic that is left, in percent. `undefined` if it says nothing: for super validators, which have no limit, and
 * while a purchase is under way, because bought and counted traffic differ.
 */
export function trafficLeft({ isSv, consumed, limit, purchased }: Traffic): number | undefined {
  if (isSv !== false || consumed === null || purchased === null || limit === null) return undefined;
  const [used, bought] = [Number(consumed), Number(purchased)];
  if (Number(limit) !== bought || !(bought > 0) || !(used >= 0)) return undefined;
  return Math.max(0, 100 * (1 - used / bought));
}

type TrafficMemory = NonNullable<ValidatorWatch["traffic"]>;

/** Decides if low traffic is reported: after two readings, and again only after it rose. */
export function judgeTraffic(
  left: number | undefined,
  memory: TrafficMemory | undefined,
  now: number,
): { readonly memory: TrafficMemory; readonly tell?: number } {
  const { unconfirmed, told, sequence = 0 } = memory ?? {};
  const readFields = { readAt: now, sequence };
  if (left === undefined) return { memory: { ...readFields, ...(told === undefined ? {} : { told }) } };
  const reached = LOW_PERCENT.findLast((percent) => left < percent);
  const forgotten = told !== undefined && left >= told + ROSE_POINTS;
  const previousLevel = forgotten ? LOW_PERCENT.find((percent) => left < percent) : told;
  const keptFields = { ...readFields, ...(previousLevel === undefined ? {} : { told: previousLevel }) };
  if (reached === undefined || (previousLevel !== undefined && reached >= previousLevel))
    return { memory: keptFields };
  if (unconfirmed === undefined) return { memory: { ...keptFields, unconfirmed: reached } };
  return { memory: { ...readFields, told: reached, sequence: sequence + 1 }, tell: reached };
}
