import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  changeOver,
  type PriceSample,
  plausible,
  SAMPLE_MS,
  samplesIn,
  thin,
} from "../../src/ledger/prices.js";

const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Returns the stored samples of a price that is sampled every five minutes. Samples are added one by one, as by the bot. */
function watch(days: number, priceAt: (at: number) => number): { kept: PriceSample[]; now: number } {
  let kept: PriceSample[] = [];
  let now = START;
  for (; now < START + days * DAY; now += SAMPLE_MS) kept = thin([...kept, [now, String(priceAt(now))]], now);
  return { kept, now: now - SAMPLE_MS };
}

describe("stored prices", () => {
  const { kept, now } = watch(40, (at) => 1 + (at - START) / DAY);

  it("are limited in number, and denser for recent times", () => {
    expect(kept.length).toBeLessThan(1_100);
    expect(samplesIn(kept, "1d", now).length).toBeGreaterThan(280);
    expect(samplesIn(kept, "7d", now).length).toBeGreaterThan(330);
    expect(samplesIn(kept, "30d", now).length).toBeGreaterThan(355);
    expect(samplesIn(kept, "30d", now).length).toBeLessThan(370);
  });

  it("have no gaps caused by thinning", () => {
    const apart = kept.slice(1).map(([at], index) => at - (kept[index]?.[0] ?? 0));
    expect(Math.max(...apart)).toBeLessThanOrEqual(2 * HOUR);
  });

  it("give the change over each span", () => {
    const price = String(1 + (now - START) / DAY);
    const exact = (days: number) => (Number(price) / (Number(price) - days) - 1) * 100;
    expect(changeOver(kept, "1d", now, price)).toBeCloseTo(exact(1), 1);
    expect(changeOver(kept, "7d", now, price)).toBeCloseTo(exact(7), 0);
    expect(changeOver(kept, "30d", now, price)).toBeCloseTo(exact(30), -1);
  });

  it("are kept for the start of a week that is an hour longer, because the clocks are set back", () => {
    const since = now - 7 * DAY - HOUR;
    expect(Math.min(...kept.map(([at]) => Math.abs(at - since)))).toBeLessThanOrEqual(HOUR / 4);
  });

  it("give no change if the price at the start of the span is unknown", () => {
    const young = watch(0.5, () => 1);
    expect(changeOver(young.kept, "1d", young.now, "1")).toBeUndefined();
    expect(changeOver([], "1d", now, "1")).toBeUndefined();
    const gap = kept.filter(([at]) => Math.abs(at - (now - DAY)) > HOUR);
    expect(changeOver(gap, "1d", now, "1")).toBeUndefined();
  });

  it("stay sorted and within limits, whenever samples arrive", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3 * DAY }), { maxLength: 200 }), (steps) => {
        let at = START;
        let held: PriceSample[] = [];
        for (const step of steps) {
          at += step;
          held = thin([...held, [at, "1"]], at);
          expect(at - (held.at(-1)?.[0] ?? 0)).toBeLessThan(SAMPLE_MS);
        }
        expect(held.map(([time]) => time)).toEqual(held.map(([time]) => time).toSorted((a, b) => a - b));
        expect(held.every(([time]) => time > at - 31 * DAY)).toBe(true);
      }),
    );
  });
});

it("leaves out prices that must be wrong, measured by the last day", () => {
  const now = Date.UTC(2026, 10, 26);
  const usual = Array.from({ length: 5 }, (_, hours) => [now - hours * 3_600_000, "0.15"] as const);
  const wrong = [
    [now - 1, "772.41"],
    [now - 2, "0.0001"],
    [now - 3, "0"],
  ] as const;
  const high = [now - 4, "14.9"] as const;
  expect(plausible([...wrong, high, ...usual], now)).toEqual([high, ...usual]);
  expect(plausible(wrong.slice(0, 1), now)).toEqual(wrong.slice(0, 1));
});
