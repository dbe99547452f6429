import type { Random } from "../../sandbox/explorer/random.js";
import { DAY, MINUTE, SECOND } from "../../src/util/units.js";
import { type Span, type Window, windowAt } from "./windows.js";

/**
 * Reporting rhythms of a network: the same for all, different for each validator, or changed halfway through.
 */
export const RHYTHMS = ["ten", "hour", "irregular", "mixed", "change"] as const;
export type Rhythm = (typeof RHYTHMS)[number];

/** Minimum and maximum gap between two reports of a healthy validator, in ms. */
export interface GapBounds {
  readonly least: number;
  readonly most: number;
}

const TEN: GapBounds = { least: 9 * MINUTE, most: 12 * MINUTE };
const HOURLY: GapBounds = { least: 60 * MINUTE, most: 65 * MINUTE };
const IRREGULAR: GapBounds = { least: 60 * MINUTE, most: 95 * MINUTE };

/** Maximum delay of one report in fifty, in ms. All others reach the explorer within half a minute. */
const LATEST_MS = 12 * MINUTE;

/** The reports of a validator, sorted: the time when each was made, and when it reached the explorer. */
export interface Reports {
  readonly madeAt: Float64Array;
  readonly arrivedAt: Float64Array;
}

/**
 * Returns the bounds of a validator's gaps at a time.
 * @param changeAt halfway point of the history
 */
export function boundsOf(rhythm: Rhythm, validator: number, at: number, changeAt: number): GapBounds {
  switch (rhythm) {
    case "ten":
      return TEN;
    case "hour":
      return HOURLY;
    case "irregular":
      return IRREGULAR;
    case "mixed":
      return [TEN, HOURLY, IRREGULAR][validator % 3] ?? TEN;
    case "change":
      return at < changeAt ? TEN : HOURLY;
  }
}

/** Draws the reports of a validator. It makes none during its silences. */
export function drawReports(
  random: Random,
  { startAt, days }: Span,
  bounds: (at: number) => GapBounds,
  silences: readonly Window[],
): Reports {
  const madeAt: number[] = [];
  const arrivedAt: number[] = [];
  const endAt = startAt + (days + 3) * DAY;
  // The gaps of a validator are equal, except in rhythms with varying gaps.
  const pace = random.next();
  const gapAt = (at: number): number => {
    const { least, most } = bounds(at);
    const share = most > 1.3 * least && most > 90 * MINUTE ? random.next() : pace;
    return Math.round(least + share * (most - least));
  };
  const first = startAt - DAY;
  for (let at = first + random.int(0, gapAt(first)); at < endAt; at += gapAt(at)) {
    if (windowAt(silences, at)) continue;
    const delay = random.chance(0.02) ? random.int(MINUTE, LATEST_MS) : random.int(SECOND, 30 * SECOND);
    madeAt.push(at);
    arrivedAt.push(Math.max(at + delay, arrivedAt.at(-1) ?? 0));
  }
  return { madeAt: Float64Array.from(madeAt), arrivedAt: Float64Array.from(arrivedAt) };
}

/** Returns the index of the last time up to a moment, -1 if there is none. */
export function lastIndex(times: Float64Array, at: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
