import { describe, expect, it } from "vitest";
import { createAge } from "../../src/discord/clock.js";

describe("an interaction's age", () => {
  /** Returns the age at each arrival, given as [monotonic ms on this machine, creation time by Discord's clock]. */
  const ages = (...arrivals: readonly (readonly [number, number])[]) => {
    let at = 0;
    const ageOf = createAge(() => at);
    return arrivals.map(([steady, created]) => {
      at = steady;
      return Math.round(ageOf(created));
    });
  };

  it("is the delay compared to the fastest arrivals, whatever the clock offset", () => {
    const quick = [1, 2, 3].map((second) => [second * 1_000, 899_000 + second * 1_000] as const);
    expect(ages(...quick, [9_000, 902_000])).toEqual([0, 0, 0, 5_992]);
  });

  it("ignores one or two timestamps in the future", () => {
    const after = Array.from({ length: 40 }, (_, second) => [10_000 + second * 100, second * 100] as const);
    expect(Math.max(...ages([0, -7_000], ...after))).toBeLessThan(100);
    expect(Math.max(...ages([0, -7_000], [1, -6_500], ...after))).toBeLessThan(100);
    const before = after.map(([at, created]) => [at - 10_000, created - 10_000] as const);
    expect(Math.max(...ages(...before, [9_000, 2_000], ...after))).toBeLessThan(100);
  });

  it("ignores clock drift, and includes time spent in a queue", () => {
    const drifting = Array.from({ length: 100 }, (_, at) => [at * 60_000 * 1.0001, at * 60_000] as const);
    expect(Math.max(...ages(...drifting))).toBeLessThan(50);
    expect(ages([0, 0], [5_000, 5_000], [10_000, 10_000], [15_000, 11_000]).at(-1)).toBeGreaterThan(3_900);
  });
});
