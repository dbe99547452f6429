import { BEHIND_MS, isRunning, judgeReports } from "../ledger/rhythm.js";
import { pastTime } from "../util/clock.js";
import type { NamedEntry } from "./collections.js";

/** Returns how often a validator reports, in ms, or how often most do. */
export type ReportIntervals = (party: string | null) => { readonly ms: number };

/** The validators of the directory. */
interface ValidatorEntries {
  asOf(kind: "validator", id: string): number | undefined;
  entries(kind: "validator"): readonly NamedEntry[];
}

/**
 * Returns a function that tells if a validator of the directory is active, as of when it was last read. If the explorer is behind, as
 * of its newest report. If most seem silent, as just after the network stood still, those that the explorer calls active count, too.
 */
export function activeIn(
  { asOf, entries }: ValidatorEntries,
  intervals: ReportIntervals,
): (entry: NamedEntry) => boolean {
  const readAt = (id: string) => asOf("validator", id) ?? 0;
  const reportedAt = ({ id, seenAt = null }: NamedEntry) => pastTime(seenAt, readAt(id));
  const newestAt = entries("validator").reduce((latest, each) => Math.max(latest, reportedAt(each) ?? 0), 0);
  const isBehind = (at: number) => at - newestAt > BEHIND_MS + intervals(null).ms;
  const seemsActive = (entry: NamedEntry) => {
    const activeAt = readAt(entry.id);
    const { standing } = judgeReports(
      reportedAt(entry),
      intervals(entry.id).ms,
      isBehind(activeAt) ? newestAt : activeAt,
    );
    return isRunning(standing, entry.active);
  };
  const all = entries("validator");
  const calledActive = all.filter(({ active }) => active === true);
  const isDoubtful = 2 * all.filter(seemsActive).length < calledActive.length;
  return (entry) => seemsActive(entry) || (isDoubtful && entry.active === true);
}
