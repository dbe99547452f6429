import { describe, expect, it } from "vitest";
import type { TrackedVoteRequest } from "../../src/feeds/governance/collections.js";
import {
  compare,
  firstSeen,
  isCorrected,
  isInDoubt,
  mayHaveMoved,
  sawQuorum,
  tallyOf,
  toVoteRequest,
  withReopening,
  withTold,
  withTracked,
} from "../../src/feeds/governance/tracking.js";
import { fromExplorer } from "../../src/ledger/vote-requests.js";
import { DAY, HOUR } from "../../src/util/units.js";
import { NOW, row, tracked } from "./vote-requests.js";

const restated = (given: Partial<TrackedVoteRequest>) =>
  tracked({ phase: "closed", closedAt: NOW - DAY, status: "Rejected", toldStatus: "Accepted", ...given });

describe("another outcome than the one that was announced", () => {
  const { toldStatus, ...untold } = restated({ restatedAt: NOW });
  const { closedAt, ...undated } = restated({ restatedAt: NOW - HOUR });
  it.each<[what: string, request: TrackedVoteRequest, inDoubt: boolean, corrected: boolean]>([
    ["was never stated", restated({}), false, false],
    ["has just been stated", restated({ restatedAt: NOW }), true, false],
    ["was stated almost an hour ago", restated({ restatedAt: NOW - HOUR + 1 }), true, false],
    ["was stated an hour ago", restated({ restatedAt: NOW - HOUR }), false, true],
    ["is only the next step", restated({ restatedAt: NOW, status: "Implemented" }), false, false],
    ["is stated in unknown words", restated({ restatedAt: NOW - HOUR, status: "Odd" }), false, false],
    ["follows an end that was not told", untold, true, false],
    [
      "comes almost a week after the end",
      restated({ restatedAt: NOW - HOUR, closedAt: NOW - 7 * DAY + 1 }),
      false,
      true,
    ],
    [
      "comes a week after the end",
      restated({ restatedAt: NOW - HOUR, closedAt: NOW - 7 * DAY }),
      false,
      false,
    ],
    ["comes after an end at an unknown time", undated, false, false],
  ])("%s", (_, request, inDoubt, corrected) => {
    expect(isInDoubt(request, NOW)).toBe(inDoubt);
    expect(isCorrected(request, NOW)).toBe(corrected);
  });

  it.each<[what: string, known: Partial<TrackedVoteRequest>, isNoted: boolean]>([
    ["of a closed request", { phase: "closed" }, true],
    ["of one that ended while the bot was away", { phase: "ignored", openUntil: NOW - DAY }, true],
    ["of one that had ended before the bot was started", { phase: "ignored" }, false],
    ["of an open one", { phase: "open", openUntil: NOW - DAY }, false],
    ["of one whose end is unknown", { phase: "closed", endUnconfirmed: true }, false],
  ])("is remembered if it is the outcome %s", (_, given, isNoted) => {
    const known = tracked({ status: "Accepted", ...given });
    const next = { ...known, status: "Rejected" };
    expect(withTold(known, next, NOW)).toEqual(
      isNoted ? { ...next, toldStatus: "Accepted", restatedAt: NOW } : next,
    );
  });
});

describe("other dates in one read", () => {
  const other = { ...tracked().terms, voteBefore: NOW + 2 * DAY };
  const later = { ...tracked().terms, targetEffectiveAt: NOW + 2 * DAY };
  it.each<[what: string, given: Partial<TrackedVoteRequest>, expected: boolean]>([
    ["no other dates", {}, false],
    ["another quorum date", { unconfirmed: other }, true],
    ["another decision date", { unconfirmed: later }, true],
    ["only another title", { unconfirmed: { ...tracked().terms, title: "Other" } }, false],
    ["other dates of a request that is not listed", { unconfirmed: other, missedReads: 1 }, false],
    ["other dates in each read", { unconfirmed: other, isDisputed: true }, false],
  ])("%s", (_, given, expected) => {
    expect(mayHaveMoved(tracked(given))).toBe(expected);
  });
});

describe("a request that is listed again", () => {
  it.each([
    [1, 0],
    [2, 1],
  ])("after %d reads without it has %d new revisions", (missedReads, more) => {
    const known = tracked({ missedReads });
    const next = { ...known, missedReads: 0, revision: known.revision + more };
    expect(compare(known, row({}), true, NOW).next).toEqual(next);
    const newer = { contractIds: ["c1", "c2"] };
    expect(compare({ ...known, ...newer }, row({}), true, NOW).next).toEqual({ ...next, ...newer });
  });

  it("has no new revision after its end", () => {
    const known = tracked({ phase: "closed", status: "Accepted", missedReads: 2 });
    const { next } = compare(known, row({ status: "Accepted" }), true, NOW);
    expect(next).toEqual({ ...known, missedReads: 0 });
  });

  it.each<[hours: number, isOpen: boolean]>([
    [7 * 24 - 1, true],
    [7 * 24, false],
  ])("%d hours after its end may have been reopened: %s", (hours, isOpen) => {
    const ended = tracked({ phase: "closed", status: "Expired", closedAt: NOW - hours * HOUR });
    const known = { ...ended, listedOpenAt: NOW - HOUR };
    expect(withReopening(known, row({}), NOW).phase).toBe(isOpen ? "open" : "closed");
  });

  it("is not reopened while it is open", () => {
    const known = tracked({ listedOpenAt: NOW - HOUR });
    expect(withReopening(known, row({}), NOW)).toBe(known);
  });
});

describe("a row without a status that is past its dates", () => {
  const past = row({ status: null, voteBefore: NOW - 2, targetEffectiveAt: NOW - 1 });
  it.each([
    [false, undefined],
    [true, "ignored"],
  ])("is tracked in the baseline only (%s)", (baseline, phase) => {
    expect(firstSeen(past, NOW, baseline)?.phase).toBe(phase);
  });
});

describe("a tally", () => {
  const votes = { ann: true, bob: true, cid: true, dan: false };
  it.each<[what: string, given: Partial<TrackedVoteRequest>, expected: object]>([
    ["is that of the votes without counts", { yes: null, no: null, votes }, { yes: 3, no: 1, pending: 9 }],
    ["is that of the votes if a count is missing", { no: null, votes }, { yes: 3, no: 1, pending: 9 }],
    ["is that of the votes if the other is missing", { yes: null, votes }, { yes: 3, no: 1, pending: 9 }],
    [
      "stays unknown without counts and votes",
      { yes: null, no: null, votes: {} },
      { yes: null, no: null, pending: 9 },
    ],
    [
      "includes a vote that has just been read",
      { votes: { ...votes, eve: false } },
      { yes: 3, no: 2, pending: 8 },
    ],
    [
      "includes it although the votes are to be read again",
      { votes: { ...votes, eve: false }, needsDetail: true },
      { yes: 3, no: 2, pending: 8 },
    ],
    ["is that of the list if votes are missing", { votes: { ann: true } }, { yes: 3, no: 1, pending: 9 }],
    [
      "is that of the list while a vote may have been changed",
      { votes: { ...votes, dan: true }, needsDetail: true },
      { yes: 3, no: 1, pending: 9 },
    ],
  ])("%s", (_, given, expected) => {
    expect(tallyOf(tracked(given))).toEqual(expected);
  });

  it("is that of the explorer only if it has more votes", () => {
    const explorers = (yesCount: number) =>
      fromExplorer(row({ yesCount, noCount: 0, abstainCount: 5 }), null);
    expect(withTracked(explorers(5), tracked())).toMatchObject({ yes: 5, no: 0, pending: 5 });
    expect(withTracked(explorers(4), tracked())).toMatchObject({ yes: 3, no: 1, pending: 9 });
    expect(withTracked(explorers(2), tracked())).toMatchObject({ yes: 3, no: 1, pending: 9 });
  });
});

describe("a quorum", () => {
  const before = NOW + DAY;
  it.each<[what: string, given: Partial<TrackedVoteRequest>, terms: object, expected: boolean]>([
    ["that was not seen", {}, {}, false],
    ["that was seen before the date", { quorumAt: before - 1 }, {}, true],
    ["that was seen at the date", { quorumAt: before }, {}, false],
    ["of yes votes alone", { enoughYesAt: before - 1 }, {}, true],
    ["of a request without a date", { quorumAt: 0 }, { voteBefore: null }, false],
  ])("%s", (_, given, terms, expected) => {
    const request = tracked(given, terms);
    expect(sawQuorum(request)).toBe(expected);
    expect(toVoteRequest(request).hasExpired).toBe(expected ? false : undefined);
    expect(toVoteRequest({ ...request, hasExpired: true }).hasExpired).toBe(true);
  });

  it.each<[given: Partial<TrackedVoteRequest>, expected: object | undefined]>([
    [
      { openUntil: NOW - 1, closedAt: NOW },
      { after: NOW - 1, by: NOW },
    ],
    [{ openUntil: NOW - 1 }, undefined],
    [{ closedAt: NOW }, undefined],
    [{ openUntil: NOW - 1, closedAt: NOW, endUnconfirmed: true }, undefined],
  ])("and an end between the times that were seen: %j", (given, expected) => {
    expect(toVoteRequest(tracked(given)).closed).toEqual(expected);
  });
});
