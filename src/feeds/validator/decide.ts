import type { VersionSurvey } from "../../ledger/versions.js";
import { compareVersions, isVersion } from "../../ledger/versions.js";
import type { ValidatorWatch } from "../../storage/catalogue.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";

/** A silence is told again when it has lasted for so long, in ms. */
const WORSE_MS = [6 * HOUR, DAY] as const;

/** How many of the limits a silence has passed: 0 while it is none. */
export const levelOf = (silentMs: number, afterMs: number): number =>
  [afterMs, ...WORSE_MS.filter((limit) => limit > afterMs)].filter((limit) => silentMs > limit).length;

/** What one reading of a validator means for somebody who watches it. */
export type Verdict =
  /** Nothing to tell. */
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
  /** Whether nobody may be called silent now. */
  readonly onHold: boolean;
  readonly now: number;
}

/**
 * Only the time last seen decides. A validator is silent where two readings in a row have the same time, and it is too long ago
 * in both; it is back with any newer time.
 */
export function judge({ seenAt, afterMs, unconfirmed, open, onHold, now }: Silence): Verdict {
  if (open && seenAt > open.since) return { kind: "back" };
  const reached = onHold ? 0 : levelOf(now - seenAt, afterMs);
  if (open) return reached > open.level ? { kind: "worse", level: reached } : { kind: "nothing" };
  if (reached === 0) return { kind: "nothing" };
  return unconfirmed === seenAt ? { kind: "silent", level: reached } : { kind: "unconfirmed" };
}

/** Nobody is called silent while the newest of all reports is older than this, in ms: it is the explorer that is behind. */
export const LAG_MS = 20 * MINUTE;
/** Those that go silent within this are one event, in ms, */
export const TOGETHER_MS = 15 * MINUTE;
/** from so many on, and from this share of those that were alive. */
const LEAST_MANY = 5;
const LEAST_SHARE = 0.1;

/** How many went silent together, of how many that were alive before. */
export interface Many {
  readonly silent: number;
  readonly total: number;
}

/**
 * Whether a silence is one of many that began within a quarter of an hour; undefined where it is not.
 * @param since when it was last seen, epoch ms
 * @param seen when each validator was last seen, as far as the list was read
 */
export function manyAt(since: number, seen: readonly number[], now: number): Many | undefined {
  const from = since - TOGETHER_MS;
  // What reported a few minutes ago is alive, however early this one was called silent.
  const to = Math.min(since + TOGETHER_MS, now - LAG_MS);
  const silent = seen.filter((at) => at >= from && at <= to).length;
  const alive = seen.filter((at) => at > to).length;
  const total = silent + alive;
  return silent >= LEAST_MANY && silent >= LEAST_SHARE * total ? { silent, total } : undefined;
}

/** What is common enough to be called behind. */
const MOST = 0.6;
/** It is told after so long, in ms. */
const BEHIND_MS = DAY;

/**
 * The version that a validator should run, where enough of the active ones run it and it runs an older one; undefined where it
 * is not behind, and null where nobody knows.
 */
export function behindWhat(running: string | null, survey: VersionSurvey): string | null | undefined {
  const { mostCommon, counts, active } = survey;
  if (mostCommon === null || active === 0 || running === null || !isVersion(running)) return null;
  if ((counts.get(mostCommon) ?? 0) < MOST * active) return undefined;
  return compareVersions(running, mostCommon) < 0 ? mostCommon : undefined;
}

type VersionMemory = Pick<ValidatorWatch, "behind" | "toldVersion">;

/**
 * Whether a validator is to be told of as behind: a day after it fell behind a version, and once for each.
 * @returns what to remember, and the version where it is to be told
 */
export function judgeVersion(
  target: string | null | undefined,
  { behind, toldVersion }: VersionMemory,
  now: number,
): { readonly memory: VersionMemory; readonly tell?: string } {
  const told = toldVersion === undefined ? {} : { toldVersion };
  if (target === null) return { memory: { ...told, ...(behind ? { behind } : {}) } };
  if (target === undefined) return { memory: told };
  const since = behind?.target === target ? Math.min(behind.since, now) : now;
  const memory = { ...told, behind: { target, since } };
  const isDue = now - since >= BEHIND_MS && toldVersion !== target;
  return isDue ? { memory: { ...memory, toldVersion: target }, tell: target } : { memory };
}

/** Shares of traffic left that are told, in percent. */
const LOW_PERCENT = [20, 10] as const;
/** It is told again only after so many points more were left. */
const ROSE_POINTS = 5;

/** Bytes of traffic, as decimal strings; null where the explorer does not say. */
interface Traffic {
  readonly isSv: boolean | null;
  readonly consumed: string | null;
  readonly limit: string | null;
  readonly purchased: string | null;
}

/**
 * How much traffic is left, in percent; undefined where it says nothing: of super validators, who have no limit, and while
 * what was bought and what is counted differ, since a purchase is then under way.
 */
export function trafficLeft({ isSv, consumed, limit, purchased }: Traffic): number | undefined {
  if (isSv !== false || consumed === null || purchased === null || limit === null) return undefined;
  const [used, bought] = [Number(consumed), Number(purchased)];
  if (Number(limit) !== bought || !(bought > 0) || !(used >= 0)) return undefined;
  return Math.max(0, 100 * (1 - used / bought));
}

type TrafficMemory = NonNullable<ValidatorWatch["traffic"]>;

/** Whether little traffic left is to be told: in two readings, and again only after it rose. */
export function judgeTraffic(
  left: number | undefined,
  memory: TrafficMemory | undefined,
  now: number,
): { readonly memory: TrafficMemory; readonly tell?: number } {
  const { unconfirmed, told, sequence = 0 } = memory ?? {};
  const rest = { readAt: now, sequence };
  if (left === undefined) return { memory: { ...rest, ...(told === undefined ? {} : { told }) } };
  const reached = LOW_PERCENT.findLast((percent) => left < percent);
  const forgotten = told !== undefined && left >= told + ROSE_POINTS;
  const before = forgotten ? LOW_PERCENT.find((percent) => left < percent) : told;
  const kept = { ...rest, ...(before === undefined ? {} : { told: before }) };
  if (reached === undefined || (before !== undefined && reached >= before)) return { memory: kept };
  if (unconfirmed === undefined) return { memory: { ...kept, unconfirmed: reached } };
  return { memory: { ...rest, told: reached, sequence: sequence + 1 }, tell: reached };
}
