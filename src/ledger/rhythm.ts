import { HOUR, MINUTE } from "../util/units.js";

/**
 * Default reporting interval in ms, until one has been learned. Splice does not allow `ValidatorLicense_ReportActive` more than
 * once an hour, and its trigger fires a few minutes later (docs/ledger.md, "Validators").
 */
export const USUAL_INTERVAL_MS = 65 * MINUTE;

/** Age of the newest data above which the explorer counts as behind, in ms. */
export const BEHIND_MS = 20 * MINUTE;

/** Number of recent gaps whose median is the interval, so that a single outage does not change it. */
export const MAX_GAPS = 5;
/** Maximum number of gaps in a stored document. One with more does not come from the bot. */
export const MAX_STORED_GAPS = 100;
const MIN_GAPS = 3;
/** Maximum ratio between the longest and the shortest rough gap for them to be used. */
const AGREEMENT = 1.25;

/** Time between a validator's reports, as far as the bot saw them. */
export interface ReportGaps {
  /** Time between two successive reports in ms, the newest last. */
  readonly gaps: readonly number[];
  /** Like `gaps`, but the bot may have missed another report in between. */
  readonly roughGaps?: readonly number[] | undefined;
}

/** Returns the median; the larger of two in the middle. `undefined` if there are no values. */
export const median = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Returns a validator's reporting interval in ms; `undefined` until at least three gaps are known. */
export function intervalOf({ gaps, roughGaps = [] }: ReportGaps): number | undefined {
  if (gaps.length >= MIN_GAPS) return median(gaps.slice(-MAX_GAPS));
  const agree = roughGaps.length >= MIN_GAPS && Math.max(...roughGaps) <= AGREEMENT * Math.min(...roughGaps);
  return agree ? median(roughGaps) : undefined;
}

/** True if a validator's last gap was about this long, unlike its interval, in ms. */
export const hasSlowedTo = (ms: number, { gaps }: ReportGaps, intervalMs: number): boolean => {
  const lastGap = gaps.at(-1) ?? 0;
  return lastGap > lateAfter(intervalMs) && lastGap > 0.8 * ms && lastGap < lateAfter(ms);
};

/** Time without a reading that is too short to hide a report, in ms. */
export const SHORT_PAUSE_MS = 15 * MINUTE;

/**
 * Adds a gap between two reports.
 * @param unreadMs time since the previous reading. The bot may have missed a report during it
 */
export function withGap<Known extends ReportGaps>(known: Known, gapMs: number, unreadMs: number): Known {
  const isSure = unreadMs <= Math.max(gapMs / 2, SHORT_PAUSE_MS);
  if (isSure) return { ...known, gaps: [...known.gaps, gapMs].slice(-MAX_GAPS) };
  return { ...known, roughGaps: [...(known.roughGaps ?? []), gapMs].slice(-MIN_GAPS) };
}

/** Interval below which a network is a quick one, whose validators may slow down to the usual interval, in ms. */
export const QUICK_MS = 0.8 * USUAL_INTERVAL_MS;
/** Longest gap that counts as the usual interval with a delay, and not as an outage, in ms. */
const USUAL_GAP_MS = 1.5 * USUAL_INTERVAL_MS;

/** Minimum number of validators for an estimate from a single reading. */
const MIN_SAMPLE = 20;
/** Share of the validators of a small network that have reported within an interval, if they are well. */
const SMALL_SHARE = 0.8;
/** Shortest interval that the ledger has ever had, in ms: one report per round, until April 2026. */
const ROUND_MS = 10 * MINUTE;
/** If nearly all validators have reported within this time, they report at least once a round, in ms. */
const BURST_MS = 2 * MINUTE;
/**
 * Minimum share of the validators that must have reported within an interval. It is higher for intervals shorter than the usual
 * one, because some validators may report faster than the others.
 */
const HOURLY_SHARE = 0.3;
const QUICK_SHARE = 0.7;
/** Share of the reports that may be older than the interval: validators that have just stopped. */
const STRAGGLERS = 0.05;

/**
 * Estimates the network's reporting interval from one reading. The ages of the last reports spread evenly over one interval, and
 * few are between one and two intervals. Ages are measured from the newest report, so that a delay of the explorer has no effect.
 * @param reportedAt last report of every listed validator, epoch ms
 * With fewer than 20 validators, the estimate is only a lower limit for a network that is slower than usual.
 * @returns ms, or `undefined` if there are too few reports or they do not spread evenly
 */
export function intervalFromReading(reportedAt: readonly number[]): number | undefined {
  const newestReport = reportedAt.reduce((latest, at) => Math.max(latest, at), 0);
  const ages = reportedAt.map((at) => newestReport - at).sort((a, b) => a - b);
  if (ages.length < MIN_SAMPLE) return slowInterval(ages.filter((age) => age <= MAX_SILENCE_MS));
  const oldestButFew = ages[Math.floor((1 - STRAGGLERS) * (ages.length - 1))] ?? 0;
  if (oldestButFew <= BURST_MS) return ROUND_MS;
  let beyond = 0;
  for (let index = 0; index < ages.length; index += 1) {
    const age = ages[index] ?? 0;
    while (beyond < ages.length && (ages[beyond] ?? 0) <= 2 * age) beyond += 1;
    const count = index + 1;
    const leastShare = age < QUICK_MS ? QUICK_SHARE : HOURLY_SHARE;
    if (count < Math.max(MIN_SAMPLE / 2, ages.length * leastShare) || beyond - count > STRAGGLERS * count)
      continue;
    const middle = ages[Math.floor(index / 2)] ?? 0;
    const isEven = age > BURST_MS && middle > 0.25 * age && middle < 0.75 * age;
    return isEven ? Math.round(age * (1 + STRAGGLERS)) : undefined;
  }
  return undefined;
}

/** Returns the age of most reports of a small network, in ms. `undefined` unless it is longer than the usual interval. */
function slowInterval(ages: readonly number[]): number | undefined {
  const ageOfMost = ages[Math.floor(SMALL_SHARE * (ages.length - 1))] ?? 0;
  return ageOfMost > USUAL_GAP_MS ? ageOfMost : undefined;
}

/** Returns the interval within which nine of ten validators report, in ms. `undefined` if no intervals are given. */
export const networkInterval = (intervals: readonly number[]): number | undefined =>
  intervals.toSorted((a, b) => a - b)[Math.ceil(intervals.length * 0.9) - 1];

/** Shortest and longest time after which a validator can count as silent, in ms. */
export const MIN_SILENCE_MS = 20 * MINUTE;
export const MAX_SILENCE_MS = 24 * HOUR;

/** Tolerance for a report that comes late, in ms. */
const marginOf = (intervalMs: number): number => Math.max(3 * MINUTE, 0.15 * intervalMs);

/**
 * Returns the time after which a validator counts as silent, in ms: two missed reports and a margin. 65 min → 2 h 20 min.
 * It is a whole number, because the times in buttons are.
 */
export const silentAfter = (intervalMs: number): number =>
  Math.max(MIN_SILENCE_MS, Math.round(2 * intervalMs + marginOf(intervalMs)));

/** Returns the time without a report from any validator after which the rhythm must have changed, in ms. */
export const stoppedAfter = (intervalMs: number): number =>
  Math.max(MIN_SILENCE_MS / 2, intervalMs + marginOf(intervalMs));

/** Returns the time after which one report counts as missed, in ms. */
export const lateAfter = (intervalMs: number): number => 1.5 * intervalMs;

/** A validator's reporting state at one time. */
export interface ReportStanding {
  /** "late" if one report is missing. "unknown" if the time of its last report is unknown. */
  readonly standing: "reporting" | "late" | "silent" | "unknown";
  /** Time without a report after which it counts as silent, in ms. */
  readonly afterMs: number;
  /** Time since the last report, in ms. 0 if unknown. */
  readonly silentMs: number;
}

/**
 * True if a validator counts as active: it reports, or is late. It is unknown how the explorer decides `active`, so that only counts
 * if the time of its last report is unknown.
 */
export const isRunning = (standing: ReportStanding["standing"], active: boolean | null): boolean =>
  standing === "unknown" ? active === true : standing !== "silent";

/**
 * Judges if a validator is silent, late or reporting. All code that needs to know this calls this function.
 * @param reportedAt time of its last report, epoch ms. null if unknown
 * @param intervalMs its reporting interval, or the network's until its own is known
 * @param asOf time of the explorer's newest data, epoch ms. A silence is known up to then
 * @param chosenMs minimum silence that a person chose. Ignored if the validator's rhythm needs longer
 */
export function judgeReports(
  reportedAt: number | null,
  intervalMs: number,
  asOf: number,
  chosenMs = 0,
): ReportStanding {
  const afterMs = Math.max(silentAfter(intervalMs), chosenMs);
  if (reportedAt === null) return { standing: "unknown", afterMs, silentMs: 0 };
  const silentMs = Math.max(0, asOf - reportedAt);
  if (silentMs > afterMs) return { standing: "silent", afterMs, silentMs };
  return { standing: silentMs > lateAfter(intervalMs) ? "late" : "reporting", afterMs, silentMs };
}
