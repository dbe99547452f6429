import { leavesOf, toJson, toRecord, toText } from "../explorer/values.js";
import { ACTIONS, type ActionRule, type FieldRule, OTHER_WORDS } from "./action-table.js";
import { type ConfigChange, configChanges } from "./configuration.js";
import { readable } from "./readable.js";
import { UNITS, type Value, valueText } from "./units.js";

/** A field of an action, in words and its unit. */
export interface Fact {
  readonly label: string;
  readonly value: Value;
}

/** A few words in which parties stand by their ids: what a vote request is about, "Feature …". All of it is a stranger's. */
export type Subject = readonly (string | { readonly party: string })[];

/** What a vote request wants done, as far as its configuration says. All text is still a stranger's. */
export interface Action {
  /** "Offboard Super Validator"; an unknown constructor made readable; null where nothing is said at all. */
  readonly words: string | null;
  /** Null where nothing is known but the words. */
  readonly subject: Subject | null;
  readonly facts: readonly Fact[];
  /** The fields of a configuration that it changes. */
  readonly changes: readonly ConfigChange[];
  /** Why a configuration's changes cannot be told: the one before is not given, the new one is not, or they do not differ. */
  readonly gap: "base" | "new" | "difference" | null;
  /** The configuration as the explorer gives it; null where it gives none. */
  readonly config: unknown;
}

const MAX_DEPTH = 8;
/** Fields of an action that nobody has rules for, at the most. */
const MAX_FACTS = 8;

/** A scalar, or one wrapped in a single field, as text; null for anything larger. */
function scalar(value: unknown, depth = 0): string | null {
  if (typeof value !== "object" || value === null) return toText(value);
  const values = depth < MAX_DEPTH ? Object.values(value) : [];
  return values.length === 1 ? scalar(values[0], depth + 1) : null;
}

/** The field at a path such as `newScheduleItem._1`. */
const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((inner, key) => toRecord(inner)?.[key], value);

const label = (path: string): string => {
  const words = path
    .split(".")
    .filter((key) => !/^\d+$/.test(key) && key !== "value")
    .map((key) => readable(key).toLowerCase())
    .join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const isParty = (text: string): boolean => /::1220[0-9a-f]{64}$/.test(text);
const isId = (text: string): boolean => /^[0-9a-f]{64,}$/.test(text);

/** Every scalar of an action that nobody has rules for. */
const leafFacts = (value: unknown): Fact[] =>
  [...leavesOf(value)]
    .filter(([path]) => !/(^|\.)tag$/.test(path))
    .slice(0, MAX_FACTS)
    .map(([path, text]) => ({
      label: label(path),
      value:
        UNITS[isParty(text) ? "party" : isId(text) ? "id" : /weight$/i.test(path) ? "weight" : "text"](text),
    }));

function ruledFacts(fields: readonly FieldRule[], value: unknown): (Fact & { readonly path: string })[] {
  return fields.flatMap(([path, name, unit]) => {
    const text = scalar(at(value, path));
    return text === null ? [] : [{ path, label: name, value: UNITS[unit](text) }];
  });
}

/** A rule's subject with its fields filled in; null where one of them is missing. */
function filled(
  subject: string | undefined,
  facts: readonly (Fact & { readonly path: string })[],
): Subject | null {
  if (subject === undefined) return null;
  const pieces = subject.split(/\{([^}]+)\}/).map((text, place) => {
    if (place % 2 === 0) return text;
    const value = facts.find(({ path }) => path === text)?.value;
    if (value === undefined) return null;
    return "party" in value ? value : valueText(value, String);
  });
  const known = pieces.filter((piece) => piece !== null);
  return known.length === pieces.length ? known.filter((piece) => piece !== "") : null;
}

/** What a configuration's changes are about: the first of them, and how many more there are. */
function changesSubject(configures: string, [first, ...more]: readonly ConfigChange[]): Subject | null {
  if (!first) return null;
  const name = `${configures}: ${first.label.charAt(0).toLowerCase()}${first.label.slice(1)}`;
  if (more.length > 0)
    return [`${name}, and ${more.length} more ${more.length === 1 ? "change" : "changes"}`];
  if (first.to === null) return [`${name} removed`];
  return [`${name} → `, "party" in first.to ? first.to : valueText(first.to, String)];
}

/**
 * The innermost constructor of an `actionConfig` and its value: the tag is wrapped in a field that ends in `Action`
 * (`dsoAction`, `amuletRulesAction`, …), itself under a tag.
 */
function constructorOf(config: unknown, depth = 0): [tag: string | null, value: unknown] {
  const record = toRecord(toJson(config));
  if (record === null) return [scalar(toJson(config)), null];
  const tag = toText(record.tag);
  const inner = toRecord(record.value) ?? {};
  const wrapped = Object.keys(inner).find((key) => /Action$/.test(key));
  if (wrapped !== undefined && depth < MAX_DEPTH) {
    const [innerTag, innerValue] = constructorOf(inner[wrapped], depth + 1);
    return [innerTag ?? tag, innerValue];
  }
  if (tag !== null) return [tag, record.value];
  const [only, ...more] = Object.keys(record);
  return only !== undefined && more.length === 0 && /^[A-Z]+ARC_/.test(only)
    ? [only, record[only]]
    : [null, record];
}

const ruleFor = (tag: string): ActionRule => ACTIONS.get(tag) ?? { words: readable(tag), fields: [] };

/** The constructor of an `actionConfig`; null where it names none. */
export const tagOf = (actionConfig: unknown): string | null => constructorOf(actionConfig)[0];

/** Whether there are rules for a constructor. */
export const isKnownTag = (tag: string): boolean => ACTIONS.has(tag);

/** What an `actionConfig` wants done: an object, text with JSON in it, a bare tag, null, or a tag nobody has seen. */
export function toAction(actionConfig: unknown): Action {
  const config = toJson(actionConfig);
  const [tag, value] = constructorOf(config);
  const nothing = { subject: null, facts: [], changes: [], gap: null, config };
  if (tag === null) return { ...nothing, words: null };
  const { words, subject, fields, configures, differs } = ruleFor(tag);
  const record = toRecord(value);
  if (record === null) return { ...nothing, words };
  if (configures !== undefined) {
    const [before, after] = [toRecord(record.baseConfig), toRecord(record.newConfig)];
    if (after === null || before === null) return { ...nothing, words, gap: after === null ? "new" : "base" };
    const changes = configChanges(before, after);
    const gap = changes.length === 0 ? "difference" : null;
    return { ...nothing, words, changes, gap, subject: changesSubject(configures, changes) };
  }
  const facts = ruledFacts(fields, record);
  const changes = differs ? configChanges(record[differs[0]], record[differs[1]]) : [];
  if (facts.length > 0) return { ...nothing, words, facts, changes, subject: filled(subject, facts) };
  const leaves = leafFacts(record);
  const parties = leaves.map(({ value: each }) => each).filter((each) => "party" in each);
  // Of several, none stands for the others.
  const about = parties.length === 1 ? parties[0] : undefined;
  return {
    ...nothing,
    words,
    facts: leaves,
    subject: about && "party" in about ? [`${words}: `, about] : null,
  };
}

/** A constructor, such as `SRARC_OffboardSv`. */
const CONSTRUCTOR = /^[A-Z]*ARC_\w+$/;

/** Whether a text is an action's constructor, as titles often are. */
export const isConstructor = (text: string | null): text is string =>
  text !== null && (CONSTRUCTOR.test(text) || ACTIONS.has(text));

const KNOWN_WORDS: ReadonlySet<string> = new Set([...ACTIONS.values()].map(({ words }) => words));

/** Constructors by all words that have stood for them: those of now, of earlier versions of the bot, and their bare names. */
const TAGS: ReadonlyMap<string, string> = new Map([
  ...[...ACTIONS].map(([tag, { words }]) => [words, tag] as const),
  ...[...ACTIONS.keys()]
    .filter((tag) => !/_SetConfig$/.test(tag))
    .map((tag) => [readable(tag), tag] as const),
  ...OTHER_WORDS,
]);

/** The constructor that a title is, or has the words of; null where it says something else. */
export const toTag = (title: string | null): string | null =>
  title === null || isConstructor(title) ? title : (TAGS.get(title) ?? null);

/** A title in words: titles are often the action's constructor. */
export function toTitle(title: string | null): string | null {
  const tag = toTag(title);
  return tag === null ? title : ruleFor(tag).words;
}

/** Whether a title says no more than what kind of action it is. */
export const isGeneric = (title: string | null): boolean =>
  title === null || isConstructor(title) || KNOWN_WORDS.has(toTitle(title) ?? "");

/** A subject as text, with parties as `nameOf` calls them. */
export const subjectText = (subject: Subject, nameOf: (party: string) => string): string =>
  subject.map((piece) => (typeof piece === "string" ? piece : nameOf(piece.party))).join("");
