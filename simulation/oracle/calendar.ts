import { HOUR, MINUTE } from "../../src/util/units.js";
import { NEEDED } from "../history/motions.js";
import { iso, type Judge } from "./evidence.js";

/** After so much time without a fault the calendar is as it should be, in ms. */
const SETTLED_MS = HOUR;
/** Around its beginning, its end and its first deadline a vote request may have an event or none, in ms. */
const EDGE_MS = 15 * MINUTE;

/** Each open vote request has one event, and one that is over has none. */
export const judgeCalendar: Judge = function* ({ history, calendar, ballots }, evidence) {
  for (const { at, names: shown } of calendar) {
    const names = shown.map(evidence.without);
    const isSettled = evidence.isClean(at - SETTLED_MS, at, SETTLED_MS);
    for (const { title, at: openedAt, closesAt, voteBefore, effectiveAt } of history.motions) {
      const count = names.filter((name) => name === title).length;
      const where = `${title} in the calendar at ${iso(at)}`;
      if (count > 1) yield `${count} events: ${where}`;
      if (!isSettled) continue;
      const edges = [openedAt, closesAt, voteBefore, effectiveAt ?? voteBefore];
      if (edges.some((edge) => Math.abs(edge - at) < EDGE_MS)) continue;
      // Where too few have voted in time there is no later deadline.
      const cast = ballots.filter(
        (ballot) => ballot.title === title && ballot.at < Math.min(at, voteBefore),
      ).length;
      const ends = effectiveAt ?? voteBefore;
      const isOpen = openedAt < at && at < Math.min(closesAt, ends) && (at < voteBefore || cast >= NEEDED);
      // One that opened and was never seen open has none.
      const wasSeen = evidence.isClean(openedAt, at);
      if (isOpen && wasSeen && count === 0) yield `No event: ${where}`;
      if (!isOpen && count > 0 && evidence.isClean(closesAt, at)) yield `An event of what is over: ${where}`;
    }
  }
};
