import {
  enoughYesSince,
  OVERDUE_MS,
  PHASE_WORDS,
  type Standable,
  standingOf,
  type VoteDate,
  type VotePhase,
} from "../ledger/vote-phase.js";
import {
  type Closing,
  decidedBy,
  isOver,
  neededFor,
  type StatusGroup,
  statusGroup,
  type Tally,
  type VoteState,
  votableUntil,
} from "../ledger/vote-rules.js";
import { join, type Markdown, md, timestamp, timestampWithAge } from "../text/markdown.js";
import { present } from "../util/present.js";
import { HOUR, MINUTE } from "../util/units.js";
import type { Field } from "./view.js";

/** The parts of a request that tell when and how it ended. */
type Ended = VoteState & Tally & Pick<Standable, "votes" | "enoughYesAt">;

/** Formats a date, followed by the remaining time if it is in the future. */
const moment = (ms: number | null, now: number): Markdown =>
  ms !== null && ms <= now ? timestamp(ms, "f") : timestampWithAge(ms);

/** Returns the dates of a request that is not over (docs/ledger.md, "How a vote ends"). An expired one has no decision. */
function openTimes({ voteBefore, targetEffectiveAt }: VoteState, now: number, phase: VotePhase): Field[] {
  const quorum = { name: "Quorum by", value: moment(voteBefore, now), inline: true };
  const isUndecided = phase === "voting" && (voteBefore === null || now < voteBefore);
  if (phase === "expired" || (targetEffectiveAt === null && !isUndecided)) return [quorum];
  if (targetEffectiveAt === null)
    return [quorum, { name: "Takes effect", value: md`as soon as enough have voted yes`, inline: true }];
  return [quorum, { name: "Decided on", value: moment(targetEffectiveAt, now), inline: true }];
}

/** The effect of a request that was accepted and could not be carried out. */
const FAILED_EFFECT = "never (accepted, but couldn't be carried out)";

/**
 * Returns when voting ended, epoch ms; null if the dates do not determine it. Voting may also have ended earlier, by enough
 * votes.
 */
function endOf(state: VoteState, group: StatusGroup): number | null {
  if (state.isGone) return null;
  if (group === "expired") return state.voteBefore;
  if (ACCEPTED.includes(group)) return state.targetEffectiveAt;
  return group === "other" ? votableUntil(state) : null;
}

/** Outcomes of a request that got enough yes votes. */
const ACCEPTED: readonly StatusGroup[] = ["accepted", "implemented", "failed"];

const ENOUGH_YES = "when enough had voted yes";
const ENOUGH_NO = "when enough had voted no";

/** Says how a vote ended if its dates do not tell when, because enough votes can end it at any time. */
function earlyWords(request: Ended, group: StatusGroup, now: number): string {
  const { targetEffectiveAt, closed } = request;
  // With a date for the decision, enough yes votes don't end it earlier.
  if (ACCEPTED.includes(group) && targetEffectiveAt === null) return ENOUGH_YES;
  if (group !== "rejected") return "before its date";
  const latest = votableUntil(request);
  // Too few yes votes reject only on the day of the decision.
  const wasEarly =
    targetEffectiveAt === null ||
    latest === null ||
    now < latest ||
    (closed !== undefined && closed.by < latest);
  // The tally is that of the last reading: the deciding votes may have come after it.
  const isNo = decidedBy(request, neededFor(request, undefined)) === "no";
  return wasEarly || isNo ? ENOUGH_NO : "when enough had voted no, or with too few yes votes in the end";
}

/** Formats the span in which something happened, such as "between 3 March 2026 14:02 and 14:03". */
function between({ after, by }: Closing): Markdown {
  if (after === null) return md`by ${timestamp(by, "f")}`;
  if (Math.floor(after / MINUTE) === Math.floor(by / MINUTE)) return timestamp(by, "f");
  return md`between ${timestamp(after, "f")} and ${timestamp(by, by - after < HALF_DAY ? "t" : "f")}`;
}

/** Within this span, in ms, a time of day without a date is clear. */
const HALF_DAY = 12 * HOUR;

/** True if a request without a decision date was carried out long after it had enough yes votes. */
function wasOverdue(request: Ended, closed: Closing): boolean {
  const needed = neededFor(request, undefined);
  const since = needed === undefined ? null : enoughYesSince(request, needed);
  return since !== null && closed.after !== null && closed.after - since >= OVERDUE_MS;
}

/**
 * Returns the span in which the bot saw a request end, if that was not at its date: the explorer may close it earlier, and votes count
 * as long as it is open. `undefined` if it ended at its date, or if that is unknown.
 */
function endedOffDate(request: Ended, group: StatusGroup): Closing | undefined {
  const { closed, targetEffectiveAt } = request;
  const untilAt = endOf(request, group);
  const passed = group === "accepted" || group === "implemented";
  if (!closed) return undefined;
  if (passed && targetEffectiveAt === null) return wasOverdue(request, closed) ? closed : undefined;
  if (untilAt === null) return undefined;
  // Without a decision date, enough yes votes carry an expired request until it is closed.
  const isLate =
    (closed.after ?? 0) > untilAt && (passed || (group === "expired" && targetEffectiveAt === null));
  return isLate || (passed && closed.by < untilAt) ? closed : undefined;
}

/** Returns the fields for a request that is over: when voting ended, and its effect. */
function endedTimes(request: Ended, now: number): Field[] {
  const group = statusGroup(request.status);
  const { targetEffectiveAt, closed } = request;
  const untilAt = endOf(request, group);
  const passed = group === "accepted" || group === "implemented";
  const isEarly = untilAt === null || now < untilAt;
  const offDate = endedOffDate(request, group);
  const latest = votableUntil(request);
  const limit = closed
    ? between(closed)
    : latest !== null && latest <= now && md`by ${timestamp(latest, "f")} at the latest`;
  const early = request.isGone
    ? md`at an unknown time`
    : join([md`${earlyWords(request, group, now)}`, limit], ", ");
  const onDate = isEarly ? early : moment(untilAt, now);
  // An overdue request takes effect when it is carried out.
  const isLate =
    closed !== undefined && targetEffectiveAt !== null && (closed.after ?? 0) > targetEffectiveAt;
  const dateOfEffect = isLate ? between(closed) : moment(targetEffectiveAt, now);
  const undatedEffect = offDate ? between(offDate) : md`${ENOUGH_YES}`;
  const passedEffect = targetEffectiveAt === null ? undatedEffect : dateOfEffect;
  const otherEffect = group === "failed" ? md`${FAILED_EFFECT}` : undefined;
  const effect = passed ? passedEffect : otherEffect;
  return present([
    { name: "Voting ended", value: offDate ? between(offDate) : onDate, inline: true },
    effect !== undefined && {
      name: passed && (targetEffectiveAt ?? now) <= now ? "Took effect" : "Takes effect",
      value: md`${effect}`,
      inline: true,
    },
  ]);
}

/** Returns the fields that say when a vote ends or ended, and when it takes effect. */
export const timeFields = (request: Ended, now: number, phase: VotePhase): Field[] =>
  isOver(request, now) ? endedTimes(request, now) : openTimes(request, now, phase);

/** Returns the next date or the phase, for a line of a list. */
export function untilWords(request: Standable, needed: number | undefined, now: number): Markdown {
  const { phase, next } = standingOf(request, needed, now);
  if (phase === "ended") {
    const group = statusGroup(request.status);
    const untilAt = endOf(request, group);
    const seenEnd = endedOffDate(request, group) ?? (untilAt === null ? request.closed : undefined);
    if (seenEnd) return md`voting ended ${between(seenEnd)}`;
    return untilAt !== null && untilAt <= now
      ? md`voting ended ${timestamp(untilAt, "f")}`
      : md`voting has ended`;
  }
  const phaseWords = PHASE_WORDS[phase];
  if (phaseWords !== undefined) return md`${phaseWords}`;
  return next ? dateWords(next) : md`no upcoming date`;
}

/** A date with its name: "quorum by 3 March 2026 12:00". */
export const dateWords = ({ name, at }: VoteDate): Markdown => md`${name} ${timestamp(at, "f")}`;

/** Returns the dates of a request in one line. */
export const timeLine = (request: Ended, now: number, phase: VotePhase): Markdown =>
  join(
    timeFields(request, now, phase).map(({ name, value }) => md`${name} ${value}`),
    " · ",
  );
