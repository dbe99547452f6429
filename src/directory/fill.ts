import { ifAnswered, problemIs } from "../explorer/errors.js";
import { readPagesOf } from "../explorer/paging.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import { distinct } from "../explorer/schema/page.js";
import type { ValidatorSummary } from "../explorer/schema/validators.js";
import type { Explorer } from "../explorer/service.js";
import { readFormer } from "../ledger/missing-votes.js";
import { estimateRhythm } from "../ledger/network-rhythm.js";
import { isVotable, OUTCOME_UNKNOWN, PHASE_WORDS, type Standable, standingOf } from "../ledger/vote-phase.js";
import { identityOf, openedAtIn, tallyIn } from "../ledger/vote-requests.js";
import { isOpen, neededFor, statusGroup, statusWords } from "../ledger/vote-rules.js";
import { voterId, votersIn } from "../ledger/votes.js";
import type { Log } from "../log.js";
import type { State } from "../storage/state.js";
import { isPartyId } from "../text/ids.js";
import { ageOf } from "../util/clock.js";
import { defined } from "../util/present.js";
import { singleFlight } from "../util/single-flight.js";
import { DAY, MINUTE } from "../util/units.js";
import { checkEntries, knownTokens, type NamedEntry, nameLists, nameListTimes } from "./collections.js";
import { type Directory, KINDS, type Kind } from "./directory.js";
import type { Names } from "./names.js";
import type { NamedRequest } from "./request-facts.js";

interface Listed {
  readonly entries: readonly NamedEntry[];
  /** The listed vote requests, so that their details can be read. */
  readonly requests?: readonly VoteRequestListItem[];
  /** True if every page was read, even if some rows could not be parsed. */
  readonly whole: boolean;
  /** Time of the oldest page, which may come from the cache, epoch ms. */
  readonly fetchedAt: number;
}

interface ListReading extends Pick<FillDeps, "explorer" | "newest" | "names"> {
  readonly ended: () => boolean;
  /** Entries of the previous reading. */
  readonly known: readonly NamedEntry[];
}

type Source = (deps: ListReading) => Promise<Listed>;

/**
 * Time for which a vote request that the explorer no longer lists is remembered, in ms. Its details may still call it open, and only the
 * bot knows that it has ended.
 */
const GONE_MS = 30 * DAY;

/** Returns a vote request's entry for completion. */
export function proposalEntry(
  request: NamedRequest &
    Standable & {
      /** When it was opened, if that is known. */
      readonly openedAt: number | null;
      /** Time of its contract. */
      readonly createdAt?: number | null;
      readonly requester?: string | null;
      readonly requesterName?: string | null;
    },
  id: string,
  names: Names,
  now: number,
): NamedEntry {
  const seen = { ...names.seenOf(id), ...request };
  const { enoughYesAt, hasExpired, closed } = seen;
  const standing = standingOf(seen, neededFor(request, undefined), now);
  const { phase, next } = standing;
  // The first time that was seen stays, because each vote makes a new contract, whose time may be that of the vote.
  const openedAt = request.openedAt ?? names.seenOf(id).openedAt ?? request.createdAt ?? undefined;
  const requester =
    request.requesterName ?? (request.requester ? names.called(request.requester) : undefined);
  const date =
    next && phase !== "ended" ? `, ${next.name} ${new Date(next.at).toISOString().slice(0, 10)}` : "";
  const action = names.actionOf(id);
  const upgradeChange = names.upgradeOf(id);
  const isAccepted = ["accepted", "implemented"].includes(statusGroup(request.status));
  // Without a date for it, what was accepted has taken effect.
  const latest = request.voteBefore === null ? undefined : Math.min(request.voteBefore, now);
  const acceptedFor = request.targetEffectiveAt ?? closed?.after ?? closed?.by ?? request.createdAt ?? latest;
  return {
    id,
    name: names.ownName(request),
    active: isOpen(request, now) && isVotable(standing),
    note: `${PHASE_WORDS[phase] ?? (request.isGone ? OUTCOME_UNKNOWN : statusWords(request.status))}${date}`,
    ...defined({
      requester,
      openedAt,
      action,
      goneAt: request.isGone ? now : undefined,
      closed,
      enoughYesAt,
      hasExpired,
      upgradeChange,
      acceptedFor: isAccepted ? acceptedFor : undefined,
    }),
  };
}

/** Returns a vote request in the list, with its tally and its opening time. */
export const listedIn = (row: VoteRequestListItem, identity: string) => ({
  ...row,
  ...tallyIn(row),
  identity,
  openedAt: openedAtIn(row),
});

/** Returns a validator's entry, or an empty list if its row has no id. */
export const validatorEntry = (row: ValidatorSummary): NamedEntry[] => {
  const { validator: id, validatorName: name, active, version, lastActiveAt } = row;
  return id === null ? [] : [{ id, name, active, version, seenAt: lastActiveAt }];
};

/**
 * Sources of each kind, with their intervals in ms. Each page costs a request. There is no list of tokens, so the tokens that
 * people have viewed are stored instead.
 */
const SOURCES: Readonly<Partial<Record<Kind, { readonly everyMs: number; readonly read: Source }>>> = {
  validator: {
    everyMs: 30 * MINUTE,
    async read({ explorer, newest, ended }) {
      const { data, problem, fetchedAt } = await readPagesOf(explorer, "validators", ended);
      const reportedAt = new Map(data.map(({ validator, lastActiveAt }) => [validator, lastActiveAt]));
      const isListed = ({ validator }: ValidatorSummary) => reportedAt.has(validator);
      const isUnmoved = (row: ValidatorSummary) => reportedAt.get(row.validator) === row.lastActiveAt;
      // The latest reports come first, so validators that reported meanwhile have moved from unread pages to the first ones.
      const reread = ended()
        ? undefined
        : await ifAnswered(readPagesOf(newest, "validators", (rows) => ended() || rows.some(isUnmoved)));
      const moved = reread?.data.filter((row) => !isListed(row)) ?? [];
      return {
        whole: problem === undefined,
        entries: [...data, ...moved].flatMap(validatorEntry),
        fetchedAt,
      };
    },
  },
  proposal: {
    everyMs: 10 * MINUTE,
    async read({ explorer, ended, names, known }) {
      const { data, problem, fetchedAt } = await readPagesOf(explorer, "voteRequests", ended);
      const entries = data.flatMap((row) => {
        const identity = identityOf(row);
        return identity === null ? [] : [proposalEntry(listedIn(row, identity), identity, names, Date.now())];
      });
      const listed = new Set(entries.map(({ id }) => id));
      const goneEntries = known.filter(
        ({ id, goneAt = 0 }) => !listed.has(id) && ageOf(goneAt, Date.now()) < GONE_MS,
      );
      return {
        whole: problem === undefined,
        // An empty list must not leave only those.
        entries: entries.length > 0 ? [...entries, ...goneEntries] : [],
        requests: data,
        fetchedAt,
      };
    },
  },
  voter: {
    everyMs: 60 * MINUTE,
    async read({ explorer, ended, names, known }) {
      const { data, problem, fetchedAt } = await readPagesOf(explorer, "votes", ended, MAX_VOTE_PAGES);
      const voters = votersIn(data);
      const absent = known
        .filter(
          ({ id, name }) =>
            isPartyId(id) && !voters.some((each) => voterId(each) === id || each.name === name),
        )
        .map(({ id, name }) => ({ name: name ?? id, aliases: [id] }));
      const former = await readFormer(explorer, [...voters, ...absent], names.isFormer);
      // A super validator that is down does not vote either, and is still one. A former one is forgotten with its votes.
      const entries = [...voters, ...absent.filter((each) => !former.includes(each))].map((voter) => ({
        id: voterId(voter),
        name: voter.name,
        active: former.includes(voter) ? false : null,
      }));
      return { whole: problem === undefined, entries, fetchedAt };
    },
  },
  party: {
    everyMs: 6 * 60 * MINUTE,
    async read({ explorer, ended }) {
      const activeParties = await readPagesOf(explorer, "parties", ended);
      // The largest parties, which may not have been active lately, are one more page. If it fails, use the others without it.
      const top = await explorer.topParties({ page: 0, size: 100 }).then(
        ({ data }) => data.content,
        () => [],
      );
      // A list that is empty must not leave only the largest parties.
      const rows = activeParties.data.length > 0 ? [...activeParties.data, ...top] : [];
      const entries = rows.flatMap(({ partyAddress: id, partyName: name }) =>
        id === null ? [] : [{ id, name, active: null }],
      );
      const isComplete = activeParties.problem === undefined;
      const { fetchedAt } = activeParties;
      return { whole: isComplete, entries: distinct(entries, ({ id }) => id), fetchedAt };
    },
  },
};

/** Number of pages of votes that are read to find the super validators. */
const MAX_VOTE_PAGES = 3;

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
  const flights = new Map<"lists", Promise<void>>();
  return () => singleFlight(flights, "lists", () => loadDirectory(directory, state, now), false);
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
