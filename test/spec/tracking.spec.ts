import { describe, expect, it } from "vitest";
import type { VoteRequestListItem } from "../../src/explorer/schema/governance.js";
import type { TrackedVoteRequest } from "../../src/feeds/governance/collections.js";
import { decide } from "../../src/feeds/governance/decisions.js";
import {
  compare,
  firstSeen,
  isCorrected,
  keyOf,
  mayHaveMoved,
  requestKey,
  tallyOf,
  toVoteRequest,
  withReopening,
  withTold,
  withTracked,
} from "../../src/feeds/governance/tracking.js";
import { fromExplorer } from "../../src/ledger/vote-requests.js";
import { DAY, HOUR } from "../../src/util/units.js";
import { NOW, row, tracked } from "./vote-requests.js";

describe("firstSeen", () => {
  const cases: readonly [
    what: string,
    row: Partial<VoteRequestListItem>,
    baseline: boolean,
    expected: Partial<TrackedVoteRequest> | undefined,
  ][] = [
    ["tracks an open request with its votes", {}, false, { phase: "open", votes: {}, needsDetail: true }],
    [
      "needs no detail for a request without votes",
      { yesCount: 0, noCount: 0 },
      false,
      { phase: "open", votes: {}, needsDetail: false },
    ],
    ["treats missing counts as no votes", { yesCount: null, noCount: null }, false, { needsDetail: false }],
    ["counts a no vote as a vote", { yesCount: 0, noCount: 1 }, false, { needsDetail: true }],
    ["ignores a closed request", { status: "Rejected" }, false, { phase: "ignored", closedAt: NOW }],
    ["treats an unknown status as open before the quorum date", { status: "Odd" }, false, { phase: "open" }],
    [
      "treats an unknown status as over after both dates",
      { status: "Odd", voteBefore: NOW - 2, targetEffectiveAt: NOW - 1 },
      false,
      { phase: "ignored" },
    ],
    [
      "treats an unknown status as open before the later date",
      { status: "Odd", voteBefore: NOW - 2, targetEffectiveAt: NOW + 1 },
      false,
      { phase: "open" },
    ],
    [
      "treats an unknown status as over at the deadline",
      { status: "Odd", voteBefore: NOW },
      false,
      { phase: "ignored" },
    ],
    ["ignores a row without an id", { contractId: null, trackingCid: null }, false, undefined],
    ["accepts a row without a title", { title: null }, false, { terms: tracked({}, { title: null }).terms }],
    ["ignores a row without a status and a deadline", { status: null, voteBefore: null }, false, undefined],
    ["accepts a row with only a deadline", { status: null }, false, { phase: "open" }],
    [
      "accepts a row with only an effective date",
      { status: null, voteBefore: null, targetEffectiveAt: NOW + 1 },
      false,
      { phase: "open" },
    ],
    [
      "accepts a row with only a status",
      { status: "In Progress", voteBefore: null },
      false,
      { phase: "open", terms: { title: "A title", action: null, voteBefore: null, targetEffectiveAt: null } },
    ],
    [
      "stores no contract id if there is none",
      { contractId: null, trackingCid: "t" },
      false,
      { contractIds: [], identity: "t" },
    ],
    [
      "keeps a constructor as the title",
      { title: "SRARC_OffboardSv" },
      false,
      { terms: tracked({}, { title: "SRARC_OffboardSv" }).terms },
    ],
  ];
  it.each(cases)("%s", (_, given, baseline, expected) => {
    const first = firstSeen(row(given), NOW, baseline);
    if (expected === undefined) expect(first).toBeUndefined();
    else expect(first).toMatchObject(expected);
  });

  it("stores everything that is compared later", () => {
    expect(firstSeen(row({}), NOW, false)).toEqual({
      identity: "c1",
      contractIds: ["c1"],
      phase: "open",
      status: "In Progress",
      requester: "Falcon",
      terms: { title: "A title", action: null, voteBefore: NOW + DAY, targetEffectiveAt: null },
      yes: 3,
      no: 1,
      pending: 9,
      revision: 1,
      missedReads: 0,
      votes: {},
      needsDetail: true,
      voteSequence: 0,
      changeSequence: 0,
      reminded: [],
    });
  });

  it("reports no votes from before the first reading or on ended requests", () => {
    expect(firstSeen(row({}), NOW, true)).not.toHaveProperty("votes");
    expect(firstSeen(row({}), NOW, true)).not.toHaveProperty("needsDetail");
    expect(firstSeen(row({ status: "Expired" }), NOW, false)).not.toHaveProperty("votes");
    expect(firstSeen(row({}), NOW, false)).not.toHaveProperty("closedAt");
  });
});

describe("compare", () => {
  const known = tracked();

  it("finds no change in an unchanged row", () => {
    expect(compare(known, row({}), true, NOW)).toEqual({ next: known, closed: false });
  });

  it("accepts a version with more votes, and requests its detail", () => {
    const { next, closed } = compare(
      known,
      row({ contractId: "c2", trackingCid: "c1", yesCount: 4 }),
      false,
      NOW,
    );
    expect(closed).toBe(false);
    expect(next).toEqual({
      ...known,
      contractIds: ["c1", "c2"],
      yes: 4,
      needsDetail: true,
      revision: known.revision + 1,
    });
  });

  it("treats a no vote like any other", () => {
    const { next } = compare(known, row({ noCount: 2 }), true, NOW);
    expect(next).toEqual({ ...known, no: 2, needsDetail: true, revision: known.revision + 1 });
  });

  it.each<[string, Partial<TrackedVoteRequest>, Partial<VoteRequestListItem>]>([
    ["an older version of two", { contractIds: ["c1", "c2"] }, { contractId: "c1", yesCount: 9 }],
    ["an older version of three", { contractIds: ["c0", "c1", "c2"] }, { contractId: "c1", yesCount: 9 }],
    ["a new version with fewer votes", {}, { contractId: "c9", yesCount: 2 }],
    ["a row without vote counts", {}, { contractId: "c9", yesCount: null, noCount: null }],
    ["fewer votes, without a contract id", {}, { contractId: null, trackingCid: "c1", yesCount: 2 }],
  ])("treats %s as a stale answer", (_, was, given) => {
    const before = tracked({ ...was, missedReads: 1 });
    expect(compare(before, row({ ...given, title: "Another" }), true, NOW)).toEqual({
      next: { ...before, missedReads: 0 },
      closed: false,
    });
  });

  it.each<[string, Partial<TrackedVoteRequest>, Partial<VoteRequestListItem>]>([
    ["the newest version again, with fewer votes", {}, { yesCount: 2 }],
    ["another version with as many votes", {}, { contractId: "c9" }],
    [
      "another version where no votes were known",
      { yes: null, no: null },
      { contractId: "c9", yesCount: 0, noCount: 0 },
    ],
  ])("accepts %s", (_, was, given) => {
    const { next } = compare(tracked(was), row(given), false, NOW);
    expect([next.yes, next.no]).toEqual([given.yesCount ?? 3, given.noCount ?? 1]);
    expect(next.contractIds.at(-1)).toBe(given.contractId ?? "c1");
  });

  it.each([
    ["accepts a late outcome", { endUnconfirmed: true }, "Accepted", 6, undefined],
    [
      "accepts a late outcome with the same status as before",
      { endUnconfirmed: true, status: "Odd" },
      "Odd",
      6,
      undefined,
    ],
    ["waits for an outcome while it is listed as open", { endUnconfirmed: true }, "In Progress", 5, true],
    ["waits for an outcome while it is listed without a status", { endUnconfirmed: true }, null, 5, true],
    ["changes nothing for a known outcome", { status: "Accepted" }, "Accepted", 5, undefined],
  ] as const)("of a closed request: %s", (_, given, status, revision, endUnconfirmed) => {
    const { next, closed } = compare(tracked({ phase: "closed", ...given }), row({ status }), true, NOW);
    expect(closed).toBe(false);
    expect([next.revision, next.endUnconfirmed]).toEqual([revision, endUnconfirmed]);
  });

  it.each([
    ["another outcome", "Accepted", "Rejected", {}, true],
    ["a known outcome after an unknown word", "Closed_by_DSO", "Rejected", {}, true],
    ["an action that failed after all", "Accepted", "VRO_AcceptedButActionFailed", {}, true],
    ["the same outcome in other words", "Rejected", "VRO_Rejected", {}, false],
    ["an accepted request that is carried out", "Accepted", "Implemented", {}, false],
    ["an unknown word after a known outcome", "Rejected", "Closed_by_DSO", {}, false],
    ["another outcome after a week", "Accepted", "Rejected", { closedAt: NOW - 8 * DAY }, false],
    [
      "another outcome of a request that was never told to end",
      "Accepted",
      "Rejected",
      { phase: "ignored" },
      false,
    ],
    ["an outcome that was unknown", null, "Rejected", { endUnconfirmed: true }, false],
  ] as const)(
    "corrects what was told once it has lasted for an hour: %s, %s and then %s",
    (_, before, after, given, expected) => {
      const told = tracked({ phase: "closed", closedAt: NOW - DAY, status: before, ...given });
      const read = (known: TrackedVoteRequest, status: string | null, at: number) =>
        withTold(known, compare(known, row({ status }), true, at).next, at);
      const once = read(told, after, NOW);
      expect(isCorrected(once, NOW)).toBe(false);
      expect(isCorrected(read(once, after, NOW + HOUR), NOW + HOUR)).toBe(expected);
      // An answer that is taken back was no correction, and one that comes again has to last.
      const back = read(once, before, NOW + HOUR / 2);
      expect(isCorrected(read(back, before, NOW + 2 * HOUR), NOW + 2 * HOUR)).toBe(false);
      expect(isCorrected(read(back, after, NOW + HOUR), NOW + HOUR)).toBe(false);
    },
  );

  it("reopens a request that is listed as open for an hour after its end", () => {
    const over = tracked({ phase: "closed", closedAt: NOW - DAY, openUntil: NOW - DAY, status: "Expired" });
    const seen = withReopening(over, row({}), NOW);
    expect(seen).toEqual({ ...over, listedOpenAt: NOW });
    expect(withReopening(seen, row({}), NOW + HOUR - 1)).toBe(seen);
    expect(withReopening(seen, row({ status: "Expired" }), NOW + HOUR)).toEqual(over);
    // An old version of the row says nothing.
    const stale = row({ contractId: "c0", yesCount: 1 });
    expect(withReopening(over, stale, NOW)).toBe(over);
    expect(withReopening(seen, row({}), NOW + HOUR)).toEqual(
      tracked({ reopenedAt: NOW + HOUR, revision: over.revision + 1 }),
    );
  });

  it.each([
    ["was never announced", { phase: "ignored" }, {}],
    ["ended more than a week ago", { closedAt: NOW - 8 * DAY }, {}],
    ["is more than a day past its dates", {}, { voteBefore: NOW - DAY - 1 }],
  ] as const)("does not reopen a request that %s", (_, given, terms) => {
    const over = tracked({ phase: "closed", closedAt: NOW - DAY, listedOpenAt: NOW - DAY, ...given }, terms);
    expect(withReopening(over, row({}), NOW)).toBe(over);
  });

  it("takes the dates of a row that has ended, which nothing confirms", () => {
    const known = tracked({ unconfirmed: { ...tracked().terms, voteBefore: NOW } });
    const { next } = compare(known, row({ status: "Expired", voteBefore: NOW - HOUR }), true, NOW);
    expect(next.terms.voteBefore).toBe(NOW - HOUR);
    expect(next).not.toHaveProperty("unconfirmed");
    const stale = row({ contractId: "c9", yesCount: 1, status: "Expired", voteBefore: NOW });
    expect(compare(tracked(), stale, true, NOW).next.terms.voteBefore).toBe(NOW + DAY);
  });

  it("may be overdue again with other dates", () => {
    const moved = { ...tracked().terms, targetEffectiveAt: NOW + 2 * DAY };
    const told = tracked({ toldOverdue: true, unconfirmed: moved }, { targetEffectiveAt: NOW + DAY });
    expect(mayHaveMoved(told)).toBe(true);
    expect(compare(told, row({ targetEffectiveAt: NOW + 2 * DAY }), true, NOW).next).not.toHaveProperty(
      "toldOverdue",
    );
    const named = tracked({ toldOverdue: true, unconfirmed: { ...tracked().terms, title: "B" } });
    expect(mayHaveMoved(named)).toBe(false);
    expect(compare(named, row({ title: "B" }), true, NOW).next.toldOverdue).toBe(true);
  });

  it("does not take the first page alone for another outcome", () => {
    const told = tracked({ phase: "closed", closedAt: NOW - DAY, status: "Accepted" });
    expect(compare(told, row({ status: "Rejected" }), false, NOW).next.status).toBe("Accepted");
  });

  it("accepts an ending even from a stale version", () => {
    const was = tracked({ contractIds: ["c1", "c2"] });
    const { next, closed } = compare(was, row({ contractId: "c1", status: "Rejected" }), false, NOW);
    expect(closed).toBe(true);
    expect(next).toMatchObject({ phase: "closed", status: "Rejected", revision: was.revision + 1 });
    expect(next.contractIds).toEqual(["c1", "c2"]);
  });

  it("treats an unknown status as an ending only after the last date", () => {
    const given = row({ status: "Passed" });
    expect(compare(known, given, true, NOW)).toMatchObject({
      closed: false,
      next: { phase: "open", status: "Passed" },
    });
    expect(compare(known, given, true, NOW + DAY)).toMatchObject({
      closed: true,
      next: { phase: "closed", status: "Passed" },
    });
    const dated = tracked({}, { targetEffectiveAt: NOW + 3 * DAY });
    expect(compare(dated, given, true, NOW + 2 * DAY).closed).toBe(false);
    expect(compare(dated, given, true, NOW + 3 * DAY).closed).toBe(true);
    expect(compare(known, row({ status: null }), true, NOW + 9 * DAY).closed).toBe(false);
  });

  it("keeps the last 40 contract ids", () => {
    const contractIds = Array.from({ length: 40 }, (_, index) => `old ${index}`);
    const { next } = compare(tracked({ contractIds }), row({ contractId: "new", yesCount: 5 }), false, NOW);
    expect(next.contractIds).toEqual([...contractIds.slice(1), "new"]);
  });

  it("ignores the missing fields of a row", () => {
    const bare = row({
      contractId: null,
      trackingCid: "c1",
      status: null,
      requester: null,
      title: null,
      voteBefore: null,
      yesCount: null,
      noCount: null,
      abstainCount: null,
    });
    const was = tracked({ yes: null, no: null, pending: 4 });
    expect(compare(was, bare, true, NOW)).toEqual({ next: was, closed: false });
  });

  it("increases the revision for a changed status text, but not for a changed abstain count", () => {
    const { next } = compare(known, row({ status: "Open" }), true, NOW);
    expect(next).toEqual({ ...known, status: "Open", revision: known.revision + 1 });
    expect(compare(known, row({ abstainCount: 8 }), true, NOW).next).toEqual({ ...known, pending: 8 });
  });

  it("stores the requester once it is known", () => {
    expect(compare(tracked({ requester: null }), row({}), true, NOW).next.requester).toBe("Falcon");
    expect(compare(known, row({ requester: "Grove" }), true, NOW).next.requester).toBe("Falcon");
  });

  describe("announced terms", () => {
    const later = NOW + 2 * DAY;
    const moved = row({ voteBefore: later });
    const to = { ...known.terms, voteBefore: later };

    it("keep a change as unconfirmed after one complete read", () => {
      expect(compare(known, moved, true, NOW)).toEqual({
        next: { ...known, unconfirmed: to },
        closed: false,
      });
    });

    it("confirm a change once the next complete read agrees", () => {
      expect(compare(tracked({ unconfirmed: to }), moved, true, NOW)).toEqual({
        next: { ...known, terms: to, revision: known.revision + 1, changeSequence: known.changeSequence + 1 },
        closed: false,
        changedFrom: known.terms,
      });
    });

    it("drop a change if the next read disagrees", () => {
      expect(compare(tracked({ unconfirmed: to }), row({}), true, NOW).next).toEqual(known);
      const other = row({ voteBefore: later + 1 });
      expect(compare(tracked({ unconfirmed: to }), other, true, NOW).next.unconfirmed?.voteBefore).toBe(
        later + 1,
      );
    });

    it("confirm a date although the title differs in each read, and a title although the dates do", () => {
      const before = tracked({ unconfirmed: { ...to, title: "First" } });
      const { next, changedFrom } = compare(before, row({ voteBefore: later, title: "Second" }), true, NOW);
      expect(changedFrom).toEqual(known.terms);
      expect(next).toMatchObject({ terms: to, unconfirmed: { ...to, title: "Second" } });
      expect(next).not.toHaveProperty("isDisputed");
      const titled = tracked({ unconfirmed: { ...to, title: "First" } });
      const other = row({ voteBefore: later + 1, title: "First" });
      expect(compare(titled, other, true, NOW).next).toMatchObject({
        terms: { ...known.terms, title: "First" },
        unconfirmed: { voteBefore: later + 1 },
        isDisputed: true,
      });
    });

    it("are disputed while complete reads show different dates, and not by the first page", () => {
      const other = row({ voteBefore: later + 1 });
      expect(compare(known, moved, true, NOW).next).not.toHaveProperty("isDisputed");
      const { next } = compare(tracked({ unconfirmed: to }), other, true, NOW);
      expect(next).toMatchObject({ terms: known.terms, isDisputed: true });
      expect(compare(next, moved, false, NOW).next).toEqual(next);
      expect(compare(next, other, true, NOW).next).not.toHaveProperty("isDisputed");
      expect(compare(next, row({}), true, NOW).next).toEqual(known);
      const retitled = tracked({ unconfirmed: { ...known.terms, title: "Other" } });
      expect(compare(retitled, moved, true, NOW).next).not.toHaveProperty("isDisputed");
    });

    it("do not confirm a change by the first page alone", () => {
      expect(compare(tracked({ unconfirmed: to }), moved, false, NOW).next).toEqual({
        ...known,
        unconfirmed: to,
      });
      expect(compare(known, moved, false, NOW)).toEqual({ next: known, closed: false });
      expect(compare(tracked({ unconfirmed: to }), row({}), false, NOW).next).toEqual(known);
    });

    it.each<
      [
        string,
        Partial<TrackedVoteRequest["terms"]>,
        Partial<VoteRequestListItem>,
        Partial<TrackedVoteRequest["terms"]>,
      ]
    >([
      ["a title", { title: null }, {}, { title: "A title" }],
      ["a deadline", { voteBefore: null }, {}, { voteBefore: NOW + DAY }],
      ["an effective date", {}, { targetEffectiveAt: later }, { targetEffectiveAt: later }],
    ])("fill in %s that was unknown, without reporting a change", (_, was, given, expected) => {
      const before = tracked({}, was);
      const { next, changedFrom } = compare(before, row(given), true, NOW);
      expect(changedFrom).toBeUndefined();
      expect(next.terms).toEqual({ ...known.terms, ...expected });
      expect(next.revision).toBe(before.revision + 1);
      expect(next).not.toHaveProperty("unconfirmed");
    });

    it.each([
      ["Offboard Member", "SRARC_OffboardSv"],
      ["Offboard Super Validator", "SRARC_OffboardSv"],
      ["Do Something New", "SRARC_DoSomethingNew"],
      ["Create Unclaimed Reward Burn Instruction", "SRARC_CreateUnclaimedRewardBurnInstruction"],
      ["Update Featured App Right", "SRARC_UpdateFeaturedAppRight"],
    ])("treat a title in words from an earlier version as its constructor: %s", (title, given) => {
      const before = tracked({}, { title });
      expect(compare(before, row({ title: given }), true, NOW)).toEqual({ next: before, closed: false });
    });

    it("report a changed title or effective date, and keep the action", () => {
      const was = tracked(
        { unconfirmed: { ...known.terms, title: "New", action: "Act" } },
        { action: "Act" },
      );
      expect(compare(was, row({ title: "New" }), true, NOW).changedFrom).toEqual(was.terms);
      const dated = tracked(
        { unconfirmed: { ...known.terms, targetEffectiveAt: 5 } },
        { targetEffectiveAt: 4 },
      );
      expect(compare(dated, row({ targetEffectiveAt: 5 }), true, NOW).next.terms.targetEffectiveAt).toBe(5);
    });
  });

  describe("an ended request", () => {
    it.each(["closed", "ignored"] as const)("updates only the outcome if it is %s", (phase) => {
      const over = tracked({ phase, status: "Accepted", missedReads: 1 });
      const stated = compare(over, row({ status: "Implemented", yesCount: 12, title: "New" }), true, NOW);
      expect(stated).toEqual({
        next: { ...over, missedReads: 0, status: "Implemented", revision: over.revision + 1 },
        closed: false,
      });
      for (const status of ["Accepted", "In Progress", null])
        expect(compare(over, row({ status, yesCount: 12 }), true, NOW)).toEqual({
          next: { ...over, missedReads: 0 },
          closed: false,
        });
      expect(compare(over, row({ status: "Odd" }), true, NOW).next.status).toBe("Odd");
    });
  });
});

describe("a request's key", () => {
  const one = tracked({ identity: "c1", contractIds: ["c1", "c2"] });
  const known = new Map([
    ["other", tracked({ identity: "o", contractIds: ["o"] })],
    ["mine", one],
  ]);

  it.each<[string, Partial<VoteRequestListItem>, string | undefined]>([
    ["the key of the request with its contract id", { contractId: "c2", trackingCid: null }, "mine"],
    ["the key of the request with its tracking id", { contractId: "c3", trackingCid: "c2" }, "mine"],
    ["its own if its ids are new", { contractId: "c9", trackingCid: "t9" }, undefined],
  ])("is %s", (_, given, key) => {
    const identity = given.trackingCid ?? given.contractId ?? "";
    expect(keyOf(known, row(given), identity)).toBe(key ?? requestKey(identity));
  });

  it("is its own if it is tracked, even if another request had its ids", () => {
    const own = requestKey("c2");
    expect(keyOf(new Map([...known, [own, one]]), row({ contractId: "c2" }), "c2")).toBe(own);
  });

  it("is short and stable", () => {
    expect(requestKey("c1")).toBe("0PYxyh3bqNs7z8ue");
    expect(requestKey("c1")).not.toBe(requestKey("c2"));
  });
});

describe("tallyOf", () => {
  const votes = (yes: number, no: number, unknown = 0) =>
    Object.fromEntries(
      [...Array(yes).fill(true), ...Array(no).fill(false), ...Array(unknown).fill(null)].map(
        (accept: boolean | null, place) => [`sv${place}`, accept],
      ),
    );

  it.each([
    ["unread votes", {}, [3, 1, 9]],
    ["fewer votes than the count", { votes: votes(2, 1) }, [3, 1, 9]],
    ["as many votes as the count", { votes: votes(2, 2) }, [2, 2, 9]],
    [
      "as many votes as the count, one of which may have changed",
      { votes: votes(2, 2), needsDetail: true },
      [3, 1, 9],
    ],
    ["one vote more than the count", { votes: votes(4, 1) }, [4, 1, 8]],
    ["voters with an unknown vote", { votes: votes(3, 1, 5) }, [3, 1, 9]],
    ["an unconfirmed change of a vote", { votes: votes(5, 1), unconfirmedVotes: { sv0: false } }, [3, 1, 9]],
    ["more votes than there are voters", { votes: votes(14, 1) }, [14, 1, 0]],
    ["an unknown count", { votes: votes(2, 0), yes: null, no: null, pending: null }, [2, 0, null]],
    [
      "an unknown count whose votes are read again",
      { votes: votes(2, 0), yes: null, no: null, pending: null, needsDetail: true },
      [2, 0, null],
    ],
    ["an unknown count of a tally", { votes: votes(3, 1), yes: null, no: null, pending: 9 }, [3, 1, 9]],
    ["an unknown count and no known votes", { votes: {}, yes: null, no: null, pending: 9 }, [null, null, 9]],
  ] as const)("handles %s", (_, given, [yes, no, pending]) => {
    expect(tallyOf(tracked(given))).toEqual({ yes, no, pending });
  });
});

describe("a tracked request, shown as a vote request", () => {
  it("contains only what was tracked", () => {
    expect(toVoteRequest(tracked({ contractIds: ["c1", "c0", "c2"] }, { action: "Act" }))).toEqual({
      identity: "c1",
      contractId: "c2",
      ids: ["c1", "c0", "c2"],
      title: "A title",
      action: { tag: null, words: "Act", summary: null, facts: [], changes: [], gap: null, config: null },
      status: "In Progress",
      requester: "Falcon",
      requesterName: null,
      requesterImg: null,
      createdAt: null,
      voteBefore: NOW + DAY,
      targetEffectiveAt: null,
      yes: 3,
      no: 1,
      pending: 9,
      reasonUrl: null,
      reasonBody: null,
      votes: null,
      detail: "none",
    });
    expect(toVoteRequest(tracked({ contractIds: [] })).contractId).toBeNull();
    expect(toVoteRequest(tracked({}, { title: null, action: "Act" })).title).toBeNull();
  });

  it.each([
    [
      "is not marked as gone while it is open",
      {},
      { status: "In Progress", isGone: undefined, closed: undefined },
    ],
    [
      "has no status once it is gone without an outcome",
      { phase: "closed", endUnconfirmed: true, closedAt: NOW, openUntil: null },
      { status: null, isGone: true, closed: undefined },
    ],
    [
      "says between which readings it closed",
      { phase: "closed", status: "Accepted", closedAt: NOW, openUntil: NOW - 1 },
      { status: "Accepted", closed: { after: NOW - 1, by: NOW } },
    ],
    [
      "has no closing time if the closing was not observed",
      { phase: "ignored", status: "Accepted", closedAt: NOW },
      { status: "Accepted", closed: undefined },
    ],
  ] as const)("%s", (_, given, expected) => {
    expect(toVoteRequest(tracked(given))).toMatchObject(expected);
    expect(withTracked(fromExplorer(row({ status: "Odd" }), null), tracked(given))).toMatchObject(expected);
  });

  it("overrides the title, tally, status and dates of a cached detail", () => {
    const read = fromExplorer(
      row({ title: "Old", yesCount: 1, status: "Odd", requesterName: "Falcon Ltd" }),
      null,
    );
    const both = withTracked(read, tracked());
    expect(both).toMatchObject({
      title: "A title",
      yes: 3,
      no: 1,
      pending: 9,
      status: "In Progress",
      requesterName: "Falcon Ltd",
    });
    expect(both).toMatchObject({ voteBefore: NOW + DAY, targetEffectiveAt: null });
    expect(withTracked(read, tracked({}, { title: null })).title).toBe("Old");
  });
});

describe("a decision", () => {
  // Of 13 super validators, 9 votes decide.
  const yes = { yes: 9, no: 1, pending: 3 };
  const no = { yes: 1, no: 9, pending: 3 };
  const neither = { yes: 8, no: 1, pending: 4 };
  it.each([
    ["is recorded silently when a request is first read", { ...yes }, ["yes"], undefined],
    ["is recorded as missing when a request is first read", { ...neither }, [], undefined],
    ["is announced for yes votes", { ...yes, decided: [] }, ["yes"], "yes"],
    ["is announced for no votes", { ...no, decided: [] }, ["no"], "no"],
    ["is announced for the other side, too", { ...no, decided: ["yes"] as const }, ["no"], "no"],
    ["is announced once", { ...yes, decided: ["yes"] as const }, ["yes"], undefined],
    ["is not announced without enough votes", { ...neither, decided: [] }, [], undefined],
    ["is not announced without a tally", { yes: null, no: null, pending: null, decided: [] }, [], undefined],
  ] as const)("%s", (_, given, decided, way) => {
    const result = decide(tracked(given));
    expect(result.next.decided).toEqual(decided);
    expect(result.news).toEqual(
      way === undefined ? undefined : expect.objectContaining({ kind: "decided", way, votes: 9, needed: 9 }),
    );
  });

  it("is withdrawn once two complete reads show that votes have changed", () => {
    const changed = tracked({ ...neither, decided: ["yes"] });
    expect(decide(changed, undefined, false)).toEqual({ next: changed });
    const once = decide(changed);
    expect(once).toEqual({ next: { ...changed, unconfirmedLoss: "yes" } });
    expect(decide({ ...once.next, ...yes })).toEqual({ next: { ...changed, ...yes } });
    const twice = decide(once.next);
    expect(twice).toEqual({
      next: { ...changed, decided: [], decisionSequence: 1 },
      news: { kind: "undecided", way: "yes", votes: 8, needed: 9, sequence: 1 },
    });
    expect(decide(twice.next)).toEqual({ next: twice.next });
    expect(decide({ ...twice.next, ...yes }).news).toMatchObject({ kind: "decided", sequence: 1 });
    expect(decide(tracked({ ...neither, yes: null, decided: ["yes"] }), 13).news).toBeUndefined();
    expect(decide(tracked({ ...yes, decided: [] })).news?.sequence).toBe(0);
    const turned = decide(tracked({ ...no, decided: ["yes"], decisionSequence: 1 }));
    expect(turned.next).toMatchObject({ decided: ["no"], decisionSequence: 2 });
    expect(turned.news).toMatchObject({ kind: "decided", way: "no", sequence: 2 });
  });

  it("stays for a side whose votes are unknown or still enough", () => {
    const unknown = tracked({ yes: 9, no: null, pending: 4, decided: ["no"] });
    expect(decide(unknown, 13).next).toMatchObject({ decided: ["no", "yes"] });
    expect(decide(unknown, 13).next).not.toHaveProperty("decisionSequence");
    const both = decide(tracked({ ...yes, decided: ["yes", "no"] }));
    expect(decide(both.next).next.decided).toEqual(["yes"]);
  });

  it("uses the dashboard's count of super validators if the tally does not say how many are missing", () => {
    const partial = tracked({ yes: 9, no: 1, pending: null, decided: [] });
    // A decision that had been made before the number was known is no news.
    const unknown = tracked({ yes: 9, no: 1, pending: null });
    expect(decide(decide(unknown).next, 13).news).toBeUndefined();
    expect(decide(partial).news).toBeUndefined();
    expect(decide(partial, 13).news?.way).toBe("yes");
    expect(decide(partial, 15).news).toBeUndefined();
  });

  it("says if more votes are needed, and none was lost", () => {
    const decided = decide(tracked({ yes: 9, no: 1, pending: 3, decided: [] }));
    expect(decided.news).toMatchObject({ kind: "decided", needed: 9 });
    const lost = (tally: { readonly yes: number; readonly pending: number }) => {
      const once = decide({ ...decided.next, ...tally });
      return decide(once.next).news;
    };
    expect(lost({ yes: 9, pending: 4 })).toMatchObject({ kind: "undecided", needed: 10, isMoreNeeded: true });
    expect(lost({ yes: 8, pending: 4 })).not.toHaveProperty("isMoreNeeded");
  });

  it("leaves a request without a new decision as it is", () => {
    const known = tracked({ ...yes, decided: ["yes"] });
    expect(decide(known).next).toBe(known);
  });
});
