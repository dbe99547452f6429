import * as z from "zod";
import { clean, cut } from "../text/plain.js";
import { type EndpointName, endpoints } from "./endpoints.js";
import { contractOf, type Documented } from "./schema/fields.js";
import { toRecord, toTime } from "./values.js";

/**
 * How an answer differs from docs/explorer-api.md:
 * - `new`: a field that the contract does not name
 * - `missing`: one that it names, and no row has
 * - `empty`: one that the bot cannot do without, and that holds nothing wherever it stands
 * - `type`: another type of value
 * - `unit`: a time in another unit than milliseconds
 * - `unreadable`: of the right type, and no such thing: a time outside 2020 to 2100
 * - `word`: a word that the bot does not know
 */
export type DifferenceKind = "new" | "missing" | "empty" | "type" | "unit" | "unreadable" | "word";

/** One way in which an answer is not what the code expects. */
export interface Difference {
  /** Where in the JSON, as a JSONPath: `$.content[*].createdAt`. */
  readonly path: string;
  readonly kind: DifferenceKind;
  /** What stands there: a type, a unit or a word. A stranger's, cut. */
  readonly found?: string;
  /** What should stand there. */
  readonly expected?: string;
  /** Of a field that is missing or empty, how many objects were looked at: of few, there may be nothing to say. */
  readonly lackedBy?: number;
  /** Whether the bot reads it all the same. */
  readonly isRead: boolean;
  /** The name of a new field, as the path has it. */
  readonly name?: string;
}

/** Endpoints whose one object has something in each field; elsewhere an object may lack what is empty. */
const WHOLE: ReadonlySet<EndpointName> = new Set(["dashboard", "price", "partyTypes"]);

/** Whether a field that is missing may be one that the explorer leaves out where it is empty; a list always has its rows. */
export const mayBeLeftOut = (endpoint: EndpointName, { kind, path }: Difference): boolean =>
  kind === "missing" && path !== "$.content" && !WHOLE.has(endpoint);

/** What more than a line on a screen depends on, by endpoint and path. */
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

/** Whether more than a line on a screen depends on what stands there. */
export const isEssential = (endpoint: EndpointName, path: string): boolean =>
  essential.has(`${endpoint} ${path}`);

/** Fewer objects than these may lack a field, or have nothing in it, by chance. */
export const MIN_LACKING = 10;

/** So much of an answer is looked at, since a stranger may have written it. */
const MAX_ROWS = 100;
const MAX_INNER_ROWS = 20;
const MAX_KEYS = 200;
const MAX_NEW_FIELDS = 20;
const MAX_NAME = 60;

/** Numbers of more than fifteen digits are read as text (values.ts), so that text of so many may have been a number. */
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

/** The type of a JSON value in the contract's words. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** The unit of a number that is a time, by its size; undefined for milliseconds and for what is no time. */
function unitOf(value: unknown): string | undefined {
  const [number, time] = [Number(value), toTime(value)];
  if (time === null || !Number.isFinite(number)) return undefined;
  const scale = number / time;
  return scale < 0.1 ? "seconds" : scale > 1e5 ? "nanoseconds" : scale > 10 ? "microseconds" : undefined;
}

/** Gathers differences, each path once for each kind. */
interface Finder {
  readonly endpoint: EndpointName;
  readonly found: Map<string, Difference>;
  readonly newFields: { left: number };
}

const add = ({ found }: Finder, difference: Difference): void => {
  const key = `${difference.kind} ${difference.path}`;
  if (!found.has(key)) found.set(key, difference);
};

const reads = (schema: z.ZodType, value: unknown): boolean => (schema.safeParse(value).data ?? null) !== null;

/** Nothing is said where there is nothing: an empty text, a zero for a time. */
const isNothing = (value: unknown, isTime: boolean): boolean =>
  value === null || value === undefined || value === "" || (isTime && value === 0);

/** A field that is there, and holds nothing in so many objects that it should hold something in one. */
function findEmpty(values: readonly unknown[], isTime: boolean, path: string, finder: Finder): void {
  const { endpoint } = finder;
  const isTelling = isEssential(endpoint, path) && (values.length >= MIN_LACKING || WHOLE.has(endpoint));
  if (isTelling && values.every((value) => isNothing(value, isTime)))
    add(finder, { path, kind: "empty", lackedBy: values.length, isRead: false });
}

/** All values that stand at one path, so that a field which one row lacks is not taken for missing. */
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
    const present = records.flatMap((record) => (Object.hasOwn(record, name) ? [heldBy(record)] : []));
    const inner = `${path}.${name}`;
    if (present.length === 0)
      add(finder, { path: inner, kind: "missing", lackedBy: records.length, isRead: false });
    else compare(schema, present, inner, finder);
  }
  for (const record of records) {
    let seen = 0;
    for (const name in record) {
      seen += 1;
      if (seen > MAX_KEYS || finder.newFields.left === 0) break;
      const schema = Object.hasOwn(fields.shape, name) ? fields.shape[name] : undefined;
      if (schema instanceof z.ZodType && contractOf(schema)) continue;
      const before = finder.found.size;
      const shown = clean(cut(name, MAX_NAME));
      add(finder, {
        path: `${path}.${shown}`,
        kind: "new",
        found: typeOf(record[name]),
        isRead: schema !== undefined,
        name: shown,
      });
      if (finder.found.size > before) finder.newFields.left -= 1;
    }
  }
}

function compare(schema: z.ZodType, values: readonly unknown[], path: string, finder: Finder): void {
  const said = contractOf(schema);
  const type = said?.type ?? (schema instanceof z.ZodObject ? { fields: schema } : undefined);
  if (type === undefined) return;
  if (typeof type === "string") {
    compareScalars(type, said?.isTime ?? false, values, path, schema, finder);
    return;
  }
  const [expected, isIt] = "rows" in type ? ["array", Array.isArray] : ["object", FITS.object];
  // A list's page always has its rows, and an answer is something.
  const mayBeNull = path !== "$" && path !== "$.content";
  const isOther = (value: unknown) => !isIt(value) && !(mayBeNull && (value === null || value === undefined));
  const other = values.findIndex(isOther);
  if (other !== -1)
    add(finder, {
      path,
      kind: "type",
      found: typeOf(values[other]),
      expected,
      isRead: isReadAs(schema, values[other]),
    });
  if ("fields" in type) compareObjects(type.fields, values, path, finder);
  else {
    const most = path.includes("[*]") ? MAX_INNER_ROWS : MAX_ROWS;
    const rows = values.flatMap((value) => (Array.isArray(value) ? value.slice(0, most) : []));
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

/** Whether something of it is left where it is not what it should be: the page of a list may be a bare array. */
function isReadAs(schema: z.ZodType, value: unknown): boolean {
  const data: unknown = schema.safeParse(value).data ?? null;
  const rows = Array.isArray(data) ? data : toRecord(data)?.content;
  return Array.isArray(rows) && rows.length > 0;
}

/** The names of all fields that the contract knows, at whatever depth. */
export function documentedNames(): ReadonlySet<string> {
  const names = new Set<string>();
  const addNames = (schema: z.ZodType): void => {
    const type = contractOf(schema)?.type ?? (schema instanceof z.ZodObject ? { fields: schema } : undefined);
    if (type === undefined || typeof type === "string") return;
    for (const [name, field] of Object.entries("rows" in type ? type.rows.shape : type.fields.shape)) {
      names.add(name);
      if (field instanceof z.ZodType) addNames(field);
    }
  };
  for (const { schema } of Object.values(endpoints)) addNames(schema);
  return names;
}

/**
 * How an endpoint's answers, as JSON, differ from the contract: a field is missing only where none of them has it. At most
 * twenty new fields are named.
 */
export function differencesIn(name: EndpointName, ...answers: readonly unknown[]): readonly Difference[] {
  const finder: Finder = { endpoint: name, found: new Map(), newFields: { left: MAX_NEW_FIELDS } };
  compare(endpoints[name].schema, answers, "$", finder);
  return [...finder.found.values()];
}
