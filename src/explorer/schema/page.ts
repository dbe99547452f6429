import * as z from "zod";
import { defined } from "../../util/present.js";
import { toCount } from "../values.js";
import { count, field, flag, MAX_ROWS, readRows, rowsOf } from "./fields.js";

/** A page of a list: the rows that could be parsed, and what the explorer says about the whole list. */
export interface Page<T> {
  readonly content: readonly T[];
  /** Number of rows in the whole list, according to the explorer. */
  readonly totalElements: number | null;
  readonly last: boolean | null;
  /** Number of rows sent, including duplicates and rows that could not be parsed. */
  readonly sent: number;
  /** Number of rows that could not be parsed. If it is above zero, the page is incomplete. */
  readonly unreadable: number;
  /** Number of rows after the first `MAX_ROWS`, which are not read. */
  readonly beyond?: number;
}

const sort = z.object({ sorted: flag, empty: flag, unsorted: flag });
const documentedSort = field((value) => value, { fields: sort });

/** Returns the contract's schema of a page of these rows. */
export const documentedPage = (row: z.ZodObject) =>
  z.object({
    content: rowsOf(row),
    pageable: field((value) => value, {
      fields: z.object({
        sort: documentedSort,
        pageSize: count,
        pageNumber: count,
        offset: count,
        paged: flag,
        unpaged: flag,
      }),
    }),
    last: flag,
    totalPages: count,
    totalElements: count,
    totalCount: count,
    size: count,
    number: count,
    sort: documentedSort,
    first: flag,
    numberOfElements: count,
    empty: flag,
  });

/** Returns the schema of a page of rows. If `keyOf` is given, only one row per key is kept. */
export const pageOf = <T extends z.ZodObject>(
  item: T,
  keyOf?: (row: z.infer<T>) => string | null,
  newer?: Newer<z.infer<T>>,
) =>
  z
    .union([
      z.array(z.unknown()).transform((content) => ({ content })),
      // An empty page may come without its array.
      z.object({ content: z.null(), empty: z.literal(true) }).transform(() => ({
        content: [],
        last: true,
        sent: 0,
        unreadable: 0,
        beyond: 0,
        totalElements: 0,
        totalCount: 0,
      })),
      z.object({
        content: z.array(z.unknown()),
        totalElements: z.unknown().optional(),
        totalCount: z.unknown().optional(),
        last: flag,
        // Only cached pages have these three.
        sent: count,
        unreadable: count,
        beyond: count,
      }),
    ])
    .transform((page): Page<z.infer<T>> => {
      const readResult = readRows(item, page.content);
      const wrapper = "last" in page ? page : null;
      const cutCount = Math.max(0, page.content.length - MAX_ROWS);
      const beyond = (wrapper?.beyond ?? 0) + cutCount;
      return {
        content: keyOf ? distinct(readResult, keyOf, newer) : readResult,
        // The two counts may differ.
        totalElements: larger(
          larger(toCount(wrapper?.totalElements), toCount(wrapper?.totalCount)),
          cutCount > 0 ? page.content.length : null,
        ),
        last: beyond > 0 || (wrapper?.last ?? null),
        sent: wrapper?.sent ?? page.content.length,
        unreadable: (wrapper?.unreadable ?? 0) + page.content.length - cutCount - readResult.length,
        ...defined({ beyond: beyond || undefined }),
      };
    });

const larger = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

/** Returns true if the first of two rows with the same key is newer. */
export type Newer<T> = (row: T, than: T) => boolean;

/**
 * Keeps one row per key, at the position of the first: the newest row, or the first one without `newer`. Rows without a key are
 * all kept.
 */
export function distinct<T>(
  rows: readonly T[],
  keyOf: (row: T) => string | null,
  newer?: Newer<T>,
): readonly T[] {
  const gathered = gatherDistinct(keyOf, newer);
  gathered.add(rows);
  return gathered.rows;
}

/**
 * Like `distinct`, for rows that arrive page by page. Each row is processed once.
 * @param hasTwins true if a page may have equal rows that are different things. Only rows that a later page repeats are then left out
 */
export function gatherDistinct<T>(
  keyOf: (row: T) => string | null,
  newer: Newer<T> = () => false,
  hasTwins = false,
) {
  const places = new Map<string, number>();
  const keptRows: T[] = [];
  const rows: readonly T[] = keptRows;
  const add = (row: T, key: string | null) => {
    const rowIndex = key === null ? undefined : places.get(key);
    const previousRow = rowIndex === undefined ? undefined : keptRows[rowIndex];
    if (rowIndex === undefined || previousRow === undefined) {
      if (key !== null) places.set(key, keptRows.length);
      keptRows.push(row);
    } else if (newer(row, previousRow)) keptRows[rowIndex] = row;
  };
  return {
    rows,
    add(more: readonly T[]): void {
      const counts = new Map<string, number>();
      for (const row of more) {
        const key = keyOf(row);
        if (!hasTwins || key === null) {
          add(row, key);
          continue;
        }
        const count = (counts.get(key) ?? 0) + 1;
        counts.set(key, count);
        add(row, `${key} ${count}`);
      }
    },
  };
}
