import { describe, expect, it } from "vitest";
import { parseAnswer } from "../../src/explorer/client.js";
import { readPages } from "../../src/explorer/paging.js";
import { votersIn } from "../../src/ledger/votes.js";

/** An explorer that takes no size: each of its pages holds so many votes, all of them by somebody else. */
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

describe("pages that are longer than was wanted", () => {
  it("take a turn of the event loop each, even as cache hits", async () => {
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

  it.each([
    ["a page of 7,000 rows", 7_000, 1, 5_100],
    ["pages of 2,000 rows", 2_000, 3, 6_000],
    ["pages of 100 rows, as documented", 100, 51, 5_100],
  ])("%s: no more is read than a list can have", async (_, size, pages, rows) => {
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
    // What was not looked at is not the whole truth.
    expect(result.complete).toBe(size <= 5_100);
  });
});
