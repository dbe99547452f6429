import { describe, expect, it } from "vitest";
import { participationIn } from "../../../src/feeds/digest/facts.js";
import { percentOf } from "../../../src/feeds/digest/messages.js";

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
