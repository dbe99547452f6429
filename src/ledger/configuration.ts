import { toDecimal, toRecord, toText } from "../explorer/values.js";
import { shortId } from "../text/ids.js";
import { CONFIG_FIELDS } from "./configuration-fields.js";
import { readable } from "./readable.js";
import { toMicroseconds, UNITS, type UnitName, type Value, valueText } from "./units.js";

/** One field of a configuration that changes, in words; `from` is null where it was not there, `to` where it goes. */
export interface ConfigChange {
  /** As the ledger has it: `transferConfig.transferFee.steps.100`. */
  readonly path: string;
  readonly label: string;
  readonly from: Value | null;
  readonly to: Value | null;
}

/** A step of a path: a field's own name, or a key of a map, which anybody may have chosen. */
interface Step {
  readonly text: string;
  readonly isKey: boolean;
}

interface Leaf {
  readonly path: readonly Step[];
  readonly text: string;
  /** Whether it is a span of time, in microseconds. */
  readonly isSpan: boolean;
}

/** More than these are not compared, and longer names are cut, since each path repeats them: a stranger wrote it. */
const MAX_LEAVES = 2_000;
const MAX_DEPTH = 16;
const MAX_KEY = 300;

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

/** A key's text: a scalar, or a span of time. A number is the same with or without zeros behind it. */
function toKey(value: unknown): string | null {
  const text = isScalar(value) ? toText(value) : toMicroseconds(value);
  return text == null ? null : (toDecimal(text) ?? text.slice(0, MAX_KEY));
}

/** The entries of what the ledger writes as a list of pairs: `[[key, value]]` for a map, `[{_1: key, _2: value}]` for steps. */
function pairsOf(list: readonly unknown[]): (readonly [key: string, value: unknown])[] | undefined {
  const pairs = list.map((each) => {
    const { _1, _2 } = toRecord(each) ?? {};
    const [key, value] = Array.isArray(each) && each.length === 2 ? (each as unknown[]) : [_1, _2];
    const text = toKey(key);
    return text === null || value === undefined ? undefined : ([text, value] as const);
  });
  const known = pairs.filter((pair) => pair !== undefined);
  const keys = new Set(known.map(([key]) => key));
  return known.length === list.length && keys.size === known.length ? known : undefined;
}

/** A set's members, and a list of different scalars, by themselves; the rest of a list by its place. */
function entriesOf(list: readonly unknown[]): (readonly [key: string, value: unknown])[] {
  const pairs = pairsOf(list);
  if (pairs) return pairs;
  const keys = list.map((each) => (isScalar(each) ? toKey(each) : null));
  const isSet = keys.every((key) => key !== null) && new Set(keys).size === keys.length;
  return list.map((each, place) => [isSet ? (keys[place] ?? "") : String(place), isSet ? {} : each]);
}

/** Every leaf of a configuration by its path, maps and schedules by their keys. A member of a set is a leaf that says "yes". */
function leavesOf(value: unknown, path: readonly Step[], found: Map<string, Leaf>): void {
  if (found.size >= MAX_LEAVES || path.length > MAX_DEPTH) return;
  const add = (text: string, isSpan = false) =>
    found.set(path.map((step) => step.text).join("."), { path, text, isSpan });
  const span = toMicroseconds(value);
  if (span !== undefined) add(span, true);
  else if (isScalar(value)) {
    const text = value === null ? null : toText(value);
    if (text !== null && path.length > 0) add(text);
  } else {
    const record = toRecord(value);
    // A set or a map may stand inside a field "map" of its own.
    const only = record && Object.keys(record).length === 1 ? (record.map ?? record.pos) : undefined;
    const list = Array.isArray(value)
      ? (value as unknown[])
      : Array.isArray(only)
        ? (only as unknown[])
        : null;
    const entries = list
      ? entriesOf(list)
      : Object.entries(record ?? {}).map(([name, inner]) => [name.slice(0, MAX_KEY), inner] as const);
    const isMember = path.at(-1)?.isKey === true;
    if (entries.length === 0 && isMember) add("yes");
    for (const [text, inner] of entries) leavesOf(inner, [...path, { text, isKey: list !== null }], found);
  }
}

/** A field that nobody has words for: its path's own names, and its keys as they are. */
function otherwise(path: readonly Step[]): string {
  const words = path.map(({ text, isKey }) => (isKey ? text : readable(text).toLowerCase())).join(" · ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A field's words, and the unit of its value. */
function describe(path: readonly Step[]): { readonly label: string; readonly unit: UnitName | undefined } {
  const pattern = path.map(({ text, isKey }) => (isKey ? "*" : text)).join(".");
  const field = CONFIG_FIELDS.get(pattern);
  if (!field) return { label: otherwise(path), unit: undefined };
  const [label, unit, keyUnit = "text"] = field;
  const key = path.find(({ isKey }) => isKey)?.text ?? "";
  return { label: label.replace("{}", () => valueText(UNITS[keyUnit](key), shortId)), unit };
}

/** A leaf in its unit; a span of time is known for one by how the ledger writes it. */
const toValue = (leaf: Leaf | undefined, unit: UnitName | undefined): Value | null =>
  leaf ? UNITS[unit ?? (leaf.isSpan ? "duration" : "text")](leaf.text) : null;

/** A version is text, in which 1.10 is not 1.1; everything else is the same in whatever digits. */
function isSame(a: Leaf | undefined, b: Leaf | undefined, unit: UnitName | undefined): boolean {
  if (a?.text === b?.text) return true;
  const left = unit === "text" ? null : toDecimal(a?.text);
  return left !== null && left === toDecimal(b?.text);
}

/** Every leaf of a configuration by its path. */
export function flatten(value: unknown): Map<string, Leaf> {
  const found = new Map<string, Leaf>();
  leavesOf(value, [], found);
  return found;
}

/** What differs between two configurations, in the order of the new one; what goes comes last. */
export function configChanges(base: unknown, next: unknown): ConfigChange[] {
  const [before, after] = [flatten(base), flatten(next)];
  const gone = [...before.keys()].filter((path) => !after.has(path));
  return [...after.keys(), ...gone].flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    const { label, unit } = describe((is ?? was)?.path ?? []);
    if (isSame(was, is, unit)) return [];
    return [{ path, label, from: toValue(was, unit), to: toValue(is, unit) }];
  });
}
