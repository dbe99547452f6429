import { describe, expect, it } from "vitest";
import { afterMissing, pruned } from "../../src/feeds/governance/endings.js";
import { DAY } from "../../src/util/units.js";
import { NOW, tracked } from "./vote-requests.js";

describe("a request that is missing from a complete read", () => {
  const missed = tracked({ missedReads: 1 });

  it("only counts as missing the first time, whatever its details say", () => {
    expect(afterMissing(tracked(), "Rejected", NOW + 9 * DAY)).toEqual(tracked({ missedReads: 1 }));
  });

  it("is closed the second time if its details state an ending", () => {
    expect(afterMissing(missed, "Rejected", NOW)).toEqual(
      tracked({
        missedReads: 2,
        phase: "closed",
        status: "Rejected",
        closedAt: NOW,
        openUntil: null,
        revision: 6,
      }),
    );
  });

  it("stays open for a day after its last deadline if its details state no ending", () => {
    for (const now of [NOW, NOW + 2 * DAY])
      expect(afterMissing(missed, null, now)).toEqual(tracked({ missedReads: 2 }));
    const dated = tracked({ missedReads: 4 }, { targetEffectiveAt: NOW + 3 * DAY });
    expect(afterMissing(dated, null, NOW + 4 * DAY)).toEqual({ ...dated, missedReads: 2 });
    const undated = tracked({ missedReads: 2 }, { voteBefore: null });
    expect(afterMissing(undated, null, NOW + 400 * DAY).phase).toBe("open");
  });

  it("is closed without a known outcome after that", () => {
    expect(afterMissing(missed, null, NOW + 2 * DAY + 1)).toEqual(
      tracked({
        missedReads: 2,
        phase: "closed",
        endUnconfirmed: true,
        closedAt: NOW + 2 * DAY + 1,
        openUntil: null,
        revision: 6,
      }),
    );
  });
});

describe("a request that closed long ago", () => {
  const closed = tracked({
    phase: "closed",
    closedAt: NOW,
    openUntil: NOW - DAY,
    votes: { ann: true },
    unconfirmed: tracked().terms,
    isDisputed: true,
    reminded: ["1:2"],
  });

  it("is kept completely for 180 days", () => {
    expect(pruned(closed, NOW + 180 * DAY - 1)).toBeUndefined();
    expect(pruned(tracked(), NOW + 999 * DAY)).toBeUndefined();
  });

  it("is reduced to its key after that, and not processed again", () => {
    const kept = pruned(closed, NOW + 180 * DAY);
    expect(kept).toEqual({
      ...tracked({ phase: "ignored", contractIds: [] }),
      terms: { title: null, action: null, voteBefore: null, targetEffectiveAt: null },
    });
    expect(kept && pruned(kept, NOW + 999 * DAY)).toBeUndefined();
  });
});
