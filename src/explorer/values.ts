import { clean, cut } from "../text/plain.js";
import { UNREADABLE_AT } from "../util/clock.js";
import { yieldFor } from "../util/event-loop.js";
import { perObject } from "../util/per-object.js";

/**
 * Parsers for untrusted values. Everything that the explorer sends passes through them once. Each `to…` function accepts any
 * value, returns `null` if it cannot parse it, and never throws.
 */

/** Range of plausible timestamps (docs/ledger.md). Anything outside it is unknown, so that a 0 is never shown as 1970. */
const EARLIEST = Date.UTC(2020);
const LATEST = UNREADABLE_AT;

/** Milliseconds in one second, millisecond, microsecond and nanosecond. */
const UNITS = [1_000, 1, 1e-3, 1e-6] as const;

const ISO_DATE = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d:?\d\d)?$/i;

const plausibleTime = (ms: number): number | null => (ms >= EARLIEST && ms < LATEST ? Math.trunc(ms) : null);

/**
 * Parses a point in time to epoch ms. The API documents no unit, so a number's magnitude decides between s, ms, µs and ns. ISO
 * 8601 text without a time zone is UTC. Returns null for times outside 2020–2100.
 */
export function toTime(value: unknown): number | null {
  if (typeof value === "string" && ISO_DATE.test(value.trim())) {
    const text = value.trim().replace(" ", "T");
    return plausibleTime(
      Date.parse(/T/.test(text) && !/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? `${text}Z` : text),
    );
  }
  const decimal = toDecimal(value);
  if (decimal === null) return null;
  for (const unit of UNITS) {
    const timeMs = plausibleTime(Number(decimal) * unit);
    if (timeMs !== null) return timeMs;
  }
  return null;
}

/**
 * Like `toTime`, for a date that changes a request's rules if it is missing. Returns null for a missing date only, and
 * `UNREADABLE_AT` for one that cannot be read.
 */
export function toDecisionDate(value: unknown): number | null {
  const isMissing =
    value === undefined || value === null || (typeof value === "string" && value.trim() === "");
  return isMissing ? null : (toTime(value) ?? UNREADABLE_AT);
}

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

/**
 * Converts a number, or text, to an exact decimal string without an exponent ("1234.5"). Returns null if it is no number, or above
 * 1.8e308. Text is never converted to a float, so ten decimals of a balance and ids above 2^53 stay exact.
 */
export function toDecimal(value: unknown): string | null {
  const text = typeof value === "number" || typeof value === "bigint" ? String(value) : value;
  if (typeof text !== "string" || text.length > 400) return null;
  const match = DECIMAL.exec(text.trim());
  if (!match) return null;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const shift = Number(exponent);
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = point <= 0 ? "0".repeat(1 - point) + digits : digits.padEnd(point, "0");
  const pointIndex = Math.max(point, 1);
  const integer = padded.slice(0, pointIndex).replace(/^0+(?=\d)/, "");
  // A larger number would be shown as "∞".
  if (!Number.isFinite(Number(integer))) return null;
  const rest = padded.slice(pointIndex).replace(/0+$/, "");
  const magnitude = rest ? `${integer}.${rest}` : integer;
  return sign === "-" && /[1-9]/.test(magnitude) ? `-${magnitude}` : magnitude;
}

/** Parses a count: a non-negative safe integer. */
export function toCount(value: unknown): number | null {
  const decimal = toDecimal(value);
  const count = decimal === null ? Number.NaN : Number(decimal);
  return Number.isSafeInteger(count) && count >= 0 ? count : null;
}

/** Parses an amount, which cannot be negative, to an exact decimal string. */
export function toAmount(value: unknown): string | null {
  const decimal = toDecimal(value);
  return decimal?.startsWith("-") ? null : decimal;
}

/** Parses a boolean, or the text "true" or "false". Anything else is null and not false. */
export function toFlag(value: unknown): boolean | null {
  if (typeof value === "boolean") return value;
  const text = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (text === "true") return true;
  return text === "false" ? false : null;
}

/** Maximum length of untrusted text. Reasons and descriptions are the longest. */
const MAX_TEXT = 20_000;

/** Returns the text cleaned, trimmed and cut, or null if the result is empty. Numbers and booleans become text. */
export function toText(value: unknown): string | null {
  if (typeof value === "string") return clean(cut(value, MAX_TEXT)).trim() || null;
  // JSON may hold 1e999, which is read as Infinity.
  const isScalar = Number.isFinite(value) || typeof value === "bigint" || typeof value === "boolean";
  return isScalar ? String(value) : null;
}

/** Maximum length of a name. */
const MAX_NAME = 200;

/** Parses a name: text that is cut to `MAX_NAME`. */
export const toName = (value: unknown): string | null => {
  const text = toText(typeof value === "string" ? cut(value, 4 * MAX_NAME) : value);
  return text === null ? null : cut(text, MAX_NAME);
};

/** Maximum length of an id. Party ids have at most 255 characters. */
export const MAX_ID_LENGTH = 300;

/** Returns an id, or null. Ids such as `..` are rejected, because they would change the path of a request. */
export function toId(value: unknown): string | null {
  const text = toText(value);
  return text === null || text.length > MAX_ID_LENGTH || /^\.+$/.test(text) ? null : text;
}

/** Maximum length of a text field that is parsed as JSON, in characters. */
const MAX_INNER_JSON = 1_000_000;

/**
 * Returns the JSON of a field, which may also be text that contains JSON. Other text stays text, and an empty value becomes null.
 */
export function toJson(value: unknown): unknown {
  if (typeof value !== "string") return value ?? null;
  if (value.length > MAX_INNER_JSON) return toText(value);
  const text = value.trim();
  if (!/^[[{"\d-]|^(true|false|null)$/.test(text)) return toText(value);
  try {
    return parseJson(text) ?? null;
  } catch {
    return toText(value);
  }
}

/** Returns the value if it is an object, else null. */
export const toRecord = (value: unknown): Readonly<Record<string, unknown>> | null =>
  isRecord(value) ? value : null;

// The object is not copied: a copy of an untrusted object with a hundred thousand fields takes half a second.
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const MAX_LEAVES = 200;
const MAX_LEAF_DEPTH = 16;
/** Maximum lengths of a field's name and of a value. Longer ones are cut. */
const MAX_KEY = 100;
const MAX_LEAF = 4_000;

/** Returns all leaves of a JSON value as text, by path. Their count and depth are limited, because the value is untrusted. */
export const leavesOf = (value: unknown): ReadonlyMap<string, string> =>
  typeof value === "object" && value !== null ? leavesOfObject(value) : new Map();

const leavesOfObject = perObject((value: object) => {
  const foundLeaves = new Map<string, string>();
  addLeaves(value, "", foundLeaves, 0);
  return foundLeaves;
});

function addLeaves(value: unknown, path: string, found: Map<string, string>, depth: number): void {
  if (found.size >= MAX_LEAVES || depth > MAX_LEAF_DEPTH) return;
  if (typeof value === "object" && value !== null) {
    for (const key in value) {
      if (found.size >= MAX_LEAVES || !Object.hasOwn(value, key)) return;
      const innerValue: unknown = (value as Readonly<Record<string, unknown>>)[key];
      const name = cut(key, MAX_KEY);
      addLeaves(innerValue, path ? `${path}.${name}` : name, found, depth + 1);
    }
    return;
  }
  const leaf = value === null ? null : toText(value);
  if (leaf !== null && path) found.set(path, cut(leaf, MAX_LEAF));
}

const STRING_OR_LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]{15,}/g;
/** Minimum length of a run of digits and points that may be a number too long for a float. */
const LONG_NUMBER = 15;

/** True if a text may contain a long number. This loop takes a tenth of the time of a regular expression. */
function mayHoldLongNumber(text: string): boolean {
  let runLength = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const isPart = (code >= 48 && code <= 57) || code === 46;
    runLength = isPart ? runLength + 1 : 0;
    if (runLength === LONG_NUMBER) return true;
  }
  return false;
}

/**
 * Like JSON.parse, but returns numbers of more than fifteen digits as text, because a float may not hold them exactly. Event ids
 * exceed 2^53, and amounts have ten decimals.
 * @throws {SyntaxError} if the text is not valid JSON
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayHoldLongNumber(text) ? JSON.parse(withLongNumbersAsText(text)) : value;
}

/** Like `parseJson`, but yields to the event loop between the steps for a long text. @throws {SyntaxError} */
export async function parseLargeJson(text: string): Promise<unknown> {
  await yieldFor(text.length);
  const value: unknown = JSON.parse(text);
  await yieldFor(text.length);
  if (!mayHoldLongNumber(text)) return value;
  const rewritten = withLongNumbersAsText(text);
  await yieldFor(text.length);
  return JSON.parse(rewritten);
}

/** Quotes long numbers. Only call it with valid JSON: on truncated text, the pattern would take quadratic time. */
const withLongNumbersAsText = (text: string): string =>
  text.replace(STRING_OR_LONG_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`));

/**
 * Parses and normalizes an http(s) URL of at most 2,048 characters. Returns null for anything else, such as a URL with a
 * password.
 */
export function toUrl(value: unknown): string | null {
  const text = toText(value);
  if (text === null || !URL.canParse(text)) return null;
  const url = new URL(text);
  const isUsable =
    /^https?:$/.test(url.protocol) && !url.username && !url.password && url.hostname.includes(".");
  return isUsable && url.href.length <= 2_048 ? url.href : null;
}
