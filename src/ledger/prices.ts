import { signedPercent } from "../text/numbers.js";
import { DAY, HOUR, MINUTE } from "../util/units.js";

/** Price of one CC at a point in time (epoch ms), in USD as a decimal string. */
export type PriceSample = readonly [at: number, usd: string];

/** The prices that this bot has stored, oldest first. */
export interface PriceHistory {
  /** `undefined` if they have never been read successfully. */
  samples(): Promise<readonly PriceSample[] | undefined>;
}

/** Interval of price samples, in ms. */
export const SAMPLE_MS = 5 * MINUTE;

/** Spans of the charts, and the interval of the stored samples in each. There are about 1,000 samples in total. */
export const SPANS = {
  "1d": { ms: DAY, everyMs: SAMPLE_MS },
  "7d": { ms: 7 * DAY, everyMs: 30 * MINUTE },
  "30d": { ms: 30 * DAY, everyMs: 2 * HOUR },
} as const;
export type Span = keyof typeof SPANS;

/** Number of intervals without a sample that count as a gap. */
const GAP_INTERVALS = 3;

/** Returns the maximum time between two samples of a span without a gap, in ms. */
export const gapOf = (span: Span): number => SPANS[span].everyMs * GAP_INTERVALS;

/**
 * Time beyond a span for which its samples are kept, in ms. A week is an hour longer when the clocks are set back, and a digest
 * may be late.
 */
const SPARE_MS = 2 * HOUR;

/**
 * Thins samples by their age. Keeps the first sample of each interval, so that the result is stable. Samples older than the
 * longest span are dropped, except for one at its start.
 */
export function thin(samples: readonly PriceSample[], now: number): PriceSample[] {
  const keptSamples: PriceSample[] = [];
  for (const sample of samples) {
    const [at] = sample;
    const age = now - at;
    if (age > SPANS["30d"].ms + SPANS["30d"].everyMs) continue;
    const every =
      Object.values(SPANS).find(({ ms }) => age <= ms + SPARE_MS)?.everyMs ?? SPANS["30d"].everyMs;
    const lastSample = keptSamples.at(-1);
    if (lastSample && Math.floor(lastSample[0] / every) === Math.floor(at / every)) continue;
    keptSamples.push(sample);
  }
  return keptSamples;
}

/** Returns the samples of a span that ends now, at the interval of that span. */
export function samplesIn(samples: readonly PriceSample[], span: Span, now: number): PriceSample[] {
  const { ms, everyMs } = SPANS[span];
  const inside = samples.filter(([at]) => at >= now - ms && at <= now);
  return inside.filter(
    ([at], index) =>
      index === inside.length - 1 ||
      Math.floor(at / everyMs) !== Math.floor((inside[index - 1]?.[0] ?? 0) / everyMs),
  );
}

/** Returns the sample nearest to a time, within the limit; `undefined` if there is none, or if it is zero. */
function sampleAt(samples: readonly PriceSample[], at: number, withinMs: number): PriceSample | undefined {
  const nearest = samples.reduce<PriceSample | undefined>(
    (best, each) => (!best || Math.abs(each[0] - at) < Math.abs(best[0] - at) ? each : best),
    undefined,
  );
  if (!nearest || Math.abs(nearest[0] - at) > withinMs || Number(nearest[1]) === 0) return undefined;
  return nearest;
}

/** Returns the price at a time: the nearest sample within the limit; `undefined` if there is none, or if it is zero. */
export const priceAt = (samples: readonly PriceSample[], at: number, withinMs: number): string | undefined =>
  sampleAt(samples, at, withinMs)?.[1];

/**
 * Returns the sample to which a change since a point in time is compared: the one at that time, or the oldest one after it.
 * @param withinMs maximum distance of the sample from that time, in ms
 */
export const sampleSince = (
  samples: readonly PriceSample[],
  since: number,
  withinMs: number,
  now: number,
): PriceSample | undefined =>
  sampleAt(samples, since, withinMs) ??
  samples.find(([at, usd]) => at > since && at <= now && Number(usd) !== 0);

/** Returns the change of the price over a span, in percent; `undefined` if there is no sample near its start. */
export function changeOver(
  samples: readonly PriceSample[],
  span: Span,
  now: number,
  price: string,
): number | undefined {
  const priceBefore = priceAt(samples, now - SPANS[span].ms, gapOf(span));
  return priceBefore === undefined ? undefined : (Number(price) / Number(priceBefore) - 1) * 100;
}

/** Returns the change between two prices in percent with a sign: "+3.2%". */
export const percentChange = (from: string, to: string): string =>
  signedPercent((Number(to) / Number(from) - 1) * 100);

/** Returns the median price of the last day, which a single wrong sample does not change. */
export function medianPrice(samples: readonly PriceSample[], now: number): string | undefined {
  const recent = samples.filter(([at]) => at > now - DAY && at <= now).map(([, usd]) => usd);
  return recent.toSorted((a, b) => Number(a) - Number(b))[Math.floor(recent.length / 2)];
}

/** A price that differs from the usual one by this factor is wrong. */
const ABSURD = 100;

/** True if a price differs from the usual one so much that it must be wrong. */
export const isAbsurd = (usd: number, usualUsd: number): boolean =>
  usualUsd > 0 && (usd / usualUsd >= ABSURD || usualUsd / usd >= ABSURD);

/** Returns the samples without prices that must be wrong, measured by the last day's median. */
export function plausible(samples: readonly PriceSample[], now: number): readonly PriceSample[] {
  const usual = Number(medianPrice(samples, now) ?? 0);
  return samples.filter(([, usd]) => !isAbsurd(Number(usd), usual));
}
