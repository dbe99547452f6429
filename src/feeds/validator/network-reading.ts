import type { Explorer } from "../../explorer/service.js";
import type { Activity } from "../../ledger/network-rhythm.js";
import { BEHIND_MS, stoppedAfter, USUAL_INTERVAL_MS } from "../../ledger/rhythm.js";
import { isRoundLate, isStillOrSettling, readRounds } from "../../ledger/rounds.js";
import type { State } from "../../storage/state.js";
import { ageOf } from "../../util/clock.js";
import { MINUTE } from "../../util/units.js";
import { createExplorerTime } from "./explorer-time.js";
import type { Loaded } from "./memory.js";
import type { NetworkReading } from "./poll.js";
import type { ActivityReading } from "./reading.js";
import { createReportLog, learnReports, learnRhythm } from "./reports.js";

/** Minimum number of validators that can show a change of the network's rhythm. */
const MIN_REPORTING = 5;
/** Maximum length of a hold of an explorer that imports once an hour, in ms. */
const SHORT_HOLD_MS = 90 * MINUTE;
/** Minimum distance of the newest report for the list to count as old, in ms. */
const LIST_AGE_MS = 10 * MINUTE;

/**
 * Returns the end of the period that the list covers, epoch ms. If no validator has reported for ten times as long as usual, the list
 * is old, even if the explorer has newer updates.
 */
function endOfList({ listed, newestAt }: ActivityReading, intervalMs: number, asOf: number): number {
  if (newestAt === null) return asOf;
  const count = listed.filter((at) => newestAt - at <= intervalMs).length;
  return Math.min(asOf, newestAt + Math.max(LIST_AGE_MS, (10 * intervalMs) / count));
}

/** True if enough validators to represent the network reported within two intervals of the newest report. */
const reportedLately = ({ listed, newestAt }: ActivityReading, intervalMs: number): boolean =>
  listed.filter((at) => (newestAt ?? 0) - at <= 2 * intervalMs).length >= MIN_REPORTING;

/** Creates a function that judges a reading: how old it is, how often validators report, and if alerts are held. */
export function createNetworkReader(explorer: Explorer, state: State, clock: () => number) {
  const reports = createReportLog();
  const readExplorerTime = createExplorerTime(explorer, clock);

  /**
   * @param newestAt its newest report, epoch ms
   * @param now time since which it was read, epoch ms
   * @returns the network, and the known reports of each watched validator
   */
  return async (
    reading: ActivityReading,
    newestAt: number,
    loaded: Loaded,
    now: number,
  ): Promise<{ readonly network: NetworkReading; readonly activity: Map<string, Activity> }> => {
    const isChanging = loaded.rhythm?.changing !== undefined;
    const intervalBefore = loaded.rhythm?.intervalMs ?? USUAL_INTERVAL_MS;
    const rounds = await readRounds(state, now);
    const openHolds = [...loaded.alerts.values()].flatMap((each) =>
      each.kind === "hold" && each.endedAt === undefined ? [each] : [],
    );
    const wasBehind = !isChanging && openHolds.some((each) => !each.rhythm && !each.standstill);
    const { asOf, isBehind, isUnsure, round } = await readExplorerTime(
      newestAt,
      loaded.rhythm?.round,
      now,
      rounds,
      wasBehind,
    );
    // The arrival of late reports does not show when they were made.
    const isCatchingUp = !isChanging && openHolds.some((each) => !each.rhythm);
    const isUnclear = isBehind || isCatchingUp;
    const activity = learnReports(reading, loaded, isUnclear, now);
    if (!isUnclear) reports.note(reading, now);
    const unreportedMs = isUnsure ? now - newestAt - BEHIND_MS : asOf - newestAt;
    const hasStopped =
      (unreportedMs > stoppedAfter(intervalBefore) &&
        (isUnsure || reportedLately(reading, intervalBefore))) ||
      (!isChanging && reports.isSlowingDown(intervalBefore, asOf));
    // Reports that were impossible while the network stood still are not missing.
    const isSettling = isStillOrSettling(rounds, intervalBefore, now);
    const stopped = hasStopped && !isSettling && !isRoundLate(rounds, now) ? { isUnsure } : undefined;
    const learntRhythm = isBehind
      ? loaded.rhythm
      : learnRhythm(loaded.rhythm, reports, reading, stopped, now);
    const rhythm = learntRhythm && round ? { ...learntRhythm, round } : learntRhythm;
    // Gaps of the old rhythm no longer apply.
    if (rhythm?.changing !== undefined && !isChanging)
      for (const [party, { roughGaps, ...each }] of activity) activity.set(party, { ...each, gaps: [] });
    const onHold = isBehind || rounds?.isStandingStill === true || rhythm?.changing !== undefined;
    const intervalMs = rhythm?.intervalMs ?? USUAL_INTERVAL_MS;
    // After a long hold, the list of validators may catch up later than the updates.
    const isLongHeld = openHolds.some(
      ({ since, resumedAt = since }) => ageOf(resumedAt, now) > SHORT_HOLD_MS,
    );
    const mayDoubt = !onHold && !isSettling && !isLongHeld;
    const network = {
      rhythm,
      intervalMs,
      asOf,
      listedUntil: endOfList(reading, intervalMs, asOf),
      isBehind,
      rounds,
      onHold,
      mayDoubt,
      // In the first reading after a hold, the explorer may still be catching up.
      mayCall: mayDoubt && openHolds.length === 0,
    };
    return { network, activity };
  };
}
