import { isDeepStrictEqual } from "node:util";
import { bulkhead } from "cockatiel";
import { LRUCache } from "lru-cache";
import { ExplorerError, ifAnswered } from "../explorer/errors.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer } from "../explorer/service.js";
import {
  type Action,
  type ActionSummary,
  isGeneric,
  summaryText,
  toAction,
  toTag,
  toTitle,
} from "../ledger/actions.js";
import { type MotionKind, motionKindOf } from "../ledger/motion-kinds.js";
import { type UpgradeChange, upgradeIn } from "../ledger/upgrades.js";
import type { Standable } from "../ledger/vote-phase.js";
import { actionIn, identityOf, readDetail, type VoteRequest } from "../ledger/vote-requests.js";
import { isOver } from "../ledger/vote-rules.js";
import { type Voter, voterId } from "../ledger/votes.js";
import type { Log } from "../log.js";
import type { State } from "../storage/state.js";
import { StateError } from "../storage/store.js";
import { DEFAULT_COIN, withCoin } from "../text/coin.js";
import { fingerprint, hintOf, isWholeId, shortId } from "../text/ids.js";
import { cut } from "../text/plain.js";
import { repeatedIn } from "../util/groups.js";
import { lazy, singleFlight } from "../util/single-flight.js";
import { withTimeout } from "../util/timeouts.js";
import { SECOND } from "../util/units.js";
import { type NamedEntry, requestSummaries } from "./collections.js";
import type { Directory, Kind, Match } from "./directory.js";
import { folded } from "./search.js";

/** The parts of a vote request that its name depends on. */
export interface NamedRequest {
  readonly identity: string | null;
  /** Title from the explorer. */
  readonly title: string | null;
  readonly action?: Pick<Action, "summary" | "words">;
}

/** The parts of a vote request's row by which its detail is found and its name is read. */
type NamedRow = Pick<VoteRequestListItem, "title" | "trackingCid" | "contractId">;

/** Names of things. All of them are untrusted text. */
export interface Names {
  /** Name of the coin's unit, for texts that the renderer does not see, such as files. */
  readonly coin: string;
  /** Returns a party's name from the lists of validators and parties. null if unknown. */
  party(id: string): string | null;
  /** Returns the name for a party or voter. An id is replaced by the party's name, or shortened if the name is unknown. */
  called(idOrName: string): string;
  /**
   * Like `called`. If another party has the same name as this one, a fingerprint of the id is appended, as in
   * "Acme (1220ab…cdef)".
   * @param most maximum length in UTF-16 units. The name is cut, not the fingerprint
   */
  distinct(idOrName: string, most?: number): string;
  /**
   * Returns a descriptive name of a vote request, such as "Feature Delta Labs". Its title is often the action's constructor,
   * which states only the kind of action. If other requests have the same name, its requester or its date is appended.
   * @param most maximum length in UTF-16 units. The name is cut, and what is appended if it takes more than half
   */
  voteRequest(request: NamedRequest, most?: number): string;
  /**
   * Returns the words that distinguish the vote requests of a name from each other, by their identity.
   * @param identity the only one that is needed
   */
  marksOf(name: string, identity?: string): ReadonlyMap<string, string>;
  /** Returns the things that are shown as this text, ignoring case: by name, with or without its mark, or by id. */
  named(kinds: readonly Kind[], text: string): readonly Match[];
  /** Returns the name of a vote request as if no other had the same. */
  ownName(request: NamedRequest): string;
  /** Returns the constructor of a vote request's action. Empty if its detail has none, `undefined` if the detail was not read. */
  actionOf(identity: string): string | undefined;
  /** Returns how a vote request changes the schedule of the next upgrade. `undefined` if its detail was not read. */
  upgradeOf(identity: string): UpgradeChange | null | undefined;
  /** Returns the times of a vote request that only the bot has seen. Empty if there is none. */
  seenOf(
    identity: string | null,
  ): Pick<Standable, "enoughYesAt" | "hasExpired" | "closed"> & { readonly openedAt?: number | undefined };
  /**
   * Adds what only the bot has seen to a vote request from the explorer: its times, and that it has ended. The details of one that is no
   * longer listed may still call it open.
   */
  withSeen(request: VoteRequest, id: string): VoteRequest;
  /** True if a voter was no longer a super validator when all voters were last read. */
  isFormer(voter: Voter): boolean;
  /**
   * Returns a vote request's kind by its title or its detail. `undefined` if its title has no constructor and its detail was not
   * read.
   */
  kindOf(request: NamedRequest): MotionKind | undefined;
  /** True for a vote request that may be about an upgrade, and whose detail was not read, or by a version that knew no upgrades. */
  isUnexamined(request: NamedRequest): boolean;
  /** Stores a vote request's action, which comes from its detail. */
  learn(identity: string, action: Action): void;
  /** Loads the summaries of vote requests from the state, once. @throws {StateError} */
  load(): Promise<void>;
  /**
   * Reads the details of requests whose title states only their kind. A detail that was read before is not read again.
   * @param ms maximum wait. Reading continues in the background
   */
  read(rows: readonly NamedRow[], ms?: number): Promise<void>;
  /** Reads the details of all requests whose name or kind is unknown. @param max number of requests to read */
  readAll(rows: readonly NamedRow[], max: number): Promise<void>;
}

interface NamesDeps {
  readonly directory: Directory;
  /** Explorer for background work. Details of any age are good enough, because a request's action never changes. */
  readonly explorer: Explorer;
  readonly state: State;
  readonly log: Pick<Log, "warn">;
  readonly coin?: string | undefined;
}

/** Maximum number of details that are read at the same time. */
const MAX_READS = 2;
/**
 * Time for which screens and messages do not read a detail again that could not be read, in ms. After the explorer has restricted
 * one, they read none. Polls read all: a single request may be restricted, and nothing else would name the others.
 */
const FAILED_MS = 30 * SECOND;
/** Maximum number of failed details to remember. */
const MAX_FAILED = 5_000;
/** Maximum length of a text in a stored summary. */
const MAX_PIECE = 200;

const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** Returns the day and the minute when a vote request was opened, in UTC. */
const dayOf = ({ openedAt }: NamedEntry) => (openedAt === undefined ? undefined : dayFormat.format(openedAt));
const timeOf = (entry: NamedEntry) =>
  entry.openedAt === undefined
    ? undefined
    : `${dayOf(entry)}, ${new Date(entry.openedAt).toISOString().slice(11, 16)}`;

/** Matches a name with a mark in parentheses after it. */
const MARKED = /^(.+) \([^()]+(?:\([^()]*\))?\)$/;

/** Name of a request without a title and an action. */
const NAMELESS = "Vote request without a title";

/** True if a title says at most the kind of a request, or comes from the directory before its detail was read. */
const saysNothing = (title: string | null): boolean => title === NAMELESS || isGeneric(title);

const keptSummary = ({ summary, words }: Action): ActionSummary | null =>
  (summary ?? (words === null ? null : [words]))?.map((piece) =>
    typeof piece === "string" ? cut(piece, MAX_PIECE) : piece,
  ) ?? null;

/** Creates names from the directory and from the vote requests' details. Summaries of vote requests are stored in the state. */
export function createNames({ directory, explorer, state, log, coin = DEFAULT_COIN }: NamesDeps): Names {
  /** Summaries by identity. null if the detail has none. */
  const summaries = new Map<string, ActionSummary | null>();
  /** Constructors by identity, from details. Empty if the detail has none. The directory has those of other processes. */
  const actions = new Map<string, string>();
  /** Changes of the upgrade's schedule by identity, from details. */
  const upgrades = new Map<string, UpgradeChange | null>();
  const flights = new Map<string, Promise<void>>();
  // All background requests wait in the same queue. A person who turns pages must not delay polls.
  const detailReads = bulkhead(MAX_READS, Number.POSITIVE_INFINITY);
  // Reading a detail counts against no person's limit, and a list asks for the same ones each time it is shown.
  const failedReads = new LRUCache<string, true>({ max: MAX_FAILED, ttl: FAILED_MS });
  /** Time from which restricted details are read again, in ms of the steady clock. */
  let restrictedUntil = Number.NEGATIVE_INFINITY;
  const isDenied = (identity: string): boolean =>
    failedReads.has(identity) || performance.now() < restrictedUntil;
  const noteFailure = (identity: string, { problem, unsent }: ExplorerError) => {
    if (problem === "withheld") restrictedUntil = performance.now() + FAILED_MS;
    if (!unsent) failedReads.set(identity, true);
  };
  const load = lazy(async () => {
    for (const [identity, summary] of await state.open(requestSummaries).list())
      summaries.set(identity, summary);
  });

  const calledBy = (id: string): string => (directory.nameOf(id) === null ? hintOf(id) : names.distinct(id));

  // Names are searched and compared, so they contain the coin's unit and not its placeholder.
  const namedBy = (summary: ActionSummary): string => withCoin(summaryText(summary, calledBy), coin);

  const about = ({ id }: NamedEntry) => {
    const summary = summaries.get(id);
    return summary ? namedBy(summary) : undefined;
  };

  const isUnnamed = (row: NamedRow): boolean => {
    const identity = identityOf(row);
    return identity !== null && isGeneric(row.title) && !summaries.has(identity);
  };

  const isUnread = (row: NamedRow): boolean =>
    isUnnamed(row) || names.isUnexamined({ ...row, identity: identityOf(row) });

  const readDetails = async (
    rows: readonly NamedRow[],
    isWanted: (row: NamedRow) => boolean,
    { max = Number.POSITIVE_INFINITY, isPoll = false } = {},
  ): Promise<void> => {
    // If the state cannot be read, the details are fetched again.
    await load().catch(() => {});
    const wanted = rows.filter(isWanted).slice(0, max);
    await Promise.all(
      wanted.map((row) => {
        const identity = identityOf(row) ?? "";
        const readOne = async () => {
          const readRow = async () => {
            if (!isPoll && isDenied(identity)) return undefined;
            const detail = await readDetail(explorer, row).catch((error: unknown) => {
              if (error instanceof ExplorerError) noteFailure(identity, error);
              throw error;
            });
            return { detail };
          };
          const answer = await ifAnswered(detailReads.execute(readRow));
          if (answer) names.learn(identity, answer.detail ? actionIn(answer.detail) : toAction(null));
        };
        return singleFlight(flights, identity, readOne, false);
      }),
    );
  };

  const names: Names = {
    coin,
    party: directory.nameOf,
    load,

    distinct(id, most = Number.POSITIVE_INFINITY) {
      const name = directory.nameOf(id);
      if (name === null) return cut(names.called(id), most);
      const namesakes = (["validator", "party"] as const).flatMap((kind) => directory.namesakes(kind, name));
      const mark = namesakes.some((entry) => entry.id !== id) ? ` (${fingerprint(id)})` : "";
      return cut(name, most - mark.length) + mark;
    },

    called: (name) => directory.nameOf(name) ?? (isWholeId(name) ? shortId(name) : name),

    voteRequest(request, most = Number.POSITIVE_INFINITY) {
      const name = names.ownName(request);
      const mark =
        request.identity === null ? undefined : names.marksOf(name, request.identity).get(request.identity);
      // A requester's name may be as long as a title.
      const ending = mark === undefined ? "" : ` (${cut(mark, Math.floor(most / 2))})`;
      return cut(name, most - ending.length) + ending;
    },

    marksOf(name, identity) {
      const knownProposal = identity === undefined ? undefined : directory.entry("proposal", identity);
      const others = directory.namesakes("proposal", name).filter(({ id }) => id !== knownProposal?.id);
      const namesakes = knownProposal ? [...others, knownProposal] : others;
      const marks = new Map<string, string>();
      const isFound = () => (identity === undefined ? marks.size === namesakes.length : marks.has(identity));
      for (const describe of [(each: NamedEntry) => each.requester, dayOf, timeOf, about]) {
        if (namesakes.length < 2 || isFound()) break;
        const values = new Map(namesakes.map((each) => [each.id, describe(each)]));
        const repeated = repeatedIn([...values.values()]);
        for (const [id, value] of values)
          if (value !== undefined && !repeated.has(value) && !marks.has(id)) marks.set(id, value);
      }
      return marks;
    },

    named(kinds, text) {
      const plainMatches = directory.named(kinds, text);
      const bareName = MARKED.exec(text.trim())?.[1];
      if (plainMatches.length > 0 || bareName === undefined) return plainMatches;
      const marks = names.marksOf(bareName);
      const wanted = folded(text.trim());
      return directory.named(kinds, bareName).filter(({ entry: { id, name } }) => {
        const mark = marks.get(id);
        return mark !== undefined && folded(`${name} (${mark})`) === wanted;
      });
    },

    ownName({ identity, title, action }) {
      if (title !== null && !saysNothing(title)) return title;
      const knownSummary = identity === null ? null : summaries.get(identity);
      const summary = action?.summary ?? knownSummary;
      if (summary) return namedBy(summary);
      return (title === NAMELESS ? null : toTitle(title)) ?? action?.words ?? NAMELESS;
    },

    actionOf: (identity) => actions.get(identity) ?? directory.entry("proposal", identity)?.action,

    upgradeOf(identity) {
      const known = upgrades.get(identity);
      return known === undefined ? directory.entry("proposal", identity)?.upgradeChange : known;
    },

    seenOf(identity) {
      const entry = identity === null ? undefined : directory.entry("proposal", identity);
      const { enoughYesAt, hasExpired, closed, openedAt } = entry ?? {};
      return { enoughYesAt, hasExpired, closed, openedAt };
    },

    withSeen(request, id) {
      const identity = request.identity ?? id;
      const entry = directory.entry("proposal", identity);
      // Only a row of the list has a title.
      const isGone = entry?.goneAt !== undefined && request.title === null && !isOver(request, Date.now());
      return { ...request, ...names.seenOf(identity), ...(isGone ? { isGone, title: entry.name } : {}) };
    },

    isFormer: (voter) => directory.entry("voter", voterId(voter))?.active === false,

    kindOf({ identity, title }) {
      const tag = toTag(title) ?? (identity === null ? undefined : names.actionOf(identity));
      return tag === undefined ? undefined : motionKindOf(tag);
    },

    isUnexamined(request) {
      const kind = names.kindOf(request);
      const isDetailRead = request.identity === null || names.upgradeOf(request.identity) !== undefined;
      return kind === undefined || (kind === "configuration" && !isDetailRead);
    },

    learn(identity, action) {
      const summary = keptSummary(action);
      const tag = cut(action.tag ?? "", MAX_PIECE);
      // A detail without its action is incomplete.
      if (tag === "" && names.actionOf(identity)) return;
      const previousSummary = summaries.get(identity);
      const isSame =
        previousSummary !== undefined && JSON.stringify(previousSummary) === JSON.stringify(summary);
      const upgradeChange = upgradeIn(action);
      const isKnown = isSame && names.actionOf(identity) === tag;
      if (isKnown && isDeepStrictEqual(names.upgradeOf(identity), upgradeChange)) return;
      summaries.set(identity, summary);
      actions.set(identity, tag);
      upgrades.set(identity, upgradeChange);
      const entry = directory.entry("proposal", identity);
      if (entry) {
        const name = saysNothing(entry.name) ? names.ownName({ identity, title: entry.name }) : entry.name;
        directory.add("proposal", { ...entry, name, action: tag, upgradeChange });
      }
      if (isSame || summary === null) return;
      state.commit([state.open(requestSummaries).put(identity, summary)]).catch((err: unknown) => {
        // The store logs its own errors.
        if (!(err instanceof StateError)) log.warn({ err }, "A vote request's summary could not be stored");
      });
    },
    async read(rows, ms) {
      const reading = readDetails(rows, isUnnamed);
      await (ms === undefined ? reading : withTimeout(reading, ms, () => undefined));
    },

    readAll: (rows, max) => readDetails(rows, isUnread, { max, isPoll: true }),
  };
  return names;
}
