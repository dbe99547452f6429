import { isDeepStrictEqual } from "node:util";
import MiniSearch from "minisearch";
import { type UpgradeSchedule, upgradeDecision } from "../ledger/upgrades.js";
import { surveyVersions, type VersionSurvey } from "../ledger/versions.js";
import { fingerprint, shortId } from "../text/ids.js";
import { cut } from "../text/plain.js";
import { perObject } from "../util/per-object.js";
import { MINUTE } from "../util/units.js";
import { activeIn, type ReportIntervals } from "./active.js";
import type { NamedEntry } from "./collections.js";

/** Kinds of things in the directory. */
export const KINDS = ["validator", "party", "proposal", "token", "voter", "group"] as const;
export type Kind = (typeof KINDS)[number];

/** Id of the group of all super validators. */
export const SUPER_VALIDATORS = "super-validators";

/** Groups of validators that have a name. */
const NAMED_GROUPS: readonly NamedEntry[] = [
  { id: SUPER_VALIDATORS, name: "All super validators", active: true, note: "later ones too" },
];

/** An entry with its kind. */
export interface Match {
  readonly kind: Kind;
  readonly entry: NamedEntry;
}

/** In-memory index of things by name and id. Completion and lookups search it without a request. */
export interface Directory {
  /** Returns the time when the list of a kind was read, epoch ms. `undefined` if it has never been read. */
  readAt(kind: Kind): number | undefined;
  /** Records that a kind's list was asked for, and has no names: it is empty, or the API key may not use it. */
  noteNameless(kind: Kind): void;
  isNameless(kind: Kind): boolean;
  /** Returns the time when a kind's entries were last updated, epoch ms. */
  changedAt(kind: Kind): number | undefined;
  /** Returns the time when an entry was last read, epoch ms. `undefined` if it has never been read. */
  asOf(kind: Kind, id: string): number | undefined;
  /** Returns the entry with this complete id. */
  entry(kind: Kind, id: string): NamedEntry | undefined;
  /** Returns a party's name from the lists of validators and parties. */
  nameOf(partyId: string): string | null;
  /** Returns a kind's entries in the order of the list: most relevant first. */
  entries(kind: Kind): readonly NamedEntry[];
  /**
   * Returns the versions of active validators. The object stays the same until one of them changes.
   * @param intervals see Rhythms
   */
  versions(intervals: ReportIntervals): VersionSurvey;
  /** Returns the schedule that the accepted vote requests leave; `undefined` if they leave none. */
  upgrade(): UpgradeSchedule | undefined;
  /**
   * Returns matches, the best first. Among equal matches, active ones come first. An empty text returns the most relevant
   * entries.
   */
  search(kinds: readonly Kind[], text: string, max: number): Match[];
  /** As `search`. If nothing matches, or only with typing errors, names that contain the text within a word come first. */
  suggest(kinds: readonly Kind[], text: string, max: number): Match[];
  /** Returns a kind's entries with this name, ignoring case. */
  namesakes(kind: Kind, name: string): readonly NamedEntry[];
  /** Returns entries whose name, id or shortened id equals the text, ignoring case. */
  named(kinds: readonly Kind[], text: string): Match[];
  replace(kind: Kind, entries: readonly NamedEntry[], readAt: number, changedAt?: number): Promise<void>;
  /** Adds or updates an entry that was found in another answer. */
  add(kind: Kind, entry: NamedEntry): void;
  /** Called with each entry that `add` has added or changed. */
  onAdded: ((kind: Kind, entry: NamedEntry) => void) | undefined;
}

/** The searchable words of an entry: its name and its id's hint. Ids are searched separately. */
interface SearchWords {
  readonly index: number;
  readonly name: string;
  readonly hint: string;
}

interface List {
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
const foldedName = perObject(({ name }: NamedEntry) => folded(name ?? ""));
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

const emptyList = (): List => ({
  entries: [],
  words: newSearch(),
  byId: new Map(),
  byName: new Map(),
  readAt: undefined,
  read: 0,
  changedAt: undefined,
});

/** Rank of an entry whose words are only similar to the typed ones. */
const MISSPELT = 5;

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

/** False for a vote request that the explorer no longer lists, because its details may be missing, too. Its id still finds it. */
const isOffered = ({ goneAt }: NamedEntry): boolean => goneAt === undefined;

/** Maximum length of the search text (as long as the longest id), and maximum number of its words. */
const MAX_TYPED = 300;
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
/** Minimum and maximum length of a text that is looked for within words, in UTF-16 units. */
const MIN_INNER = 2;
const MAX_INNER = 100;
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
function namedIn({ entries, byId, byName }: List, text: string, typed: string): readonly NamedEntry[] {
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

const withName = ({ entries, byName }: Pick<List, "entries" | "byName">, name: string) =>
  [...(byName.get(name) ?? [])].flatMap((index) => entries[index] ?? []);

/** Returns the most relevant entries: active ones first, and among equals those that were learned after the list was read. */
function mostRelevant({ entries, read }: List, max: number): NamedEntry[] {
  const sorted = [...entries.slice(read).reverse(), ...entries.slice(0, read)];
  return sorted.sort((a, b) => Number(b.active === true) - Number(a.active === true)).slice(0, max);
}

/** Creates an empty directory. `createDirectoryFiller` fills it (fill.ts). */
export function createDirectory(now = Date.now): Directory {
  const lists = new Map<Kind, List>(KINDS.map((kind) => [kind, emptyList()]));
  /** Entries that were learned from other answers, with their times. An older list does not overwrite them. */
  const learntEntries = new Map<Kind, Map<string, { readonly entry: NamedEntry; readonly at: number }>>(
    KINDS.map((kind) => [kind, new Map()]),
  );
  let versions:
    | { readonly survey: VersionSurvey; readonly intervals: ReportIntervals | undefined }
    | undefined;
  let upgrade: { readonly schedule: UpgradeSchedule | undefined; readonly judgedAt: number } | undefined;
  /** Deletes what was derived from a kind's entries. */
  const forgetDerived = (kind: Kind) => {
    if (kind === "validator" && versions) versions = { ...versions, intervals: undefined };
    if (kind === "proposal") upgrade = undefined;
  };
  const listOf = (kind: Kind): List => lists.get(kind) ?? emptyList();

  const matches = (kind: Kind, text: string, max: number): { match: Match; rank: number }[] => {
    const { entries, words } = listOf(kind);
    if (!text) return mostRelevant(listOf(kind), max).map((entry) => ({ match: { kind, entry }, rank: 0 }));
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
          ? [{ match: { kind, entry }, rank: rank(entry, text, isExact) }]
          : [];
      });
    return [...byId.map((entry) => ({ match: { kind, entry }, rank: rank(entry, text, true) })), ...byWords];
  };

  const rankedMatches = (kinds: readonly Kind[], text: string, max: number) => {
    const typedText = folded(text.slice(0, MAX_TYPED)).trim();
    return kinds
      .flatMap((kind) => matches(kind, typedText, max).filter(({ match }) => isOffered(match.entry)))
      .map((each, index) => ({ ...each, index, active: each.match.entry.active === true }))
      .sort((a, b) => a.rank - b.rank || Number(b.active) - Number(a.active) || a.index - b.index)
      .slice(0, max);
  };

  /** Adds an entry to its list, or updates it. @returns true if more than the time of the last report has changed */
  const placeEntry = (kind: Kind, entry: NamedEntry): boolean => {
    const { byId, byName, entries, words } = listOf(kind);
    const index = byId.get(entry.id);
    const previousEntry = index === undefined ? undefined : entries[index];
    if (
      index !== undefined &&
      isDeepStrictEqual({ ...previousEntry, seenAt: null }, { ...entry, seenAt: null })
    ) {
      entries[index] = entry;
      return false;
    }
    forgetDerived(kind);
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
  };

  const nameless = new Set<Kind>();
  const directory: Directory = {
    onAdded: undefined,
    readAt: (kind) => listOf(kind).readAt,
    noteNameless: (kind) => void nameless.add(kind),
    isNameless: (kind) => nameless.has(kind),
    changedAt: (kind) => listOf(kind).changedAt,
    entries: (kind) => listOf(kind).entries,
    versions(intervals) {
      if (versions && versions.intervals === intervals) return versions.survey;
      const isActive = activeIn(directory, intervals);
      const entries = listOf("validator").entries.map((each) => ({ ...each, active: isActive(each) }));
      const survey = surveyVersions(entries);
      const isSame = isDeepStrictEqual(survey, versions?.survey);
      versions = { survey: isSame && versions ? versions.survey : survey, intervals };
      return versions.survey;
    },
    upgrade() {
      const upgradeAt = upgrade?.schedule?.upgradeAt ?? Number.POSITIVE_INFINITY;
      // Once an upgrade is over, later decisions count.
      const isOver = upgrade !== undefined && upgrade.judgedAt < upgradeAt && upgradeAt <= now();
      if (!upgrade || isOver)
        upgrade = { schedule: upgradeDecision(listOf("proposal").entries, now())?.schedule, judgedAt: now() };
      return upgrade.schedule;
    },

    asOf(kind, id) {
      const readAt = learntEntries.get(kind)?.get(id)?.at ?? listOf(kind).readAt;
      // A stored entry may be newer than the list with which it is stored.
      const seenAt = directory.entry(kind, id)?.seenAt ?? 0;
      return readAt === undefined ? undefined : Math.max(readAt, Math.min(seenAt, now()));
    },

    entry(kind, id) {
      const { entries, byId } = listOf(kind);
      return entries[byId.get(id) ?? -1];
    },

    nameOf: (partyId) =>
      directory.entry("validator", partyId)?.name ?? directory.entry("party", partyId)?.name ?? null,

    search: (kinds, text, max) => rankedMatches(kinds, text, max).map(({ match }) => match),

    suggest(kinds, text, max) {
      const similar = rankedMatches(kinds, text, max);
      const part = folded(text).trim();
      const isInner = (entry: NamedEntry) => foldedName(entry).includes(part);
      const isSearched = part.length >= MIN_INNER && part.length <= MAX_INNER;
      if (!isSearched || similar.some((each) => each.rank < MISSPELT))
        return similar.map(({ match }) => match);
      // Names may have no spaces: "BirchCustody", or those in Chinese or Japanese. They are more like the text than misspelt ones.
      const inner = kinds.flatMap((kind) =>
        listOf(kind)
          .entries.filter((entry) => isInner(entry) && isOffered(entry))
          .map((entry) => ({ kind, entry })),
      );
      const misspelt = similar.flatMap(({ match }) => (isInner(match.entry) ? [] : [match]));
      return [...inner, ...misspelt].slice(0, max);
    },

    namesakes: (kind, name) => withName(listOf(kind), folded(name)),

    named(kinds, text) {
      const typedText = folded(text).trim();
      const namedMatches = kinds.flatMap((kind) =>
        namedIn(listOf(kind), text.trim(), typedText).map((entry) => ({ kind, entry })),
      );
      // An id of one kind may be a name of another.
      const byId = namedMatches.filter(({ entry }) => entry.id === text.trim());
      return byId.length > 0 ? byId : namedMatches;
    },

    async replace(kind, entries, readAt, changedAt = readAt) {
      const wordIndex = newSearch();
      // Index in small chunks, so that thousands of rows do not block the event loop.
      await wordIndex.addAllAsync(entries.map(toWords), { chunkSize: CHUNK });
      const byName: List["byName"] = new Map();
      for (const [index, entry] of entries.entries()) addName(byName, entry, index);
      forgetDerived(kind);
      lists.set(kind, {
        byName,
        entries: [...entries],
        words: wordIndex,
        byId: new Map(entries.map(({ id }, index) => [id, index])),
        readAt,
        read: entries.length,
        changedAt,
      });
      for (const [id, { entry, at }] of learntEntries.get(kind) ?? []) {
        if (at >= readAt) placeEntry(kind, entry);
        else learntEntries.get(kind)?.delete(id);
      }
    },

    add(kind, entry) {
      learntEntries.get(kind)?.set(entry.id, { entry, at: now() });
      if (!placeEntry(kind, entry)) return;
      listOf(kind).changedAt = now();
      directory.onAdded?.(kind, entry);
    },
  };
  for (const group of NAMED_GROUPS) directory.add("group", group);
  return directory;
}

/** True if a list of one of these kinds has not been read yet, so that the name of a thing may be missing. */
export const isLoading = (
  directory: Pick<Directory, "readAt" | "isNameless">,
  kinds: readonly Kind[],
): boolean =>
  kinds.some(
    (kind) => kind !== "group" && directory.readAt(kind) === undefined && !directory.isNameless(kind),
  );

/** True if two entries were opened by the same requester in the same minute. */
export const areTwins = (a: NamedEntry, b: NamedEntry): boolean =>
  a.requester === b.requester &&
  Math.floor((a.openedAt ?? 0) / MINUTE) === Math.floor((b.openedAt ?? 0) / MINUTE);

/**
 * Returns an entry's label with its name first, at most `max` UTF-16 units long.
 * @param isAmbiguous true if another entry's label would be the same
 * @param hasTwin true if it was also opened by the same requester in the same minute
 */
export function entryLabel(
  { id, name, note, requester, openedAt }: NamedEntry,
  max: number,
  isAmbiguous = false,
  hasTwin = false,
): string {
  const opened =
    openedAt === undefined
      ? undefined
      : `opened ${new Date(openedAt).toISOString().slice(0, 16).replace("T", " ")}`;
  // The requester comes first, because the end may be cut off.
  const marks = isAmbiguous ? [requester && cut(requester, 30), hasTwin ? shortId(id) : opened] : [];
  const aside = cut([...marks, note ?? fingerprint(id)].filter(Boolean).join(", "), 60);
  return name === null ? cut(shortId(id), max) : `${cut(name, max - aside.length - 3)} · ${aside}`;
}

/** Removes parties that also match as something more specific, such as a validator. */
export function oncePerThing(matches: readonly Match[]): readonly Match[] {
  const particular = new Set(matches.filter(({ kind }) => kind !== "party").map(({ entry }) => entry.id));
  return matches.filter(({ kind, entry }) => kind !== "party" || !particular.has(entry.id));
}
