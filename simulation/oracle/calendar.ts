import { HOUR, MINUTE } from "../../src/util/units.js";
import { NEEDED } from "../history/motions.js";
import { iso, type Judge } from "./evidence.js";

/** Time without a fault after which the calendar must be correct, in ms. */
const SETTLED_MS = HOUR;
/** Tolerance around the start, the end and the first deadline of a vote request, in ms. */
const EDGE_MS = 15 * MINUTE;

/** Checks that each open vote request has one event, and that closed ones have none. */
export const judgeCalendar: Judge = function* ({ history, calendar, ballots }, evidence) {
  for (const { at, names: shown } of calendar) {
    const names = shown.map(evidence.without);
    const isSettled = evidence.isClean(at - SETTLED_MS, at, SETTLED_MS);
    for (const { title, at: openedAt, closesAt, voteBefore, effectiveAt } of history.motions) {
      const count = names.filter((name) => name === title || name.endsWith(`: ${title}`)).length;
      const where = `${title} in the calendar at ${iso(at)}`;
      if (count > 1) yield `${count} events: ${where}`;
      if (!isSettled) continue;
      const edges = [openedAt, closesAt, voteBefore, effectiveAt ?? voteBefore];
      if (edges.some((edge) => Math.abs(edge - at) < EDGE_MS)) continue;
      // If too few voted in time, there is no later deadline.
      const cast = ballots.filter(
        (ballot) => ballot.title === title && ballot.at < Math.min(at, voteBefore),
      ).length;
      const ends = effectiveAt ?? voteBefore;
      const isOpen = openedAt < at && at < Math.min(closesAt, ends) && (at < voteBefore || cast >= NEEDED);
      // A request that the bot never saw open has no event.
      const wasSeen = evidence.isClean(openedAt, at);
      if (isOpen && wasSeen && count === 0) yield `No event: ${where}`;
      if (!isOpen && count > 0 && evidence.isClean(closesAt, at)) yield `An event of what is over: ${where}`;
    }
  }
};
