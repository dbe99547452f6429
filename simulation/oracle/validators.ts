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
/** A validator that is well reports more often than this, in ms. */
const LEAST_SILENCE = 15 * MINUTE;
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
  readonly where: string;
  /** Messages of its own, and those of many that it was one of. */
  readonly cards: readonly Told[];
  readonly within: readonly Told[];
}

/**
 * What was told of the end of a silence: of the last one called before the report that ended it. An explorer that falls behind
 * makes silences that are none, until it is held to be behind.
 */
function backsOf(own: readonly Told[], name: string, since: number): readonly Told[] {
  const called = own.flatMap(({ content }) =>
    content.includes(`${name} went silent`) ? Number(/last seen <t:(\d+):f>/.exec(content)?.[1]) : [],
  );
  return own.filter(({ title, content, description }) => {
    if (title !== `🟢 Back: ${name}` || content.includes("went silent")) return false;
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
      if (silentMs > LEAST_SILENCE) {
        const stamp = `<t:${secondOf(since)}:f>`;
        const cards = own.filter(
          ({ content }) => content.includes(`${name} went silent`) && content.includes(stamp),
        );
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
          return Math.abs(told - since) <= 16 * MINUTE;
        });
        const where = `${name} in ${channelId}, silent from ${iso(since)} for ${Math.round(silentMs / MINUTE)} min (after ${afterMs / MINUTE})`;
        const seenAgainAt = windowAt(lags, next)?.to ?? next;
        yield { watch, since, next, seenAgainAt, where, cards, within };
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
  for (const { watch, since, next, seenAgainAt, where, cards, within } of silencesOf(of, evidence)) {
    const { channelId, validator, afterMs, roleId } = watch;
    const own = evidence.in(channelId);
    const name = `Node ${validator}`;
    const told = cards.length + (cards.length > 0 ? 0 : within.length);
    const slack = evidence.overlapsJump(since, seenAgainAt + HOUR) ? JUMP_MS : 0;
    if (told > 1) yield `Told ${told} times: ${where}`;
    if (told > 0 && seenAgainAt - since <= afterMs - slack) yield `Told too early: ${where}`;
    // Two readings in a row must agree; a process that has just begun, or taken over, reads at once.
    const confirmedAt = since + afterMs + POLL_MS - slack;
    const begins = down.flatMap(({ from, to }) => (windowAt(history.doubles, from) ? [from, to] : [to]));
    const hasBegun = begins.some((at) => at > since + afterMs - slack && at < confirmedAt + MINUTE);
    if (!hasBegun && cards.some(({ at }) => at < confirmedAt - 10_000))
      yield `Told before it was confirmed: ${where}`;
    if (told === 0 && evidence.isClean(since + afterMs, next)) yield `Not told: ${where}`;
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
      evidence.isClean(next, next + 8 * HOUR)
    )
      yield `Not told that it is back: ${where}`;
    const isAnswered = answers.some((each) => each.validator === validator && each.since === since);
    if (isAnswered || within.length > 0 || cards.length !== 1) continue;
    const again = own.filter(
      ({ content, text }) =>
        content.includes(`Still silent: ${name}`) && text.includes(`<t:${secondOf(since)}:`),
    ).length;
    if (again > levelsIn(seenAgainAt - since + slack, afterMs)) yield `Worse ${again} times: ${where}`;
    const [card] = cards;
    // What was told of late may have been told at its level.
    const isLate = card === undefined || card.at > since + 6 * HOUR - JUMP_MS;
    const mustBe = WORSE_MS.filter(
      (limit) =>
        limit > afterMs && evidence.isClean(since + limit + JUMP_MS, next) && next - since > limit + HOUR,
    ).length;
    if (!isLate && again < Math.min(mustBe, 1)) yield `Not told that it is worse: ${where}`;
  }
};

/** While the explorer itself is behind, each channel is told so once. */
export const judgeHolds: Judge = function* ({ history, community, down }, evidence) {
  const { lags, explorerFaults, discordFaults, jumps } = history;
  for (const channelId of new Set(community.validators.map((each) => each.channelId))) {
    const holds = evidence.in(channelId).filter(({ content }) => content.includes("alerts are on hold"));
    for (const lag of lags) {
      const own = holds.filter(({ at }) => at >= lag.from && at <= lag.to + 30 * MINUTE).length;
      const where = `the lag from ${iso(lag.from)} in ${channelId}`;
      if (own > 1) yield `On hold ${own} times: ${where}`;
      const others = [...explorerFaults, ...discordFaults, ...jumps, ...down].filter(
        ({ from, to }) => to + RECOVERY_MS > lag.from && from < lag.to,
      );
      if (own === 0 && others.length === 0 && lag.to - lag.from > LAG_MS + 4 * POLL_MS)
        yield `Not told to be on hold: ${where}`;
    }
    if (jumps.length === 0 && holds.length > lags.length)
      yield `${holds.length} holds, ${lags.length} lags: ${channelId}`;
  }
};
