import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { VOTER_REMINDERS } from "../community.js";
import type { History } from "../history/index.js";
import { type Motion, NEEDED } from "../history/motions.js";
import { type Evidence, iso, JUMP_MS, type Judge, prematureCount, type Told } from "./evidence.js";

/**
 * Checks that each vote request is announced once, reminded of in time and closed once. The person only hears
 * about the watched one.
 */
export const judgeGovernance: Judge = function* ({ history, community }, evidence) {
  for (const { channelId, only, before } of community.governance)
    for (const motion of history.motions) {
      if (only && only.title !== motion.title) continue;
      const { title, at, closesAt, decidedAt } = motion;
      const own = evidence.in(channelId).filter(({ text }) => text.includes(title));
      const where = `${title} of ${iso(at)} in ${channelId}`;
      const known = only?.since ?? at;
      const opened = own.filter(isOpening).length;
      if (opened > (only ? 0 : 1)) yield `Opened ${opened} times: ${where}`;
      const isKnown = evidence.isClean(at, closesAt);
      if (!only && opened === 0 && isKnown) yield `Not opened: ${where}`;
      const news = own.filter((each) => !isOpening(each));
      const count = (words: string) =>
        news.filter(({ content }) => content.includes(`${words}: ${title}`)).length;

      const outcomes = news.filter(({ content }) => OUTCOME.test(content) && content.includes(`: ${title}`));
      const closed = outcomes.length;
      if (closed > 1) yield `Closed ${closed} times: ${where}`;
      const mustClose = isKnown && known < closesAt - JUMP_MS && evidence.isClean(closesAt, history.endAt);
      if (closed === 0 && mustClose && (only || opened === 1)) yield `Not closed: ${where}`;
      if (outcomes.some((each) => each.at < closesAt)) yield `Closed too early: ${where}`;

      // Without the dashboard, a tally without the missing votes does not say how many are needed.
      const isUncounted = history.isUncounted(title) || motion.undecidedAt !== undefined;
      const isNeededKnown = !(isUncounted && history.evidence === "none");
      for (const way of ["yes", "no"] as const) {
        const told = count(`Enough ${way} votes`);
        const decided = decidedAt[way];
        if (told > (decided === undefined ? 0 : 1))
          yield `Told ${told} times that enough voted ${way}: ${where}`;
        const isDue =
          decided !== undefined &&
          isNeededKnown &&
          decided > known + JUMP_MS &&
          evidence.isClean(at, decided) &&
          evidence.isClean(decided, closesAt);
        if (told === 0 && isDue) yield `Not told that enough voted ${way}: ${where}`;
      }

      const undone = count("No longer enough yes votes");
      const { undecidedAt } = motion;
      if (undone > (undecidedAt === undefined ? 0 : 1))
        yield `Told ${undone} times that it is undecided again: ${where}`;
      const mustUndo =
        undecidedAt !== undefined &&
        count("Enough yes votes") === 1 &&
        evidence.isClean(undecidedAt, undecidedAt + 2 * HOUR);
      if (undone === 0 && mustUndo) yield `Not told that it is undecided again: ${where}`;

      const overdue = count("Overdue");
      const ends = motion.effectiveAt ?? motion.voteBefore;
      if (overdue > (motion.isStuck ? 1 : 0)) yield `Told ${overdue} times that it is overdue: ${where}`;
      const mustTell =
        motion.isStuck &&
        isNeededKnown &&
        isKnown &&
        known < ends - DAY / 2 &&
        evidence.isClean(ends + HOUR, closesAt);
      if (overdue === 0 && mustTell && evidence.isClean(ends - HOUR, ends))
        yield `Not told that it is overdue: ${where}`;
      const isShort = motion.voteBefore - at < 2 * DAY;
      const marked = own.filter(
        ({ content }) => content.includes(`New vote request: ${title}`) && content.includes("Short vote"),
      ).length;
      if (
        !only &&
        opened === 1 &&
        marked !== Number(isShort) &&
        own.some(({ content }) => content.includes(`New vote request: ${title}`))
      )
        yield `${isShort ? "Not marked" : "Marked"} as a short vote: ${where}`;

      const due = dueRemindersOf(history, motion, before);
      // If the votes could not be read, the person's reminders of a missing vote only say that the request is
      // open.
      const unnamed = only ? dueRemindersOf(history, motion, VOTER_REMINDERS).filter(isNoneOf(due, own)) : [];
      const rejectedAt = decidedAt.no ?? Number.POSITIVE_INFINITY;
      yield* judgeReminders(own, due, unnamed, { where, known, closesAt, rejectedAt, isKnown }, evidence);
    }
};

/** True for the first message about one or more requests. */
const isOpening = ({ content, text }: Told): boolean =>
  /New vote request: |new vote requests/.test(content) || text.includes("Requested by");

/** Matches the news of an ending. */
const OUTCOME = /^(✅ (Accepted|Implemented)|❌ Rejected|⌛ Expired|▫️ Ended|⚠️ Accepted, but)/u;

export interface Reminder {
  /** Epoch ms. */
  readonly dueAt: number;
  readonly deadline: number;
}

/** Returns the reminders of a motion, sorted by due time. */
export const dueRemindersOf = (
  history: Pick<History, "isUncounted" | "evidence">,
  { title, at, voteBefore, effectiveAt, votes }: Motion,
  before: readonly number[],
): readonly Reminder[] => {
  // The requester's own vote is cast with the request.
  const cast = 1 + votes.filter((vote) => vote.at < voteBefore).length;
  // Without the dashboard, a tally without the missing votes does not say how many are needed.
  const isCountable = !(history.isUncounted(title) && history.evidence === "none");
  const isOver = (dueAt: number) =>
    isCountable && effectiveAt !== null && cast < NEEDED && dueAt >= voteBefore;
  return [voteBefore, effectiveAt]
    .flatMap((deadline) => {
      if (deadline === null) return [];
      const window = deadline - at;
      const fitting = before.filter((ms) => ms < window);
      const isShort = window <= Math.max(...before);
      const shortTimes = fitting.length > 1 ? fitting : [window / 2, window / 8];
      const times = isShort ? shortTimes : before;
      return times.map((ms) => ({ deadline, dueAt: deadline - ms }));
    })
    .filter(({ dueAt }) => !isOver(dueAt))
    .sort((a, b) => a.dueAt - b.dueAt);
};

interface Reminded {
  readonly where: string;
  /** Times when the motion became known, and when it ended. */
  readonly known: number;
  readonly closesAt: number;
  /** Time when enough had voted no. There may be no more reminders. */
  readonly rejectedAt: number;
  readonly isKnown: boolean;
}

/** Maximum delay of a reminder, in ms. */
export const REMINDED_MS = 40 * MINUTE;

/**
 * Returns a filter for reminders that are neither among these nor were sent with the missing voter's name.
 */
const isNoneOf =
  (due: readonly Reminder[], own: readonly Told[]) =>
  ({ dueAt }: Reminder): boolean =>
    due.every((each) => each.dueAt !== dueAt) &&
    !own.some(
      ({ content, at }) =>
        / left: .* voted on /.test(content) && at >= dueAt - MINUTE && at <= dueAt + REMINDED_MS,
    );

/**
 * Checks that each reminder is sent once, in time. If several are due together, only the last is. Messages
 * may have been edited.
 * @param unnamed reminders from another subscription of the channel
 */
function* judgeReminders(
  own: readonly Told[],
  due: readonly Reminder[],
  unnamed: readonly Reminder[],
  { where, known, closesAt, rejectedAt, isKnown }: Reminded,
  evidence: Evidence,
): Iterable<string> {
  const told = own.filter(({ content }) => / left to vote: /.test(content)).map(({ at }) => at);
  const isInReach = ({ dueAt, deadline }: Reminder) => dueAt < Math.min(closesAt, deadline) + JUMP_MS;
  const mayCome = due.filter(isInReach);
  const all = [...mayCome, ...unnamed.filter(isInReach)];
  for (const [index, at] of told.entries()) {
    const dueCount = all.filter(({ dueAt }) => dueAt - JUMP_MS <= at).length;
    if (dueCount + prematureCount(told.slice(0, index), all) <= index)
      yield `Reminder ${index + 1} at ${iso(at)} came before it was due, or twice: ${where}`;
  }
  for (const { dueAt, deadline } of mayCome) {
    const isAlone = due.every(
      (each) => each.dueAt === dueAt || Math.abs(each.dueAt - dueAt) > 2 * REMINDED_MS,
    );
    const isInTime = dueAt > known + JUMP_MS && dueAt + HOUR < Math.min(closesAt, rejectedAt, deadline);
    if (
      !isAlone ||
      !isInTime ||
      !isKnown ||
      !evidence.isClean(dueAt - REMINDED_MS, dueAt + REMINDED_MS, 2 * REMINDED_MS)
    )
      continue;
    const count = told.filter((at) => at >= dueAt - MINUTE && at <= dueAt + REMINDED_MS).length;
    if (count !== 1) yield `Reminded ${count} times of ${iso(dueAt)}: ${where}`;
  }
}
