import { leavesOf, toJson, toRecord, toText } from "../explorer/values.js";
import { capitalized } from "../text/plain.js";
import { ACTIONS, type ActionRule, type FieldRule, OTHER_WORDS } from "./action-table.js";
import { type ConfigChange, configChanges, isComparable } from "./configuration.js";
import { readable } from "./readable.js";
import { isTimeText, UNITS, type Value, valueText } from "./units.js";
import { emptySchedulesIn, scheduleIn, upgradeSummary } from "./upgrades.js";

/** A field of an action with its label, and its value in its unit. */
export interface Fact {
  readonly label: string;
  readonly value: Value;
}

/** A short summary of a vote request, in which parties are given by their ids: "Feature …". It is untrusted. */
export type ActionSummary = readonly (string | { readonly party: string })[];

/** The action of a vote request. All text is untrusted. */
export interface Action {
  /** The constructor, such as `SRARC_OffboardSv`; null if there is none. */
  readonly tag: string | null;
  /** Such as "Offboard Super Validator". An unknown constructor is split into words. null if there is no constructor. */
  readonly words: string | null;
  /** null if only the words are known. */
  readonly summary: ActionSummary | null;
  readonly facts: readonly Fact[];
  /** The configuration fields that the action changes. */
  readonly changes: readonly ConfigChange[];
  /** Empty fields of the new configuration that would schedule an upgrade, if the current configuration is missing. */
  readonly emptySchedules?: readonly string[];
  /** Reason why a configuration's changes are unknown: the old one is missing, the new one is missing, they do not differ, or
   * not within the part that is compared. */
  readonly gap: "base" | "new" | "difference" | "size" | null;
  /** The `actionConfig` as the explorer sends it. null if it sends none. */
  readonly config: unknown;
}

const MAX_DEPTH = 8;
/** Maximum number of fields of an action without rules. */
const MAX_FACTS = 8;

/** Returns a scalar, or a scalar wrapped in single-field objects, as text. null for anything else. */
function scalar(value: unknown, depth = 0): string | null {
  if (typeof value !== "object" || value === null) return toText(value);
  const values = depth < MAX_DEPTH ? Object.values(value) : [];
  return values.length === 1 ? scalar(values[0], depth + 1) : null;
}

/** Returns the value at a path such as `newScheduleItem._1`. */
const valueAt = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((inner, key) => toRecord(inner)?.[key], value);

const label = (path: string): string => {
  const pathWords = path
    .split(".")
    .filter((key) => !/^\d+$/.test(key) && key !== "value" && key !== "microseconds")
    .map((key) => readable(key).toLowerCase())
    .join(" ");
  return capitalized(pathWords);
};

const isParty = (text: string): boolean => /::1220[0-9a-f]{64}$/.test(text);
const isId = (text: string): boolean => /^[0-9a-f]{64,}$/.test(text);

/** True for a decimal as the ledger writes it, with ten digits after the point. */
const isAmount = (text: string): boolean => /^-?\d+\.\d{10}$/.test(text);

/** Guesses the unit of a scalar without a rule. */
function unitOf(path: string, text: string): keyof typeof UNITS {
  if (isParty(text)) return "party";
  if (isId(text)) return "id";
  if (isTimeText(text)) return "time";
  if (/(^|\.)microseconds$/.test(path)) return "duration";
  if (isAmount(text)) return "count";
  // Other weights are plain factors.
  return /rewardWeight$/i.test(path) ? "weight" : "text";
}

/** Returns the scalars of an action without rules, up to the maximum. */
function leafFacts(value: unknown): Fact[] {
  const leaves = [...leavesOf(value)].filter(([path]) => !/(^|\.)tag$/.test(path));
  const facts = leaves.map(([path, text]) => ({
    label: label(path),
    value: UNITS[unitOf(path, text)](text),
  }));
  return withRest(facts);
}

/**
 * Limits the number of facts, and replaces the rest by their count.
 * @param count number of all facts, if some have no words
 */
function withRest(facts: readonly Fact[], count = facts.length): Fact[] {
  const shown = facts.slice(0, MAX_FACTS);
  const rest = count - shown.length;
  return rest === 0 ? shown : [...shown, { label: "More", value: { words: `and ${rest} more` } }];
}

/** Describes a change of a validator's license; null if there are no words for it. */
function licenceChange(change: unknown): (Fact & { readonly about: ActionSummary }) | null {
  const changeRecord = toRecord(change);
  const tag = toText(changeRecord?.tag);
  const value = toRecord(changeRecord?.value);
  const party = scalar(value?.validator);
  if (tag === null || party === null) return null;
  if (/Withdraw$/.test(tag))
    return { label: "Licence withdrawn", value: { party }, about: ["Withdraw the licence of ", { party }] };
  const weight = scalar(value?.newWeight);
  if (weight === null)
    return { label: readable(tag), value: { party }, about: [`${readable(tag)}: `, { party }] };
  // The weight is a factor of the usual reward, and not in basis points as for super validators.
  const factor = UNITS.count(weight);
  const text = valueText(factor, String);
  return {
    label: `Licence weight × ${text}`,
    value: { party },
    about: ["Licence weight of ", { party }, ` → ${text}`],
  };
}

/** Returns the facts and the summary of a request that changes validator licenses. */
function licenceChanges(changes: unknown): Pick<Action, "facts" | "summary"> {
  const list = Array.isArray(changes) ? (changes as unknown[]) : [];
  const knownChanges = list.flatMap((each) => licenceChange(each) ?? []);
  const summary = list.length === 1 ? knownChanges[0]?.about : undefined;
  const facts = knownChanges.map(({ label: name, value }) => ({ label: name, value }));
  if (facts.length === 0) return { facts: leafFacts(changes), summary: null };
  return {
    facts: withRest(facts, list.length),
    summary: summary ?? [`Change ${list.length} validator licences`],
  };
}

function ruledFacts(fields: readonly FieldRule[], value: unknown): (Fact & { readonly path: string })[] {
  return fields.flatMap(([path, name, unit]) => {
    const foundValue = valueAt(value, path);
    // A field path may be a list of names.
    const text =
      scalar(foundValue) ??
      (Array.isArray(foundValue) ? foundValue.flatMap((each) => toText(each) ?? []).join(".") : null);
    return text === null || text === "" ? [] : [{ path, label: name, value: UNITS[unit](text) }];
  });
}

/** Fills in the fields of a rule's summary. Returns null if one of them is missing. */
function filled(
  summary: string | undefined,
  facts: readonly (Fact & { readonly path: string })[],
): ActionSummary | null {
  if (summary === undefined) return null;
  const pieces = summary.split(/\{([^}]+)\}/).map((text, place) => {
    if (place % 2 === 0) return text;
    const value = facts.find(({ path }) => path === text)?.value;
    if (value === undefined) return null;
    return "party" in value ? value : valueText(value, String);
  });
  const knownPieces = pieces.filter((piece) => piece !== null);
  return knownPieces.length === pieces.length ? knownPieces.filter((piece) => piece !== "") : null;
}

/** Paths of the configuration fields that matter most to people, in that order: upgrades, voting, fees, rewards. */
const PROMINENT = [/^nextScheduled/, /^vote/, /(fee|price|traffic)/i, /(reward|issuance)/i];

const prominence = ({ path }: ConfigChange): number => {
  const index = PROMINENT.findIndex((pattern) => pattern.test(path));
  return index < 0 ? PROMINENT.length : index;
};

/** Returns a change such as "voting time 7 → 14 d". A unit that two single numbers share is not repeated. */
function changeSummary({ label: name, from, to }: ConfigChange): ActionSummary {
  if (to === null) return [`${name} removed`];
  const piece = (value: Value) => ("party" in value ? value : valueText(value, String));
  const [before, after] = [from && piece(from), piece(to)];
  if (before === null) return [`${name} → `, after];
  if (typeof before !== "string" || typeof after !== "string") return [`${name} `, before, " → ", after];
  const [, number, unit] = NUMBER_WITH_UNIT.exec(before) ?? [];
  const isShared = unit !== undefined && unit === NUMBER_WITH_UNIT.exec(after)?.[2];
  return [`${name} ${isShared ? number : before} → ${after}`];
}

/** Matches "7 d" and "0.03 USD per MB", and not "1 h 30 min". */
const NUMBER_WITH_UNIT = /^([\d.,]+)( \D+)$/;

/** A label in the middle of a sentence. Abbreviations stay as they are. */
const lowered = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;

/** Changes that a summary names if there are more than two. */
const MAX_SUMMARIZED = 2;

/** Summarizes a configuration's changes: one or two, or the two that matter most and the number of others. */
function changesSummary(changes: readonly ConfigChange[], openedAt: number | null): ActionSummary | null {
  if (changes.length === 0) return null;
  const upgrade = upgradeSummary(changes, openedAt);
  if (upgrade) return upgrade;
  const shownChanges = changes.toSorted((a, b) => prominence(a) - prominence(b)).slice(0, MAX_SUMMARIZED);
  const moreCount = changes.length - shownChanges.length;
  const pieces = shownChanges.flatMap((change, index) =>
    index === 0
      ? changeSummary(change)
      : [", ", ...changeSummary({ ...change, label: lowered(change.label) })],
  );
  return moreCount > 0 ? [...pieces, ` + ${moreCount} more`] : pieces;
}

/**
 * Returns the innermost constructor of an `actionConfig` and its value. The constructor is wrapped in an object with a tag and in
 * a field whose name ends in `Action` (`dsoAction`, `amuletRulesAction`, …).
 */
function constructorOf(config: unknown, depth = 0): [tag: string | null, value: unknown] {
  const configRecord = toRecord(toJson(config));
  if (configRecord === null) return [scalar(toJson(config)), null];
  const tag = toText(configRecord.tag);
  const innerRecord = toRecord(configRecord.value) ?? {};
  const wrapped = Object.keys(innerRecord).find((key) => /Action$/.test(key));
  if (wrapped !== undefined && depth < MAX_DEPTH) {
    const { [wrapped]: inner, ...besideIt } = innerRecord;
    const [innerTag, innerValue] = constructorOf(inner, depth + 1);
    const innerFields = toRecord(innerValue);
    // A payment's contract is beside its action.
    return [innerTag ?? tag, innerFields ? { ...besideIt, ...innerFields } : innerValue];
  }
  if (tag !== null) return [tag, configRecord.value];
  const [only, ...more] = Object.keys(configRecord);
  return only !== undefined && more.length === 0 && /^[A-Z]+ARC_/.test(only)
    ? [only, configRecord[only]]
    : [null, configRecord];
}

const ruleFor = (tag: string): ActionRule => ACTIONS.get(tag) ?? { words: readable(tag), fields: [] };

/** Returns the constructor of an `actionConfig`. null if there is none. */
export const tagOf = (actionConfig: unknown): string | null => constructorOf(actionConfig)[0];

/** True if there are rules for a constructor. */
export const isKnownTag = (tag: string): boolean => ACTIONS.has(tag);

/**
 * Parses an `actionConfig`. It may be an object, text that contains JSON, a bare tag, or null, and its tag may be unknown.
 * @param openedAt when the vote request was opened, epoch ms
 */
export function toAction(actionConfig: unknown, openedAt: number | null = null): Action {
  const config = toJson(actionConfig);
  const [tag, value] = constructorOf(config);
  const nothing = { tag, summary: null, facts: [], changes: [], gap: null, config };
  if (tag === null) return { ...nothing, words: null };
  const { words, summary, fields, isConfiguration, changesLicences, differs } = ruleFor(tag);
  const valueRecord = toRecord(value);
  if (valueRecord === null) return { ...nothing, words };
  if (changesLicences) return { ...nothing, words, ...licenceChanges(valueRecord.changes) };
  if (isConfiguration) {
    const [before, after] = [toRecord(valueRecord.baseConfig), toRecord(valueRecord.newConfig)];
    if (after === null) return { ...nothing, words, gap: "new" };
    // Without the current configuration, it is unknown what changes. The time of an upgrade holds whatever it was before.
    if (before === null) {
      const changes = configChanges({}, scheduleIn(after));
      return { ...nothing, words, gap: "base", changes, emptySchedules: emptySchedulesIn(after) };
    }
    const changes = configChanges(before, after);
    const unchanged = isComparable(before) && isComparable(after) ? "difference" : "size";
    const gap = changes.length === 0 ? unchanged : null;
    return { ...nothing, words, changes, gap, summary: changesSummary(changes, openedAt) };
  }
  const facts = ruledFacts(fields, valueRecord);
  const changes = differs ? configChanges(valueRecord[differs[0]], valueRecord[differs[1]]) : [];
  if (facts.length > 0) return { ...nothing, words, facts, changes, summary: filled(summary, facts) };
  const leaves = leafFacts(valueRecord);
  const [about, ...others] = leaves.flatMap(({ value: each }) => ("party" in each ? [each] : []));
  // If there are several parties, none of them represents the others.
  const leafSummary = about && others.length === 0 ? [`${words}: `, about] : null;
  return { ...nothing, words, facts: leaves, summary: leafSummary };
}

/** Matches a constructor, such as `SRARC_OffboardSv`. */
const CONSTRUCTOR = /^[A-Z]*ARC_\w+$/;

/** True if a text is an action's constructor. Titles of vote requests often are. */
export const isConstructor = (text: string | null): text is string =>
  text !== null && (CONSTRUCTOR.test(text) || ACTIONS.has(text));

const KNOWN_WORDS: ReadonlySet<string> = new Set([...ACTIONS.values()].map(({ words }) => words));

/** Constructors by all their names: current words, words of earlier versions of the bot, and the constructor split into words. */
const TAGS: ReadonlyMap<string, string> = new Map([
  ...[...ACTIONS].map(([tag, { words }]) => [words, tag] as const),
  ...[...ACTIONS.keys()]
    .filter((tag) => !/_SetConfig$/.test(tag))
    .map((tag) => [readable(tag), tag] as const),
  ...OTHER_WORDS,
]);

/** Returns the constructor that a title is, or whose words it has. null if it has other text. */
export const toTag = (title: string | null): string | null =>
  title === null || isConstructor(title) ? title : (TAGS.get(title) ?? null);

/** Returns a title in words, because titles are often the action's constructor. */
export function toTitle(title: string | null): string | null {
  const tag = toTag(title);
  return tag === null ? title : ruleFor(tag).words;
}

/** True if a title only states the kind of action. */
export const isGeneric = (title: string | null): boolean =>
  title === null || isConstructor(title) || KNOWN_WORDS.has(toTitle(title) ?? "");

/** Returns a summary as text, with the names that `nameOf` returns for parties. */
export const summaryText = (summary: ActionSummary, nameOf: (party: string) => string): string =>
  summary.map((piece) => (typeof piece === "string" ? piece : nameOf(piece.party))).join("");
