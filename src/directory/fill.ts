import { problemIs } from "../explorer/errors.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer } from "../explorer/service.js";
import { estimateRhythm } from "../ledger/network-rhythm.js";
import type { Log } from "../log.js";
import type { State } from "../storage/state.js";
import { ageOf } from "../util/clock.js";
import { joinedRun } from "../util/single-flight.js";
import { MINUTE } from "../util/units.js";
import { checkEntries, knownTokens, nameLists, nameListTimes } from "./collections.js";
import { type Directory, KINDS, type Kind } from "./directory.js";
import type { Names } from "./names.js";
import { SOURCES } from "./sources.js";

/** Interval at which the stored lists are checked, in ms. */
export const DIRECTORY_MS = MINUTE;

/** Loads the lists from the state that are newer than those in memory, and the tokens that any process has found. */
async function loadDirectory(directory: Directory, state: State, now: () => number): Promise<void> {
  const storedTimes = await state.open(nameListTimes).list();
  for (const kind of KINDS) {
    const knownTime = storedTimes.get(kind);
    if (knownTime?.isNameless) directory.noteNameless(kind);
    const changedAt = knownTime && (knownTime.changedAt ?? knownTime.readAt);
    const ownChangedAt = directory.changedAt(kind) ?? 0;
    // A list that was read later than ours replaces it, even if we have learnt something since. That is kept.
    const isReadLater = (knownTime?.readAt ?? 0) > (directory.readAt(kind) ?? 0);
    // If our own time is in the future, the clock was wrong when it was set. In that case, any other list counts as newer.
    const isOurs =
      !isReadLater &&
      ageOf(ownChangedAt, now()) < Number.POSITIVE_INFINITY &&
      (changedAt ?? 0) < ownChangedAt;
    if (changedAt === undefined || changedAt === ownChangedAt || isOurs) continue;
    const storedList = await state.open(nameLists).get(kind);
    if (!storedList) continue;
    const { entries, readAt, changedAt: entriesChangedAt } = storedList;
    await directory.replace(kind, await checkEntries(entries), readAt, entriesChangedAt);
  }
  const tokens = await state.open(knownTokens).list();
  if (directory.readAt("token") === undefined || tokens.size > directory.entries("token").length) {
    await directory.replace("token", [...tokens.values()], 0);
  }
}

/**
 * Creates a function that loads stored names into the directory. Concurrent calls share one load. Creating it also starts to
 * store new tokens. The function throws StateError.
 */
export function createDirectoryLoader(
  directory: Directory,
  state: State,
  log: Log,
  now = Date.now,
): () => Promise<void> {
  directory.onAdded = (kind, entry) => {
    if (kind !== "token") return;
    state
      .commit([state.open(knownTokens).add(entry.id, entry)])
      .catch((err: unknown) => log.warn({ err }, "A token's name could not be stored"));
  };
  return joinedRun(() => loadDirectory(directory, state, now));
}

interface FillDeps {
  readonly directory: Directory;
  /** Loads the stored names into the directory. */
  readonly load: () => Promise<void>;
  readonly names: Names;
  readonly explorer: Explorer;
  /** The explorer without answers from the cache. */
  readonly newest: Explorer;
  readonly state: State;
  /** Stops reading before the next page, and does not store any more after that. */
  readonly ended: AbortSignal;
  readonly now?: () => number;
}

/** Retry interval of a list that could not be loaded, in ms. A list may take fifty requests. */
const RETRY_MS = 10 * MINUTE;
/** Maximum number of vote request details per run. A long list needs several runs. */
const MAX_DETAILS = 20;

/** Creates a function that reads the lists that are due, one after another, and stores them. */
export function createDirectoryFiller(deps: FillDeps) {
  const { directory, load, names, explorer, newest, state, ended, now = Date.now } = deps;
  const triedAt = new Map<Kind, number>();
  const keptAt = new Map<Kind, number>();
  let requests: readonly VoteRequestListItem[] = [];
  const isDue = (kind: Kind, everyMs: number) =>
    ageOf(directory.readAt(kind) ?? 0, now()) >= everyMs && ageOf(triedAt.get(kind) ?? 0, now()) >= RETRY_MS;

  /** Records that a kind has no names, for other processes too. A list that was read before stays. */
  const noteNameless = async (kind: Kind) => {
    if (directory.readAt(kind) === undefined && !directory.isNameless(kind))
      await state.commit([state.open(nameListTimes).put(kind, { readAt: now(), isNameless: true })]);
    directory.noteNameless(kind);
  };

  /** Stores a kind's entries if they have changed since they were last stored. Tokens are stored one by one. */
  const storeNames = async (kind: Kind) => {
    const [readAt, changedAt] = [directory.readAt(kind), directory.changedAt(kind)];
    if (kind === "token" || readAt === undefined || changedAt === undefined) return;
    if (changedAt <= (keptAt.get(kind) ?? readAt)) return;
    await state.commit([
      state.open(nameLists).put(kind, { readAt, changedAt, entries: directory.entries(kind) }),
      state.open(nameListTimes).put(kind, { readAt, changedAt }),
    ]);
    keptAt.set(kind, changedAt);
  };

  return async (): Promise<void> => {
    // The previous lease holder may have just read the lists.
    await load();
    for (const kind of KINDS) {
      const source = SOURCES[kind];
      if (!source || !isDue(kind, source.everyMs)) continue;
      triedAt.set(kind, now());
      const listedRows = await source
        .read({ explorer, newest, names, ended: () => ended.aborted, known: directory.entries(kind) })
        .catch((error: unknown) => {
          if (problemIs("withheld")(error)) return undefined;
          throw error;
        });
      if (!listedRows || (listedRows.whole && listedRows.entries.length === 0)) await noteNameless(kind);
      if (!listedRows) continue;
      const { entries, whole, fetchedAt: readAt } = listedRows;
      if (ended.aborted) return;
      requests = listedRows.requests ?? requests;
      // Ignore an empty or incomplete list: keep the known entries, and read the list again soon.
      if (!whole || entries.length === 0) continue;
      await directory.replace(kind, entries, readAt);
      const reportedAt = kind === "validator" ? entries.flatMap(({ seenAt }) => seenAt ?? []) : [];
      await state.commit([
        state.open(nameLists).put(kind, { readAt, entries }),
        state.open(nameListTimes).put(kind, { readAt }),
        ...(await estimateRhythm(state, reportedAt, readAt)),
      ]);
    }
    await names.readAll(requests, MAX_DETAILS);
    if (ended.aborted) return;
    for (const kind of KINDS) await storeNames(kind);
  };
}
