import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import type { ValidatorWatch } from "../community.js";
import { windowAt } from "../history/windows.js";
import {
  type Case,
  type Evidence,
  iso,
  JUMP_MS,
  type Judge,
  POLL_MS,
  RECOVERY_MS,
  secondOf,
  type Told,
} from "./evidence.js";

const LAG_MS = 20 * MINUTE;
/** A report reaches the explorer this late at the most, in ms. */
const LATE_MS = 12 * MINUTE;
/** A silence is told of again when it has lasted so long, in ms. */
const WORSE_MS = [6 * HOUR, DAY] as const;

/** A time without reports that a watch may have to tell of. */
export interface Silence {
  readonly watch: ValidatorWatch;
  /** The last report before it, and the first one after it; epoch ms. */
  readonly since: number;
  readonly next: number;
  /** When the explorer first told of the report that ended it. */
  readonly seenAgainAt: number;
  /** A shorter silence must not be told of, and a longer one must be, in ms. */
  readonly leastMs: number;
  readonly mostMs: number;
  readonly where: string;
  /** Messages of its own, and those of many that it was one of. */
  readonly cards: readonly Told[];
  readonly within: readonly Told[];
}

/** Whether a message told that a validator went silent. */
const isCardOf = ({ content }: Told, name: string): boolean => content.includes(`🔴 ${name}: no report for`);

/** The last report before a silence, by its message: seconds. */
const sinceOf = ({ description }: Told): number => Number(/<t:(\d+):f>/.exec(description)?.[1]);

/**
 * What was told of the end of a silence: of the last one called before the report that ended it. An explorer that falls behind
 * makes silences that are none, until it is held to be behind.
 */
function backsOf(own: readonly Told[], name: string, since: number): readonly Told[] {
  const called = own.flatMap((each) => (isCardOf(each, name) ? sinceOf(each) : []));
  return own.filter(({ content, description }) => {
    if (!content.startsWith(`🟢 Back: ${name},`)) return false;
    const seenAgain = Number(/Seen again <t:(\d+):/.exec(description)?.[1]);
    return (
      seenAgain > secondOf(since) && !called.some((other) => other > secondOf(since) && other < seenAgain)
    );
  });
}

/** Every silence of every watch, with what was told of its beginning. */
export function* silencesOf({ history, community }: Case, evidence: Evidence): Iterable<Silence> {
  const { startAt, endAt, lags } = history;
  for (const watch of community.validators) {
    const { channelId, validator, afterMs } = watch;
    const own = evidence.in(channelId);
    const name = `Node ${validator}`;
    for (let since = history.lastReport(validator, startAt + DAY / 4); since < endAt; ) {
      const next = history.nextReport(validator, since);
      const silentMs = next - since;
      const { least, most } = history.bounds(validator, since);
      // Those that go silent together may report in different rhythms.
      const slowest = Math.max(...[0, 1, 2].map((each) => history.bounds(each, since).most));
      // Before the network's change, and just after it, nobody knows the new rhythm.
      const isChanging =
        history.changeAt !== null && since < history.changeAt + 8 * HOUR && next > history.changeAt - HOUR;
      if (silentMs > most + MINUTE && !isChanging) {
        const cards = own.filter((each) => isCardOf(each, name) && sinceOf(each) === secondOf(since));
        // Those that were called silent a little later stand in the message, and not in what it notified with.
        const many = own.filter(
          ({ content, text, at }) =>
            at > since - HOUR &&
            at < next + DAY &&
            content.includes("validators went silent at about") &&
            new RegExp(`(🔴|🟢) ${name}(?!\\d)`, "u").test(text),
        );
        const within = many.filter(({ content }) => {
          const told = Number(/<t:(\d+):t>/.exec(content)?.[1]) * 1_000;
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

/** How often a silence may be told of again, since it has become so long. */
const levelsIn = (silentMs: number, afterMs: number): number =>
  WORSE_MS.filter((limit) => limit > afterMs && silentMs > limit).length;

/** Each silence is told once, once it is sure, and so is its end; what becomes worse is told again, once for each limit. */
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
    // Two readings in a row must agree; a process that has just begun, or taken over, reads at once.
    const confirmedAt = since + leastMs + POLL_MS - slack;
    const begins = down.flatMap(({ from, to }) => (windowAt(history.doubles, from) ? [from, to] : [to]));
    const hasBegun = begins.some((at) => at > since + leastMs - slack && at < confirmedAt + MINUTE);
    if (!hasBegun && cards.some(({ at }) => at < confirmedAt - 10_000))
      yield `Told before it was confirmed: ${where}`;
    if (told === 0 && evidence.isClean(since + mostMs, next)) yield `Not told: ${where}`;
    const isPinged = ({ content }: Told) => roleId !== null && content.includes(`<@&${roleId}>`);
    if (roleId !== null && within.length === 0 && cards.some((card) => !isPinged(card)))
      yield `Without a ping: ${where}`;
    const backs = backsOf(own, name, since);
    if (backs.length > 1) yield `Told ${backs.length} times that it is back: ${where}`;
    if (backs.some(isPinged)) yield `Back, with a ping: ${where}`;
    if (backs.length > 0 && cards.length === 0 && within.length === 0)
      yield `Back, and never silent: ${where}`;
    if (
      backs.length === 0 &&
      cards.length === 1 &&
      within.length === 0 &&
      evidence.isClean(next + LATE_MS, next + 8 * HOUR)
    )
      yield `Not told that it is back: ${where}`;
    const isAnswered = answers.some((each) => each.validator === validator && each.since === since);
    if (isAnswered || within.length > 0 || cards.length !== 1) continue;
    const again = own.filter(
      ({ content, text }) =>
        content.includes(`Still silent: ${name},`) && text.includes(`<t:${secondOf(since)}:`),
    ).length;
    if (again > levelsIn(seenAgainAt - since + slack, leastMs)) yield `Worse ${again} times: ${where}`;
    const [card] = cards;
    // What was told of late may have been told at its level.
    const isLate = card === undefined || card.at > since + 6 * HOUR - JUMP_MS;
    const mustBe = WORSE_MS.filter(
      (limit) =>
        limit > mostMs && evidence.isClean(since + limit + JUMP_MS, next) && next - since > limit + HOUR,
    ).length;
    if (!isLate && again < Math.min(mustBe, 1)) yield `Not told that it is worse: ${where}`;
  }
};

/** Nobody is called silent who is well: each alert is about a gap that is longer than two reports. */
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

/** Where nothing goes wrong, nothing is told. */
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

/** A change of the whole network's rhythm is one message in each channel, and no flood. */
export const judgeChanges: Judge = function* ({ history, community }, evidence) {
  const { changeAt } = history;
  for (const channelId of new Set(community.validators.map((each) => each.channelId))) {
    const told = evidence
      .in(channelId)
      .filter(({ content }) => content.includes("No validator has reported"));
    const allowed = changeAt === null ? 0 : 1;
    // A clock that is set back or ahead may look like a network that has stopped.
    const isSure = told.every(({ at }) => !evidence.overlapsJump(at - 2 * HOUR, at));
    if (told.length > allowed && isSure)
      yield `Told ${told.length} times, and not ${allowed}, of a change of rhythm: ${channelId}`;
    if (changeAt === null) continue;
    const flood = evidence
      .in(channelId)
      .filter(
        ({ content, at }) =>
          /validators went silent/.test(content) && at > changeAt && at < changeAt + 3 * HOUR,
      );
    if (flood.length > 0 && evidence.isClean(changeAt - 3 * HOUR, changeAt + 3 * HOUR, 6 * HOUR))
      yield `Told that many went silent at the change of rhythm: ${channelId}`;
  }
};

/** While the explorer itself is behind, each channel is told so once. */
export const judgeHolds: Judge = function* ({ history, community, down }, evidence) {
  const { lags, explorerFaults, discordFaults, jumps } = history;
  // With nothing else to judge by, a report of the network's own interval is waited for.
  const unsureMs = history.evidence === "none" ? history.bounds(2, history.endAt).most : 10 * MINUTE;
  for (const channelId of new Set(community.validators.map((each) => each.channelId))) {
    const holds = evidence.in(channelId).filter(({ content }) => content.includes("alerts are on hold"));
    for (const lag of lags) {
      const own = holds.filter(({ at }) => at >= lag.from && at <= lag.to + 30 * MINUTE).length;
      const where = `the lag from ${iso(lag.from)} in ${channelId}`;
      if (own > 1) yield `On hold ${own} times: ${where}`;
      const others = [...explorerFaults, ...discordFaults, ...jumps, ...down].filter(
        ({ from, to }) => to + RECOVERY_MS > lag.from && from < lag.to,
      );
      if (own === 0 && others.length === 0 && lag.to - lag.from > LAG_MS + unsureMs + 4 * POLL_MS)
        yield `Not told to be on hold: ${where}`;
    }
    if (jumps.length === 0 && holds.length > lags.length)
      yield `${holds.length} holds, ${lags.length} lags: ${channelId}`;
  }
};
