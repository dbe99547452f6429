import { yieldFor } from "../util/event-loop.js";
import { defined } from "../util/present.js";
import { hasTwins, keyOf, type ListName, type ListRow, newerIn } from "./endpoints.js";
import { ExplorerError, ifAnswered } from "./errors.js";
import { gatherDistinct, type Page } from "./schema/page.js";
import type { Reading } from "./service.js";

/** Rows per screen, and rows per request. One request serves ten screens. */
export const ROWS_PER_SCREEN = 10;
export const ROWS_PER_REQUEST = 100;
/** Last page that the API returns (docs/explorer-api.md). */
const LAST_PAGE = 50;
/** Maximum number of rows of a list that can be reached. */
export const REACHABLE_ROWS = (LAST_PAGE + 1) * ROWS_PER_REQUEST;

/** Maximum number of screens of a list. */
export const MAX_SCREENS = REACHABLE_ROWS / ROWS_PER_SCREEN;

/** One screen's rows of a list. */
export interface Slice<T> {
  readonly rows: readonly T[];
  /** Screen number from 1. It is lower than requested if the list has become shorter. */
  readonly page: number;
  /** Number of screens, as far as it is known. */
  readonly pages: number;
  /** Number of rows in the whole list according to the explorer, and how many of them can be reached. `null` if unknown. */
  readonly total: number | null;
  readonly reachable: number | null;
  /** Number of rows of the fetched page that could not be read. */
  readonly unreadable?: number | undefined;
}

type Load<T> = (page: { page: number; size: number }) => Promise<Reading<Page<T>>>;

/**
 * Returns the rows of one screen, from a list that is fetched a hundred rows at a time.
 * @param load fetches a page of the list
 * @param page the screen's number, from 1
 */
export async function openSlice<T>(load: Load<T>, page: number): Promise<Reading<Slice<T>>> {
  const startRow = (page - 1) * ROWS_PER_SCREEN;
  const request = Math.min(Math.floor(startRow / ROWS_PER_REQUEST), LAST_PAGE);
  const reading = await load({ page: request, size: ROWS_PER_REQUEST });
  // Past the end, for example because the list became shorter: show the last screen instead of an empty one.
  if (reading.data.content.length === 0 && reading.data.unreadable === 0 && request > 0) {
    const lastPage = lastScreen(reading.data.totalElements, page);
    return lastPage > 1 ? openSlice(load, lastPage) : openEnd(load, request);
  }
  const { sent, totalElements: total } = reading.data;
  // The last page may be short.
  if (sent < ROWS_PER_REQUEST && total !== null && total !== request * ROWS_PER_REQUEST + sent) {
    const firstPage = request === 0 ? reading : await ifAnswered(load({ page: 0, size: ROWS_PER_REQUEST }));
    if (firstPage && isCapped(firstPage.data)) return openBySize(load, page, () => null);
  }
  return {
    ...reading,
    data: slice(reading.data, startRow - request * ROWS_PER_REQUEST, request, ROWS_PER_REQUEST),
  };
}

/**
 * Returns the last screen of a list that ends before an empty page, although its number of rows says otherwise. Halves the pages in
 * which the end may be, so it takes at most seven requests.
 */
async function openEnd<T>(load: Load<T>, emptyPage: number): Promise<Reading<Slice<T>>> {
  const open = (page: number) => load({ page, size: ROWS_PER_REQUEST });
  let lastPage = 0;
  let end = emptyPage;
  let reading = await open(lastPage);
  while (end - lastPage > 1) {
    const middle = Math.floor((lastPage + end) / 2);
    const next = await open(middle);
    if (next.data.content.length === 0 && next.data.unreadable === 0) end = middle;
    else {
      lastPage = middle;
      reading = next;
    }
  }
  const data = slice({ ...reading.data, last: true }, ROWS_PER_REQUEST, lastPage, ROWS_PER_REQUEST);
  return { ...reading, data };
}

/**
 * Like `openSlice`, for a list whose endpoint documents no parameters (`/rewards/{partyId}`). It may ignore the page size, or return the
 * same page for every page number. If it does the latter, that page is treated as the whole list.
 */
export const openUndocumentedSlice = <Name extends ListName>(
  name: Name,
  load: Load<ListRow<Name>>,
  page: number,
): Promise<Reading<Slice<ListRow<Name>>>> => openBySize(load, page, keyOf(name));

/**
 * True if the first page has fewer rows than requested although more follow: the explorer has a lower limit for the size of a page. A
 * page that is shorter than a screen lacks rows for another reason.
 */
const isCapped = ({ sent, last, totalElements }: Page<unknown>): boolean =>
  sent >= ROWS_PER_SCREEN && sent < ROWS_PER_REQUEST && last !== true && (totalElements ?? 0) > sent;

/** Returns the rows of one screen, from pages of the size that the explorer chooses. */
async function openBySize<T>(
  load: Load<T>,
  page: number,
  key: (row: T) => string | null,
): Promise<Reading<Slice<T>>> {
  const firstPage = await load({ page: 0, size: ROWS_PER_REQUEST });
  const size = firstPage.data.sent;
  const startRow = (page - 1) * ROWS_PER_SCREEN;
  const request = size === 0 ? 0 : Math.min(Math.floor(startRow / size), LAST_PAGE);
  if (isWhole(firstPage.data)) return { ...firstPage, data: slice(firstPage.data, startRow, 0, size) };
  const reading = request === 0 ? firstPage : await load({ page: request, size: ROWS_PER_REQUEST });
  if (request > 0 && reading.data.content.length === 0 && reading.data.unreadable === 0) {
    // Past the end: show the last screen instead of an empty one. The explorer's number of rows may be too high.
    if (request === 1 && firstPage.data.totalElements !== null)
      return { ...firstPage, data: slice({ ...firstPage.data, last: true }, startRow, 0, size) };
    return openBySize(load, lastScreen(firstPage.data.totalElements, page), key);
  }
  if (request > 0 && samePage(firstPage.data, reading.data, key)) {
    return { ...firstPage, data: slice({ ...firstPage.data, last: true }, startRow, 0, size) };
  }
  const start = startRow - request * size;
  const isCut = size > 0 && start + ROWS_PER_SCREEN > size && !isWhole(reading.data) && request < LAST_PAGE;
  // A screen's rows may be on two pages, because the page size need not be a multiple of the screen's.
  const next = isCut ? await ifAnswered(load({ page: request + 1, size: ROWS_PER_REQUEST })) : undefined;
  if (!next || samePage(reading.data, next.data, key))
    return { ...reading, data: slice(reading.data, start, request, size) };
  const content = [...reading.data.content, ...next.data.content];
  return together(slice({ ...next.data, content }, start, request, size), reading, next);
}

/**
 * Returns the last screen for this number of rows. If that cannot be right, because screen `past` is empty, returns the first.
 */
function lastScreen(total: number | null, past: number): number {
  const lastPage = Math.ceil((total ?? 0) / ROWS_PER_SCREEN);
  return lastPage > 0 && lastPage < past ? lastPage : 1;
}

const isWhole = (page: Page<unknown>): boolean =>
  page.last === true || (page.totalElements !== null && page.totalElements <= page.sent);

/** True if a list returned the same rows for two pages, because it ignores its parameters. */
function samePage<T>(a: Page<T>, b: Page<T>, key: (row: T) => string | null): boolean {
  const text = (row: T) => key(row) ?? JSON.stringify(row);
  const keys = new Set(a.content.map(text));
  return b.content.length > 0 && b.content.every((row) => keys.has(text(row)));
}

/**
 * Returns a screen's rows from a fetched page. If `start` is past the end, returns the last screen of that page. If rows are missing
 * because they could not be read, and pages follow, a screen may be empty: another one in its place would lead nowhere.
 */
function slice<T>(source: Page<T>, start: number, request: number, size: number): Slice<T> {
  const { content, totalElements, last, sent, unreadable, beyond = 0 } = source;
  const rowsBefore = request * size;
  const isFollowed =
    sent > 0 && (last ?? (totalElements === null || totalElements <= rowsBefore + sent)) === false;
  const rowsHeld = rowsBefore + (isFollowed ? sent : content.length);
  // The explorer counts the rows that it sent twice.
  const isAll = last === true && totalElements !== null && totalElements <= rowsBefore + sent;
  const total = isAll ? rowsHeld + unreadable + beyond : totalElements;
  const knownTotal = last ? rowsHeld : Math.max(totalElements ?? rowsHeld, rowsHeld);
  const reachable = last ? rowsHeld : Math.min(knownTotal, (LAST_PAGE + 1) * size);
  // Screens begin at multiples of ten rows of the whole list, and this page may not.
  const lastRow = rowsBefore + content.length - 1;
  const lastStart = Math.max(0, lastRow - (lastRow % ROWS_PER_SCREEN) - rowsBefore);
  const offset = isFollowed && start < sent ? start : Math.min(start, lastStart);
  // The total is unknown, or no more than the rows read so far although the page is not the last one.
  const isOpenEnded =
    last !== true && sent > 0 && (totalElements === null || (last === false && totalElements <= rowsHeld));
  const hasMore = isOpenEnded && sent >= size;
  return {
    rows: content.slice(offset, offset + ROWS_PER_SCREEN),
    page: Math.floor((rowsBefore + offset) / ROWS_PER_SCREEN) + 1,
    pages: Math.max(1, Math.min(Math.ceil(reachable / ROWS_PER_SCREEN) + (hasMore ? 1 : 0), MAX_SCREENS)),
    total: isOpenEnded ? null : Math.max(total ?? rowsHeld, last ? 0 : rowsHeld),
    reachable: isOpenEnded ? null : reachable,
    unreadable: unreadable || undefined,
  };
}

/** Approximate length of a row, in characters. */
const ROW_LENGTH = 500;

/** Combines several readings into one, which is as old as the oldest of them. */
export function together<T>(data: T, ...readings: readonly Reading<unknown>[]): Reading<T> {
  const problem = readings.find((reading) => reading.problem)?.problem;
  return {
    data,
    fetchedAt: Math.min(...readings.map((reading) => reading.fetchedAt)),
    stale: readings.some((reading) => reading.stale),
    ...defined({ problem }),
  };
}

/**
 * Reads the pages of a list one after another until `enough` returns true or a page has nothing new. Each row is returned once.
 * An endpoint that ignores `page` would otherwise return the same page again and again.
 */
export async function readPages<Name extends ListName>(
  name: Name,
  load: Load<ListRow<Name>>,
  enough: (rows: readonly ListRow<Name>[]) => boolean,
  maxPages = LAST_PAGE + 1,
): Promise<
  Reading<readonly ListRow<Name>[]> & {
    readonly complete: boolean;
    /** True if there are pages that were not read. */
    readonly isCut: boolean;
    /** True if a page was the same as the one before, as from an explorer that ignores the page number. */
    readonly repeats: boolean;
    /** Number of rows that could not be read, or are too many for one page. */
    readonly unreadable: number;
    readonly total: number | null;
  }
> {
  const key = keyOf(name);
  const readings: Reading<Page<ListRow<Name>>>[] = [];
  const gathered = gatherDistinct(key, newerIn(name), hasTwins(name));
  const { rows } = gathered;
  const result = (isEnd: boolean, repeats = false) => {
    const unreadable = readings.reduce((sum, { data }) => sum + data.unreadable + (data.beyond ?? 0), 0);
    return {
      ...together<readonly ListRow<Name>[]>(rows, ...readings),
      complete: isEnd && unreadable === 0,
      isCut: !isEnd,
      repeats,
      unreadable,
      total: readings[0]?.data.totalElements ?? null,
    };
  };
  for (let page = 0; page < maxPages; page += 1) {
    const reading = await load({ page, size: ROWS_PER_REQUEST }).catch((error: unknown) => {
      // If a later page fails, keep the pages before it.
      if (page === 0 || !(error instanceof ExplorerError)) throw error;
      return error;
    });
    if (reading instanceof ExplorerError) return { ...result(false), problem: reading.problem };
    const previous = readings.at(-1);
    if (previous && samePage(previous.data, reading.data, key)) {
      const { totalElements, sent } = previous.data;
      return result(totalElements === null || totalElements <= Math.max(sent, rows.length), true);
    }
    readings.push(reading);
    gathered.add(reading.data.content);
    // Cached pages arrive without a wait. Yield to the event loop, because all rows so far are searched for each page.
    await yieldFor(rows.length * ROW_LENGTH);
    const { totalElements, last, sent } = reading.data;
    const isCountReached = last === null && totalElements !== null && rows.length >= totalElements;
    // Pages may be longer than requested. This many rows are a complete list.
    const isAll = rows.length >= REACHABLE_ROWS;
    if (last === true || sent === 0 || isCountReached || isAll) return result(true);
    if (enough(rows)) return result(false);
  }
  // Only reading to the last page that the explorer allows shows all there is.
  return result(maxPages > LAST_PAGE);
}

/**
 * Reads the pages of a list as the explorer sorts it. See `readPages`.
 * @param enough by default, all pages are read
 */
export const readPagesOf = <Name extends ListName>(
  explorer: Readonly<Record<Name, Load<ListRow<Name>>>>,
  name: Name,
  enough: (rows: readonly ListRow<Name>[]) => boolean = () => false,
  maxPages?: number,
) => readPages(name, (page) => explorer[name](page), enough, maxPages);
