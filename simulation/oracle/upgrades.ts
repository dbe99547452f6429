import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { isAccepted } from "../history/motions.js";
import { type Evidence, iso, JUMP_MS, type Judge, RECOVERY_MS, type Told } from "./evidence.js";

/** Time between the freeze and the upgrade, in ms. */
const FREEZE_MS = 2 * HOUR;
/** Time in which the bot learns of an accepted vote, in ms. */
const LEARNT_MS = 15 * MINUTE;

/** The schedule during a time. null if no upgrade is scheduled. */
interface Phase {
  readonly from: number;
  readonly to: number;
  readonly upgradeAt: number | null;
}

/** Returns the schedules of a history, one after another. */
function phasesOf({ motions, startAt, endAt }: Parameters<Judge>[0]["history"]): Phase[] {
  const accepted = motions.filter((each) => each.upgradeAt !== undefined && isAccepted(each));
  const times = [startAt, ...accepted.map(({ closesAt }) => closesAt).sort((a, b) => a - b), endAt];
  const at = (moment: number) => {
    const known = accepted.filter(({ closesAt }) => closesAt <= moment);
    const [last] = known.toSorted((a, b) => (b.effectiveAt ?? b.closesAt) - (a.effectiveAt ?? a.closesAt));
    return last?.upgradeAt ?? null;
  };
  return times
    .slice(0, -1)
    .map((from, index) => ({ from, to: times[index + 1] ?? endAt, upgradeAt: at(from) }));
}

const dayAndTime = (at: number): string => {
  const day = new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
  return `${day} at ${iso(at).slice(11, 16)} UTC`;
};

const named = ({ content }: Told): string => content.replaceAll("\\", "");

/**
 * Checks that each accepted schedule is told once, that each reminder is sent once, in time, and about the schedule that is valid,
 * and that nothing else is told.
 */
export const judgeUpgrades: Judge = function* ({ history, community }, evidence) {
  const own = evidence.in(community.upgrades).filter(({ content }) => /network upgrade/i.test(content));
  const phases = phasesOf(history);
  for (const [index, { from, to, upgradeAt }] of phases.entries()) {
    const before = phases[index - 1]?.upgradeAt ?? null;
    if (upgradeAt === null || upgradeAt === before || upgradeAt <= from) continue;
    const where = `upgrade of ${iso(upgradeAt)}, accepted ${iso(from)}`;
    const isMove = before !== null && before > from;
    const words = isMove
      ? `Network upgrade moved: transactions pause on ${dayAndTime(upgradeAt)}`
      : `Network upgrade scheduled: transactions pause on ${dayAndTime(upgradeAt)}`;
    const told = own.filter((each) => named(each).includes(words) && each.at >= from - JUMP_MS);
    const count = told.filter(({ at }) => at <= evidence.toldAt(to) + DAY).length;
    const alike = phases.filter((phase) => phase.upgradeAt === upgradeAt).length;
    if (count > alike) yield `Told ${count} times: ${where}`;
    const until = Math.min(to, upgradeAt);
    if (count === 0 && isRead(evidence, from, until, HOUR)) yield `Not told: ${where}`;
  }
  yield* judgeReminders(phases, own, evidence);
};

/** True if the bot has had time to read a vote and to tell of it. */
const isRead = (evidence: Evidence, from: number, until: number, ms: number): boolean =>
  evidence.isClean(from + LEARNT_MS, until, ms);

function* judgeReminders(
  phases: readonly Phase[],
  own: readonly Told[],
  evidence: Evidence,
): Iterable<string> {
  const steps = [
    { words: /freeze in/, beforeMs: FREEZE_MS + DAY, endsMs: FREEZE_MS + HOUR },
    { words: /freeze in/, beforeMs: FREEZE_MS + HOUR, endsMs: FREEZE_MS },
    // A bot that was away at that time says that it has passed.
    {
      words: /transactions pause about now|time of the network upgrade has passed/,
      beforeMs: 0,
      endsMs: -6 * HOUR,
    },
  ];
  const explained = new Set<Told>();
  const endAt = phases.at(-1)?.to ?? 0;
  for (const [index, { from, upgradeAt }] of phases.entries()) {
    // A vote that leaves the schedule as it is does not begin a new one.
    if (upgradeAt === null || phases[index - 1]?.upgradeAt === upgradeAt) continue;
    const next = phases.slice(index).find((phase) => phase.upgradeAt !== upgradeAt);
    const validUntil = next?.from ?? endAt;
    for (const { words, beforeMs, endsMs } of steps) {
      const [dueAt, endsAt] = [upgradeAt - beforeMs, upgradeAt - endsMs];
      const told = own.filter(
        (each) =>
          words.test(named(each)) &&
          each.at >= dueAt - JUMP_MS &&
          // The last hour belongs to the next reminder, which has the same words.
          each.at < endsAt + (beforeMs > FREEZE_MS + HOUR ? -JUMP_MS : JUMP_MS) &&
          each.at >= from - JUMP_MS &&
          // Within its first minutes, a new decision may not have been read.
          each.at <= evidence.toldAt(validUntil) + LEARNT_MS + RECOVERY_MS + DAY &&
          (beforeMs === 0 || each.text.includes(`<t:${upgradeAt / 1_000}:f>`)),
      );
      for (const each of told) explained.add(each);
      const where = `${words} before ${iso(upgradeAt)}`;
      if (told.length > 1) yield `Told ${told.length} times: ${where}`;
      const end = Math.min(endsAt, validUntil);
      if (
        told.length === 0 &&
        from < dueAt - HOUR &&
        validUntil > dueAt &&
        isRead(evidence, dueAt - LEARNT_MS, end, 40 * MINUTE)
      )
        yield `Not told: ${where}`;
    }
  }
  for (const each of own) {
    const isReminder = steps.some(({ words }) => words.test(named(each)));
    if (isReminder && !explained.has(each)) yield `A reminder of nothing: ${each.content} at ${iso(each.at)}`;
  }
}

/** Checks that a standstill is told once if the explorer shows it, and that nothing else is called one. */
export const judgeStandstills: Judge = function* ({ history, community }, evidence) {
  const { standstills, evidence: shown } = history;
  const channels = [community.upgrades, ...new Set(community.validators.map(({ channelId }) => channelId))];
  for (const channelId of channels) {
    const told = evidence.in(channelId).filter(({ content }) => content.includes("The network stands still"));
    for (const { content, at } of told) {
      const isTrue = standstills.some(({ from, to }) => at > from && at < evidence.toldAt(to) + DAY);
      if (!isTrue) yield `Called a standstill: ${content} at ${iso(at)} in ${channelId}`;
    }
    for (const { from, to } of standstills) {
      const own = told.filter(({ at }) => at > from && at < to + RECOVERY_MS);
      if (own.length > 1) yield `Told ${own.length} times: the standstill of ${iso(from)} in ${channelId}`;
      const isShown = shown === "updates" && evidence.isClean(from + 40 * MINUTE, to, 30 * MINUTE);
      if (own.length === 0 && isShown) yield `Not told: the standstill of ${iso(from)} in ${channelId}`;
    }
  }
};
