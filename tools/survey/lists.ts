import { parseAnswer } from "../../src/explorer/client.js";
import type { EndpointName, ListName, ListRow } from "../../src/explorer/endpoints.js";
import { REACHABLE_ROWS, ROWS_PER_REQUEST } from "../../src/explorer/paging.js";
import type { Page } from "../../src/explorer/schema/page.js";
import { toCount, toRecord } from "../../src/explorer/values.js";
import { type Exchange, isAnswered, isTelling } from "./ask.js";
import type { Observation } from "./observation.js";

/** Maximum number of rows by which a list may change between two requests. */
const SHIFT = 20;

/** Returns the rows of a list's answer. Empty if it cannot be read. */
export function rowsOf<Name extends ListName>(name: Name, { json }: Exchange): readonly ListRow<Name>[] {
  try {
    return (parseAnswer(name, json) as unknown as Page<ListRow<Name>>).content;
  } catch {
    return [];
  }
}

/** Returns the number of rows sent, and the totals that the explorer states. */
export function countsOf({ json }: Exchange) {
  const page = toRecord(json);
  const content = Array.isArray(json) ? json : page?.content;
  return {
    sent: Array.isArray(content) ? content.length : 0,
    elements: toCount(page?.totalElements),
    count: toCount(page?.totalCount),
    pages: toCount(page?.totalPages),
    last: page?.last,
  };
}

/**
 * Returns the number of a list's last reachable page.
 * @param size rows per page
 */
export const lastPageOf = (total: number, size: number): number =>
  size === 0 ? 0 : Math.min(REACHABLE_ROWS / ROWS_PER_REQUEST - 1, Math.max(0, Math.ceil(total / size) - 1));

/** Checks that DESC puts the newest or largest rows first. */
export function orderOf<Name extends ListName>(
  name: Name,
  exchange: Exchange,
  rankOf: (row: ListRow<Name>) => number | null,
): Observation[] {
  const values = rowsOf(name, exchange).flatMap((row) => rankOf(row) ?? []);
  const steps = values.slice(1).map((value, at) => value - (values[at] ?? value));
  const [up, down] = [steps.filter((step) => step > 0).length, steps.filter((step) => step < 0).length];
  // Ignore equal neighbors, and a few rows that moved between requests.
  const moved = up + down;
  if (moved < 3) return [];
  if (up < moved / 10)
    return [{ endpoint: name, result: "pass", detail: "DESC: the newest or largest first" }];
  const meaning = "Lists begin at the wrong end, and what is new may be overlooked.";
  const detail = down < moved / 10 ? "DESC: the oldest or smallest first" : "DESC: no order";
  return [{ endpoint: name, result: "fail", path: "$.content[*]", detail, meaning }];
}

/** Checks that a page's totals are consistent, and match the list's last page. */
export function totalsOf(name: EndpointName, first: Exchange, last: Exchange | undefined): Observation[] {
  const { sent, elements, count, pages, last: isLast } = countsOf(first);
  const warn = (path: string, detail: string, meaning: string): Observation => ({
    endpoint: name,
    result: "warn",
    path,
    detail,
    meaning,
  });
  const found: Observation[] = [];
  const total = Math.max(elements ?? 0, count ?? 0);
  if (sent === 0 && total > 0)
    return [
      {
        endpoint: name,
        result: "fail",
        path: "$.content",
        detail: `empty on the first page, though ${total} rows are counted`,
        meaning: "The list is shown as empty.",
      },
    ];
  if (elements !== null && count !== null && elements !== count)
    found.push(
      warn("$.totalCount", `${count}, where totalElements is ${elements}`, "The larger one is shown."),
    );
  if (
    pages !== null &&
    elements !== null &&
    sent > 0 &&
    pages !== Math.ceil(elements / Math.max(sent, 1)) &&
    pages > 1
  )
    found.push(
      warn("$.totalPages", `${pages}, for ${elements} rows of ${sent} a page`, "None: it is not used."),
    );
  if (isLast === true && total > sent)
    found.push(
      warn(
        "$.last",
        `true on the first page, though ${total} rows are counted`,
        "Lists end after their first page.",
      ),
    );
  const isWhole = total <= sent;
  const canEnd = total <= (REACHABLE_ROWS / ROWS_PER_REQUEST) * sent;
  if (last && canEnd && isAnswered(last)) {
    const end = lastPageOf(total, sent) * sent + countsOf(last).sent;
    if (Math.abs(end - total) > SHIFT)
      found.push(
        warn(
          "$.totalElements",
          `${total}, but the rows end at ${end}`,
          "The number of pages and rows shown is wrong.",
        ),
      );
    else if (countsOf(last).last === false)
      found.push(warn("$.last", "false on the last page", "A list may show one empty page more."));
  } else if (last && canEnd && isTelling(last))
    found.push(
      warn(
        "$.content",
        `page ${lastPageOf(total, sent)} of ${total} rows: ${last.status ?? last.outcome}`,
        "The last pages of the list cannot be shown.",
      ),
    );
  if (found.length === 0 && total > 0 && (isWhole || (last && canEnd)))
    found.push({ endpoint: name, result: "pass", detail: `totals hold: ${total} rows` });
  return found;
}

/** True if a list is too long for its last pages to be reached. */
const isLong = (total: number): boolean => total > REACHABLE_ROWS - ROWS_PER_REQUEST;

/** Checks that page 50, the last documented one, has rows if the list is long enough. */
export function lastPageMissing(
  name: EndpointName,
  total: number,
  last: Exchange | undefined,
): Observation[] {
  if (!isLong(total) || !last || !isTelling(last) || (isAnswered(last) && countsOf(last).sent > 0)) return [];
  return [
    {
      endpoint: name,
      result: "warn",
      path: "$.content",
      detail: `page 50 of ${total} rows has none (${last.status ?? last.outcome})`,
      meaning: "The last pages of long lists are empty; “first 5,100” is too much.",
    },
  ];
}

/**
 * Checks that only the documented 5,100 rows can be reached.
 * @param beyond answer for page 51 of a longer list
 */
export function reachOf(name: EndpointName, beyond: Exchange): Observation[] {
  const refused = beyond.outcome === "rejected" || beyond.outcome === "missing";
  if (!isAnswered(beyond) && !refused) return [];
  return [
    isAnswered(beyond) && countsOf(beyond).sent > 0
      ? {
          endpoint: name,
          result: "warn",
          detail: "page 51 is answered too: more than 5,100 rows can be reached",
          meaning: "None: the bot reads no further than is documented.",
        }
      : { endpoint: name, result: "pass", detail: "5,100 rows can be reached, and no more" },
  ];
}

/** Returns a list's rows as raw text. */
function textsOf({ json }: Exchange): readonly string[] {
  const content = Array.isArray(json) ? json : toRecord(json)?.content;
  return Array.isArray(content) ? content.map((row) => JSON.stringify(row)) : [];
}

/** The finding that a list ignores `page`. */
export const FIRST_AGAIN = "the first rows come whatever page is asked for";

/** True if most rows are the same. A new row moves the others. */
function areSame(first: readonly string[], others: readonly string[]): boolean {
  const known = new Set(first);
  return others.filter((row) => known.has(row)).length > others.length / 2;
}

/** Checks if a list with documented parameters ignores them, and describes what the bot cannot show then. */
export function pagesMissing(name: ListName, first: Exchange, last: Exchange | undefined): Observation[] {
  const { sent, elements, count } = countsOf(first);
  const fail = (detail: string, meaning: string): Observation[] => [
    { endpoint: name, result: "fail", path: "$.content", detail, meaning },
  ];
  if (last && isAnswered(last) && areSame(textsOf(first), textsOf(last)))
    return fail(FIRST_AGAIN, "What is behind the first page is not seen.");
  const total = Math.max(elements ?? 0, count ?? 0);
  if (sent > 0 && sent < ROWS_PER_REQUEST && total > sent + SHIFT)
    return fail(
      `at most ${sent} rows a page, where ${ROWS_PER_REQUEST} were asked for`,
      `Of each ${ROWS_PER_REQUEST} rows, only ${sent} are shown.`,
    );
  return [];
}

/**
 * Checks if a list with undocumented parameters supports `page` and `size`, and how many rows it returns.
 * @param small its page 1 with five rows
 */
export function pagingOf(
  name: ListName,
  first: Exchange,
  small: Exchange,
  last: Exchange | undefined,
): Observation[] {
  const { sent, elements, count } = countsOf(first);
  const total = elements ?? count;
  const warn = (detail: string, meaning: string): Observation => ({
    endpoint: name,
    result: "warn",
    path: "$.content",
    detail,
    meaning,
  });
  if (sent <= 5 && (total ?? sent) <= 5) return [];
  if (!isTelling(small)) return [];
  if (!isAnswered(small))
    return [
      warn(`a page of five is refused (${small.status ?? small.outcome})`, "Only the first page is shown."),
    ];
  const [all, some] = [textsOf(first), textsOf(small)];
  if (some.length === 0) return [warn("page 1 of five rows is empty", "Only the first page is shown.")];
  if (areSame(all.slice(0, some.length), some))
    return [warn(FIRST_AGAIN, "What is behind the first page is not seen.")];
  if (some.length > 5)
    return [
      warn(`size is not honoured: ${some.length} rows for five`, "None: the bot goes by the rows that come."),
    ];
  if (sent < ROWS_PER_REQUEST && total !== null && total > sent + SHIFT)
    return [warn(`at most ${sent} rows a page`, "None: the bot goes by the rows that come.")];
  const reached = last && isAnswered(last) ? `, up to page ${lastPageOf(total ?? 0, sent)} at least` : "";
  return [{ endpoint: name, result: "pass", detail: `it pages${reached}` }];
}
