import { HOUR, MINUTE, SECOND } from "../../src/util/units.js";
import type { PriceWatch } from "../community.js";
import type { History } from "../history/index.js";
import { EARLY_AT, PRICE_STEP, type PriceStep } from "../history/prices.js";
import { type Evidence, iso, JUMP_MS, type Judge } from "./evidence.js";

/** Distance by which a price must move back before an alert repeats, in percent. */
const BACK = 1;
/** Maximum deviation of the reading that a move is compared with from an hour ago, in ms. */
const NEAR_MS = 25 * MINUTE;
/** Maximum delay of an alert on the first move, in ms. */
const FIRST_MS = 15 * MINUTE;
/** Maximum age of a digest's prices, and of the one at its start, in ms. */
const DIGEST_MS = 40 * MINUTE;

/** An alert with the price at the bot's time of reading. */
interface Alert {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

const titleOf = ({ when, value }: PriceWatch): string =>
  when === "moves" ? `${value}% or more in ` : `${when} ${value} USD: `;

/** Returns the alerts that a price watch got. */
export function alertsOf(watch: PriceWatch, evidence: Evidence): Alert[] {
  return evidence.in(watch.channelId).flatMap(({ content, description }) => {
    const [, from, to, second] =
      /From ([\d.]+) USD(?: (?:at|on) <t:\d+:f>)? to \*\*([\d.]+) USD\*\* (?:at|on) <t:(\d+):f>/.exec(
        description,
      ) ?? [];
    if (!content.includes(titleOf(watch)) || second === undefined) return [];
    return [{ at: Number(second) * SECOND, from: Number(from), to: Number(to) }];
  });
}

const isNear = (a: number, b: number): boolean => Math.abs(a / b - 1) < 0.001;

/** True if a price is past a limit by at least this percentage. */
const isPast = ({ when, value }: PriceWatch, usd: number, percent: number): boolean =>
  when === "above" ? usd >= value * (1 + percent / 100) : usd <= value * (1 - percent / 100);

/** True if a price is past a limit. At exactly the limit it is not. */
const isBeyond = ({ when, value }: PriceWatch, usd: number): boolean =>
  when === "above" ? usd > value : usd < value;

/** Returns consecutive runs of steps that meet a condition. */
function runsOf(
  steps: readonly PriceStep[],
  holds: (step: PriceStep) => boolean,
): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    const to = step.at + PRICE_STEP;
    if (!holds(step)) continue;
    if (last?.to === step.at) last.to = to;
    else runs.push({ from: step.at, to });
  }
  return runs;
}

interface Moves {
  /** Minimum and maximum move from an hour ago that a reading may have found, in percent. */
  readonly least: number;
  readonly most: number;
  /** Maximum move from any time within the hour, in percent. If there is no price of an hour ago, the oldest one since counts. */
  readonly mostSince: number;
}

/** Returns the moves that a reading at a step may have found. */
function movesOf({ prices }: History): (step: PriceStep) => Moves {
  const indexes = new Map(prices.map((step, index) => [step, index]));
  return (step) => {
    const index = indexes.get(step) ?? 0;
    const reach = Math.ceil(NEAR_MS / PRICE_STEP);
    const hour = HOUR / PRICE_STEP;
    const since = prices
      .slice(Math.max(0, index - hour - reach), index + 1)
      .map(({ usd }) => Math.abs(step.usd / usd - 1) * 100);
    const moves = since.slice(0, since.length - hour + reach);
    return { least: Math.min(...moves), most: Math.max(...moves), mostSince: Math.max(...since) };
  };
}

/** Checks that a move is told that happened before the bot knew a price of an hour ago. */
function* judgeFirstMove(
  { startAt, priceFaults }: History,
  alerts: readonly Alert[],
  where: string,
  evidence: Evidence,
): Iterable<string> {
  const movedAt = startAt + EARLY_AT;
  const isFaulty = priceFaults.some(({ from }) => from < movedAt + HOUR);
  if (isFaulty || !evidence.isClean(startAt, movedAt + FIRST_MS, EARLY_AT + FIRST_MS)) return;
  // After an earlier move, the alert does not repeat yet.
  if (alerts.some(({ at }) => at < movedAt)) return;
  if (!alerts.some(({ at }) => at >= movedAt && at < movedAt + FIRST_MS))
    yield `Not told of the move at ${iso(movedAt)}, within the bot's first hour: ${where}`;
}

/** Checks the price of a digest and its change, which a digest has from the first one on. */
export const judgeDigestPrices: Judge = function* ({ history, community }, evidence) {
  const { prices, priceFaults } = history;
  for (const { channelId } of community.digests)
    for (const { content, text, at: sentAt } of evidence.in(channelId)) {
      const [, since, until] = /(?:From|between) <t:(\d+):f> (?:to|and) <t:(\d+):f>/.exec(text) ?? [];
      if (!content.startsWith("📰") || since === undefined) continue;
      const where = `in the digest of ${iso(sentAt)} in ${channelId}`;
      const shown = /([\d.]+) USD for one CC(?:, ([+−-][\d.]+)%)?(?: since <t:(\d+):f>)?/.exec(text);
      const [from, to] = [Number(shown?.[3] ?? since) * SECOND, Number(until) * SECOND];
      const isFaulty = (at: number) =>
        priceFaults.some((fault) => fault.from < at + DIGEST_MS && fault.to > at - DIGEST_MS) ||
        !evidence.isClean(at - DIGEST_MS, at + DIGEST_MS, 2 * DIGEST_MS - MINUTE);
      const near = (at: number) => prices.filter((each) => Math.abs(each.at - at) < DIGEST_MS);
      if (isFaulty(to)) continue;
      if (!shown) yield `No price ${where}`;
      else if (!near(to).some(({ usd }) => isNear(usd, Number(shown[1])))) yield `${shown[1]} USD ${where}`;
      if (shown?.[2] === undefined || isFaulty(from)) continue;
      const percent = Number(shown[2].replace("−", "-"));
      const changes = near(from).map(({ usd }) => 100 * (Number(shown[1]) / usd - 1));
      if (!changes.some((change) => Math.abs(change - percent) < 0.1))
        yield `${percent}% since ${iso(from)} ${where}`;
    }
};

/**
 * Checks that alerts are correct, repeat only after the price has moved back, and are sent if the price is
 * past a limit for long.
 */
export const judgePrices: Judge = function* ({ history, community }, evidence) {
  const { prices, startAt, endAt, priceFaults } = history;
  const moves = movesOf(history);
  const shown = priceFaults.map(({ from, to }) => ({ from: from - MINUTE, to: to + 20 * MINUTE }));
  const stepsIn = (from: number, to: number) => prices.filter(({ at }) => at > from - PRICE_STEP && at <= to);
  for (const watch of community.prices) {
    const { channelId, when, value, isOnce } = watch;
    const where = `${titleOf(watch)} in ${channelId}`;
    const alerts = alertsOf(watch, evidence);
    if (isOnce && alerts.length > 1) yield `Told ${alerts.length} times, and not once: ${where}`;
    const holdsFor = (step: PriceStep, more: number) =>
      when === "moves" ? moves(step).least >= value + more : isPast(watch, step.usd, more);
    const isBaseKnown = (at: number) =>
      evidence.isClean(at - HOUR - NEAR_MS, at - HOUR + NEAR_MS, 2 * NEAR_MS, shown);
    const mayHold = (step: PriceStep) => {
      if (when !== "moves") return isBeyond(watch, step.usd);
      const { most, mostSince } = moves(step);
      return (isBaseKnown(step.at) ? most : mostSince) >= value - 0.05;
    };
    const mayBeBack = (step: PriceStep) =>
      when === "moves"
        ? moves(step).least <= Math.max(value - BACK, value / 2) + 0.05
        : !isPast(watch, step.usd, -BACK + 0.1);
    const isBack = (step: PriceStep) =>
      when === "moves"
        ? moves(step).most <= Math.max(value - BACK, value / 2) - 0.05
        : !isPast(watch, step.usd, -BACK - 0.1);

    for (const [index, { at, to }] of alerts.entries()) {
      const slack = evidence.overlapsJump(at - HOUR, at + HOUR) ? JUMP_MS : MINUTE;
      const read = stepsIn(at - slack, at + slack);
      const said = `${to} USD at ${iso(at)}: ${where}`;
      if (!read.some(({ usd }) => isNear(usd, to))) yield `Never the price: ${said}`;
      if (!read.some(mayHold)) yield `Told of what did not hold: ${said}`;
      const before = alerts[index - 1];
      if (!before) continue;
      if (at - before.at < HOUR - 2 * slack) yield `Told again within the hour: ${said}`;
      if (!stepsIn(before.at - slack, at + slack).some(mayBeBack))
        yield `Told again, and it never came back: ${said}`;
    }

    if (when === "moves") yield* judgeFirstMove(history, alerts, where, evidence);
    const backs = runsOf(prices, isBack).filter(
      ({ from, to }) => from > startAt + 2 * HOUR && evidence.isClean(from, to, 15 * MINUTE, shown),
    );
    for (const run of runsOf(prices, (step) => holdsFor(step, 0.1))) {
      if (run.from < startAt + 3 * HOUR || run.to > endAt - HOUR) continue;
      const last = alerts.filter(({ at }) => at < run.from - JUMP_MS).at(-1)?.at ?? Number.NEGATIVE_INFINITY;
      if (isOnce && last > startAt) continue;
      // The price must have moved back, at least an hour after the alert, and have been read then.
      const isArmed = backs.some(
        ({ from, to }) =>
          to <= run.from && evidence.isClean(Math.max(from, last + HOUR + JUMP_MS), to, 15 * MINUTE, shown),
      );
      const told = alerts.some(({ at }) => at >= run.from - JUMP_MS && at <= run.to + JUMP_MS);
      // A move is measured from the reading an hour ago.
      const seenFrom = when === "moves" ? run.from - 2 * HOUR : run.from;
      const isSeen =
        evidence.isClean(run.from, run.to, 15 * MINUTE, shown) &&
        (when !== "moves" || evidence.isClean(seenFrom, run.to, run.to - seenFrom, shown));
      if (isArmed && isSeen && !told)
        yield `Not told, though it held from ${iso(run.from)} to ${iso(run.to)}: ${where}`;
    }
  }
};
