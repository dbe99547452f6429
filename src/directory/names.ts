import { ifAnswered } from "../explorer/errors.js";
import type { VoteRequestListItem } from "../explorer/schema/governance.js";
import type { Explorer } from "../explorer/service.js";
import { type Action, isGeneric, type Subject, subjectText, toAction, toTitle } from "../ledger/actions.js";
import { identityOf, readDetail } from "../ledger/vote-requests.js";
import type { Log } from "../log.js";
import type { State } from "../storage/state.js";
import { fingerprint, hintOf, isWholeId, shortId } from "../text/ids.js";
import { cut } from "../text/plain.js";
import { lazy, singleFlight } from "../util/single-flight.js";
import { withTimeout } from "../util/timeouts.js";
import type { Directory } from "./directory.js";

/** A vote request as far as its name needs it. */
export interface NamedRequest {
  readonly identity: string | null;
  /** As the explorer gives it. */
  readonly title: string | null;
  readonly action?: Pick<Action, "subject" | "words">;
}

/** What things are called. All of it is a stranger's text. */
export interface Names {
  /** A party's name, as the lists of validators and parties tell it. */
  party(id: string): string | null;
  /** A party, or a voter as votes name it: an id gives way to the party's name, and is shortened where it has none. */
  called(idOrName: string): string;
  /**
   * A vote request by what it is about ("Feature Delta Labs"): its title often is the action's constructor, and then says
   * only what kind of action it is.
   */
  voteRequest(request: NamedRequest): string;
  /** Keeps what a detail says that a vote request is about. */
  learn(identity: string, action: Action): void;
  /** Which of these vote requests have a name that says only their kind, and that nobody has read yet. */
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

/** The longest text in a subject that is kept. */
const MAX_PIECE = 200;

/** What a request without a title and an action is called. */
const NAMELESS = "Vote request without a title";

const kept = ({ subject, words }: Action): Subject | null =>
  (subject ?? (words === null ? null : [words]))?.map((piece) =>
    typeof piece === "string" ? cut(piece, MAX_PIECE) : piece,
  ) ?? null;

/** Names from the directory, and from what has been read of vote requests, which is kept in the state. */
export function createNames({ directory, explorer, state, log }: NamesDeps): Names {
  /** By identity; null where its detail says nothing. */
  const subjects = new Map<string, Subject | null>();
  const flights = new Map<string, Promise<void>>();
  const load = lazy(async () => {
    for (const [identity, subject] of await state.subjects.list()) subjects.set(identity, subject);
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
    await load().catch(() => {});
    await Promise.all(
      names.unknown(rows).map((row) => {
        const identity = identityOf(row) ?? "";
        const one = async () => {
          const answer = await ifAnswered(readDetail(explorer, row).then((detail) => ({ detail })));
          if (answer) names.learn(identity, toAction(answer.detail?.actionConfig ?? null));
        };
        return singleFlight(flights, identity, one, false);
      }),
    );
  };

  const names: Names = {
    party: directory.nameOf,
    load,

    called: (name) => directory.nameOf(name) ?? (isWholeId(name) ? shortId(name) : name),

    voteRequest({ identity, title, action }) {
      if (title !== null && !isGeneric(title)) return title;
      const known = identity === null ? null : subjects.get(identity);
      const subject = action?.subject ?? known;
      if (subject) return subjectText(subject, calledBy);
      return toTitle(title) ?? action?.words ?? NAMELESS;
    },

    learn(identity, action) {
      const subject = kept(action);
      const before = subjects.get(identity);
      if (before !== undefined && JSON.stringify(before) === JSON.stringify(subject)) return;
      subjects.set(identity, subject);
      const entry = directory.entry("proposal", identity);
      if (entry && isGeneric(entry.name))
        directory.add("proposal", { ...entry, name: names.voteRequest({ identity, title: entry.name }) });
      if (subject === null) return;
      state
        .commit([state.subjects.put(identity, subject)])
        .catch((err: unknown) => log.warn({ err }, "What a vote request is about could not be kept"));
    },

    unknown: (rows) =>
      rows.filter((row) => {
        const identity = identityOf(row);
        return identity !== null && isGeneric(row.title) && !subjects.has(identity);
      }),

    async read(rows, ms) {
      const reading = readAll(rows);
      await (ms === undefined ? reading : withTimeout(reading, ms, () => undefined));
    },
  };
  return names;
}
