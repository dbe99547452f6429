import { describe, expect, it } from "vitest";
import {
  decidedBy,
  isOpen,
  isOver,
  neededFor,
  outcomeKnown,
  type StatusGroup,
  statusGroup,
  statusWords,
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

  it.each<[string | null, string, isKnown: boolean]>([
    ["IN_PROGRESS", "In progress", false],
    ["approved", "Accepted", true],
    ["executed", "Implemented", true],
    ["VRO_Rejected", "Rejected", true],
    ["VRO_Expired", "Expired", true],
    ["VRO_AcceptedButActionFailed", "Accepted, but the action failed", true],
    ["Closed", "Closed", true],
    [null, "status not known", false],
  ])("%j reads %j, which is an outcome: %j", (status, words, isKnown) => {
    expect(statusWords(status)).toBe(words);
    expect(outcomeKnown(status)).toBe(isKnown);
  });
});

describe("the end of voting", () => {
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

describe("a vote", () => {
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
    ["is over with a final status, whatever the dates", state("Rejected", NOW + DAY), true, false],
    ["is open with an open status, whatever the dates", state("Open", NOW - DAY), false, true],
    ["is open with an unknown status before the quorum date", state("Closed", NOW + 1), false, true],
    ["is over with an unknown status at the deadline", state("Closed", NOW), true, false],
    [
      "is open with an unknown status before the effective date",
      state("Closed", NOW - DAY, NOW + 1),
      false,
      true,
    ],
    ["is over with an unknown status after both dates", state("Closed", NOW - DAY, NOW), true, false],
    ["is neither open nor over with an unknown status without dates", state("Closed", null), false, false],
    ["is neither open nor over without a status after its date", state(null, NOW - DAY), false, false],
    ["is open without a status before its date", state(null, NOW + 1), false, true],
  ])("%s", (_, given, over, open) => {
    expect(isOver(given, NOW)).toBe(over);
    expect(isOpen(given, NOW)).toBe(open);
  });

  it.each(["Open", "Closed", null])(
    "is over with the status %j once the explorer no longer lists it",
    (status) => {
      const gone = { ...state(status, NOW + DAY), isGone: true };
      expect(isOver(gone, NOW)).toBe(true);
      expect(isOpen(gone, NOW)).toBe(false);
    },
  );
});

describe("the number of votes needed", () => {
  it.each([
    [1, 1],
    [4, 3],
    [13, 9],
    [14, 10],
    [15, 10],
    [16, 11],
    [20, 14],
  ])("for %d super validators", (all, votes) => {
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
    ["from its own tally, even if the dashboard differs", { yes: 8, no: 1, pending: 7 }, 13, 11],
    ["from the dashboard if the tally is incomplete", { yes: 8, no: 1, pending: null }, 13, 9],
    ["from the dashboard if the yes count is missing", { yes: null, no: 1, pending: 3 }, 13, 9],
    ["from the dashboard if the no count is missing", { yes: 1, no: null, pending: 3 }, 13, 9],
    ["from the dashboard if the tally is empty", { yes: 0, no: 0, pending: 0 }, 13, 9],
    ["from neither if both are missing", { yes: null, no: null, pending: null }, undefined, undefined],
  ])("comes %s", (_, tally, superValidators, needed) => {
    expect(neededFor(tally, superValidators)).toBe(needed);
  });

  it.each<[string, number | null, number | null, number | undefined, "yes" | "no" | undefined]>([
    ["too few either way", 8, 4, 9, undefined],
    ["enough yes", 9, 4, 9, "yes"],
    ["enough no", 1, 9, 9, "no"],
    ["enough no, regardless of yes", 9, 9, 9, "no"],
    ["missing counts", null, null, 1, undefined],
    ["an unknown number of needed votes", 9, 9, undefined, undefined],
  ])("decides the winning side: %s", (_, yes, no, needed, side) => {
    expect(decidedBy({ yes, no, pending: null }, needed)).toBe(side);
  });
});
