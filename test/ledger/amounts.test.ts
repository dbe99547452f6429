import { describe, expect, it } from "vitest";
import { sumOf, worth } from "../../src/ledger/amounts.js";

describe("amounts", () => {
  it.each([
    [[], "0"],
    [["0.1", "0.2"], "0.3"],
    [["1000000000000000.0000000001", "0.0000000001", null], "1000000000000000.0000000002"],
    [["5", "-7.5"], "-2.5"],
    [["-0.5", "0.5"], "0"],
  ] as const)("%j add up to exactly %s", (decimals, sum) => {
    expect(sumOf(decimals)).toBe(sum);
  });

  it("are converted with the price, if it is known", () => {
    expect(worth("1109", "0.1523")).toBeCloseTo(168.9, 1);
    expect(worth("0", "0.15")).toBe(0);
    expect([worth(null, "1"), worth("1", null), worth("1", "0"), worth("1e400", "1")]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});
