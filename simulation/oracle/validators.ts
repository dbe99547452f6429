import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import type { MemberWatch, ValidatorWatch } from "../community.js";
import { isOddWithin } from "../history/oddities.js";
import { windowAt } from "../history/windows.js";
import {
  type Case,
  type Evidence,
  iso,
  JUMP_MS,
  type Judge,
  POLL_MS,
  secondOf,
  type Told,
} from "./evidence.js";

/** Maximum delay of a report, in ms. */
const LATE_MS = 12 * MINUTE;
/** Durations of a silence after which its alert is repeated, in ms. */
const WORSE_MS = [6 * HOUR, DAY] as const;

/** A time without reports that a watch may have to announce. */
export interface Silence {
  readonly watch: ValidatorWatch;
  /** Last report before it and first one after it, epoch ms. */
  readonly since: number;
  readonly next: number;
  /** Time when the explorer first showed the report that ended it. */
  readonly seenAgainAt: number;
  /** A shorter silence than `leastMs` must not be announced, and a longer one than `mostMs` must be. */
  readonly leastMs: number;
  readonly mostMs: number;
  readonly where: string;
  /** Its own messages, and messages about a group that includes it. */
  readonly cards: readonly Told[];
  readonly within: readonly Told[];
}

/** True for the news that a validator is back. It says after how long, unless the bot did not see when. */
const isBackOf = (content: string, name: string): boolean =>
  content === `🟢 Back: ${name}` || content.startsWith(`🟢 Back: ${name},`);

/** True if a message reports a silence that was over before Discord took the message. */
const isLateCardOf = ({ content, description }: Told, name: string): boolean =>
  isBackOf(content, name) && description.startsWith("Was silent from ");

/** True if a message reports that a validator went silent. */
const isCardOf = (told: Told, name: string): boolean =>
  told.content.includes(`🔴 ${name}: no report for`) || isLateCardOf(told, name);

/** Returns the last report before a silence according to its message, in seconds. */
const sinceOf = ({ description }: Told): number => Number(/<t:(\d+):f>/.exec(description)?.[1]);

/**
 * Returns the messages about the end of a silence: the last one reported before the report that ended it. An
 * explorer that falls behind causes false silences until it is recognized as behind.
 */
function backsOf(own: readonly Told[], name: string, since: number): readonly Told[] {
  const called = own.flatMap((each) => (isCardOf(each, name) ? sinceOf(each) : []));
  return own.filter((told) => {
    const { content, description } = told;
    if (!isBackOf(content, name) || isLateCardOf(told, name)) return false;
    const seenAgain = Number(/Seen again <t:(\d+):/.exec(description)?.[1]);
    return (
      seenAgain > secondOf(since) && !called.some((other) => other > secondOf(since) && other < seenAgain)
    );
  });
}

/** Yields every silence of every watch, with the messages about its start. */
export function* silencesOf({ history, community }: Case, evidence: Evidence): Iterable<Silence> {
  const { startAt, endAt, lags } = history;
  const watches: readonly (ValidatorWatch & Partial<MemberWatch>)[] = [
    ...community.validators,
    ...community.group.watches,
  ];
  for (const watch of watches) {
    const { channelId, validator, afterMs, from = 0, to = Number.POSITIVE_INFINITY } = watch;
    const own = evidence.in(channelId);
    const name = `Node ${validator}`;
    // The alert of a silence that had begun before its validator was watched, or was over after that, may have been closed.
    for (let since = history.lastReport(validator, Math.max(from, startAt + DAY / 4)); since < endAt; ) {
      const next = history.nextReport(validator, since);
      const silentMs = next - since;
      const { least, most } = history.bounds(validator, since);
      // Validators that go silent together may have different rhythms.
      const slowest = Math.max(...[0, 1, 2].map((each) => history.bounds(each, since).most));
      // Around the change of the network's rhythm, the new one is not known yet.
      const isChanging =
        history.changeAt !== null && since < history.changeAt + 8 * HOUR && next > history.changeAt - HOUR;
      const isWatched = since >= from && next + DAY < to;
      const isOdd = isOddWithin(history.oddities, name, since - HOUR, next + HOUR);
      if (silentMs > most + MINUTE && !isChanging && isWatched && !isOdd) {
        const cards = own.filter((each) => isCardOf(each, name) && sinceOf(each) === secondOf(since));
        // Validators that were reported a little later are in the message, but not in its notification.
        const many = own.filter(
          ({ content, text, at }) =>
            at > since - HOUR &&
            at < next + DAY &&
            content.includes("validators went silent at about") &&
            new RegExp(`(🔴|🟢) ${name}(?!\\d)`, "u").test(text),
        );
        const within = many.filter(({ text }) => {
          const told = Number(/at about <t:(\d+):f>/.exec(text)?.[1]) * 1_000;
          return Math.abs(told - since) <= Math.max(16 * MINUTE, slowest + MINUTE);
        });
        const where = `${name} in ${channelId}, silent from ${iso(since)} for ${Math.round(silentMs / MINUTE)} min (after ${afterMs / MINUTE})`;
        const arrival = history.arrivalAfter(validator, since);
        const seenAgainAt = windowAt(lags, arrival)?.to ?? arrival;
        const leastMs = Math.max(afterMs, 2 * least);
        const mostMs = Math.max(afterMs, 2.5 * most);
        yield { watch, since, next, seenAgainAt, leastMs, mostMs, where, cards, within };
      }
      since = next;
    }
  }
}

/** Returns the number of times that a silence may be repeated. */
const levelsIn = (silentMs: number, afterMs: number): number =>
  WORSE_MS.filter((limit) => limit > afterMs && silentMs > limit).length;

/**
 * Checks that each silence and its end are reported once, and that longer silences are repeated once for each
 * limit.
 */
export const judgeSilences: Judge = function* (of, evidence) {
  const { history, answers, down } = of;
  for (const silence of silencesOf(of, evidence)) {
    const { watch, since, next, seenAgainAt, leastMs, mostMs, where, cards, within } = silence;
    const { channelId, validator, roleId } = watch;
    const own = evidence.in(channelId);
    const name = `Node ${validator}`;
    const told = cards.length + (cards.length > 0 ? 0 : within.length);
    const slack = evidence.overlapsJump(since, seenAgainAt + HOUR) ? JUMP_MS : 0;
    if (told > 1) yield `Told ${told} times: ${where}`;
    if (told > 0 && seenAgainAt - since <= leastMs - slack) yield `Told too early: ${where}`;
    // Two consecutive readings must agree. A process that has just started or taken over reads at once.
    const confirmedAt = since + leastMs + POLL_MS - slack;
    const begins = down.flatMap(({ from, to }) => (windowAt(history.doubles, from) ? [from, to] : [to]));
    const hasBegun = begins.some((at) => at > since + leastMs - slack && at < confirmedAt + MINUTE);
    if (!hasBegun && cards.some(({ at }) => at < confirmedAt - 10_000))
      yield `Told before it was confirmed: ${where}`;
    if (told === 0 && evidence.isClean(since + mostMs, next, undefined, evidence.held))
      yield `Not told: ${where}`;
    const backs = backsOf(own, name, since);
    const isPinged = ({ content }: Told) => roleId !== null && content.includes(`<@&${roleId}>`);
    const isLate = cards.some((card) => isLateCardOf(card, name));
    if (roleId !== null && within.length === 0 && cards.some((card) => isPinged(card) === isLate))
      yield `${isLate ? "Over, with" : "Without"} a ping: ${where}`;
    if (isLate && backs.length > 0) yield `Told twice that it is over: ${where}`;
    if (backs.length > 1) yield `Told ${backs.length} times that it is back: ${where}`;
    if (backs.some(isPinged)) yield `Back, with a ping: ${where}`;
    if (backs.length > 0 && cards.length === 0 && within.length === 0)
      yield `Back, and never silent: ${where}`;
    if (
      backs.length === 0 &&
      !isLate &&
      cards.length === 1 &&
      within.length === 0 &&
      evidence.isClean(next + LATE_MS, next + 8 * HOUR, undefined, evidence.held)
    )
      yield `Not told that it is back: ${where}`;
    const isAnswered = answers.some((each) => each.validator === validator && each.since === since);
    if (isAnswered || within.length > 0 || cards.length !== 1) continue;
    const again = own.filter(
      ({ content, text }) =>
        content.includes(`Still silent: ${name}, no report`) && text.includes(`<t:${secondOf(since)}:`),
    ).length;
    if (again > levelsIn(seenAgainAt - since + slack, leastMs)) yield `Worse ${again} times: ${where}`;
    const [card] = cards;
    // A late alert may have been sent at this level.
    const isAtLevel = card === undefined || card.at > since + 6 * HOUR - JUMP_MS;
    const mustBe = WORSE_MS.filter(
      (limit) =>
        limit > mostMs &&
        evidence.isClean(since + limit + JUMP_MS, next, undefined, evidence.held) &&
        next - since > limit + HOUR,
    ).length;
    if (!isAtLevel && again < Math.min(mustBe, 1)) yield `Not told that it is worse: ${where}`;
  }
};

/** Checks that healthy validators are not reported: each alert is about a gap of more than two reports. */
export const judgeFalseAlarms: Judge = function* ({ history, community }, evidence) {
  const { changeAt } = history;
  for (const channelId of new Set(community.validators.map((each) => each.channelId)))
    for (const told of evidence.in(channelId)) {
      const { content, at } = told;
      const [, name] = /🔴 Node (\d+): no report for/u.exec(content) ?? [];
      if (name === undefined) continue;
      const [validator, since] = [Number(name), sinceOf(told) * 1_000];
      const made = history.nextReport(validator, since - 1);
      const next = history.nextReport(validator, made);
      const { least } = history.bounds(validator, since);
      const isAroundChange = changeAt !== null && at > changeAt - HOUR && at < changeAt + DAY / 2;
      const silentMs = Math.min(next, at) - since;
      if (silentMs < 2 * least - JUMP_MS)
        yield `Called silent ${isAroundChange ? "at the change of rhythm" : "though well"}: Node ${name} at ${iso(at)} in ${channelId}, last report ${iso(since)}`;
    }
};

/** Checks that a member of a group's alert is called back only after a report, and the group only if its members are. */
export const judgeGroups: Judge = function* ({ history, community }, evidence) {
  const { channelId: groupChannel } = community.group;
  for (const channelId of new Set([groupChannel, ...community.validators.map((each) => each.channelId)]))
    for (const { text, shown, at } of evidence.in(channelId)) {
      if (
        shown.startsWith("🟢 Back: all of yours") &&
        (!/🟢 Node \d+, back/u.test(shown) || shown.includes("no longer listed"))
      )
        yield `Called back, all of them: ${shown.split("\n")[0]} of ${iso(at)} in ${channelId}`;
      for (const [, number, seconds] of text.matchAll(/🟢 Node (\d+), back <t:(\d+):R>/gu)) {
        const reportedAt = history.lastReport(Number(number), (Number(seconds) + 1) * 1_000 - 1);
        if (secondOf(reportedAt) !== Number(seconds))
          yield `Called back without a report: Node ${number} in the message of ${iso(at)} in ${channelId}`;
      }
    }
};

/** Checks that a calm history has no alerts. */
export const judgeCalm: Judge = function* ({ history, community }, evidence) {
  if (!history.isCalm) return;
  for (const channelId of new Set(community.validators.map((each) => each.channelId)))
    for (const { content, at } of evidence.in(channelId))
      if (
        /silent|no report|Back:|on hold|No validator has reported/.test(content) &&
        history.changeAt === null
      )
        yield `Told although all is well: ${content} at ${iso(at)}`;
};

/** Checks that a change of the network's rhythm causes one message in each channel. */
export const judgeChanges: Judge = function* ({ history, community }, evidence) {
  const { changeAt, lags } = history;
  for (const channelId of new Set(community.validators.map((each) => each.channelId))) {
    const told = evidence
      .in(channelId)
      .filter(({ content }) => content.includes("No validator has reported"));
    // An explorer that falls behind slowly, with a round now and then, looks like another rhythm.
    const creeping = lags.filter(({ kind }) => kind === "creeping").length;
    const allowed = (changeAt === null ? 0 : 1) + creeping;
    // After a correction of the clock, the network may seem to have stopped.
    const isSure = told.every(({ at }) => !evidence.overlapsJump(at - 2 * HOUR, at));
    if (told.length > allowed && isSure)
      yield `Told ${told.length} times, and not up to ${allowed}, of a change of rhythm: ${channelId}`;
    if (changeAt === null) continue;
    const flood = evidence
      .in(channelId)
      .filter(
        ({ content, at }) =>
          /validators went silent at about/.test(content) && at > changeAt && at < changeAt + 3 * HOUR,
      );
    if (flood.length > 0 && evidence.isClean(changeAt - 3 * HOUR, changeAt + 3 * HOUR, 6 * HOUR))
      yield `Told that many went silent at the change of rhythm: ${channelId}`;
  }
};
