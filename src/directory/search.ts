import { isDeepStrictEqual } from "node:util";
import MiniSearch from "minisearch";
import { fingerprint, shortId } from "../text/ids.js";
import { perObject } from "../util/per-object.js";
import type { NamedEntry } from "./collections.js";

/** The searchable words of an entry: its name and its id's hint. Ids are searched separately. */
interface SearchWords {
  readonly index: number;
  readonly name: string;
  readonly hint: string;
}

/** The entries of a kind, with their indexes. */
export interface List {
  readonly entries: NamedEntry[];
  readonly words: MiniSearch<SearchWords>;
  /** Index in `entries`, by id. */
  readonly byId: Map<string, number>;
  /** Indexes in `entries`, by lowercase name. */
  readonly byName: Map<string, Set<number>>;
  readonly readAt: number | undefined;
  /** Number of entries when the list was read. Later ones are newer. */
  readonly read: number;
  changedAt: number | undefined;
}

const SEPARATORS = /[\s\p{P}\p{S}]+/u;
/** Folds a text for comparisons that ignore case, forms of a character and the width of spaces, which messages do not show. */
export const folded = (text: string): string => text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ");

/** Return a name and an id for comparisons. Remembered, because completion compares all of them for each letter that a person types. */
export const foldedName = perObject(({ name }: NamedEntry) => folded(name ?? ""));
const foldedId = perObject(({ id }: NamedEntry) => folded(id));

const toWords = ({ id, name }: NamedEntry, index: number): SearchWords => ({
  index,
  name: name ?? "",
  hint: id.includes("::") ? (id.split("::")[0] ?? "") : "",
});

/** Matches text that is part of an id rather than of a name: a separator or a run of hex digits. */
const LIKE_AN_ID = /::|^[0-9a-f]{4,}/;

const isBeginningOf = (text: string, id: string): boolean =>
  id.startsWith(text) || id.slice(id.lastIndexOf("::") + 2).startsWith(text);

const newSearch = () =>
  new MiniSearch<SearchWords>({
    idField: "index",
    fields: ["name", "hint"],
    tokenize: (text) => folded(text).split(SEPARATORS).filter(Boolean),
    searchOptions: {
      combineWith: "AND",
      prefix: true,
      // Number of typing errors that are tolerated. Two swapped letters count as two. Hex digits are copied, and another number is
      // another thing.
      fuzzy(term) {
        if (term.length < 4 || term.length > MAX_FUZZY || /^[0-9a-f]{8,}$|^\d+$/.test(term)) return false;
        return term.length < 5 ? 1 : 2;
      },
      boost: { name: 3, hint: 2 },
    },
  });

export const emptyList = (): List => ({
  entries: [],
  words: newSearch(),
  byId: new Map(),
  byName: new Map(),
  readAt: undefined,
  read: 0,
  changedAt: undefined,
});

/** Rank of an entry whose words are only similar to the typed ones. */
export const MISSPELT = 5;

/**
 * Ranks a match from 0, the best: exact name or id, start of the name, start of the id, start of the id's last part, start of
 * words, similar words.
 */
function rank(entry: NamedEntry, text: string, exactWords: boolean): number {
  const name = foldedName(entry);
  const id = foldedId(entry);
  if (name === text || id === text) return 0;
  if (name.startsWith(text)) return 1;
  if (id.startsWith(text)) return 2;
  if (id.split("::").at(-1)?.startsWith(text)) return 3;
  return exactWords ? 4 : MISSPELT;
}

/** Maximum number of words of a search text. */
const MAX_WORDS = 6;
/** Maximum number of words of a text that looks like an id, as a name such as "Deactivate …" does, too. */
const MAX_ID_WORDS = 12;
/**
 * Maximum length of a word in which typing errors are tolerated. Each edit of a longer word takes more time, and no name has such
 * words.
 */
const MAX_FUZZY = 24;
/** Number of rows that are indexed before yielding to the event loop. */
const CHUNK = 250;
/** Maximum number of matches that are ranked. A short text can match thousands. */
const MAX_RANKED = 400;

function addName(byName: List["byName"], { name }: NamedEntry, index: number): void {
  if (name === null) return;
  const key = folded(name);
  const namesakes = byName.get(key);
  if (namesakes) namesakes.add(index);
  else byName.set(key, new Set([index]));
}

function removeName(byName: List["byName"], { name }: NamedEntry, index: number): void {
  if (name === null) return;
  const key = folded(name);
  const namesakes = byName.get(key);
  namesakes?.delete(index);
  if (namesakes?.size === 0) byName.delete(key);
}

/** Returns the entries with exactly this id, shortened id or name. */
export function namedIn({ entries, byId, byName }: List, text: string, typed: string): readonly NamedEntry[] {
  const exactEntry = entries[byId.get(text) ?? byId.get(typed) ?? -1];
  if (exactEntry) return [exactEntry];
  // Few people paste a part of an id, so a linear search is enough.
  if (/^1220[0-9a-f]{64}$/.test(typed)) return entries.filter(({ id }) => id.endsWith(`::${typed}`));
  // NFKC turns "…" into three dots.
  if (typed.includes("...")) {
    const wanted = typed.replaceAll("`", "");
    const end = wanted.replace(/\)$/, "").slice(-4);
    const shown = entries.filter(({ id, name }) => {
      // All forms end like the id. Completion asks for each letter that a person types.
      if (folded(id.slice(-4)) !== end) return false;
      const mark = fingerprint(id);
      const forms = [shortId(id), mark, `${name} ${mark}`, `${name} · ${mark}`, `${name} (${mark})`];
      return forms.some((each) => folded(each) === wanted);
    });
    // A name may contain "…" itself.
    return [...new Set([...shown, ...withName({ entries, byName }, typed)])];
  }
  return withName({ entries, byName }, typed);
}

export const withName = ({ entries, byName }: Pick<List, "entries" | "byName">, name: string) =>
  [...(byName.get(name) ?? [])].flatMap((index) => entries[index] ?? []);

/** Returns the most relevant entries: active ones first, and among equals those that were learned after the list was read. */
function mostRelevant({ entries, read }: List, max: number): NamedEntry[] {
  const sorted = [...entries.slice(read).reverse(), ...entries.slice(0, read)];
  return sorted.sort((a, b) => Number(b.active === true) - Number(a.active === true)).slice(0, max);
}

/** An entry that matches a text, with its rank. 0 is the best. */
export interface RankedEntry {
  readonly entry: NamedEntry;
  readonly rank: number;
}

/** Returns the entries that match a folded text. An empty text returns the most relevant ones. */
export function matchesIn(list: List, text: string, max: number): RankedEntry[] {
  const { entries, words } = list;
  if (!text) return mostRelevant(list, max).map((entry) => ({ entry, rank: 0 }));
  const isLikeId = LIKE_AN_ID.test(text);
  const allWords = text.split(SEPARATORS).filter(Boolean);
  const wordLimit = isLikeId ? MAX_ID_WORDS : MAX_WORDS;
  const typedWords = [...new Set(allWords.slice(0, wordLimit))];
  // An id must not find another one that has only its first words. Looking for each word takes too long.
  const otherWords = isLikeId ? allWords.slice(wordLimit) : [];
  const hasOthers = (entry: NamedEntry) =>
    otherWords.every((word) => foldedName(entry).includes(word) || foldedId(entry).includes(word));
  const byId = isLikeId
    ? entries.filter((entry) => isBeginningOf(text, foldedId(entry))).slice(0, MAX_RANKED)
    : [];
  const byWords = words
    .search(typedWords.join(" "))
    .slice(0, MAX_RANKED)
    .flatMap(({ id, terms }) => {
      const entry = entries[Number(id)];
      const isExact = typedWords.every((word) => terms.some((term) => term.startsWith(word)));
      return entry && hasOthers(entry) && !byId.includes(entry)
        ? [{ entry, rank: rank(entry, text, isExact) }]
        : [];
    });
  return [...byId.map((entry) => ({ entry, rank: rank(entry, text, true) })), ...byWords];
}

/** Adds an entry to its list, or updates it. @returns true if more than the time of the last report has changed */
export function placeIn({ byId, byName, entries, words }: List, entry: NamedEntry): boolean {
  const index = byId.get(entry.id);
  const previousEntry = index === undefined ? undefined : entries[index];
  if (
    index !== undefined &&
    isDeepStrictEqual({ ...previousEntry, seenAt: null }, { ...entry, seenAt: null })
  ) {
    entries[index] = entry;
    return false;
  }
  if (index === undefined) {
    byId.set(entry.id, entries.length);
    addName(byName, entry, entries.length);
    words.add(toWords(entry, entries.push(entry) - 1));
    return true;
  }
  if (previousEntry) removeName(byName, previousEntry, index);
  addName(byName, entry, index);
  entries[index] = entry;
  words.replace(toWords(entry, index));
  return true;
}

/**
 * Indexes a list that was read, in small chunks, so that thousands of rows do not block the event loop.
 * @param readAt epoch ms
 * @param changedAt epoch ms
 */
export async function indexed(
  entries: readonly NamedEntry[],
  readAt: number,
  changedAt: number,
): Promise<List> {
  const words = newSearch();
  await words.addAllAsync(entries.map(toWords), { chunkSize: CHUNK });
  const byName: List["byName"] = new Map();
  for (const [index, entry] of entries.entries()) addName(byName, entry, index);
  const byId = new Map(entries.map(({ id }, index) => [id, index]));
  return { entries: [...entries], words, byId, byName, readAt, read: entries.length, changedAt };
}
