import { describe, expect, it } from "vitest";
import { createAge } from "../../src/discord/age.js";

describe("an interaction's age", () => {
  /** Arrivals as [steady ms on this machine, created at by Discord's clock]. */
  const ages = (...arrivals: readonly (readonly [number, number])[]) => {
    let at = 0;
    const ageOf = createAge(() => at);
    return arrivals.map(([steady, created]) => {
      at = steady;
      return Math.round(ageOf(created));
    });
  };

  it("is what it took longer than the quickest, however far the clocks are apart", () => {
    expect(ages([1_000, 900_000], [2_000, 901_000], [9_000, 905_000])).toEqual([0, 0, 2_993]);
  });

  it("is none for clocks that drift, and real for what waited in a queue", () => {
    const drifting = Array.from({ length: 100 }, (_, at) => [at * 60_000 * 1.0001, at * 60_000] as const);
    expect(Math.max(...ages(...drifting))).toBeLessThan(50);
    expect(ages([0, 0], [10_000, 10_000], [15_000, 11_000]).at(-1)).toBeGreaterThan(3_900);
  });
});
