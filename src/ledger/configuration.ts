import { toDecimal, toRecord, toText } from "../explorer/values.js";
import { shortId } from "../text/ids.js";
import { capitalized, withoutEnding } from "../text/plain.js";
import { CONFIG_FIELDS } from "./configuration-fields.js";
import { readable } from "./readable.js";
import { isTimeText, toMicroseconds, UNITS, type UnitName, type Value, valueText } from "./units.js";

/** A change of one configuration field. `from` is null if the field is new, and `to` is null if it is removed. */
export interface ConfigChange {
  /** Path on the ledger: `transferConfig.transferFee.steps.100`. */
  readonly path: string;
  readonly label: string;
  readonly from: Value | null;
  readonly to: Value | null;
}

/** A step of a path: a field name, or a key of a map. Keys are untrusted. */
interface Step {
  readonly text: string;
  readonly isKey: boolean;
}

interface Leaf {
  readonly path: readonly Step[];
  readonly text: string;
  /** True for a duration in microseconds. */
  readonly isSpan: boolean;
}

/**
 * Limits, because a configuration is untrusted. Further leaves are not compared. Longer names are cut, since each path repeats
 * them.
 */
const MAX_LEAVES = 2_000;
const MAX_DEPTH = 16;
const MAX_KEY = 300;

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

/**
 * Returns the text of a key, which is a scalar or a duration. Numbers are normalized, so that trailing zeros make no difference.
 */
function toKey(value: unknown): string | null {
  const text = isScalar(value) ? toText(value) : toMicroseconds(value);
  return text == null ? null : (toDecimal(text) ?? text.slice(0, MAX_KEY));
}

/**
 * Returns the entries of a list of pairs: `[[key, value]]` for a map, `[{_1: key, _2: value}]` for steps. Returns undefined for
 * any other list.
 */
function pairsOf(list: readonly unknown[]): (readonly [key: string, value: unknown])[] | undefined {
  const pairs = list.map((each) => {
    const { _1, _2 } = toRecord(each) ?? {};
    const [key, value] = Array.isArray(each) && each.length === 2 ? (each as unknown[]) : [_1, _2];
    const text = toKey(key);
    return text === null || value === undefined ? undefined : ([text, value] as const);
  });
  const knownPairs = pairs.filter((pair) => pair !== undefined);
  const keys = new Set(knownPairs.map(([key]) => key));
  return knownPairs.length === list.length && keys.size === knownPairs.length ? knownPairs : undefined;
}

/**
 * Returns the entries of a list: by key for pairs, by value for a set or a list of distinct scalars, and by index for any other
 * list.
 */
function entriesOf(list: readonly unknown[]): (readonly [key: string, value: unknown])[] {
  const pairs = pairsOf(list);
  if (pairs) return pairs;
  const keys = list.map((each) => (isScalar(each) ? toKey(each) : null));
  const isSet = keys.every((key) => key !== null) && new Set(keys).size === keys.length;
  return list.map((each, place) => [isSet ? (keys[place] ?? "") : String(place), isSet ? {} : each]);
}

/** Returns a path as in `CONFIG_FIELDS`, with `*` for each key. */
const patternOf = (path: readonly Step[]): string =>
  path.map(({ text, isKey }) => (isKey ? "*" : text)).join(".");

/**
 * Collects the leaves of a configuration by path. Entries of maps and schedules have their key in the path. A member of a set is
 * a leaf with the text "yes".
 */
function leavesOf(value: unknown, path: readonly Step[], found: Map<string, Leaf>): void {
  if (found.size >= MAX_LEAVES || path.length > MAX_DEPTH) return;
  const addChange = (text: string, isSpan = false) =>
    found.set(path.map((step) => step.text).join("."), { path, text, isSpan });
  const span = toMicroseconds(value);
  if (span !== undefined) addChange(span, true);
  else if (isScalar(value)) {
    const text = value === null ? null : toText(value);
    if (text !== null && path.length > 0) addChange(text);
  } else {
    const valueRecord = toRecord(value);
    // A set or a map may be wrapped in a field named `map` or `pos`.
    const only =
      valueRecord && Object.keys(valueRecord).length === 1 ? (valueRecord.map ?? valueRecord.pos) : undefined;
    const list = [value, only].find((each): each is unknown[] => Array.isArray(each)) ?? null;
    const entries = list
      ? entriesOf(list.slice(0, MAX_LEAVES))
      : Object.entries(valueRecord ?? {}).map(([name, inner]) => [name.slice(0, MAX_KEY), inner] as const);
    // A text map is an object whose names are keys and not fields.
    const areKeys = list !== null || CONFIG_FIELDS.has(`${patternOf(path)}.*`);
    const isMember = path.at(-1)?.isKey === true;
    if (entries.length === 0 && isMember) addChange("yes");
    for (const [text, inner] of entries) {
      if (found.size >= MAX_LEAVES) break;
      leavesOf(inner, [...path, { text, isKey: areKeys }], found);
    }
  }
}

/** Returns the label of a field. That of an unknown field is made from its path. */
function labelOf(path: readonly Step[]): string {
  const field = CONFIG_FIELDS.get(patternOf(path));
  if (!field)
    return capitalized(
      path.map(({ text, isKey }) => (isKey ? text : readable(text).toLowerCase())).join(" · "),
    );
  const [label, , keyUnit = "text"] = field;
  const key = path.find(({ isKey }) => isKey)?.text ?? "";
  return label.replace("{}", () => valueText(UNITS[keyUnit](key), shortId));
}

/** Converts a leaf to its unit. A duration is recognized by its format, even if the field is unknown. */
const toValue = (leaf: Leaf | undefined, unit: UnitName | undefined): Value | null =>
  leaf ? UNITS[unit ?? (leaf.isSpan ? "duration" : "text")](leaf.text) : null;

/** Matches a number with fewer decimals than the ledger's amounts have (ten), which may be a version. */
const SHORT_DECIMAL = /\.\d{1,9}$/;

/** Returns a time's text without the zeros at the end of its fraction of a second. */
const withoutZeros = (text: string): string =>
  text.replace(/\.(\d*)/, (_, digits: string) => withoutEnding(`.${withoutEnding(digits, /0/)}`, /\./));

/**
 * Compares two leaves. Numbers and times are equal if their values are. Text must be identical: version 1.10 is not 1.1, which the
 * value of an unknown field may be, too.
 */
function isSame(a: Leaf | undefined, b: Leaf | undefined, unit: UnitName | undefined): boolean {
  if (a === undefined || b === undefined || a.text === b.text) return a?.text === b?.text;
  if (isTimeText(a.text) && isTimeText(b.text)) return withoutZeros(a.text) === withoutZeros(b.text);
  const mayBeVersion = unit === undefined && SHORT_DECIMAL.test(a.text) && SHORT_DECIMAL.test(b.text);
  const decimal = unit === "text" || mayBeVersion ? null : toDecimal(a.text);
  return decimal !== null && decimal === toDecimal(b.text);
}

/** Returns all leaves of a configuration by path. */
export function flatten(value: unknown): Map<string, Leaf> {
  const foundLeaves = new Map<string, Leaf>();
  leavesOf(value, [], foundLeaves);
  return foundLeaves;
}

/** True if all of a configuration is compared. */
export const isComparable = (value: unknown): boolean => flatten(value).size < MAX_LEAVES;

/** Returns the differences between two configurations in the order of the new one. Removed fields come last. */
export function configChanges(base: unknown, next: unknown): ConfigChange[] {
  const [before, after] = [flatten(base), flatten(next)];
  const removedPaths = [...before.keys()].filter((path) => !after.has(path));
  return [...after.keys(), ...removedPaths].flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    const steps = (is ?? was)?.path ?? [];
    const unit = CONFIG_FIELDS.get(patternOf(steps))?.[1];
    if (isSame(was, is, unit)) return [];
    return [{ path, label: labelOf(steps), from: toValue(was, unit), to: toValue(is, unit) }];
  });
}
