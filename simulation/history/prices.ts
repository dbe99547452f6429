import type { Random } from "../../sandbox/explorer/random.js";
import { DAY, MINUTE } from "../../src/util/units.js";
import type { Span } from "./windows.js";

/** Interval between prices, in ms. */
export const PRICE_STEP = 10 * MINUTE;

/** A price of one CC in USD, and the time from which it is valid. */
export interface PriceStep {
  readonly at: number;
  readonly usd: number;
}

/** Limits of price alerts, in USD. */
const LIMITS = [0.156, 0.144, 0.16] as const;
const EXACT_EVERY = 47;
/** Factor of the first move, and its time after the start, in ms. */
const EARLY_MOVE = 1.05;
export const EARLY_AT = 2 * PRICE_STEP;

/** Draws a price that varies around a value, with occasional jumps. */
export function drawPrices(random: Random, { startAt, days }: Span): PriceStep[] {
  const steps: PriceStep[] = [];
  let usd = 0.15;
  for (let at = startAt - 2 * DAY; at < startAt + days * DAY; at += PRICE_STEP) {
    const jump = random.chance(0.012) ? random.pick([-0.08, -0.05, 0.05, 0.08]) : 0;
    usd *= 1 + (random.next() - 0.5) * 0.008 + jump + (0.15 - usd) * 0.05;
    // Once it moves before the bot has known it for an hour.
    if (at === startAt + EARLY_AT) usd *= EARLY_MOVE;
    // Now and then it is exactly at a limit that people watch.
    const isExact = steps.length % EXACT_EVERY === 0;
    steps.push({ at, usd: isExact ? (LIMITS[steps.length % LIMITS.length] ?? usd) : Number(usd.toFixed(6)) });
  }
  return steps;
}
