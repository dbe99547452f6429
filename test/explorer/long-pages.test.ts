import { describe, expect, it } from "vitest";
import { parseAnswer } from "../../src/explorer/client.js";
import { openUndocumentedSlice, readPages } from "../../src/explorer/paging.js";
import { votersIn } from "../../src/ledger/votes.js";
import { extent } from "../../src/screens/parts.js";

/** Returns a page of `size` votes, each by a different voter. Imitates an explorer that ignores the requested page size. */
const pageOf = (page: number, size: number) =>
  parseAnswer("votes", {
    content: Array.from({ length: size }, (_, index) => ({
      trackingCid: `00${page}`,
      identifier: `voter-${page}-${index}`,
      company: `company-${page}-${index}`,
      accept: true,
    })),
    last: false,
  });

describe("pages longer than requested", () => {
  it("yields to the event loop between pages, even on cache hits", async () => {
    let turns = 0;
    let isReading = true;
    const count = () => {
      turns += 1;
      if (isReading) setImmediate(count);
    };
    setImmediate(count);
    const read: number[] = [];
    await readPages(
      "votes",
      async ({ page }) => {
        read.push(page);
        return { data: pageOf(page, 600), fetchedAt: 0, stale: false };
      },
      () => false,
    );
    isReading = false;
    expect(read.length).toBeGreaterThan(5);
    expect(turns).toBeGreaterThanOrEqual(read.length - 1);
  });

  it("does not call rows unreadable that are too many for one page", async () => {
    const content = Array.from({ length: 10_000 }, (_, at) => ({ eventId: `${at}`, appRewardAmount: "1" }));
    for (const body of [content, { content, last: true, totalElements: 10_000 }]) {
      const data = parseAnswer("rewards", body);
      expect(data.content).toHaveLength(5_100);
      const load = async () => ({ data, fetchedAt: 0, stale: false });
      const slice = (await openUndocumentedSlice("rewards", load, 1)).data;
      expect(String(extent(slice, "reward"))).toBe(
        "First 5,100 of 10,000 rewards: the explorer doesn't list more",
      );
      expect((await readPages("rewards", load, () => false)).complete).toBe(false);
      // The cache stores what was read.
      expect(parseAnswer("rewards", JSON.parse(JSON.stringify(data)))).toEqual(data);
    }
  });

  it.each([
    ["a page of 7,000 rows", 7_000, 1, 5_100],
    ["pages of 2,000 rows", 2_000, 3, 6_000],
    ["pages of 100 rows, as documented", 100, 51, 5_100],
  ])("stops reading at the maximum length of a list: %s", async (_, size, pages, rows) => {
    const read: number[] = [];
    const looked: number[] = [];
    const result = await readPages(
      "votes",
      async ({ page }) => {
        read.push(page);
        return { data: pageOf(page, size), fetchedAt: 0, stale: false };
      },
      (found) => {
        looked.push(votersIn(found).length);
        return false;
      },
    );
    expect(read).toHaveLength(pages);
    expect(result.data).toHaveLength(rows);
    expect(Math.max(0, ...looked)).toBeLessThanOrEqual(5_100);
    // The list is incomplete if a page has more rows than are read.
    expect(result.complete).toBe(size <= 5_100);
  });
});
