import { isDeepStrictEqual } from "node:util";
import MiniSearch from "minisearch";
import { surveyVersions, type VersionSurvey } from "../ledger/versions.js";
import type { Entry } from "../storage/catalogue.js";
import { fingerprint, shortId } from "../text/ids.js";
import { cut } from "../text/plain.js";

/** What the directory knows: kinds of things that have a name. */
export const KINDS = ["validator", "party", "proposal", "token", "voter"] as const;
export type Kind = (typeof KINDS)[number];

/** An entry with what it is. */
export interface Match {
  readonly kind: Kind;
  readonly entry: Entry;
}

/** Things by name and id, in memory: what completion and lookups search, without a request. */
export interface Directory {
  /** When the list of a kind was read, epoch ms; undefined before it ever was. */
  readAt(kind: Kind): number | undefined;
  /** When anything of a kind was last learnt, epoch ms. */
  changedAt(kind: Kind): number | undefined;
  /** One by its whole id. */
  entry(kind: Kind, id: string): Entry | undefined;
  /** What a party is called, by the lists of validators and parties. */
  nameOf(partyId: string): string | null;
  /** In the list's order: the most relevant first. */
  entries(kind: Kind): readonly Entry[];
  /** What the active validators run; the same object until anything of them is learnt. */
  versions(): VersionSurvey;
  /** The best matches first, and among equals the active ones. An empty text gives the most relevant. */
  search(kinds: readonly Kind[], text: string, max: number): Match[];
  /** Those whose name, id or shortened id is exactly this, whatever its case. */
  named(kinds: readonly Kind[], text: string): Match[];
  replace(kind: Kind, entries: readonly Entry[], readAt: number, changedAt?: number): Promise<void>;
  /** Adds one that was met on the way, or what is newly known of it. */
  add(kind: Kind, entry: Entry): void;
  /** Called with each entry that `add` brought or changed. */
  onAdded: ((kind: Kind, entry: Entry) => void) | undefined;
}

/** An entry's words: its name, and its id's hint. The rest of an id is looked for as it stands. */
interface Words {
  readonly index: number;
  readonly name: string;
  readonly hint: string;
}

interface List {
  readonly entries: Entry[];
  readonly words: MiniSearch<Words>;
  /** Where each id stands in `entries`. */
  readonly byId: Map<string, number>;
  /** Where each name stands, whatever its case. */
  readonly byName: Map<string, Set<number>>;
  readonly readAt: number | undefined;
  /** How many were there when it was read: what comes behind them is newer. */
  readonly read: number;
  changedAt: number | undefined;
}

const SEPARATORS = /[\s\p{P}\p{S}]+/u;
const plain = (text: string): string => text.normalize("NFKC").toLowerCase();

const toWords = ({ id, name }: Entry, index: number): Words => ({
  index,
  name: name ?? "",
  hint: id.includes("::") ? (id.split("::")[0] ?? "") : "",
});

/** What is typed of an id, rather than of a name: with a separator in it, or a run of hex. */
const LIKE_AN_ID = /::|^[0-9a-f]{4,}/;

const isBeginningOf = (text: string, id: string): boolean =>
  id.startsWith(text) || id.slice(id.lastIndexOf("::") + 2).startsWith(text);

const newSearch = () =>
  new MiniSearch<Words>({
    idField: "index",
    fields: ["name", "hint"],
    tokenize: (text) => plain(text).split(SEPARATORS).filter(Boolean),
    searchOptions: {
      combineWith: "AND",
      prefix: true,
      // Edits forgiven: two letters that changed places are two. Hex is copied, not typed.
      fuzzy: (term) =>
        term.length < 4 || term.length > MAX_FUZZY || /^[0-9a-f]{8,}$/.test(term)
          ? false
          : term.length < 5
            ? 1
            : 2,
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

/** How well an entry fits, 0 the best: by its name, by its hint, by the start of an id, by a word in it, by guess. */
function rank(entry: Entry, text: string, exactWords: boolean): number {
  const name = plain(entry.name ?? "");
  const id = plain(entry.id);
  if (name === text || id === text) return 0;
  if (name.startsWith(text)) return 1;
  if (id.startsWith(text)) return 2;
  if (id.split("::").at(-1)?.startsWith(text)) return 3;
  return exactWords ? 4 : 5;
}

/** Of what is typed, so much is looked for: as long as the longest id, and words of a name. */
const MAX_TYPED = 300;
const MAX_WORDS = 6;
/** The longest word that errors are forgiven in: each edit of a longer one costs more time, and no name has it. */
const MAX_FUZZY = 24;
/** Rows indexed between two turns of the event loop. */
const CHUNK = 250;
/** Matches that are ranked; a short text fits thousands. */
const MAX_RANKED = 400;

function addName(byName: List["byName"], { name }: Entry, index: number): void {
  if (name === null) return;
  const key = plain(name);
  const held = byName.get(key);
  if (held) held.add(index);
  else byName.set(key, new Set([index]));
}

function removeName(byName: List["byName"], { name }: Entry, index: number): void {
  if (name === null) return;
  const key = plain(name);
  const held = byName.get(key);
  held?.delete(index);
  if (held?.size === 0) byName.delete(key);
}

/** Those that have exactly this id, shortened id, or name. */
function namedIn({ entries, byId, byName }: List, text: string, typed: string): readonly Entry[] {
  const whole = entries[byId.get(text) ?? byId.get(typed) ?? -1];
  if (whole) return [whole];
  // NFKC makes three dots of "…". Whoever copies a shortened id is rare: all are looked through.
  if (typed.includes("...")) return entries.filter(({ id }) => plain(shortId(id)) === typed);
  return [...(byName.get(typed) ?? [])].flatMap((index) => entries[index] ?? []);
}

/** The most relevant: active ones first, and among equals what was learnt since the list was read. */
function mostRelevant({ entries, read }: List, max: number): Entry[] {
  const sorted = [...entries.slice(read).reverse(), ...entries.slice(0, read)];
  return sorted.sort((a, b) => Number(b.active === true) - Number(a.active === true)).slice(0, max);
}

/** An empty directory, which `fill` fills. */
export function createDirectory(now = Date.now): Directory {
  const lists = new Map<Kind, List>(KINDS.map((kind) => [kind, emptyList()]));
  /** What was learnt, and when: a list that was read from before then does not take it back. */
  const learnt = new Map<Kind, Map<string, { readonly entry: Entry; readonly at: number }>>(
    KINDS.map((kind) => [kind, new Map()]),
  );
  let versions: VersionSurvey | undefined;
  const listOf = (kind: Kind): List => lists.get(kind) ?? emptyList();

  const matches = (kind: Kind, text: string, max: number): { match: Match; rank: number }[] => {
    const { entries, words } = listOf(kind);
    if (!text) return mostRelevant(listOf(kind), max).map((entry) => ({ match: { kind, entry }, rank: 0 }));
    const typed = text.split(SEPARATORS).filter(Boolean).slice(0, MAX_WORDS);
    const byId = LIKE_AN_ID.test(text)
      ? entries.filter(({ id }) => isBeginningOf(text, plain(id))).slice(0, MAX_RANKED)
      : [];
    const byWords = words
      .search(LIKE_AN_ID.test(text) ? text : typed.join(" "))
      .slice(0, MAX_RANKED)
      .flatMap(({ id, terms }) => {
        const entry = entries[Number(id)];
        const exact = typed.every((word) => terms.some((term) => term.startsWith(word)));
        return entry && !byId.includes(entry)
          ? [{ match: { kind, entry }, rank: rank(entry, text, exact) }]
          : [];
      });
    return [...byId.map((entry) => ({ match: { kind, entry }, rank: rank(entry, text, true) })), ...byWords];
  };

  /** Puts an entry into its list, new or changed. @returns whether that changed anything */
  const place = (kind: Kind, entry: Entry): boolean => {
    const { byId, byName, entries, words } = listOf(kind);
    const index = byId.get(entry.id);
    const before = index === undefined ? undefined : entries[index];
    if (isDeepStrictEqual(before, entry)) return false;
    if (kind === "validator") versions = undefined;
    if (index === undefined) {
      byId.set(entry.id, entries.length);
      addName(byName, entry, entries.length);
      words.add(toWords(entry, entries.push(entry) - 1));
      return true;
    }
    if (before) removeName(byName, before, index);
    addName(byName, entry, index);
    entries[index] = entry;
    words.replace(toWords(entry, index));
    return true;
  };

  const directory: Directory = {
    onAdded: undefined,
    readAt: (kind) => listOf(kind).readAt,
    changedAt: (kind) => listOf(kind).changedAt,
    entries: (kind) => listOf(kind).entries,
    versions() {
      versions ??= surveyVersions(listOf("validator").entries);
      return versions;
    },

    entry(kind, id) {
      const { entries, byId } = listOf(kind);
      return entries[byId.get(id) ?? -1];
    },

    nameOf: (partyId) =>
      directory.entry("validator", partyId)?.name ?? directory.entry("party", partyId)?.name ?? null,

    search(kinds, text, max) {
      const typed = plain(text.slice(0, MAX_TYPED)).replace(/\s+/g, " ").trim();
      return kinds
        .flatMap((kind) => matches(kind, typed, max))
        .map((each, index) => ({ ...each, index, active: each.match.entry.active === true }))
        .sort((a, b) => a.rank - b.rank || Number(b.active) - Number(a.active) || a.index - b.index)
        .slice(0, max)
        .map(({ match }) => match);
    },

    named(kinds, text) {
      const typed = plain(text).trim();
      return kinds.flatMap((kind) =>
        namedIn(listOf(kind), text.trim(), typed).map((entry) => ({ kind, entry })),
      );
    },

    async replace(kind, entries, readAt, changedAt = readAt) {
      const words = newSearch();
      // In small turns, so that nobody waits for thousands of rows.
      await words.addAllAsync(entries.map(toWords), { chunkSize: CHUNK });
      const byName: List["byName"] = new Map();
      for (const [index, entry] of entries.entries()) addName(byName, entry, index);
      if (kind === "validator") versions = undefined;
      lists.set(kind, {
        byName,
        entries: [...entries],
        words,
        byId: new Map(entries.map(({ id }, index) => [id, index])),
        readAt,
        read: entries.length,
        changedAt,
      });
      for (const [id, { entry, at }] of learnt.get(kind) ?? []) {
        if (at >= readAt) place(kind, entry);
        else learnt.get(kind)?.delete(id);
      }
    },

    add(kind, entry) {
      learnt.get(kind)?.set(entry.id, { entry, at: now() });
      if (!place(kind, entry)) return;
      listOf(kind).changedAt = now();
      directory.onAdded?.(kind, entry);
    },
  };
  return directory;
}

/** An entry in words: its name before what tells it from others, at most so many UTF-16 units. */
export function entryLabel({ id, name, note }: Entry, max: number): string {
  const aside = cut(note ?? fingerprint(id), 60);
  return name === null ? cut(shortId(id), max) : `${cut(name, max - aside.length - 3)} · ${aside}`;
}
