import type { Random } from "../../sandbox/explorer/random.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { boundsOf, drawReports, type GapBounds, lastIndex, type Reports, type Rhythm } from "./reports.js";
import { drawWindows, merged, type Span, stepAt, type Window } from "./windows.js";

/** Usual number of validators, of watched ones among them, and of report sequences for later ones. */
export const VALIDATORS = 60;
const WATCHED = 14;
export const JOINED = 5;

/** True for every fifth validator. Super validators have no traffic limit. */
export const isSuperValidator = (validator: number): boolean => validator % 5 === 0;

/** A version to which many validators upgrade within two hours, and the others later or never. */
export interface Spread {
  readonly at: number;
  readonly version: string;
  /** Time when each validator upgrades, epoch ms. Validators that do not upgrade are missing. */
  readonly upgrades: ReadonlyMap<number, number>;
}

/** A validator's remaining traffic from a time on. */
export interface TrafficStep {
  readonly at: number;
  readonly percent: number;
  /** True if a purchase is in progress, so that the remaining traffic is unknown. */
  readonly isBuying: boolean;
}

/** A time at which many validators are silent together. */
export interface Outage extends Window {
  /** Numbers of the silent validators. */
  readonly members: readonly number[];
}

/** Histories of validators, by their numbers. */
export interface ValidatorHistory {
  readonly rhythm: Rhythm;
  /** Time when the network's rhythm changes, epoch ms. */
  readonly changeAt: number | null;
  readonly validatorCount: number;
  readonly watchedCount: number;
  readonly outages: readonly Outage[];
  /** Returns the bounds of a healthy validator's gaps at a time. */
  bounds(validator: number, at: number): GapBounds;
  /** Last report up to a time, and first one after it, epoch ms. */
  lastReport(validator: number, at: number): number;
  nextReport(validator: number, at: number): number;
  /** Last report that the explorer has at a time, and the time when it receives the next one. */
  lastSeen(validator: number, at: number): number;
  arrivalAfter(validator: number, at: number): number;
  versionOf(validator: number, at: number): string;
  readonly spreads: readonly Spread[];
  /** Traffic of watched validators. */
  readonly traffic: ReadonlyMap<number, readonly TrafficStep[]>;
}

const FIRST_VERSION = "0.5.1";

function drawSpreads(random: Random, { startAt, days }: Span, validatorCount: number): Spread[] {
  const spreads: Spread[] = [];
  for (let at = startAt + random.int(2, 4) * DAY; at < startAt + days * DAY; at += random.int(6, 10) * DAY) {
    const upgrades = new Map<number, number>();
    // Some versions are run by fewer than half for days.
    const share = random.pick([0.8, 0.8, 0.35]);
    for (let validator = 0; validator < validatorCount; validator += 1)
      if (random.chance(share)) upgrades.set(validator, at + random.int(0, 2 * HOUR));
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

/** Duration of an outage in which everything can happen that depends on one, in ms. */
const LONG_OUTAGE_MS = 7 * HOUR;
/** Minimum number of days of a history with everything that takes long. */
export const LONG_DAYS = 3;

/** Draws times at which many go silent at once. */
function drawOutages(random: Random, span: Span, numbers: readonly number[]): Outage[] {
  const { startAt, days } = span;
  const longAt = startAt + 0.7 * days * DAY;
  const long = days < LONG_DAYS ? [] : [{ from: longAt, to: longAt + LONG_OUTAGE_MS }];
  return merged([...drawWindows(random, span, 0.3, 80 * MINUTE, 8 * HOUR), ...long]).map((window) => ({
    ...window,
    members: numbers.filter(() => random.chance(0.3)),
  }));
}

/** Draws the histories of validators. */
export function drawValidators(
  random: Random,
  span: Span,
  rhythm: Rhythm,
  validatorCount: number,
  isCalm: boolean,
): ValidatorHistory {
  const { startAt, days } = span;
  const changeAt = startAt + (days / 2) * DAY;
  const watchedCount = Math.min(WATCHED, validatorCount);
  const numbers = Array.from({ length: validatorCount }, (_, number) => number);
  const silences = numbers.map((number) => {
    if (isCalm) return [];
    if (number >= watchedCount) return drawWindows(random, span, 0.1, 5 * MINUTE, 5 * HOUR);
    const most = random.pick([40 * MINUTE, 4 * HOUR, 9 * HOUR, 30 * HOUR]);
    return drawWindows(random, span, 0.7, 5 * MINUTE, most);
  });
  const outages = isCalm ? [] : drawOutages(random, span, numbers);
  for (const { from, to, members } of outages)
    for (const member of members) silences[member]?.push({ from, to });
  const spreads = drawSpreads(random, span, validatorCount);
  const traffic = new Map(
    Array.from({ length: watchedCount }, (_, validator) => [validator, drawTraffic(random, span)] as const),
  );
  const bounds = (validator: number, at: number) => boundsOf(rhythm, validator, at, changeAt);
  // Validators that join later are never silent. Their reports are at the end.
  const reports = [...numbers, ...numbers.slice(0, JOINED)].map((_, place) =>
    drawReports(random, span, (at) => bounds(place, at), merged(silences[place] ?? [])),
  );
  const reportsOf = (validator: number): Reports => {
    const own = reports[validator];
    if (!own) throw new RangeError(`There is no validator ${validator}`);
    return own;
  };

  return {
    rhythm,
    changeAt: rhythm === "change" ? changeAt : null,
    validatorCount,
    watchedCount,
    outages,
    bounds,
    spreads,
    traffic,
    lastSeen(validator, at) {
      const { madeAt, arrivedAt } = reportsOf(validator);
      return madeAt[lastIndex(arrivedAt, at)] ?? startAt - DAY;
    },
    arrivalAfter(validator, at) {
      const { madeAt, arrivedAt } = reportsOf(validator);
      return arrivedAt[lastIndex(madeAt, at) + 1] ?? Number.POSITIVE_INFINITY;
    },
    lastReport(validator, at) {
      const { madeAt } = reportsOf(validator);
      return madeAt[lastIndex(madeAt, at)] ?? startAt - DAY;
    },
    nextReport(validator, at) {
      const { madeAt } = reportsOf(validator);
      return madeAt[lastIndex(madeAt, at) + 1] ?? Number.POSITIVE_INFINITY;
    },
    versionOf: (validator, at) =>
      spreads.findLast(({ upgrades }) => (upgrades.get(validator) ?? Number.POSITIVE_INFINITY) <= at)
        ?.version ?? FIRST_VERSION,
  };
}

/** Returns a validator's traffic at a time, `undefined` if it is not watched. */
export const trafficAt = (
  { traffic }: Pick<ValidatorHistory, "traffic">,
  validator: number,
  at: number,
): TrafficStep | undefined => stepAt(traffic.get(validator) ?? [], at);
