import * as z from "zod";
import { toCount, toDecimal, toFlag, toId, toJson, toName, toText, toTime, toUrl } from "../values.js";

/**
 * What the endpoints answer (docs/explorer-api.md), read leniently: every field may be missing, null or of another type,
 * and is then null here. The readers in values.ts are idempotent, so a cached answer passes through its schema again.
 */

export const field = <T>(read: (value: unknown) => T) => z.unknown().optional().transform(read);

export const text = field(toText);
/** A name that somebody gave: short, and so is what is kept of it. */
export const name = field(toName);
export const id = field(toId);
export const time = field(toTime);
export const count = field(toCount);
export const decimal = field(toDecimal);
export const flag = field(toFlag);
export const url = field(toUrl);
export const json = field(toJson);

/** The rows of an array that parse, one by one, so that one bad row costs one row. */
export function readRows<T extends z.ZodType>(item: T, values: readonly unknown[]): z.infer<T>[] {
  const rows: z.infer<T>[] = [];
  for (const value of values) {
    const row = item.safeParse(value);
    if (row.success) rows.push(row.data);
  }
  return rows;
}

export const rowsOf = <T extends z.ZodType>(item: T) =>
  field((value) => (Array.isArray(value) ? readRows(item, value) : []));

export const partyRef = z.object({ partyId: id, accountName: name, imageUrl: url });
export const partyRefs = rowsOf(partyRef);

/** A party as another resource refers to it. */
export type PartyRef = z.infer<typeof partyRef>;
