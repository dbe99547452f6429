import { describe, expect, it } from "vitest";
import { voteRequestListItem } from "../../src/explorer/schema/governance.js";
import { compare, firstSeen } from "../../src/feeds/governance/tracking.js";
import { standingOf } from "../../src/ledger/vote-phase.js";
import { fromExplorer } from "../../src/ledger/vote-requests.js";
import { isOpen, isOver } from "../../src/ledger/vote-rules.js";
import { timeLine } from "../../src/screens/vote-times.js";
import { UNREADABLE_AT } from "../../src/util/clock.js";
import { DAY, HOUR } from "../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 22);
const NEEDED = 9;

/** Parses a row of the explorer's list, with ten yes votes. */
const rowWith = (targetEffectiveAt: unknown, voteBefore = NOW + DAY) =>
  voteRequestListItem.parse({
    contractId: "c1",
    trackingCid: "c1",
    title: "A title",
    status: "In Progress",
    createdAt: NOW - DAY,
    voteBefore,
    targetEffectiveAt,
    yesCount: 10,
    noCount: 0,
    abstainCount: 3,
  });

describe("a decision date that cannot be read", () => {
  it.each([0, -1, "soon", Date.UTC(2163), {}, true])("is not the same as none: %j", (value) => {
    const parsed = rowWith(value);
    expect(parsed.targetEffectiveAt).toBe(UNREADABLE_AT);
    // Cached answers are parsed again.
    expect(voteRequestListItem.parse(parsed)).toEqual(parsed);
    const request = fromExplorer(parsed, null);
    for (const now of [NOW, NOW + 2 * DAY])
      expect(standingOf(request, NEEDED, now).phase, String(now)).toBe("voting");
    // Enough have voted, but not by a date that is known.
    expect(standingOf(request, NEEDED, NOW).next).toEqual({ name: "quorum by", at: NOW + DAY });
    expect(standingOf(request, NEEDED, NOW + 2 * DAY).next).toBeNull();
    expect(String(timeLine(request, NOW, "voting"))).toMatch(/Decided on unknown$/);
  });

  it.each([null, undefined, "", " "])("is missing for %j", (value) => {
    const request = fromExplorer(rowWith(value), null);
    expect(request.targetEffectiveAt).toBeNull();
    expect(standingOf(request, NEEDED, NOW).phase).toBe("ready");
  });

  it("is taken from another answer, and changes nothing", () => {
    const date = NOW + 2 * DAY;
    const known = firstSeen(rowWith(date), NOW, false);
    if (!known) throw new Error("Not seen");
    const { next, changedFrom } = compare(known, rowWith("soon"), true, NOW + HOUR);
    expect([next.terms.targetEffectiveAt, changedFrom]).toEqual([date, undefined]);
    const unread = firstSeen(rowWith("soon"), NOW, false);
    if (!unread) throw new Error("Not seen");
    const learnt = compare(unread, rowWith(date), true, NOW + HOUR);
    expect([learnt.next.terms.targetEffectiveAt, learnt.changedFrom]).toEqual([date, undefined]);
    // One bad answer is forgotten with the next one.
    const undated = compare(unread, rowWith(null), true, NOW + HOUR);
    expect([undated.next.terms.targetEffectiveAt, undated.changedFrom]).toEqual([null, undefined]);
  });

  it("does not keep an old request with an unknown status open", () => {
    const past = { ...rowWith(0, NOW - 300 * DAY), status: "Withdrawn" };
    expect([isOpen(past, NOW), isOver(past, NOW)]).toEqual([false, true]);
    expect(firstSeen(past, NOW, false)?.phase).not.toBe("open");
  });
});
