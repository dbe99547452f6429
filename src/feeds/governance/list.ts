import { readPages } from "../../explorer/paging.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import type { Explorer } from "../../explorer/service.js";
import { identityOf } from "../../ledger/vote-requests.js";
import { ageOf } from "../../util/clock.js";
import { MINUTE } from "../../util/units.js";
import type { TrackedVoteRequest } from "./collections.js";
import { hasVanished } from "./endings.js";
import type { RequestDeps } from "./requests.js";
import { keyOf } from "./tracking.js";

/**
 * Interval at which all pages are read, in ms. They are also read if the explorer's number of requests has changed. In between, a
 * poll stops once it has seen every open request, because the remaining pages only contain closed ones.
 */
const WHOLE_MS = 10 * MINUTE;

/** True if every open request is among the rows. */
function isEveryOpenIn(
  known: ReadonlyMap<string, TrackedVoteRequest>,
  rows: readonly VoteRequestListItem[],
): boolean {
  const seenKeys = new Set(rows.map((row) => keyOf(known, row, identityOf(row) ?? "")));
  // A request that the list lacked several times is looked for only in complete reads.
  return [...known].every(
    ([key, known]) => known.phase !== "open" || hasVanished(known) || seenKeys.has(key),
  );
}

/** Creates the reading of the list of vote requests. It reads all pages only if some may have changed that the first ones do not show. */
export function createList({ explorer, requests, now }: Pick<RequestDeps, "explorer" | "requests" | "now">) {
  /** Time at which all pages were last read, and the explorer's number of requests at that time. */
  let wholeAt = Number.NEGATIVE_INFINITY;
  let countedRequests: number | null = null;
  /** True if the last read list was empty, and no request was tracked. */
  let wasEmpty = false;
  /** True if a page of the last read list was the same as the one before. */
  let hadOnlyPage = false;
  /** Number of rows that could not be read when all pages were last answered. */
  let lastUnreadable = 0;

  /** Reads the remaining pages. If a complete read is not due, stops after the last open request. */
  const read = async (first: Awaited<ReturnType<Explorer["voteRequests"]>>, wholeIsDue: boolean) => {
    const { totalElements, unreadable } = first.data;
    const readsAll =
      wholeIsDue ||
      unreadable > 0 ||
      totalElements === null ||
      totalElements !== countedRequests ||
      ageOf(wholeAt, now()) >= WHOLE_MS;
    const knownRequests = await requests.all();
    const isEnough = (rows: readonly VoteRequestListItem[]) =>
      !readsAll && isEveryOpenIn(knownRequests, rows);
    const {
      data: rows,
      complete,
      isCut,
      repeats,
      unreadable: unreadableRows,
    } = await readPages(
      "voteRequests",
      async (page) => (page.page === 0 ? first : explorer.voteRequests(page)),
      isEnough,
    );
    // An empty, partial or stale answer is neither news nor a baseline. A network may have had no request yet: if the explorer says
    // so twice in a row, and none is tracked, the first one will be news.
    const isEmpty = complete && rows.length === 0 && totalElements === 0 && knownRequests.size === 0;
    const isWholeList = complete && (rows.length > 0 || (isEmpty && wasEmpty));
    wasEmpty = isEmpty;
    // An explorer that ignores the page number has only this page, which is then the baseline.
    const isOnlyPage = repeats && hadOnlyPage && rows.length > 0;
    // A reading that stopped early did not ask for a second page.
    if (repeats || !isEnough(rows)) hadOnlyPage = repeats;
    // Rows that stay unreadable must not keep the others from being news.
    const isSettled = !isCut && rows.length > 0 && unreadableRows > 0 && unreadableRows === lastUnreadable;
    if (!isCut) lastUnreadable = unreadableRows;
    const isComplete = isWholeList || isOnlyPage || isSettled || isEnough(rows);
    return { rows, whole: isWholeList, isOnlyPage, isSettled, done: isComplete, totalElements };
  };

  return {
    read,
    /** Notes that what a complete read has found is written. @param count the explorer's number of requests */
    noteWhole(count: number | null): void {
      wholeAt = now();
      countedRequests = count;
    },
  };
}
