import { describe, expect, it } from "vitest";
import {
  decidedBy,
  isOpen,
  isOver,
  neededFor,
  type StatusGroup,
  statusGroup,
  votableUntil,
  votesNeeded,
} from "../../src/ledger/vote-rules.js";
import { DAY } from "../../src/util/units.js";
import { NOW } from "./vote-requests.js";

describe("the meaning of a status", () => {
  it.each<[string | null, StatusGroup]>([
    ["In Progress", "open"],
    ["IN_PROGRESS", "open"],
    ["open", "open"],
    ["Active", "open"],
    ["Accepted", "accepted"],
    ["approved", "accepted"],
    ["VRO_Accepted", "accepted"],
    ["Implemented", "implemented"],
    ["executed", "implemented"],
    ["Rejected", "rejected"],
    ["VRO_Rejected", "rejected"],
    ["Expired", "expired"],
    ["VRO_Expired", "expired"],
    ["VRO_AcceptedButActionFailed", "failed"],
    ["Closed", "other"],
    ["Passed", "other"],
    ["CONSTRUCTOR", "other"],
    ["__proto__", "other"],
    ["", "other"],
    [null, "other"],
  ])("%j is %s", (status, group) => {
    expect(statusGroup(status)).toBe(group);
  });
});

describe("until when votes can be cast", () => {
  it.each<[number | null, number | null, number | null]>([
    [5, null, 5],
    [5, 9, 9],
    [null, 9, 9],
    [9, 5, 9],
    [null, null, null],
  ])("with the deadline %j and the effective date %j", (voteBefore, targetEffectiveAt, until) => {
    expect(votableUntil({ voteBefore, targetEffectiveAt })).toBe(until);
  });
});

describe("whether a vote is over, or open", () => {
  const state = (
    status: string | null,
    voteBefore: number | null,
    targetEffectiveAt: number | null = null,
  ) => ({
    status,
    voteBefore,
    targetEffectiveAt,
  });
  it.each<[string, ReturnType<typeof state>, over: boolean, open: boolean]>([
    ["by a known word, whatever the dates", state("Rejected", NOW + DAY), true, false],
    ["not by a word for open, whatever the dates", state("Open", NOW - DAY), false, true],
    ["not by an unknown word before the deadline", state("Closed", NOW + 1), false, true],
    ["by an unknown word at the deadline", state("Closed", NOW), true, false],
    ["not by an unknown word before the effective date", state("Closed", NOW - DAY, NOW + 1), false, true],
    ["by an unknown word after both", state("Closed", NOW - DAY, NOW), true, false],
    ["not by an unknown word without dates", state("Closed", null), false, false],
    ["not by no word at all, though its date is past", state(null, NOW - DAY), false, false],
    ["open without a word before its date", state(null, NOW + 1), false, true],
  ])("%s", (_, given, over, open) => {
    expect(isOver(given, NOW)).toBe(over);
    expect(isOpen(given, NOW)).toBe(open);
  });
});

describe("how many votes it takes", () => {
  it.each([
    [1, 1],
    [4, 3],
    [13, 9],
    [14, 10],
    [15, 10],
    [16, 11],
    [20, 14],
  ])("of %d super validators", (all, votes) => {
    expect(votesNeeded(all)).toBe(votes);
  });

  it.each<
    [
      string,
      { yes: number | null; no: number | null; pending: number | null },
      number | undefined,
      number | undefined,
    ]
  >([
    ["by its own tally, where the dashboard says otherwise", { yes: 8, no: 1, pending: 7 }, 13, 11],
    ["by the dashboard, where the tally is not whole", { yes: 8, no: 1, pending: null }, 13, 9],
    ["by the dashboard, where yes is not given", { yes: null, no: 1, pending: 3 }, 13, 9],
    ["by the dashboard, where no is not given", { yes: 1, no: null, pending: 3 }, 13, 9],
    ["by the dashboard, where nobody is counted", { yes: 0, no: 0, pending: 0 }, 13, 9],
    ["not at all, where neither says", { yes: null, no: null, pending: null }, undefined, undefined],
  ])("is known %s", (_, tally, superValidators, needed) => {
    expect(neededFor(tally, superValidators)).toBe(needed);
  });

  it.each<[string, number | null, number | null, number | undefined, "yes" | "no" | undefined]>([
    ["too few either way", 8, 4, 9, undefined],
    ["enough yes", 9, 4, 9, "yes"],
    ["enough no", 1, 9, 9, "no"],
    ["enough no, whatever the yes", 9, 9, 9, "no"],
    ["counts that are not given", null, null, 1, undefined],
    ["nobody knows how many are needed", 9, 9, undefined, undefined],
  ])("and who has them: %s", (_, yes, no, needed, side) => {
    expect(decidedBy({ yes, no, pending: null }, needed)).toBe(side);
  });
});
