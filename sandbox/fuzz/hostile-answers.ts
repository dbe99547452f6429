import type { Random } from "../explorer/random.js";

/** Maximum size of answers, in characters. The bot reads 2 MB. One in ten may be larger. */
const MAX_LENGTH = 2_000_000;
const MAX_UNREAD = 9_000_000;
/** Maximum total length of all names in an answer, in characters. */
const NAMES_LENGTH = 1_800_000;

/** Properties that every object inherits, also in the ledger's spelling. */
const INHERITED = ["constructor", "CONSTRUCTOR", "Constructor", "toString", "__proto__"];
const HUGE = [1e308, -1e308, 1e21];
const NUMBERS = [0, -0, -1, 0.5, 5e-324, 1e-9, 1e21, 2 ** 53, 2 ** 53 + 2, 1e308, -1e308];

/** Epoch times: zero, outside of Date's range on both sides, in µs and ns, tomorrow and long ago. */
const TIMES = [
  0,
  -1,
  8.64e15,
  8.64e15 + 1,
  -8.64e15,
  Date.now() * 1_000,
  Date.now() * 1_000_000,
  Date.now() + 86_400_000,
  1,
];

const WORDS = [
  "",
  " ",
  "TOSTRING",
  "HAS_OWN_PROPERTY",
  "NO_SUCH_WORD",
  "ACCEPTED",
  "1e308",
  "-0",
  "0x10",
  "9".repeat(400),
  "2026-02-30T25:61:61Z",
  "@everyone",
  "<@&123456789012345678>",
  "[x](https://evil.example)",
  "```",
  "javascript:alert(1)",
  `https://x.example/${"a".repeat(3_000)}`,
  "\u202egnp.exe\u0000",
  "\u2800\u2800",
  "\ud800",
  `e${"\u0301".repeat(254)}`,
  "🧨".repeat(3_000),
  "word ".repeat(5_000),
  "x".repeat(100_000),
  "y".repeat(1_400_000),
];

/** Matches fields with names that people choose. */
const NAMES = /(name|title|symbol)$/i;

/** Nests a value in arrays or objects. */
function nested(depth: number, inner: unknown, key?: string): unknown {
  let value = inner;
  for (let level = 0; level < depth; level += 1) value = key === undefined ? [value] : { [key]: value };
  return value;
}

const wide = (count: number, key = "field"): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${key}${at}`, at]));

/** Returns a value of extreme size, depth or number. */
function grown(random: Random): unknown {
  const kinds = [
    () => nested(random.pick([50, 90, 500, 3_000]), Array(random.int(0, 20_000)).fill(1)),
    () => nested(random.pick([90, 1_000, 2_500]), wide(200), "record"),
    () => wide(random.pick([300, 20_000, 200_000])),
    () => ({ ["k".repeat(1_000_000)]: wide(200) }),
    () => nested(5, wide(300, "k".repeat(10_000)), "k".repeat(100_000)),
    () => Array(random.pick([101, 5_000, 100_000])).fill(random.pick(WORDS.slice(0, 20))),
    () => nested(90, Array(200_000).fill(12_345)),
  ];
  return random.pick(kinds)();
}

/** Returns another value of the same type, which gets further than one that cannot be parsed. */
function likeIt(value: unknown, random: Random): unknown {
  if (typeof value === "number") return random.pick(random.chance(0.3) ? HUGE : [...NUMBERS, ...TIMES]);
  if (typeof value !== "string") return grown(random);
  if (random.chance(0.25)) return random.pick(INHERITED);
  return random.chance(0.3) ? String(random.pick([...NUMBERS, ...TIMES])) : random.pick(WORDS);
}

function anything(random: Random): unknown {
  const kind = random.next();
  if (kind < 0.15) return random.pick([null, true, false, [], {}, [null], [[]]]);
  if (kind < 0.3) return random.pick(NUMBERS);
  if (kind < 0.45) return random.pick(TIMES);
  if (kind < 0.75) return random.pick(WORDS);
  const value = grown(random);
  // The ledger's JSON also occurs in strings.
  return random.chance(0.3) ? JSON.stringify(value) : value;
}

/** Location of a value that can be replaced: an object or array, and a key. */
type Place = readonly [holder: Record<string, unknown>, key: string];

const isHolder = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Returns a random location in a value. Deeper ones are less likely. */
function placeIn(value: unknown, random: Random): Place | undefined {
  if (!isHolder(value)) return undefined;
  const keys = Object.keys(value);
  if (keys.length === 0) return undefined;
  const key = random.pick(keys);
  const inner = random.chance(0.75) ? placeIn(value[key], random) : undefined;
  return inner ?? [value, key];
}

/** Returns the rows of an answer, or of its page. */
function rowsOf(answer: unknown): readonly Record<string, unknown>[] {
  const rows = isHolder(answer) && Array.isArray(answer.content) ? answer.content : answer;
  if (Array.isArray(rows)) return rows.filter(isHolder);
  return isHolder(answer) ? [answer] : [];
}

/** Sets a field of every row to the same value. */
function spoilColumn(answer: unknown, random: Random): void {
  const rows = rowsOf(answer);
  const keys = Object.keys(rows[0] ?? {});
  if (keys.length === 0) return;
  const key = random.pick(keys);
  const value = likeIt(rows[0]?.[key], random);
  for (const row of rows) row[key] = value;
}

/**
 * Returns the locations of all names in a value. Repeated rows are the same object, which is visited once.
 */
function namesIn(value: unknown, looked = new Set<object>()): Place[] {
  const names: Place[] = [];
  if (!isHolder(value) || looked.has(value)) return names;
  looked.add(value);
  for (const [key, inner] of Object.entries(value))
    if (typeof inner === "string" && NAMES.test(key)) names.push([value, key]);
    else names.push(...namesIn(inner, looked));
  return names;
}

/** Replaces names, which are the easiest to choose for an attacker. Sometimes they fill the whole answer. */
function spoilNames(answer: unknown, random: Random): void {
  const names = namesIn(answer);
  const length = NAMES_LENGTH / (names.length || 1);
  const long = random.pick(["n", "name "]);
  const text = random.chance(0.3) ? long.repeat(length / long.length) : random.pick(WORDS);
  for (const [holder, key] of names) holder[key] = text;
}

function spoilOnce(answer: unknown, random: Random): void {
  if (random.chance(0.1)) {
    spoilNames(answer, random);
    return;
  }
  if (random.chance(0.25)) {
    spoilColumn(answer, random);
    return;
  }
  const place = placeIn(answer, random);
  if (!place) return;
  const [holder, key] = place;
  const value = holder[key];
  const kind = random.next();
  if (kind < 0.1) delete holder[key];
  else if (kind < 0.2 && Array.isArray(value) && value.length > 0)
    holder[key] = Array(random.pick([2, 101, 3_000])).fill(value[0]);
  else if (kind < 0.25) holder[key] = typeof value === "string" ? [value] : String(value);
  else holder[key] = random.chance(0.5) ? likeIt(value, random) : anything(random);
}

/** Corrupts a part of the explorer's answers: values are replaced, enlarged, repeated or left out. */
export function spoil(answer: unknown, random: Random, part: number): unknown {
  if (!random.chance(part)) return answer;
  const spoilt: unknown = structuredClone(answer);
  for (let left = random.int(1, 4); left > 0; left -= 1) spoilOnce(spoilt, random);
  const most = random.chance(0.1) ? MAX_UNREAD : MAX_LENGTH;
  return lengthOf(spoilt, most) > most ? answer : spoilt;
}

/**
 * Estimates the length of a value as JSON, in characters, up to a limit. Stringifying nested repetitions
 * would take seconds.
 */
function lengthOf(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length + 2;
  if (!isHolder(value)) return String(value).length;
  let length = 2;
  for (const key in value) {
    if (length > limit) break;
    length += (Array.isArray(value) ? 1 : key.length + 4) + lengthOf(value[key], limit - length);
  }
  return length;
}

/** Returns text that an attacker might type. */
export const typedBy = (random: Random): string =>
  random.chance(0.3) ? random.hex(random.int(1, 140)) : random.pick(WORDS).slice(0, 6_000);
