import { readPages } from "../explorer/paging.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import { distinct } from "../explorer/schema/page.js";
import type { ValidatorSummary } from "../explorer/schema/validators.js";
import type { Explorer } from "../explorer/service.js";
import { identityOf } from "../ledger/vote-requests.js";
import { isOpen, type VoteState, votableUntil } from "../ledger/vote-rules.js";
import { voterId, votersIn } from "../ledger/votes.js";
import type { Log } from "../log.js";
import type { Entry } from "../storage/catalogue.js";
import type { State } from "../storage/state.js";
import { ageOf } from "../util/clock.js";
import { singleFlight } from "../util/single-flight.js";
import { MINUTE } from "../util/units.js";
import { type Directory, KINDS, type Kind } from "./directory.js";
import type { NamedRequest, Names } from "./names.js";

interface Listed {
  readonly entries: readonly Entry[];
  /** Vote requests as they were listed, for what they are about to be read. */
  readonly requests?: readonly VoteRequestListItem[];
  /** Whether every page was read; a row that cannot be read is no reason to have none. */
  readonly whole: boolean;
}

type Source = (explorer: Explorer, ended: () => boolean, names: Names) => Promise<Listed>;

/** What a vote request is to completion. */
export function proposalEntry(
  request: NamedRequest & VoteState,
  id: string,
  names: Names,
  now: number,
): Entry {
  const votable = votableUntil(request);
  const until = votable === null ? "" : `, until ${new Date(votable).toISOString().slice(0, 10)}`;
  return {
    id,
    name: names.voteRequest(request),
    active: isOpen(request, now),
    note: `${request.status ?? "status not known"}${until}`,
  };
}

/** A validator's entry; none where its row has no id. */
export const validatorEntry = (row: ValidatorSummary): Entry[] => {
  const { validator: id, validatorName: name, active, version, lastActiveAt } = row;
  return id === null ? [] : [{ id, name, active, version, seenAt: lastActiveAt }];
};

/** How each kind is read, and how often, in ms: every page is a request. Tokens have no list: those met are kept. */
const SOURCES: Readonly<Partial<Record<Kind, { readonly everyMs: number; readonly read: Source }>>> = {
  validator: {
    everyMs: 30 * MINUTE,
    async read(explorer, ended) {
      const { data, problem } = await readPages("validators", (page) => explorer.validators(page), ended);
      return {
        whole: problem === undefined,
        entries: data.flatMap(validatorEntry),
      };
    },
  },
  proposal: {
    everyMs: 10 * MINUTE,
    async read(explorer, ended, names) {
      const { data, problem } = await readPages("voteRequests", (page) => explorer.voteRequests(page), ended);
      const entries = data.flatMap((row) => {
        const identity = identityOf(row);
        return identity === null ? [] : [proposalEntry({ ...row, identity }, identity, names, Date.now())];
      });
      return { whole: problem === undefined, entries, requests: data };
    },
  },
  voter: {
    everyMs: 60 * MINUTE,
    async read(explorer, ended) {
      const { data, problem } = await readPages(
        "votes",
        (page) => explorer.votes(page),
        ended,
        MAX_VOTE_PAGES,
      );
      const entries = votersIn(data).map((voter) => ({
        id: voterId(voter),
        name: voter.name,
        active: null,
      }));
      return { whole: problem === undefined, entries };
    },
  },
  party: {
    everyMs: 6 * 60 * MINUTE,
    async read(explorer, ended) {
      const active = await readPages("parties", (page) => explorer.parties(page), ended);
      // The largest that have not been active lately are one page more, and none is reason to do without the rest.
      const top = await explorer.topParties({ page: 0, size: 100 }).then(
        ({ data }) => data.content,
        () => [],
      );
      const entries = [...active.data, ...top].flatMap(({ partyAddress: id, partyName: name }) =>
        id === null ? [] : [{ id, name, active: null }],
      );
      const whole = active.problem === undefined && active.data.length > 0;
      return { whole, entries: distinct(entries, ({ id }) => id) };
    },
  },
};

/** Pages of votes that tell who the super validators are. */
const MAX_VOTE_PAGES = 3;

/** How often the kept lists are looked at, in ms. */
export const DIRECTORY_MS = MINUTE;

/** Takes over the lists that the state holds and that are newer than those in memory, and the tokens that any process has met. */
async function loadDirectory(directory: Directory, state: State, now: () => number): Promise<void> {
  const times = await state.directoryTimes.list();
  for (const kind of KINDS) {
    const known = times.get(kind);
    const changedAt = known && (known.changedAt ?? known.readAt);
    const own = directory.changedAt(kind) ?? 0;
    // One of ours from the future was stamped by a clock that was ahead: any other is newer.
    const isOurs = ageOf(own, now()) < Number.POSITIVE_INFINITY && (changedAt ?? 0) < own;
    if (changedAt === undefined || changedAt === own || isOurs) continue;
    const kept = await state.directory.get(kind);
    if (kept) await directory.replace(kind, kept.entries, kept.readAt, kept.changedAt);
  }
  const tokens = await state.tokens.list();
  if (directory.readAt("token") === undefined || tokens.size > directory.entries("token").length) {
    await directory.replace("token", [...tokens.values()], 0);
  }
}

/**
 * A function that takes over what the state holds; whoever wants that while it is under way shares it. From now on, tokens that
 * are met are kept. It fails with a StateError.
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
      .commit([state.tokens.add(entry.id, entry)])
      .catch((err: unknown) => log.warn({ err }, "A token's name could not be kept"));
  };
  const flights = new Map<"lists", Promise<void>>();
  return () => singleFlight(flights, "lists", () => loadDirectory(directory, state, now), false);
}

interface FillDeps {
  readonly directory: Directory;
  /** Takes over what is kept. */
  readonly load: () => Promise<void>;
  readonly names: Names;
  readonly explorer: Explorer;
  readonly state: State;
  /** Ends the reading between two pages. */
  readonly ended: AbortSignal;
  readonly now?: () => number;
}

/** A list that could not be taken over is read again after so many ms: it may be fifty requests. */
const RETRY_MS = 10 * MINUTE;
/** Details of vote requests that are read in one run, so that a long list is learnt in turns. */
const MAX_DETAILS = 20;

/** A function that reads the lists that are due, one after another, and keeps them. */
export function createDirectoryFiller({
  directory,
  load,
  names,
  explorer,
  state,
  ended,
  now = Date.now,
}: FillDeps) {
  const triedAt = new Map<Kind, number>();
  const keptAt = new Map<Kind, number>();
  let requests: readonly VoteRequestListItem[] = [];
  const isDue = (kind: Kind, everyMs: number) =>
    ageOf(directory.readAt(kind) ?? 0, now()) >= everyMs && ageOf(triedAt.get(kind) ?? 0, now()) >= RETRY_MS;

  /** Keeps what has been learnt of a kind since it was last kept. Tokens are kept one by one. */
  const keep = async (kind: Kind) => {
    const [readAt, changedAt] = [directory.readAt(kind), directory.changedAt(kind)];
    if (kind === "token" || readAt === undefined || changedAt === undefined) return;
    if (changedAt <= (keptAt.get(kind) ?? readAt)) return;
    await state.commit([
      state.directory.put(kind, { readAt, changedAt, entries: directory.entries(kind) }),
      state.directoryTimes.put(kind, { readAt, changedAt }),
    ]);
    keptAt.set(kind, changedAt);
  };

  return async (): Promise<void> => {
    // Who held the lease before may have read them a minute ago.
    await load();
    for (const kind of KINDS) {
      const source = SOURCES[kind];
      if (!source || !isDue(kind, source.everyMs)) continue;
      const readAt = now();
      triedAt.set(kind, readAt);
      const listed = await source.read(explorer, () => ended.aborted, names);
      const { entries, whole } = listed;
      if (ended.aborted) return;
      requests = listed.requests ?? requests;
      // An empty or a broken list is no news: what is known stays, and it is read again soon.
      if (!whole || entries.length === 0) continue;
      await directory.replace(kind, entries, readAt);
      await state.commit([
        state.directory.put(kind, { readAt, entries }),
        state.directoryTimes.put(kind, { readAt }),
      ]);
    }
    await names.read(names.unknown(requests).slice(0, MAX_DETAILS));
    for (const kind of KINDS) await keep(kind);
  };
}
