import { ifAnswered } from "../explorer/errors.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer } from "../explorer/service.js";
import {
  type Action,
  type ActionSummary,
  isGeneric,
  summaryText,
  toAction,
  toTitle,
} from "../ledger/actions.js";
import { identityOf, readDetail } from "../ledger/vote-requests.js";
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
  /** Keeps what a detail says that a vote request is about. */
  learn(identity: string, action: Action): void;
  /** Returns the vote requests whose name says only their kind, and whose details were not read yet. */
  unknown<Row extends VoteRequestListItem>(rows: readonly Row[]): Row[];
  /** Takes over what the state keeps of vote requests, once. @throws {StateError} */
  load(): Promise<void>;
  /**
   * Reads what those of them are about that are not known; what is not answered stays unknown.
   * @param ms how long that is waited for; it goes on behind
   */
  read(rows: readonly VoteRequestListItem[], ms?: number): Promise<void>;
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
  const flights = new Map<string, Promise<void>>();
  const loadSummaries = lazy(async () => {
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

  const readAll = async (rows: readonly VoteRequestListItem[]): Promise<void> => {
    // A state that cannot be read costs requests, and no answer.
    await loadSummaries().catch(() => {});
    await Promise.all(
      names.unknown(rows).map((row) => {
        const identity = identityOf(row) ?? "";
        const readOne = async () => {
          const answer = await ifAnswered(readDetail(explorer, row).then((detail) => ({ detail })));
          if (answer) names.learn(identity, toAction(answer.detail?.actionConfig ?? null));
        };
        return singleFlight(flights, identity, readOne, false);
      }),
    );
  };

  const names: Names = {
    party: directory.nameOf,
    load: loadSummaries,

    called: (name) => directory.nameOf(name) ?? (isWholeId(name) ? shortId(name) : name),

    voteRequest({ identity, title, action }) {
      if (title !== null && !isGeneric(title)) return title;
      const knownSummary = identity === null ? null : summaries.get(identity);
      const summary = action?.summary ?? knownSummary;
      if (summary) return summaryText(summary, calledBy);
      return toTitle(title) ?? action?.words ?? NAMELESS;
    },

    learn(identity, action) {
      const summary = keptSummary(action);
      const previousSummary = summaries.get(identity);
      if (previousSummary !== undefined && JSON.stringify(previousSummary) === JSON.stringify(summary))
        return;
      summaries.set(identity, summary);
      const entry = directory.entry("proposal", identity);
      if (entry && isGeneric(entry.name))
        directory.add("proposal", { ...entry, name: names.voteRequest({ identity, title: entry.name }) });
      if (summary === null) return;
      state
        .commit([state.open(requestSummaries).put(identity, summary)])
        .catch((err: unknown) => log.warn({ err }, "A vote request's summary could not be stored"));
    },

    unknown: (rows) =>
      rows.filter((row) => {
        const identity = identityOf(row);
        return identity !== null && isGeneric(row.title) && !summaries.has(identity);
      }),

    async read(rows, ms) {
      const reading = readAll(rows);
      await (ms === undefined ? reading : withTimeout(reading, ms, () => undefined));
    },
  };
  return names;
}
