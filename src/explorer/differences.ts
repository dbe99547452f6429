import * as z from "zod";
import { clean, cut } from "../text/plain.js";
import { type EndpointName, endpoints } from "./endpoints.js";
import { contractOf, type Documented } from "./schema/fields.js";
import { toRecord, toTime } from "./values.js";

/**
 * Kind of a difference between an answer and docs/explorer-api.md:
 * - `new`: a field that the contract does not name
 * - `missing`: a field of the contract that no row has
 * - `empty`: an essential field that is empty wherever it appears
 * - `type`: another type of value
 * - `unit`: a time in another unit than milliseconds
 * - `unreadable`: a value of the right type that makes no sense, such as a time outside 2020 to 2100
 * - `word`: a word that the bot does not know
 */
export type DifferenceKind = "new" | "missing" | "empty" | "type" | "unit" | "unreadable" | "word";

/** A difference between an answer and what the code expects. */
export interface AnswerDifference {
  /** Location as a JSONPath: `$.content[*].createdAt`. */
  readonly path: string;
  readonly kind: DifferenceKind;
  /** The type, unit or word that was found. It is untrusted and cut. */
  readonly found?: string;
  /** The expected type, unit or word. */
  readonly expected?: string;
  /** Number of objects in which the field is missing or empty. A low number may be a coincidence. */
  readonly lackedBy?: number;
  /** True if the bot can use the value anyway. */
  readonly isRead: boolean;
  /** Name of a new field, as in the path. */
  readonly name?: string;
}

/** Endpoints whose single object always has a value in every field. Other endpoints may leave out empty fields. */
const WHOLE: ReadonlySet<EndpointName> = new Set(["dashboard", "price", "partyTypes"]);

/** True if a missing field may just be empty. The `content` of a list is always sent. */
export const mayBeLeftOut = (endpoint: EndpointName, { kind, path }: AnswerDifference): boolean =>
  kind === "missing" && path !== "$.content" && !WHOLE.has(endpoint);

/** Essential fields, by endpoint and path. */
export const ESSENTIAL = [
  "voteRequests $",
  "voteRequests $.content",
  "voteRequests $.content[*]",
  "voteRequests $.content[*].contractId",
  "voteRequests $.content[*].trackingCid",
  "voteRequests $.content[*].status",
  "voteRequests $.content[*].voteBefore",
  "voteRequests $.content[*].yesCount",
  "validators $",
  "validators $.content",
  "validators $.content[*]",
  "validators $.content[*].validator",
  "validators $.content[*].lastActiveAt",
  "validators $.content[*].version",
  "validator $.trafficStatus",
  "newValidators $",
  "votes $.content[*].trackingCid",
  "votes $.content[*].accept",
  "dashboard $.totalSuperValidators",
  "price $.price",
] as const;

const essential: ReadonlySet<string> = new Set(ESSENTIAL);

/** True if more than one line of a screen depends on the field. */
export const isEssential = (endpoint: EndpointName, path: string): boolean =>
  essential.has(`${endpoint} ${path}`);

/** Minimum number of objects that must lack a field before it counts as missing or empty. */
export const MIN_LACKING = 10;

/** Limits for the part of an answer that is compared, because the answer is untrusted. */
const MAX_ROWS = 100;
const MAX_INNER_ROWS = 20;
const MAX_KEYS = 200;
const MAX_NEW_FIELDS = 20;
const MAX_NAME = 60;

/** Numbers of more than fifteen digits are read as text (values.ts), so such text may have been a number. */
const LONG_NUMBER = /^-?\d[\d.]{15,}(e[+-]?\d+)?$/i;

const isNumber = (value: unknown): boolean =>
  typeof value === "number" || (typeof value === "string" && LONG_NUMBER.test(value));

const FITS: Readonly<Record<Extract<Documented, string>, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  integer: (value) => isNumber(value) && /^-?\d+$/.test(String(value)),
  number: isNumber,
  boolean: (value) => typeof value === "boolean",
  object: (value) => toRecord(value) !== null,
};

/** Returns the type of a JSON value, named as in the contract. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** Detects the unit of a timestamp from its magnitude. Returns undefined for milliseconds and if the value is not a timestamp. */
function unitOf(value: unknown): string | undefined {
  const [number, time] = [Number(value), toTime(value)];
  if (time === null || !Number.isFinite(number)) return undefined;
  const scale = number / time;
  if (scale < 0.1) return "seconds";
  if (scale > 1e5) return "nanoseconds";
  return scale > 10 ? "microseconds" : undefined;
}

/** State of a comparison. Each difference is kept once per kind and path. */
interface Finder {
  readonly endpoint: EndpointName;
  readonly found: Map<string, AnswerDifference>;
  readonly newFields: { left: number };
}

const add = ({ found }: Finder, difference: AnswerDifference): void => {
  const key = `${difference.kind} ${difference.path}`;
  if (!found.has(key)) found.set(key, difference);
};

const reads = (schema: z.ZodType, value: unknown): boolean => (schema.safeParse(value).data ?? null) !== null;

/** True if a value is empty: null, undefined, an empty text, or 0 as a time. */
const isNothing = (value: unknown, isTime: boolean): boolean =>
  value === null || value === undefined || value === "" || (isTime && value === 0);

/** Adds a difference if an essential field is empty in every object, and there are enough objects to rule out a coincidence. */
function findEmpty(values: readonly unknown[], isTime: boolean, path: string, finder: Finder): void {
  const { endpoint } = finder;
  const isTelling = isEssential(endpoint, path) && (values.length >= MIN_LACKING || WHOLE.has(endpoint));
  if (isTelling && values.every((value) => isNothing(value, isTime)))
    add(finder, { path, kind: "empty", lackedBy: values.length, isRead: false });
}

/** Compares all values of a scalar field with the contract's type and unit. */
function compareScalars(
  type: Extract<Documented, string>,
  isTime: boolean,
  values: readonly unknown[],
  path: string,
  schema: z.ZodType,
  finder: Finder,
): void {
  findEmpty(values, isTime, path, finder);
  for (const value of values) {
    if (isNothing(value, isTime)) continue;
    if (!FITS[type](value))
      add(finder, { path, kind: "type", found: typeOf(value), expected: type, isRead: reads(schema, value) });
    else if (isTime && type === "integer") {
      const unit = unitOf(value);
      if (toTime(value) === null)
        add(finder, { path, kind: "unreadable", expected: "time", found: typeOf(value), isRead: false });
      else if (unit) add(finder, { path, kind: "unit", found: unit, expected: "milliseconds", isRead: true });
    }
  }
}

type Fields = Readonly<Record<string, unknown>>;

function compareObjects(fields: z.ZodObject, values: readonly unknown[], path: string, finder: Finder): void {
  const records = values.map(toRecord).filter((record) => record !== null);
  if (records.length === 0) return;
  for (const [name, schema] of Object.entries(fields.shape)) {
    if (!(schema instanceof z.ZodType) || !contractOf(schema)) continue;
    // An empty page may come without its array (schema/page.ts).
    const heldBy = (record: Fields) =>
      name === "content" && record.empty === true ? (record[name] ?? []) : record[name];
    const presentValues = records.flatMap((record) => (Object.hasOwn(record, name) ? [heldBy(record)] : []));
    const innerPath = `${path}.${name}`;
    if (presentValues.length === 0)
      add(finder, { path: innerPath, kind: "missing", lackedBy: records.length, isRead: false });
    else compare(schema, presentValues, innerPath, finder);
  }
  for (const record of records) {
    let seenCount = 0;
    for (const name in record) {
      seenCount += 1;
      if (seenCount > MAX_KEYS || finder.newFields.left === 0) break;
      const schema = Object.hasOwn(fields.shape, name) ? fields.shape[name] : undefined;
      if (schema instanceof z.ZodType && contractOf(schema)) continue;
      const countBefore = finder.found.size;
      const shownName = clean(cut(name, MAX_NAME));
      add(finder, {
        path: `${path}.${shownName}`,
        kind: "new",
        found: typeOf(record[name]),
        isRead: schema !== undefined,
        name: shownName,
      });
      if (finder.found.size > countBefore) finder.newFields.left -= 1;
    }
  }
}

function compare(schema: z.ZodType, values: readonly unknown[], path: string, finder: Finder): void {
  const contractType = contractOf(schema);
  const type = contractType?.type ?? (schema instanceof z.ZodObject ? { fields: schema } : undefined);
  if (type === undefined) return;
  if (typeof type === "string") {
    compareScalars(type, contractType?.isTime ?? false, values, path, schema, finder);
    return;
  }
  const [expected, isIt] = "rows" in type ? ["array", Array.isArray] : ["object", FITS.object];
  // A whole answer and the rows of a page must not be null.
  const mayBeNull = path !== "$" && path !== "$.content";
  const isOther = (value: unknown) => !isIt(value) && !(mayBeNull && (value === null || value === undefined));
  const otherIndex = values.findIndex(isOther);
  if (otherIndex !== -1)
    add(finder, {
      path,
      kind: "type",
      found: typeOf(values[otherIndex]),
      expected,
      isRead: isReadAs(schema, values[otherIndex]),
    });
  if ("fields" in type) compareObjects(type.fields, values, path, finder);
  else {
    const maxRows = path.includes("[*]") ? MAX_INNER_ROWS : MAX_ROWS;
    const rows = values.flatMap((value) => (Array.isArray(value) ? value.slice(0, maxRows) : []));
    const noObject = rows.findIndex((row) => toRecord(row) === null);
    if (noObject !== -1)
      add(finder, {
        path: `${path}[*]`,
        kind: "type",
        found: typeOf(rows[noObject]),
        expected: "object",
        isRead: false,
      });
    compareObjects(type.rows, rows, `${path}[*]`, finder);
  }
}

/** True if the schema keeps a part of the value. For example, a list's page may be a bare array. */
function isReadAs(schema: z.ZodType, value: unknown): boolean {
  const data: unknown = schema.safeParse(value).data ?? null;
  const rows = Array.isArray(data) ? data : toRecord(data)?.content;
  return Array.isArray(rows) && rows.length > 0;
}

/**
 * Compares an endpoint's answers with the contract. A field counts as missing only if no answer has it. At most twenty new fields
 * are reported.
 */
export function differencesIn(
  name: EndpointName,
  ...answers: readonly unknown[]
): readonly AnswerDifference[] {
  const finder: Finder = { endpoint: name, found: new Map(), newFields: { left: MAX_NEW_FIELDS } };
  compare(endpoints[name].schema, answers, "$", finder);
  return [...finder.found.values()];
}
