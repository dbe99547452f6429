import { describe, expect, it } from "vitest";
import { ExplorerError } from "../../src/explorer/errors.js";
import { openSlice, openUndocumentedSlice, readPages, together } from "../../src/explorer/paging.js";
import type { Page } from "../../src/explorer/schema/page.js";
import type { Reading } from "../../src/explorer/service.js";
import { row as voteRequest } from "./vote-requests.js";

const reading = <T>(data: T, given: Partial<Reading<T>> = {}): Reading<T> => ({
  data,
  fetchedAt: 10,
  stale: false,
  ...given,
});

const page = <T>(content: readonly T[], given: Partial<Page<T>> = {}): Page<T> => ({
  content,
  totalElements: null,
  last: null,
  sent: content.length,
  unreadable: 0,
  ...given,
});

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

/** Creates a list of `count` numbers with pages like the API's. `given` overrides fields of a page. */
function listOf(count: number, given: (number: number) => Partial<Page<number>> = () => ({})) {
  const pages: number[] = [];
  const load = async ({ page: number, size }: { page: number; size: number }) => {
    pages.push(number);
    const content = numbers(number * size, Math.max(0, Math.min(size, count - number * size)));
    const last = (number + 1) * size >= count;
    return reading(page(content, { totalElements: count, last, ...given(number) }));
  };
  return { pages, load };
}

describe("openSlice", () => {
  const cases: readonly [
    what: string,
    total: number,
    wanted: number,
    rows: readonly number[],
    page: number,
    pages: number,
    asked: readonly number[],
  ][] = [
    ["the first page", 25, 1, numbers(0, 10), 1, 3, [0]],
    ["the last page, with fewer rows", 25, 3, numbers(20, 5), 3, 3, [0]],
    ["the last page, with ten rows", 20, 2, numbers(10, 10), 2, 2, [0]],
    ["the last page for a page past the end", 25, 9, numbers(20, 5), 3, 3, [0]],
    ["page 10 from the first API page", 250, 10, numbers(90, 10), 10, 25, [0]],
    ["page 11 from the second API page", 250, 11, numbers(100, 10), 11, 25, [1]],
    ["page 23 from the third API page", 250, 23, numbers(220, 10), 23, 25, [2]],
    [
      "the last page, by a second request, for a page far past the end",
      250,
      300,
      numbers(240, 10),
      25,
      25,
      [29, 2],
    ],
    ["the last page that can be reached", 6_000, 510, numbers(5_090, 10), 510, 510, [50]],
    [
      "the last page that can be reached, for a page beyond it",
      6_000,
      600,
      numbers(5_090, 10),
      510,
      510,
      [50],
    ],
    ["an empty page of an empty list", 0, 1, [], 1, 1, [0]],
    ["an empty page of an empty list, for any page", 0, 12, [], 1, 1, [1, 0]],
  ];
  it.each(cases)("returns %s", async (_, total, wanted, rows, page, pages, asked) => {
    const list = listOf(total);
    // The explorer returns no page after the 51st, so at most 5,100 rows can be read.
    const reachable = Math.min(total, 5_100);
    expect((await openSlice(list.load, wanted)).data).toEqual({ rows, page, pages, total, reachable });
    expect(list.pages).toEqual(asked);
  });

  it("keeps the metadata of the reading", async () => {
    const load = async () => reading(page([1]), { fetchedAt: 7, stale: true, problem: "slow" });
    expect(await openSlice(load, 1)).toMatchObject({ fetchedAt: 7, stale: true, problem: "slow" });
  });

  it("goes back to the first page if the explorer counts enough rows and returns none", async () => {
    const list = listOf(0, (number) =>
      number === 0 ? { content: [1], sent: 1 } : { totalElements: 200, last: false },
    );
    expect((await openSlice(list.load, 11)).data.rows).toEqual([1]);
    expect(list.pages).toEqual([1, 0]);
    expect((await openSlice(list.load, 20)).data.rows).toEqual([1]);
  });

  it.each([
    ["far too high", 999, 130, 100, numbers(120, 10), 13],
    ["too high by one page of the API", 130, 100, 13, numbers(90, 10), 10],
    ["the most that can be reached", 6_000, 1_234, 510, numbers(1_230, 4), 124],
  ])(
    "finds the last page if the explorer's count is %s",
    async (_, totalElements, count, wanted, rows, page) => {
      const { load, pages } = listOf(count, (number) => ({
        totalElements,
        last: (number + 1) * 100 >= totalElements,
      }));
      expect((await openSlice(load, wanted)).data).toMatchObject({
        rows,
        page,
        pages: page,
        reachable: count,
      });
      expect(pages.length).toBeLessThanOrEqual(8);
    },
  );

  it("treats an empty page without metadata as an empty list", async () => {
    const { load } = listOf(0, () => ({ totalElements: null, last: null }));
    expect((await openSlice(load, 1)).data).toMatchObject({ total: 0, reachable: 0, pages: 1 });
  });

  it.each<[string, Partial<Page<number>>, object]>([
    [
      "nothing about the total",
      { totalElements: null, last: null },
      { total: null, reachable: null, pages: 11 },
    ],
    [
      "that more pages follow",
      { totalElements: null, last: false },
      { total: null, reachable: null, pages: 11 },
    ],
    [
      "that this is the last page",
      { totalElements: null, last: true },
      { total: 100, reachable: 100, pages: 10 },
    ],
    [
      "a total that includes the rows that it sent twice",
      { totalElements: 101, sent: 101, last: true },
      { total: 100, reachable: 100, pages: 10 },
    ],
    [
      "a total that includes a row that cannot be read",
      { totalElements: 101, sent: 101, unreadable: 1, last: true },
      { total: 101, reachable: 100, pages: 10 },
    ],
    [
      "a total below the returned rows",
      { totalElements: 40, last: null },
      { total: 100, reachable: 100, pages: 10 },
    ],
    [
      "a total below the returned rows, and that more pages follow",
      { totalElements: 40, last: false },
      { total: null, reachable: null, pages: 11 },
    ],
    [
      "a total equal to the returned rows, and that more pages follow",
      { totalElements: 100, last: false },
      { total: null, reachable: null, pages: 11 },
    ],
    [
      "a larger total, and that more pages follow",
      { totalElements: 101, last: false },
      { total: 101, reachable: 101, pages: 11 },
    ],
    [
      "a larger total, and that this is the last page",
      { totalElements: 400, last: true },
      { total: 400, reachable: 100, pages: 10 },
    ],
  ])("handles an explorer that says %s", async (_, given, expected) => {
    const { load } = listOf(100, () => given);
    expect((await openSlice(load, 1)).data).toMatchObject({ ...expected, page: 1 });
  });

  it.each<[string, Partial<Page<number>>, object]>([
    ["more pages by its total", { totalElements: 150 }, { pages: 15, rows: [], unreadable: 12 }],
    ["no more pages by its total", { totalElements: 100 }, { pages: 10, page: 9, unreadable: 12 }],
    ["nothing about further pages", {}, { pages: 10, page: 9, total: null, unreadable: 12 }],
  ])("counts the rows that it cannot read, of an explorer that says %s", async (_, given, expected) => {
    const load = async () =>
      reading(page(numbers(0, 88), { sent: 100, unreadable: 12, totalElements: null, ...given }));
    expect((await openSlice(load, 10)).data).toMatchObject(expected);
  });

  it("offers no page after the last one that the API returns", async () => {
    const { load } = listOf(9_999, () => ({ totalElements: null, last: false }));
    expect((await openSlice(load, 510)).data).toMatchObject({ page: 510, pages: 510, total: null });
  });

  it.each([20, 25, 50])(
    "reaches every row of an explorer that sends %d rows per page at most",
    async (most) => {
      const { load } = listOf(331);
      const capped = ({ page: number, size }: { page: number; size: number }) =>
        load({ page: number, size: Math.min(size, most) });
      for (let wanted = 1; wanted <= 34; wanted += 1) {
        const { data } = await openSlice(capped, wanted);
        const rows = numbers((wanted - 1) * 10, wanted === 34 ? 1 : 10);
        expect(data).toMatchObject({ rows, page: wanted, pages: 34, total: 331, reachable: 331 });
      }
    },
  );

  it("stays on the last screen if the explorer counts more rows than it sends", async () => {
    const { load } = listOf(40, () => ({ totalElements: 43, last: false }));
    expect((await openSlice(load, 5)).data).toMatchObject({ rows: numbers(30, 10), page: 4 });
  });

  it("offers no page after a short one", async () => {
    const { load } = listOf(60, () => ({ totalElements: null, last: false }));
    expect((await openSlice(load, 1)).data).toMatchObject({ pages: 6, total: null });
  });
});

describe("openUndocumentedSlice", () => {
  const rows = (from: number, count: number) =>
    numbers(from, count).map((each) => voteRequest({ contractId: `c${each}` }));
  const shown = (slice: { rows: readonly { contractId: string | null }[] }) =>
    slice.rows.map(({ contractId }) => contractId);

  it("uses the size of the first page for further pages", async () => {
    const wanted: number[] = [];
    const load = async ({ page: number }: { page: number }) => {
      wanted.push(number);
      return reading(page(rows(number * 20, 20), { totalElements: 60, last: number === 2 }));
    };
    const { data } = await openUndocumentedSlice("voteRequests", load, 4);
    expect(shown(data)).toEqual(numbers(30, 10).map((each) => `c${each}`));
    expect(data).toMatchObject({ page: 4, pages: 6, total: 60, reachable: 60 });
    expect(wanted).toEqual([0, 1]);
    expect(shown((await openUndocumentedSlice("voteRequests", load, 3)).data)[0]).toBe("c20");
    wanted.length = 0;
    expect(shown((await openUndocumentedSlice("voteRequests", load, 2)).data)[0]).toBe("c10");
    expect(wanted).toEqual([0]);
  });

  it("shows every row once if the size of a page is no multiple of a screen's", async () => {
    const load = async ({ page: number }: { page: number }) =>
      reading(page(rows(number * 25, number === 3 ? 15 : 25), { totalElements: 90, last: number === 3 }));
    const all: (string | null)[] = [];
    for (let screen = 1; screen <= 9; screen += 1) {
      const { data } = await openUndocumentedSlice("voteRequests", load, screen);
      expect(data).toMatchObject({ page: screen, pages: 9, total: 90 });
      all.push(...shown(data));
    }
    expect(all).toEqual(numbers(0, 90).map((each) => `c${each}`));
  });

  it("shows the last rows on the last page if the size of a page is no multiple of a screen's", async () => {
    const load = async ({ page: number }: { page: number }) =>
      reading(
        page(rows(number * 25, Math.min(25, 331 - number * 25)), { totalElements: 331, last: number === 13 }),
      );
    expect((await openUndocumentedSlice("voteRequests", load, 34)).data).toMatchObject({
      rows: rows(330, 1),
      page: 34,
      pages: 34,
    });
  });

  it("treats the first page as the whole list if every page is the same", async () => {
    const load = async () => reading(page(rows(0, 30), { totalElements: 90, last: false }));
    const { data } = await openUndocumentedSlice("voteRequests", load, 5);
    expect(shown(data)).toEqual(numbers(20, 10).map((each) => `c${each}`));
    expect(data).toMatchObject({ page: 3, pages: 3, reachable: 30 });
  });

  it("has an empty page where rows of a request could not be read, and further pages after it", async () => {
    // Of the first hundred, twelve could not be read.
    const load = async ({ page: number }: { page: number }) =>
      reading(
        number === 0
          ? page(numbers(0, 88), { totalElements: 150, sent: 100, unreadable: 12, last: false })
          : page(numbers(100, 50), { totalElements: 150, last: true }),
      );
    const shownOn = async (wanted: number) => {
      const { data } = await openSlice(load, wanted);
      return [data.page, data.rows.length, data.rows[0]];
    };
    expect(await shownOn(9)).toEqual([9, 8, 80]);
    expect(await shownOn(10)).toEqual([10, 0, undefined]);
    expect(await shownOn(11)).toEqual([11, 10, 100]);
    expect(await shownOn(16)).toEqual([15, 10, 140]);
  });

  it.each([0, 1])(
    "has further pages after request %s although none of its rows could be read",
    async (broken) => {
      const load = async ({ page: number }: { page: number }) =>
        reading(
          number === broken
            ? page([], { totalElements: 300, sent: 100, unreadable: 100, last: false })
            : page(numbers(number * 100, 100), { totalElements: 300, last: number === 2 }),
        );
      for (const wanted of [1, 10, 11, 20, 21, 30]) {
        const { data } = await openSlice(load, wanted);
        expect([data.page, data.pages, data.total]).toEqual([wanted, 30, 300]);
        expect(data.rows).toHaveLength(Math.floor((wanted - 1) / 10) === broken ? 0 : 10);
      }
    },
  );

  it("reaches later requests of a list without a total although rows of the first could not be read", async () => {
    const load = async ({ page: number }: { page: number }) =>
      reading(
        number === 0
          ? page(numbers(0, 50), { totalElements: null, sent: 100, unreadable: 50, last: false })
          : page(numbers(100, 5), { totalElements: null, last: true }),
      );
    expect((await openSlice(load, 5)).data).toMatchObject({ page: 5, pages: 11, total: null });
    expect((await openSlice(load, 6)).data).toMatchObject({ page: 6, pages: 11, rows: [] });
    expect((await openSlice(load, 11)).data.rows).toHaveLength(5);
  });

  it("returns the last page for a page past the end", async () => {
    const wanted: number[] = [];
    const load = async ({ page: number }: { page: number }) => {
      wanted.push(number);
      const count = Math.max(0, Math.min(100, 331 - number * 100));
      return reading(page(rows(number * 100, count), { totalElements: 331, last: number >= 3 }));
    };
    const { data } = await openUndocumentedSlice("voteRequests", load, 51);
    expect(shown(data)).toEqual(["c330"]);
    expect(data).toMatchObject({ page: 34, pages: 34, total: 331, reachable: 331 });
    expect(wanted).toEqual([0, 5, 0, 3]);
  });

  it("keeps the total if no row of a page can be read", async () => {
    const load = async ({ page: number }: { page: number }) =>
      reading(
        number === 0
          ? page(rows(0, 20), { totalElements: 60, last: false })
          : page(rows(0, 0), { sent: 20, unreadable: 20, totalElements: 60 }),
      );
    expect((await openUndocumentedSlice("voteRequests", load, 4)).data).toMatchObject({
      rows: [],
      total: 60,
    });
  });

  it("goes back to the first page if the next one is empty and there is no count", async () => {
    const load = async ({ page: number }: { page: number }) =>
      reading(page(number === 0 ? rows(0, 20) : [], { last: false }));
    const { data } = await openUndocumentedSlice("voteRequests", load, 3);
    expect(data).toMatchObject({ page: 1, pages: 3, total: null });
    expect(shown(data)).toHaveLength(10);
  });

  it.each<[string, { last?: boolean; totalElements?: number }]>([
    ["the page says that it is the last", { last: true }],
    ["the page has as many rows as the total", { totalElements: 30 }],
    ["the page has more rows than the total", { totalElements: 29 }],
  ])("stops reading if %s", async (_, given) => {
    let requests = 0;
    const load = async () => {
      requests += 1;
      return reading(page(rows(0, 30), given));
    };
    expect((await openUndocumentedSlice("voteRequests", load, 9)).data.page).toBe(3);
    expect(requests).toBe(1);
  });

  it("reads no page after the API's last page or after an empty page", async () => {
    const wanted: number[] = [];
    const load = async ({ page: number }: { page: number }) => {
      wanted.push(number);
      return reading(page(rows(number, 1), { totalElements: 900, last: false }));
    };
    await openUndocumentedSlice("voteRequests", load, 80);
    expect(wanted).toEqual([0, 50]);
    wanted.length = 0;
    const empty = async ({ page: number }: { page: number }) => {
      wanted.push(number);
      return reading(page(rows(0, 0), { last: false }));
    };
    expect((await openUndocumentedSlice("voteRequests", empty, 7)).data).toMatchObject({
      rows: [],
      page: 1,
      pages: 1,
    });
    expect(wanted).toEqual([0]);
  });
});

describe("the rewards of one event", () => {
  it("are all kept, although their event and time are the same", async () => {
    const rows = ["10", "5", "7"].map((inputAppRewardAmount) => ({
      eventId: "1",
      partyId: "p",
      inputAppRewardAmount,
      inputValidatorRewardAmount: null,
      inputSvRewardAmount: null,
      createdAt: 10,
    }));
    const { data } = await readPages(
      "rewards",
      async () => reading(page(rows, { last: true })),
      () => false,
    );
    expect(data).toEqual(rows);
  });
});

describe("readPages", () => {
  const all = (from: number, count: number) =>
    numbers(from, count).map((each) => voteRequest({ contractId: `c${each}` }));
  type Given = Partial<Page<ReturnType<typeof voteRequest>>> | ExplorerError;
  /** Reads these pages in order. The last one is repeated for all further pages. */
  const read = (
    pages: readonly Given[],
    enough: (rows: readonly unknown[]) => boolean = () => false,
    maxPages?: number,
  ) => {
    const wanted: { page: number; size: number }[] = [];
    const load = async (query: { page: number; size: number }) => {
      wanted.push(query);
      const given = pages[Math.min(query.page, pages.length - 1)] ?? {};
      if (given instanceof ExplorerError) throw given;
      return reading(page(given.content ?? [], { sent: given.content?.length ?? 0, ...given }), {
        fetchedAt: 100 - query.page,
      });
    };
    return { wanted, result: readPages("voteRequests", load, enough, maxPages) };
  };

  it.each<[string, readonly Given[], { rows: number; complete: boolean; requests: number }]>([
    [
      "one page that says it is the last",
      [{ content: all(0, 3), last: true }],
      { rows: 3, complete: true, requests: 1 },
    ],
    [
      "two pages, up to the last one",
      [
        { content: all(0, 100), last: false },
        { content: all(100, 5), last: true },
      ],
      { rows: 105, complete: true, requests: 2 },
    ],
    [
      "up to the total if no page says it is the last",
      [
        { content: all(0, 100), totalElements: 150 },
        { content: all(100, 50), totalElements: 150 },
      ],
      { rows: 150, complete: true, requests: 2 },
    ],
    [
      "past the total if a page says it is not the last",
      [
        { content: all(0, 2), totalElements: 2, last: false },
        { content: all(2, 1), last: true },
      ],
      { rows: 3, complete: true, requests: 2 },
    ],
    [
      "until a page is empty",
      [{ content: all(0, 2) }, { content: [] }],
      { rows: 2, complete: true, requests: 2 },
    ],
    ["until a page is repeated", [{ content: all(0, 2) }], { rows: 2, complete: true, requests: 2 }],
    [
      "each row once if the list shifts",
      [{ content: all(0, 3) }, { content: all(2, 3), last: true }],
      { rows: 5, complete: true, requests: 2 },
    ],
    [
      "past a first page of unreadable rows",
      [
        { content: [], sent: 4, unreadable: 4 },
        { content: all(0, 1), last: true },
      ],
      { rows: 1, complete: false, requests: 2 },
    ],
    [
      "past a later page of unreadable rows",
      [{ content: all(0, 3) }, { content: [], sent: 4, unreadable: 4 }, { content: all(3, 1), last: true }],
      { rows: 4, complete: false, requests: 3 },
    ],
    [
      "an incomplete list if a row cannot be read",
      [{ content: all(0, 3), last: true, unreadable: 1 }],
      { rows: 3, complete: false, requests: 1 },
    ],
  ])("reads %s", async (_, pages, expected) => {
    const { result, wanted } = read(pages);
    const { data, complete } = await result;
    expect({ rows: data.length, complete, requests: wanted.length }).toEqual(expected);
    expect(wanted.every(({ page: number, size }, index) => number === index && size === 100)).toBe(true);
  });

  it.each([
    ["says nothing about the total", null, 2, true],
    ["counts as many rows", 2, 2, true],
    ["counts the rows that it sent twice", 3, 3, true],
    ["counts more rows", 4, 3, false],
  ])("is complete or not if an explorer that repeats a page %s", async (_, totalElements, sent, complete) => {
    const { result } = read([{ content: all(0, 2), totalElements, sent, last: false }]);
    expect(await result).toMatchObject({ complete, isCut: !complete, repeats: true, total: totalElements });
  });

  it("reads on after a page whose rows have no ids", async () => {
    const nameless = (title: string) => [voteRequest({ contractId: null, title })];
    const { result } = read([{ content: nameless("a") }, { content: nameless("b"), last: true }]);
    expect((await result).data).toHaveLength(2);
    expect(await result).toMatchObject({ isCut: false, repeats: false, total: null });
  });

  it("needs no second request if the first returned as many rows as can be reached", async () => {
    const { result, wanted } = read([{ content: all(0, 5_100) }, { content: all(5_100, 1), last: true }]);
    expect(await result).toMatchObject({ complete: true, isCut: false });
    expect(wanted).toHaveLength(1);
  });

  it("stops when it has enough rows, and is incomplete", async () => {
    const { result, wanted } = read(
      [{ content: all(0, 5) }, { content: all(5, 5) }],
      (rows) => rows.length >= 5,
    );
    expect(await result).toMatchObject({ complete: false, isCut: true, repeats: false });
    expect(wanted).toHaveLength(1);
  });

  it("is complete if it has enough rows on the last page", async () => {
    const { result } = read([{ content: all(0, 5), last: true }], () => true);
    expect(await result).toMatchObject({ complete: true });
  });

  it("reads at most 51 pages, or fewer if a maximum is given", async () => {
    const endless = numbers(0, 60).map((number) => ({ content: all(number * 2, 2), last: false }));
    const { result, wanted } = read(endless);
    expect(await result).toMatchObject({ complete: true });
    expect(wanted).toHaveLength(51);
    expect(await read(endless, undefined, 50).result).toMatchObject({ complete: false, isCut: true });
    const few = read(endless, undefined, 3);
    expect(await few.result).toMatchObject({ complete: false });
    expect(few.wanted).toHaveLength(3);
  });

  it("keeps the rows it has read if a later page fails, and returns the problem", async () => {
    const { result } = read([{ content: all(0, 2), last: false }, new ExplorerError("slow", "late")]);
    const { data, complete, problem } = await result;
    expect([data.length, complete, problem]).toEqual([2, false, "slow"]);
  });

  it("throws if the first page fails, or if a later page fails unexpectedly", async () => {
    await expect(read([new ExplorerError("slow", "late")]).result).rejects.toThrow("late");
    const broken = readPages(
      "voteRequests",
      async ({ page: number }) => {
        if (number > 0) throw new TypeError("a fault");
        return reading(page(all(0, 2), { last: false }));
      },
      () => false,
    );
    await expect(broken).rejects.toThrow("a fault");
  });

  it("is as old as its oldest page", async () => {
    const { result } = read([
      { content: all(0, 2), last: false },
      { content: all(2, 2), last: true },
    ]);
    expect(await result).toMatchObject({ fetchedAt: 99, stale: false });
  });
});

describe("combined readings", () => {
  it("are as old as the oldest one, stale if one of them is, and have the first problem", () => {
    const fresh = reading(1, { fetchedAt: 5 });
    const stale = reading(2, { fetchedAt: 3, stale: true, problem: "slow" });
    const other = reading(3, { fetchedAt: 9, problem: "failing" });
    expect(together("x", fresh, stale, other)).toEqual({
      data: "x",
      fetchedAt: 3,
      stale: true,
      problem: "slow",
    });
    expect(together("x", fresh)).toEqual({ data: "x", fetchedAt: 5, stale: false });
  });
});
