import * as z from "zod";
import {
  toAmount,
  toCount,
  toDecimal,
  toDecisionDate,
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

/** Returns the documented fields of an object. `undefined` for another type. */
export function fieldsOf(schema: z.ZodType): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema;
  const type = contractOf(schema)?.type;
  return typeof type === "object" && "fields" in type ? type.fields : undefined;
}

/** Records the contract's type of a schema, and returns the same schema. */
export function documented<T extends z.ZodType>(schema: T, type: Documented, isTime = false): T {
  contracts.set(schema, { type, isTime });
  return schema;
}

/** Creates a field that is parsed leniently and is not compared with the contract. */
export const undocumented = <T>(read: (value: unknown) => T) => z.unknown().optional().transform(read);

/** Creates a field that is parsed leniently, and records its type in the contract. */
export const field = <T>(read: (value: unknown) => T, type: Documented, isTime = false) =>
  documented(undocumented(read), type, isTime);

export const text = field(toText, "string");
/** A name, which is untrusted and kept short. */
export const name = field(toName, "string");
export const id = field(toId, "string");
export const time = field(toTime, "integer", true);
export const decisionDate = field(toDecisionDate, "integer", true);
export const timeText = field(toTime, "string", true);
export const count = field(toCount, "integer");
export const decimal = field(toDecimal, "number");
/** A number that cannot be negative. */
export const amount = field(toAmount, "number");
export const decimalText = field(toDecimal, "string");
export const flag = field(toFlag, "boolean");
export const url = field(toUrl, "string");
/** A text field that contains JSON. */
export const jsonText = field(toJson, "string");
export const json = field(toJson, "object");

/** Maximum number of rows that are read from a list. No more can be reached (paging.ts). */
export const MAX_ROWS = 5_100;
/** Maximum number of rows within a row, such as the receivers of a transfer. */
const MAX_INNER_ROWS = 200;

/** Parses the rows of an array one by one, so that an invalid row does not affect the others. */
export function readRows<T extends z.ZodObject>(item: T, values: readonly unknown[]): z.infer<T>[] {
  const rows: z.infer<T>[] = [];
  for (const value of values.slice(0, MAX_ROWS)) {
    // Check this without zod, which creates an error object for each invalid row. Thousands of them cause a long garbage
    // collection.
    if (toRecord(value) === null) continue;
    const row = item.safeParse(value);
    if (row.success) rows.push(row.data);
  }
  return rows;
}

export const rowsOf = <T extends z.ZodObject>(item: T) =>
  field((value) => (Array.isArray(value) ? readRows(item, value) : []), { rows: item });

/** Creates a field for a nested object. If the object is missing, all its fields are null. */
export const inner = <T extends z.ZodObject>(fields: T) =>
  field((value) => fields.parse(toRecord(value) ?? {}), { fields });

export const partyRef = z.object({ partyId: id, accountName: name, imageUrl: url });
const asPartyRef = (value: unknown) => (typeof value === "string" ? { partyId: value } : value);
/** References to parties, or only their ids. */
export const partyRefs = field(
  (value) => (Array.isArray(value) ? readRows(partyRef, value.slice(0, MAX_INNER_ROWS).map(asPartyRef)) : []),
  { rows: partyRef },
);

/** A reference to a party in another resource. */
export type PartyRef = z.infer<typeof partyRef>;
