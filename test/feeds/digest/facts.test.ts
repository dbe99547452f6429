import { describe, expect, it } from "vitest";
import { type Facts, participationIn } from "../../../src/feeds/digest/facts.js";
import { digestView, percentOf } from "../../../src/feeds/digest/messages.js";
import { DEFAULT_COIN, withCoin } from "../../../src/text/coin.js";
import { DAY, HOUR } from "../../../src/util/units.js";

describe("the price in a digest", () => {
  const UNTIL = Date.UTC(2026, 10, 22);
  const facts: Facts = {
    opened: { count: 0, named: [] },
    closed: { count: 0, named: [] },
    soon: { count: 0, named: [] },
    participation: null,
    validators: null,
    version: null,
    price: null,
  };
  it.each([
    ["its change over the period", {}, "0.1600 USD for one CC, +6.67 %"],
    [
      "its change since the first price",
      { since: UNTIL - 5 * HOUR },
      /0.1600 USD for one CC, \+6.67 % since <t:\d+:f>$/,
    ],
    ["no change within the last hour", { since: UNTIL - HOUR + 1 }, "0.1600 USD for one CC"],
  ])("has %s", (_, since, expected) => {
    const price = { from: "0.15", to: "0.16", ...since };
    const period = { since: UNTIL - DAY, until: UNTIL, every: "day", isLate: false } as const;
    const { fields = [] } = digestView({ ...facts, price }, period, "mark");
    const text = withCoin(fields.find(({ name }) => name === "Price")?.value.toString() ?? "", DEFAULT_COIN);
    if (typeof expected === "string") expect(text).toBe(expected);
    else expect(text).toMatch(expected);
  });
});

describe("participation", () => {
  const tally = (yes: number | null, no: number | null, pending: number | null) => ({ yes, no, pending });
  it.each([
    ["counts cast and missing votes", [tally(9, 1, 3), tally(5, 5, 3)], undefined, { cast: 20, all: 26 }],
    ["uses the dashboard's count if a tally has none", [tally(3, 0, null)], 13, { cast: 3, all: 13 }],
    ["is unknown if nothing says how many could vote", [tally(3, 0, null)], undefined, null],
    ["is unknown if one of several is", [tally(9, 1, 3), tally(3, 0, null)], undefined, null],
    ["is unknown without requests", [], 13, null],
    ["is never more than everything", [tally(9, 5, null)], 13, { cast: 14, all: 14 }],
  ])("%s", (_, tallies, superValidators, expected) => {
    expect(participationIn(tallies, superValidators)).toEqual(expected);
  });

  it.each([
    [259, 260, 99],
    [260, 260, 100],
    [1, 1_000, 1],
    [0, 13, 0],
    [20, 26, 77],
  ])("%d of %d votes are %d %", (part, whole, percent) => {
    expect(percentOf(part, whole)).toBe(percent);
  });
});
