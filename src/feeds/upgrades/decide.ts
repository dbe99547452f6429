import type { Rounds } from "../../ledger/rounds.js";
import { isAheadOrRecent, type UpgradeDecision, type UpgradeSchedule } from "../../ledger/upgrades.js";
import { CLOCK_ERROR_MS } from "../../util/clock.js";
import { digest } from "../../util/digest.js";
import { defined } from "../../util/present.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import { openIn, type Standstill, type Upgrade } from "./collections.js";
import {
  type ReminderStep,
  reminderKey,
  STEPS,
  timeOfStep,
  type UpgradeEvent,
  type UpgradeTimes,
} from "./events.js";

/** Time before the moment of a step at which its reminder is sent, in ms. */
const BEFORE_MS: Readonly<Record<ReminderStep, number>> = { day: DAY, hour: HOUR, upgrade: 0 };
/** Time after the upgrade time within which the first round is read if the bot runs, in ms. */
const PROMPT_MS = 20 * MINUTE;
/** Time after the upgrade time after which it is over even if no round was read, in ms. */
const OVER_MS = DAY;

/** Data for a decision about the upgrade. */
interface Circumstances {
  readonly decision: UpgradeDecision | undefined;
  readonly rounds: Pick<Rounds, "number" | "seenAt"> | undefined;
  /** True for the first reading, in which an existing schedule is not announced. */
  readonly isBaseline: boolean;
  readonly now: number;
  /** False while the clock may be behind, see `isClockSet`. */
  readonly isClockSet?: boolean;
}

/** Changed documents by subject, and the news. */
export interface Judgement<Document> {
  readonly changed: ReadonlyMap<string, Document>;
  readonly events: readonly UpgradeEvent[];
}

/** The judgement if nothing has happened. */
export const NOTHING_NEW = { changed: new Map<string, never>(), events: [] };

/** A freeze that is not before the upgrade does not count. */
const timesOf = ({ upgradeAt, freezeAt }: UpgradeSchedule): UpgradeTimes => ({
  upgradeAt,
  freezeAt: freezeAt !== null && freezeAt < upgradeAt ? freezeAt : null,
});

/** Returns the reminders that are due, in order. */
const dueSteps = (times: UpgradeTimes, now: number): readonly ReminderStep[] =>
  STEPS.filter((step) => now >= timeOfStep(step, times) - BEFORE_MS[step]);

const keysOf = (steps: readonly ReminderStep[], times: UpgradeTimes): string[] =>
  steps.map((step) => reminderKey(step, times));

/** Forgets the round after the upgrade time: the upgrade was moved, or the clock was ahead. */
const withoutRound = ({ roundThen: _, isLate: __, ...others }: Upgrade): Upgrade => others;

/** The next version of an upgrade, and the news about it. */
interface NextUpgrade {
  readonly next: Upgrade;
  readonly news?: UpgradeEvent;
}

/** Returns the upgrade after a new decision about its schedule. */
function reschedule(subject: string, known: Upgrade, { decision, now }: Circumstances): NextUpgrade {
  if (!decision) return { next: known };
  const { upgradeAt, freezeAt, moves, revision } = known;
  // The bot may read the decision long after it was made.
  const isReached = decision.at >= upgradeAt;
  const decided = { ...known, decidedBy: decision.by };
  if (!decision.schedule) {
    // A schedule that is removed after the upgrade time was not cancelled.
    if (isReached) return { next: decided };
    return {
      next: { ...decided, isCancelled: true, endedAt: now, revision: revision + 1 },
      news: { kind: "cancelled", subject, upgradeAt, freezeAt },
    };
  }
  const times = timesOf(decision.schedule);
  if (times.upgradeAt === upgradeAt && times.freezeAt === freezeAt) return { next: decided };
  // The same decision has also scheduled a later upgrade of the other kind.
  if (decision.by === known.decidedBy && now >= upgradeAt) return { next: known };
  // A decision that takes effect after the upgrade does not affect this one, whose reminders and rounds are still announced.
  if (isReached && now < decision.at) return { next: known };
  // After the upgrade time, a new schedule is for the next upgrade.
  if (isReached) return { next: { ...known, endedAt: now, revision: revision + 1 } };
  const moved = {
    ...withoutRound(decided),
    ...times,
    movedFrom: upgradeAt,
    moves: moves + 1,
    revision: revision + 1,
  };
  // The new time may have passed before the bot reads the decision. A reminder says so.
  if (now >= times.upgradeAt) return { next: moved };
  return {
    // The message about the move replaces the reminders that are due by now.
    next: { ...moved, told: keysOf(dueSteps(times, now), times) },
    news: { kind: "moved", subject, ...times, movedFrom: upgradeAt, move: moves + 1 },
  };
}

/** Sends the last of the reminders that are due. The earlier ones are out of date. */
function remind(subject: string, known: Upgrade, { now, isClockSet = true }: Circumstances): NextUpgrade {
  const { upgradeAt, freezeAt } = known;
  const due = dueSteps(known, now);
  // While the clock was ahead, reminders may have been sent too early. They are sent again when they are due.
  const early = STEPS.filter(
    (step) => isClockSet && timeOfStep(step, known) - BEFORE_MS[step] > now + CLOCK_ERROR_MS,
  );
  const earlyKeys = keysOf(early, known);
  const told = known.told.filter((key) => !earlyKeys.includes(key));
  const step = due.at(-1);
  const missing = keysOf(due, known).filter((key) => !told.includes(key));
  if (step === undefined || missing.length === 0)
    return { next: told.length === known.told.length ? known : { ...known, told } };
  const isNew = missing.includes(reminderKey(step, known)) && isAheadOrRecent(known, now);
  const isShown = step === "upgrade";
  const next = { ...known, told: [...told, ...missing], revision: known.revision + (isShown ? 1 : 0) };
  return isNew ? { next, news: { kind: "reminder", subject, step, upgradeAt, freezeAt } } : { next };
}

/** Ends an upgrade once the rounds advance after its time. */
function finish(subject: string, known: Upgrade, { rounds, now }: Circumstances): NextUpgrade {
  const { upgradeAt, freezeAt, roundThen, revision } = known;
  const endedUpgrade = { ...known, endedAt: now, revision: revision + 1 };
  if (now >= upgradeAt + OVER_MS) return { next: endedUpgrade };
  if (now < upgradeAt) return { next: roundThen === undefined ? known : withoutRound(known) };
  if (!rounds || rounds.seenAt < upgradeAt) return { next: known };
  if (roundThen === undefined) {
    const isLate = rounds.seenAt - upgradeAt > PROMPT_MS;
    return { next: { ...known, roundThen: rounds.number, ...defined({ isLate: isLate || undefined }) } };
  }
  if (rounds.number <= roundThen) return { next: known };
  const { number: round, seenAt: at } = rounds;
  // Rounds may have advanced for hours before the bot read one.
  const { isLate } = known;
  return { next: endedUpgrade, news: { kind: "advancing", subject, upgradeAt, freezeAt, round, at, isLate } };
}

/** Returns the subject of a decision. If that upgrade has ended, as when its cancellation is revoked, it is another one. */
function newSubject(known: ReadonlyMap<string, Upgrade>, decision: string): string {
  const subject = `upgrade/${digest(decision)}`;
  return known.has(subject) ? newSubject(known, `${decision} again`) : subject;
}

/**
 * Decides what has happened to the upgrade. Only accepted vote requests change the schedule, and a reading without any of them is
 * missing data.
 * @param known the stored upgrades by subject
 */
export function judgeUpgrade(
  known: ReadonlyMap<string, Upgrade>,
  circumstances: Circumstances,
): Judgement<Upgrade> {
  const { decision, isBaseline, now, isClockSet = true } = circumstances;
  const changed = new Map<string, Upgrade>();
  const events: UpgradeEvent[] = [];
  let [subject, current] = openIn(known)[0] ?? ["", undefined];
  const apply = ({ next, news }: NextUpgrade) => {
    if (next !== current) changed.set(subject, next);
    if (news) events.push(news);
    current = next;
  };
  if (current) apply(reschedule(subject, current, circumstances));
  // While the clock is behind, an upgrade that is over looks like one to come.
  const mayBeBehind = !isClockSet && [...known.values()].some(({ endedAt = 0 }) => endedAt > now);
  const isOver = !current || current.endedAt !== undefined;
  if (isOver && !mayBeBehind && decision?.schedule && decision.schedule.upgradeAt > now) {
    const times = timesOf(decision.schedule);
    subject = newSubject(known, `${decision.by} ${times.upgradeAt}`);
    current = undefined;
    const told = keysOf(dueSteps(times, now), times);
    const next = { decidedBy: decision.by, ...times, moves: 0, told, revision: 1 };
    apply(isBaseline ? { next } : { next, news: { kind: "scheduled", subject, ...times } });
  }
  if (current && current.endedAt === undefined) apply(remind(subject, current, circumstances));
  if (current && current.endedAt === undefined) apply(finish(subject, current, circumstances));
  return { changed, events };
}

/** Decides if a standstill has begun or is over. */
export function judgeStandstill(
  open: readonly [subject: string, standstill: Standstill] | undefined,
  rounds: Rounds | undefined,
  isBaseline: boolean,
): Judgement<Standstill> {
  if (!rounds) return NOTHING_NEW;
  const [subject, known] = open ?? [`still/${rounds.since}`, undefined];
  const { number: round, since, seenAt: at } = rounds;
  if (known && !rounds.isStandingStill) {
    const late = defined({ isLate: !rounds.isSeenToBegin || undefined });
    return {
      changed: new Map([[subject, { ...known, endedAt: at, ...late, revision: known.revision + 1 }]]),
      events: [{ kind: "moving", subject, round, since: known.since, at, ...late }],
    };
  }
  if (known || !rounds.isStandingStill) return NOTHING_NEW;
  return {
    changed: new Map([[subject, { round, since, revision: 1 }]]),
    events: isBaseline ? [] : [{ kind: "still", subject, round, since }],
  };
}
