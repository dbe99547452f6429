import type { Random } from "../../sandbox/explorer/random.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { drawWindows, merged, type Span, stepAt, windowAt } from "./windows.js";

/** Validators of the ledger that report; and those of them that somebody watches. */
export const VALIDATORS = 60;
export const WATCHED = 14;

/** Every fifth is a super validator, whose traffic has no limit. */
export const isSuperValidator = (validator: number): boolean => validator % 5 === 0;

/** A version that most validators move to within two hours, and the others later or never. */
export interface Spread {
  readonly at: number;
  readonly version: string;
  /** When each validator moves to it, epoch ms; none that stays. */
  readonly upgrades: ReadonlyMap<number, number>;
}

/** How much traffic a validator has left from a moment on. */
export interface TrafficStep {
  readonly at: number;
  readonly percent: number;
  /** More is bought than is counted: nothing can be said of it. */
  readonly isBuying: boolean;
}

/** What validators do, by number. */
export interface ValidatorHistory {
  /** When one last reported, up to a moment, and first after it. */
  lastReport(validator: number, at: number): number;
  nextReport(validator: number, at: number): number;
  versionOf(validator: number, at: number): string;
  readonly spreads: readonly Spread[];
  /** Of those that are watched. */
  readonly traffic: ReadonlyMap<number, readonly TrafficStep[]>;
}

const FIRST_VERSION = "0.5.1";

function drawSpreads(random: Random, { startAt, days }: Span): Spread[] {
  const spreads: Spread[] = [];
  for (let at = startAt + random.int(2, 4) * DAY; at < startAt + days * DAY; at += random.int(6, 10) * DAY) {
    const upgrades = new Map<number, number>();
    for (let validator = 0; validator < VALIDATORS; validator += 1)
      if (random.chance(0.8)) upgrades.set(validator, at + random.int(0, 2 * HOUR));
      else if (random.chance(0.6)) upgrades.set(validator, at + random.int(2 * HOUR, 4 * DAY));
    spreads.push({ at, version: `0.5.${spreads.length + 2}`, upgrades });
  }
  return spreads;
}

function drawTraffic(random: Random, { startAt, days }: Span): TrafficStep[] {
  const steps: TrafficStep[] = [{ at: startAt, percent: 60, isBuying: false }];
  const endAt = startAt + days * DAY;
  for (let at = startAt + random.int(6, 20) * HOUR; at < endAt; at += random.int(4, 20) * HOUR) {
    const percent = random.pick([60, 45, 26, 19, 17, 15, 12, 9, 5]);
    const isBuying = random.chance(0.15);
    steps.push({ at, percent, isBuying });
  }
  return steps;
}

/** What a seed lets validators do. */
export function drawValidators(random: Random, span: Span): ValidatorHistory {
  const { startAt } = span;
  const rhythms = Array.from({ length: VALIDATORS }, () => random.int(5, 13) * MINUTE);
  const phases = rhythms.map((rhythm) => random.int(0, rhythm));
  const silences = rhythms.map((_, index) =>
    index < WATCHED
      ? drawWindows(random, span, 0.7, 5 * MINUTE, random.pick([40 * MINUTE, 2 * HOUR, 9 * HOUR, 30 * HOUR]))
      : drawWindows(random, span, 0.1, 5 * MINUTE, 3 * HOUR),
  );
  // Many at once, now and then.
  for (const window of drawWindows(random, span, 0.15, 80 * MINUTE, 4 * HOUR))
    for (let index = 0; index < VALIDATORS; index += 1) if (random.chance(0.3)) silences[index]?.push(window);
  const quiet = silences.map(merged);
  const spreads = drawSpreads(random, span);
  const traffic = new Map(
    Array.from({ length: WATCHED }, (_, validator) => [validator, drawTraffic(random, span)] as const),
  );

  /** The first report of a validator's rhythm at a moment or after it, or the last one up to it. */
  const onRhythm = (validator: number, at: number, round: (reports: number) => number): number => {
    const rhythm = rhythms[validator] ?? MINUTE;
    const first = startAt + (phases[validator] ?? 0);
    return first + round((at - first) / rhythm) * rhythm;
  };
  const silenceAt = (validator: number, at: number) => windowAt(quiet[validator] ?? [], at);

  return {
    spreads,
    traffic,
    lastReport(validator, at) {
      let last = onRhythm(validator, at, Math.floor);
      for (let window = silenceAt(validator, last); window; window = silenceAt(validator, last))
        last = onRhythm(validator, window.from - 1, Math.floor);
      return last;
    },
    nextReport(validator, at) {
      let next = onRhythm(validator, at, (reports) => Math.floor(reports) + 1);
      for (let window = silenceAt(validator, next); window; window = silenceAt(validator, next))
        next = onRhythm(validator, window.to, Math.ceil);
      return next;
    },
    versionOf: (validator, at) =>
      spreads.findLast(({ upgrades }) => (upgrades.get(validator) ?? Number.POSITIVE_INFINITY) <= at)
        ?.version ?? FIRST_VERSION,
  };
}

/** A validator's traffic at a moment; undefined for those that nobody watches. */
export const trafficAt = (
  { traffic }: Pick<ValidatorHistory, "traffic">,
  validator: number,
  at: number,
): TrafficStep | undefined => stepAt(traffic.get(validator) ?? [], at);
