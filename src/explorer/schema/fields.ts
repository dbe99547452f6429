import * as z from "zod";
import {
  toCount,
  toDecimal,
  toFlag,
  toId,
  toJson,
  toName,
  toRecord,
  toText,
  toTime,
  toUrl,
} from "../values.js";

/**
 * Schemas of the endpoints (docs/explorer-api.md). Every field may be missing, null or of another type, and becomes null here.
 * The readers in values.ts are idempotent, so cached answers can be parsed again.
 */

/** A type in the contract: a scalar, free-form JSON, an object with these fields, or an array. */
export type Documented =
  | "string"
  | "integer"
  | "number"
  | "boolean"
  | "object"
  | { readonly fields: z.ZodObject }
  | { readonly rows: z.ZodObject };

interface Contract {
  readonly type: Documented;
  /** True for a point in time. The contract does not say its unit. */
  readonly isTime: boolean;
}

const contracts = new WeakMap<z.ZodType, Contract>();

/** Returns the contract of a field or of a whole answer; `undefined` if there is none. */
export const contractOf = (schema: z.ZodType): Contract | undefined => contracts.get(schema);

/** The same schema, and what the contract says of it. */
export function documented<T extends z.ZodType>(schema: T, type: Documented, isTime = false): T {
  contracts.set(schema, { type, isTime });
  return schema;
}

/** A field that is read leniently, whatever the contract says of it. */
export const undocumented = <T>(read: (value: unknown) => T) => z.unknown().optional().transform(read);

/** A field, and what the contract says of it. */
export const field = <T>(read: (value: unknown) => T, type: Documented, isTime = false) =>
  documented(undocumented(read), type, isTime);

export const text = field(toText, "string");
/** A name, which is untrusted and kept short. */
export const name = field(toName, "string");
export const id = field(toId, "string");
export const time = field(toTime, "integer", true);
export const timeText = field(toTime, "string", true);
export const count = field(toCount, "integer");
export const decimal = field(toDecimal, "number");
export const decimalText = field(toDecimal, "string");
export const flag = field(toFlag, "boolean");
export const url = field(toUrl, "string");
/** JSON as the text of a field. */
export const jsonText = field(toJson, "string");
export const json = field(toJson, "object");

/** No list has more rows that can be reached (paging.ts), so what an array holds beyond them is not looked at. */
const MAX_ROWS = 5_100;

/** The rows of an array that parse, one by one, so that one bad row costs one row. */
export function readRows<T extends z.ZodObject>(item: T, values: readonly unknown[]): z.infer<T>[] {
  const rows: z.infer<T>[] = [];
  for (const value of values.slice(0, MAX_ROWS)) {
    // Told without a parser, which makes an error object for each: thousands of them are collected in one pause.
    if (toRecord(value) === null) continue;
    const row = item.safeParse(value);
    if (row.success) rows.push(row.data);
  }
  return rows;
}

export const rowsOf = <T extends z.ZodObject>(item: T) =>
  field((value) => (Array.isArray(value) ? readRows(item, value) : []), { rows: item });

/** An object within an object, whose fields are null if it is missing. */
export const inner = <T extends z.ZodObject>(fields: T) =>
  field((value) => fields.parse(toRecord(value) ?? {}), { fields });

export const partyRef = z.object({ partyId: id, accountName: name, imageUrl: url });
export const partyRefs = rowsOf(partyRef);

/** A party as another resource refers to it. */
export type PartyRef = z.infer<typeof partyRef>;
