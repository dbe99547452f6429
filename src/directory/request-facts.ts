import { isDeepStrictEqual } from "node:util";
import { bulkhead } from "cockatiel";
import { LRUCache } from "lru-cache";
import { ExplorerError, ifAnswered } from "../explorer/errors.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer } from "../explorer/service.js";
import { type Action, type ActionSummary, isGeneric, toAction, toTag } from "../ledger/actions.js";
import { type MotionKind, motionKindOf } from "../ledger/motion-kinds.js";
import { type UpgradeChange, upgradeIn } from "../ledger/upgrades.js";
import { actionIn, identityOf, readDetail } from "../ledger/vote-requests.js";
import type { Log } from "../log.js";
import type { State } from "../storage/state.js";
import { StateError } from "../storage/store.js";
import { cut } from "../text/plain.js";
import { lazy, singleFlight } from "../util/single-flight.js";
import { withTimeout } from "../util/timeouts.js";
import { SECOND } from "../util/units.js";
import { requestSummaries } from "./collections.js";
import type { Directory } from "./directory.js";

/** The parts of a vote request that its name depends on. */
export interface NamedRequest {
  readonly identity: string | null;
  /** Title from the explorer. */
  readonly title: string | null;
  readonly action?: Pick<Action, "summary" | "words">;
}

/** The parts of a vote request's row by which its detail is found and its name is read. */
type NamedRow = Pick<VoteRequestListItem, "title" | "trackingCid" | "contractId">;

/** Facts about vote requests, from their details. */
export interface RequestFacts {
  /** Returns what a vote request is about, from its detail. null if its detail does not say it, `undefined` if it was not read. */
  summaryOf(identity: string): ActionSummary | null | undefined;
  /** Returns the constructor of a vote request's action. Empty if its detail has none, `undefined` if the detail was not read. */
  actionOf(identity: string): string | undefined;
  /** Returns how a vote request changes the schedule of the next upgrade. `undefined` if its detail was not read. */
  upgradeOf(identity: string): UpgradeChange | null | undefined;
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

interface FactsDeps {
  readonly directory: Directory;
  /** Explorer for background work. Details of any age are good enough, because a request's action never changes. */
  readonly explorer: Explorer;
  readonly state: State;
  readonly log: Pick<Log, "warn">;
  /** Returns a vote request's name, which may depend on its summary. */
  readonly ownName: (request: NamedRequest) => string;
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

const keptSummary = ({ summary, words }: Action): ActionSummary | null =>
  (summary ?? (words === null ? null : [words]))?.map((piece) =>
    typeof piece === "string" ? cut(piece, MAX_PIECE) : piece,
  ) ?? null;

/** Creates the facts. Summaries are stored in the state, the rest in the directory's entries. */
export function createRequestFacts({ directory, explorer, state, log, ownName }: FactsDeps): RequestFacts {
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

  const isUnnamed = (row: NamedRow): boolean => {
    const identity = identityOf(row);
    return identity !== null && isGeneric(row.title) && !summaries.has(identity);
  };

  const isUnread = (row: NamedRow): boolean =>
    isUnnamed(row) || facts.isUnexamined({ ...row, identity: identityOf(row) });

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
          if (answer) facts.learn(identity, answer.detail ? actionIn(answer.detail) : toAction(null));
        };
        return singleFlight(flights, identity, readOne, false);
      }),
    );
  };

  const facts: RequestFacts = {
    load,
    summaryOf: (identity) => summaries.get(identity),

    actionOf: (identity) => actions.get(identity) ?? directory.entry("proposal", identity)?.action,

    upgradeOf(identity) {
      const known = upgrades.get(identity);
      return known === undefined ? directory.entry("proposal", identity)?.upgradeChange : known;
    },

    kindOf({ identity, title }) {
      const tag = toTag(title) ?? (identity === null ? undefined : facts.actionOf(identity));
      return tag === undefined ? undefined : motionKindOf(tag);
    },

    isUnexamined(request) {
      const kind = facts.kindOf(request);
      const isDetailRead = request.identity === null || facts.upgradeOf(request.identity) !== undefined;
      return kind === undefined || (kind === "configuration" && !isDetailRead);
    },

    learn(identity, action) {
      const summary = keptSummary(action);
      const tag = cut(action.tag ?? "", MAX_PIECE);
      // A detail without its action is incomplete.
      if (tag === "" && facts.actionOf(identity)) return;
      const previousSummary = summaries.get(identity);
      const isSame =
        previousSummary !== undefined && JSON.stringify(previousSummary) === JSON.stringify(summary);
      const upgradeChange = upgradeIn(action);
      const isKnown = isSame && facts.actionOf(identity) === tag;
      if (isKnown && isDeepStrictEqual(facts.upgradeOf(identity), upgradeChange)) return;
      summaries.set(identity, summary);
      actions.set(identity, tag);
      upgrades.set(identity, upgradeChange);
      const entry = directory.entry("proposal", identity);
      if (entry) {
        const name = ownName({ identity, title: entry.name });
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
  return facts;
}
