import { ifAnswered } from "../explorer/errors.js";
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
import { actionIn, identityOf, readDetail } from "../ledger/vote-requests.js";
import type { Closing } from "../ledger/vote-rules.js";
import { type Voter, voterId } from "../ledger/votes.js";
import type { Log } from "../log.js";
import type { State } from "../storage/state.js";
import { fingerprint, hintOf, isWholeId, shortId } from "../text/ids.js";
import { cut } from "../text/plain.js";
import { lazy, singleFlight } from "../util/single-flight.js";
import { withTimeout } from "../util/timeouts.js";
import { requestSummaries } from "./collections.js";
import type { Directory } from "./directory.js";

/** A vote request as far as its name needs it. */
export interface NamedRequest {
  readonly identity: string | null;
  /** As the explorer gives it. */
  readonly title: string | null;
  readonly action?: Pick<Action, "summary" | "words">;
}

/** Names of things. All of them are untrusted text. */
export interface Names {
  /** A party's name, as the lists of validators and parties tell it. */
  party(id: string): string | null;
  /** A party, or a voter as votes name it: an id gives way to the party's name, and is shortened if it has none. */
  called(idOrName: string): string;
  /**
   * A vote request by what it is about ("Feature Delta Labs"): its title often is the action's constructor, and then says
   * only what kind of action it is.
   */
  voteRequest(request: NamedRequest): string;
  /** Returns the constructor of a vote request's action by its identity; empty if its details name none, `undefined` if they were not read. */
  actionOf(identity: string): string | undefined;
  /** Returns the span in which the bot saw a vote request end; `undefined` if it did not. */
  closingOf(identity: string): Closing | undefined;
  /** True if a voter is no longer a super validator, as far as the last reading of all voters says. */
  isFormer(voter: Voter): boolean;
  /** Returns a vote request's kind by its title, or by its details; `undefined` if neither was read. */
  kindOf(request: NamedRequest): MotionKind | undefined;
  /** Stores a vote request's action, from its details. */
  learn(identity: string, action: Action): void;
  /** Takes over what the state keeps of vote requests, once. @throws {StateError} */
  load(): Promise<void>;
  /**
   * Reads the details of requests whose title says only their kind. Details that were read before are not read again.
   * @param ms maximum wait; reading continues in the background
   */
  read(rows: readonly VoteRequestListItem[], ms?: number): Promise<void>;
  /** Reads the details of all requests whose name or kind is unknown. @param max number of requests to read */
  readAll(rows: readonly VoteRequestListItem[], max: number): Promise<void>;
}

interface NamesDeps {
  readonly directory: Directory;
  /** One for the background: a detail of any age will do, since a request's action stays what it is. */
  readonly explorer: Explorer;
  readonly state: State;
  readonly log: Pick<Log, "warn">;
}

/** The longest text in a summary that is kept. */
const MAX_PIECE = 200;

/** Name of a request without a title and an action. */
const NAMELESS = "Vote request without a title";

const keptSummary = ({ summary, words }: Action): ActionSummary | null =>
  (summary ?? (words === null ? null : [words]))?.map((piece) =>
    typeof piece === "string" ? cut(piece, MAX_PIECE) : piece,
  ) ?? null;

/** Names from the directory, and from what has been read of vote requests, which is kept in the state. */
export function createNames({ directory, explorer, state, log }: NamesDeps): Names {
  /** Summaries by identity. null if the details say nothing. */
  const summaries = new Map<string, ActionSummary | null>();
  /** Constructors by identity, from details; empty if they name none. The directory has those of other processes. */
  const actions = new Map<string, string>();
  const flights = new Map<string, Promise<void>>();
  const load = lazy(async () => {
    for (const [identity, summary] of await state.open(requestSummaries).list())
      summaries.set(identity, summary);
  });

  /** A party's name, with what tells it from another that goes by the same. */
  const calledBy = (id: string): string => {
    const name = directory.nameOf(id);
    if (name === null) return hintOf(id);
    const hasTwin = directory.named(["validator", "party"], name).some(({ entry }) => entry.id !== id);
    return hasTwin ? `${name} (${fingerprint(id)})` : name;
  };

  const isUnnamed = (row: VoteRequestListItem): boolean => {
    const identity = identityOf(row);
    return identity !== null && isGeneric(row.title) && !summaries.has(identity);
  };

  const isUnread = (row: VoteRequestListItem): boolean =>
    isUnnamed(row) || names.kindOf({ ...row, identity: identityOf(row) }) === undefined;

  const readDetails = async (
    rows: readonly VoteRequestListItem[],
    isWanted: (row: VoteRequestListItem) => boolean,
    max: number,
  ): Promise<void> => {
    // A state that cannot be read costs requests, and no answer.
    await load().catch(() => {});
    const wanted = rows.filter(isWanted).slice(0, max);
    await Promise.all(
      wanted.map((row) => {
        const identity = identityOf(row) ?? "";
        const readOne = async () => {
          const answer = await ifAnswered(readDetail(explorer, row).then((detail) => ({ detail })));
          if (answer) names.learn(identity, answer.detail ? actionIn(answer.detail) : toAction(null));
        };
        return singleFlight(flights, identity, readOne, false);
      }),
    );
  };

  const names: Names = {
    party: directory.nameOf,
    load,

    called: (name) => directory.nameOf(name) ?? (isWholeId(name) ? shortId(name) : name),

    voteRequest({ identity, title, action }) {
      if (title !== null && !isGeneric(title)) return title;
      const knownSummary = identity === null ? null : summaries.get(identity);
      const summary = action?.summary ?? knownSummary;
      if (summary) return summaryText(summary, calledBy);
      return toTitle(title) ?? action?.words ?? NAMELESS;
    },

    actionOf: (identity) => actions.get(identity) ?? directory.entry("proposal", identity)?.action,

    closingOf: (identity) => directory.entry("proposal", identity)?.closed,

    isFormer: (voter) => directory.entry("voter", voterId(voter))?.active === false,

    kindOf({ identity, title }) {
      const tag = toTag(title) ?? (identity === null ? undefined : names.actionOf(identity));
      return tag === undefined ? undefined : motionKindOf(tag);
    },

    learn(identity, action) {
      const summary = keptSummary(action);
      const tag = cut(action.tag ?? "", MAX_PIECE);
      const previousSummary = summaries.get(identity);
      const isSame =
        previousSummary !== undefined && JSON.stringify(previousSummary) === JSON.stringify(summary);
      if (isSame && names.actionOf(identity) === tag) return;
      summaries.set(identity, summary);
      actions.set(identity, tag);
      const entry = directory.entry("proposal", identity);
      if (entry) {
        const name = isGeneric(entry.name) ? names.voteRequest({ identity, title: entry.name }) : entry.name;
        directory.add("proposal", { ...entry, name, action: tag });
      }
      if (isSame || summary === null) return;
      state
        .commit([state.open(requestSummaries).put(identity, summary)])
        .catch((err: unknown) => log.warn({ err }, "A vote request's summary could not be stored"));
    },
    async read(rows, ms) {
      const reading = readDetails(rows, isUnnamed, Number.POSITIVE_INFINITY);
      await (ms === undefined ? reading : withTimeout(reading, ms, () => undefined));
    },

    readAll: (rows, max) => readDetails(rows, isUnread, max),
  };
  return names;
}
