import { HOUR, MINUTE, SECOND } from "../../src/util/units.js";
import type { Motion } from "../history/motions.js";
import { stepAt } from "../history/windows.js";
import { type Case, type Evidence, iso, type Judge, secondOf, type Visit } from "./evidence.js";

/** Maximum age of a screen's data while the explorer answers, in ms. */
const STALE_MS = 12 * MINUTE;
/** Time after which every screen shows the end of a vote, in ms. */
const NOTICED_MS = 20 * MINUTE;

/** Number of vote requests on a page of their list. */
export const LISTED = 10;

const TALLY = /\*\*(\d+|\?)\*\* yes · \*\*(\d+|\?)\*\* no/;

/** Returns the number of votes cast on a motion up to a time. */
const countAt = ({ casts }: Case, { title }: Motion, accept: boolean, at: number): number =>
  casts
    .filter((each) => each.title === title && each.accept === accept && each.at <= at)
    .reduce((sum, { isUndone }) => sum + (isUndone ? -1 : 1), 0);

/** Compares a tally with the ledger's at any time that the screen's data may be from. */
function* judgeTally(
  of: Case,
  motion: Motion,
  text: string,
  { from, to }: Visit,
  where: string,
): Iterable<string> {
  const [, yes = "", no = ""] = TALLY.exec(text) ?? [];
  for (const [side, shown, accept] of [
    ["yes", yes, true],
    ["no", no, false],
  ] as const) {
    if (shown === "" || shown === "?") continue;
    const counts = [countAt(of, motion, accept, from - STALE_MS), countAt(of, motion, accept, to)];
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    if (Number(shown) < least || Number(shown) > most)
      yield `Shows ${shown} ${side} votes, of ${least === most ? most : `${least} to ${most}`}: ${where}`;
  }
}

/** Checks that a card shows no outcome before the end, and no open vote after it. */
function* judgeStanding(motion: Motion, text: string, { from, to }: Visit, where: string): Iterable<string> {
  const isOpen = text.includes("🗳️");
  if (
    !isOpen &&
    /(✅ (Accepted|Implemented)|❌ Rejected|⌛ Expired)(?! by)(?!, not closed)/.test(text) &&
    to < motion.closesAt
  )
    yield `Shows an outcome before the end: ${where}`;
  if (isOpen && from > motion.closesAt + NOTICED_MS) yield `Shows a vote as open after its end: ${where}`;
}

/** Checks the dates of a card while the vote is open. */
function* judgeDates({ voteBefore, effectiveAt, at }: Motion, text: string, where: string): Iterable<string> {
  for (const [name, time] of [
    ["Quorum by", voteBefore],
    ["Decided on", effectiveAt],
    ["opened", at],
  ] as const) {
    const shown = new RegExp(`${name} <t:(\\d+)`).exec(text)?.[1];
    if (shown !== undefined && time !== null && Number(shown) !== secondOf(time))
      yield `"${name}" is ${iso(Number(shown) * SECOND)}, not ${iso(time)}: ${where}`;
  }
}

function* judgeList(of: Case, visit: Visit, where: string): Iterable<string> {
  const lines = visit.text.split("\\n");
  for (const motion of of.history.motions) {
    const at = lines.findIndex((line) => line.includes(`**${motion.title}**`));
    const row = at < 0 ? undefined : `${lines[at]} ${lines[at + 1]}`;
    // Many at once fill more than a page.
    const isDueOpen =
      visit.open <= LISTED && motion.at < visit.from - NOTICED_MS && motion.closesAt > visit.to;
    if (!row && isDueOpen) yield `${motion.title} is missing ${where}`;
    if (!row) continue;
    yield* judgeTally(of, motion, row, visit, `${motion.title} ${where}`);
    yield* judgeStanding(motion, row, visit, `${motion.title} ${where}`);
  }
}

function* judgePrice({ history }: Case, { text, from, to }: Visit, where: string): Iterable<string> {
  const shown = /# ([\d.]+) USD/.exec(text)?.[1];
  const isFaulty = history.priceFaults.some((fault) => fault.from < to && fault.to > from - STALE_MS - HOUR);
  if (shown === undefined || isFaulty) return;
  const times = [
    from - STALE_MS,
    ...history.prices.map(({ at }) => at).filter((at) => at > from - STALE_MS),
    to,
  ];
  const prices = times.filter((at) => at <= to).map((at) => stepAt(history.prices, at)?.usd ?? 0);
  if (!prices.some((usd) => Math.abs(usd - Number(shown)) <= 0.000_051))
    yield `Shows ${shown} USD, not ${prices.at(-1)}: ${where}`;
}

/** True if everything worked for an hour before a visit. */
const isClean = ({ from, to }: Visit, evidence: Evidence): boolean =>
  evidence.isClean(from - HOUR, to, to - from + HOUR);

/** Checks that screens show the ledger's data, within the allowed age. */
export const judgeScreens: Judge = function* (of, evidence) {
  for (const visit of of.visits) {
    if (!isClean(visit, evidence)) continue;
    const { screen, about, text, from } = visit;
    const where = `on the screen ${screen} at ${iso(from)}`;
    const motion = of.history.motions.find((each) => each.title === about);
    if ((screen === "voteRequest" || screen === "votes") && motion) {
      yield* judgeTally(of, motion, text, visit, `${about} ${where}`);
      yield* judgeStanding(motion, text, visit, `${about} ${where}`);
      yield* judgeDates(motion, text, `${about} ${where}`);
      if (of.history.evidence !== "none" && text.includes("needed isn't known"))
        yield `Doesn't know how many votes are needed: ${about} ${where}`;
    } else if (screen === "proposals" && about === "") yield* judgeList(of, visit, where);
    else if (screen === "price") yield* judgePrice(of, visit, where);
  }
};
