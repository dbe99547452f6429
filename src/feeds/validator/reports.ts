import { type Activity, type NetworkRhythm, RELEARN_MS } from "../../ledger/network-rhythm.js";
import {
  intervalFromReading,
  intervalOf,
  lateAfter,
  networkInterval,
  QUICK_MS,
  type ReportGaps,
  silentAfter,
  USUAL_INTERVAL_MS,
  withGap,
} from "../../ledger/rhythm.js";
import { ageOf, CLOCK_ERROR_MS } from "../../util/clock.js";
import { HOUR } from "../../util/units.js";
import type { Loaded } from "./memory.js";
import type { ActivityReading } from "./reading.js";

/** Share of the reporting validators whose interval must be known before the network's interval is. */
const MOST = 0.8;
const MIN_VALIDATORS = 5;
/** Interval at which an unchanged rhythm is stored again, in ms. */
const KEEP_MS = HOUR;

interface Reported extends ReportGaps {
  readonly seenAt: number;
  readonly readAt: number;
}

/** In-memory log of all validators' recent reports. */
export interface ReportLog {
  note(reading: Pick<ActivityReading, "seen" | "isWhole" | "oldestAt" | "newestAt">, readAt: number): void;
  /** Returns the network's reporting interval in ms. `undefined` until it is known for most validators. */
  interval(aliveMs: number): number | undefined;
  /**
   * True if a quick network slows down, one validator after another: most have not reported for two intervals, and those that
   * just did had paused, too. In an outage, the others keep their rhythm.
   */
  isSlowingDown(intervalMs: number, asOf: number): boolean;
  /** Deletes the recorded gaps after a change of the rhythm. */
  restart(): void;
}

/** Creates an empty log. */
export function createReportLog(): ReportLog {
  const knownReports = new Map<string, Reported>();
  let lastReading: { readonly readAt: number; readonly newestAt: number } | undefined;
  return {
    note({ seen, isWhole, oldestAt, newestAt }, readAt) {
      // A list that overlaps with the previous reading contains all reports since then.
      const isContiguous =
        lastReading !== undefined && (isWhole || (oldestAt ?? readAt) <= lastReading.newestAt);
      for (const [party, { seenAt }] of seen) {
        const previousReport = knownReports.get(party);
        const gapMs = previousReport ? seenAt - previousReport.seenAt : 0;
        const unreadMs =
          readAt - (isContiguous && lastReading ? lastReading.readAt : (previousReport?.readAt ?? 0));
        const learntGaps =
          previousReport && gapMs > 0
            ? withGap(previousReport, gapMs, unreadMs)
            : (previousReport ?? { gaps: [] });
        knownReports.set(party, {
          ...learntGaps,
          seenAt: Math.max(seenAt, previousReport?.seenAt ?? 0),
          readAt,
        });
      }
      if (newestAt !== null) lastReading = { readAt, newestAt };
    },
    interval(aliveMs) {
      const allReports = [...knownReports.values()];
      const newestAt = allReports.reduce((latest, { seenAt }) => Math.max(latest, seenAt), 0);
      const alive = allReports.filter(({ seenAt }) => newestAt - seenAt <= aliveMs);
      const intervals = alive.flatMap((each) => intervalOfFew(each) ?? []);
      // A small network has fewer validators.
      const least = Math.max(1, Math.min(MIN_VALIDATORS, allReports.length), MOST * alive.length);
      if (intervals.length < least) return undefined;
      return networkInterval(intervals);
    },
    isSlowingDown(intervalMs, asOf) {
      if (intervalMs >= QUICK_MS) return false;
      const ageOfLast = ({ seenAt }: Reported) => asOf - seenAt;
      const alive = [...knownReports.values()].filter(
        (each) => ageOfLast(each) <= silentAfter(USUAL_INTERVAL_MS),
      );
      const overdue = alive.filter((each) => ageOfLast(each) > silentAfter(intervalMs));
      const fresh = alive.filter((each) => ageOfLast(each) <= intervalMs);
      const paused = fresh.filter(({ gaps }) => (gaps.at(-1) ?? 0) > lateAfter(intervalMs));
      return 2 * overdue.length > alive.length && 2 * paused.length > fresh.length;
    },
    restart() {
      for (const [party, each] of knownReports) knownReports.set(party, { ...each, gaps: [], roughGaps: [] });
    },
  };
}

/** Returns an interval from only two gaps. If an outage falls into one of them, it is the longer one. */
const intervalOfFew = (reported: ReportGaps): number | undefined =>
  intervalOf(reported) ?? (reported.gaps.length > 1 ? Math.min(...reported.gaps) : undefined);

/**
 * Returns the network's rhythm after a reading, or the same object if nothing worth storing has changed.
 * @param stopped set if no validator has reported for longer than an interval. Unsure if the explorer may be the cause
 */
export function learnRhythm(
  known: NetworkRhythm | undefined,
  log: ReportLog,
  reading: Pick<ActivityReading, "listed" | "isWhole">,
  stopped: { readonly isUnsure: boolean } | undefined,
  now: number,
): NetworkRhythm | undefined {
  const intervalBefore = known?.intervalMs ?? USUAL_INTERVAL_MS;
  if (stopped) {
    if (known?.changing) return known;
    log.restart();
    return {
      intervalMs: intervalBefore,
      learntAt: now,
      isLearnt: false,
      ...known,
      changing: { since: now, beforeMs: intervalBefore, ...stopped },
    };
  }
  const learntInterval = log.interval(2 * intervalBefore);
  const { changing, ...rest } = known ?? {};
  if (learntInterval !== undefined) {
    const isFresh = known?.isLearnt && ageOf(known.learntAt, now) < KEEP_MS;
    const isSame = Math.abs(learntInterval - intervalBefore) <= intervalBefore * 0.05;
    if (isFresh && isSame && !changing) return known;
    return { ...rest, intervalMs: learntInterval, learntAt: now, isLearnt: true };
  }
  if (changing) return known;
  const mayHold = known?.isLearnt && ageOf(known.learntAt, now) < RELEARN_MS;
  const estimate = reading.isWhole && !mayHold ? intervalFromReading(reading.listed) : undefined;
  if (estimate === undefined || estimate === known?.intervalMs) return known;
  return { ...rest, intervalMs: estimate, learntAt: now, isLearnt: false };
}

/**
 * Maximum gap between two reports from which a validator's own rhythm is learnt, as a multiple of the network's interval, or of
 * the usual one if that is longer.
 */
const MAX_GAP = 4;

/**
 * Returns the known reports of each watched validator, updated with this reading. Only newer reports count.
 * @param isUnclear true if reports may have been missed because the explorer was behind
 */
export function learnReports(
  reading: ActivityReading,
  { parties, activity, rhythm }: Pick<Loaded, "parties" | "activity" | "rhythm">,
  isUnclear: boolean,
  now: number,
): Map<string, Activity> {
  const learntReports = new Map<string, Activity>();
  for (const validator of parties) {
    const previousReports = activity.get(validator);
    const seenReport = reading.seen.get(validator);
    if (!seenReport) {
      if (previousReports) learntReports.set(validator, previousReports);
      continue;
    }
    // A report in the future comes from a wrong clock.
    const isKnown = previousReports !== undefined && previousReports.seenAt <= now + CLOCK_ERROR_MS;
    const gapMs = isKnown ? seenReport.seenAt - previousReports.seenAt : 0;
    // A longer gap is an outage, and no rhythm.
    const isUsual = gapMs <= MAX_GAP * Math.max(rhythm?.intervalMs ?? 0, USUAL_INTERVAL_MS);
    const unreadMs = previousReports ? ageOf(previousReports.readAt, now) : 0;
    const knownGaps = previousReports && unreadMs < RELEARN_MS ? gapsOf(previousReports) : { gaps: [] };
    const gaps =
      gapMs > 0 && isUsual && unreadMs < RELEARN_MS && !isUnclear
        ? withGap(knownGaps, gapMs, unreadMs)
        : knownGaps;
    const seenAt = isKnown ? Math.max(seenReport.seenAt, previousReports.seenAt) : seenReport.seenAt;
    learntReports.set(validator, { ...seenReport, seenAt, readAt: now, ...gaps });
  }
  return learntReports;
}

const gapsOf = ({ gaps, roughGaps }: Activity): Pick<Activity, "gaps" | "roughGaps"> =>
  roughGaps ? { gaps, roughGaps } : { gaps };
