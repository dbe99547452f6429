import { isDeepStrictEqual } from "node:util";
import { type UpgradeDecision, upgradeDecision } from "../ledger/upgrades.js";
import { surveyVersions, type VersionSurvey } from "../ledger/versions.js";
import { activeIn, type ReportIntervals } from "./active.js";
import type { NamedEntry } from "./collections.js";
import {
  emptyList,
  folded,
  foldedName,
  indexed,
  type List,
  MISSPELT,
  matchesIn,
  namedIn,
  placeIn,
  withName,
} from "./search.js";

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
  /** Returns the last accepted decision about the network's next upgrade. */
  upgradeDecision(): UpgradeDecision | undefined;
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

/** Maximum length of the search text: as long as the longest id. */
const MAX_TYPED = 300;
/** Minimum and maximum length of a text that is looked for within words, in UTF-16 units. */
const MIN_INNER = 2;
const MAX_INNER = 100;

/** False for a vote request that the explorer no longer lists, because its details may be missing, too. Its id still finds it. */
const isOffered = ({ goneAt }: NamedEntry): boolean => goneAt === undefined;

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
  let upgrade: { readonly decision: UpgradeDecision | undefined; readonly judgedAt: number } | undefined;
  /** Deletes what was derived from a kind's entries. */
  const forgetDerived = (kind: Kind) => {
    if (kind === "validator" && versions) versions = { ...versions, intervals: undefined };
    if (kind === "proposal") upgrade = undefined;
  };
  const listOf = (kind: Kind): List => lists.get(kind) ?? emptyList();
  /** @returns true if more than the time of the entry's last report has changed */
  const placeEntry = (kind: Kind, entry: NamedEntry): boolean => {
    const isChanged = placeIn(listOf(kind), entry);
    if (isChanged) forgetDerived(kind);
    return isChanged;
  };

  const rankedMatches = (kinds: readonly Kind[], text: string, max: number) => {
    const typedText = folded(text.slice(0, MAX_TYPED)).trim();
    return kinds
      .flatMap((kind) =>
        matchesIn(listOf(kind), typedText, max)
          .filter(({ entry }) => isOffered(entry))
          .map(({ entry, rank }) => ({ match: { kind, entry }, rank })),
      )
      .map((each, index) => ({ ...each, index, active: each.match.entry.active === true }))
      .sort((a, b) => a.rank - b.rank || Number(b.active) - Number(a.active) || a.index - b.index)
      .slice(0, max);
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
    upgradeDecision() {
      const upgradeAt = upgrade?.decision?.schedule?.upgradeAt ?? Number.POSITIVE_INFINITY;
      // Once an upgrade is over, later decisions count.
      const isOver = upgrade !== undefined && upgrade.judgedAt < upgradeAt && upgradeAt <= now();
      if (!upgrade || isOver)
        upgrade = { decision: upgradeDecision(listOf("proposal").entries, now()), judgedAt: now() };
      return upgrade.decision;
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
      const list = await indexed(entries, readAt, changedAt);
      forgetDerived(kind);
      lists.set(kind, list);
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
