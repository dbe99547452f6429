import { progress } from "../../delivery/collections.js";
import type { FeedDeps, PollSteps, Subscribers } from "../../delivery/module.js";
import { validatorEntry } from "../../directory/entries.js";
import { ifAnswered, problemIs } from "../../explorer/errors.js";
import { readPagesOf } from "../../explorer/paging.js";
import type { ValidatorSummary } from "../../explorer/schema/validators.js";
import type { Explorer } from "../../explorer/service.js";
import { NEWCOMERS } from "../../screens/validators.js";
import type { Write } from "../../storage/store.js";
import { inPieces } from "../../util/event-loop.js";
import { knownValidators } from "./collections.js";

/** Id of the time of the last reading, in the collection "progress". */
export const PROGRESS = "newcomers";
/** The same for the time when all listed validators were known. Later ones are then new, however many join at once. */
const WHOLE = "newcomers-all";

/**
 * Returns the validators that joined: unknown ones that are newer than a known one. An unknown validator
 * after all known ones is old. It moved up because a newer one was delisted.
 * @param rows newest first
 */
export function joinedAmong<Row>(rows: readonly Row[], isKnown: (row: Row) => boolean): readonly Row[] {
  const lastKnown = rows.findLastIndex(isKnown);
  const newest = lastKnown < 0 ? rows : rows.slice(0, lastKnown);
  return newest.filter((row) => !isKnown(row));
}

/** Number of documents that are written together, so that thousands do not block the event loop. */
const WRITES_AT_ONCE = 200;

interface NewcomersWatchDeps extends Pick<FeedDeps, "state" | "directory" | "now"> {
  /** Returns fresh readings only. */
  readonly explorer: Explorer;
}

/**
 * Reads the newest validators and announces new ones. They are identified by party, because contracts change with every report.
 * The first reading is a silent baseline, and so is the first one after a time without subscriptions.
 */
export function createNewcomersWatch({ explorer, state, directory, now }: NewcomersWatchDeps) {
  const readTimes = state.open(progress);
  const knownParties = state.open(knownValidators);
  /** Time of the directory's list in which all validators were known, epoch ms. */
  let comparedAt: number | undefined;

  /** Returns the rows whose parties are not known yet. */
  const unknownAmong = async (rows: readonly ValidatorSummary[]): Promise<readonly ValidatorSummary[]> => {
    const isUnknown = async ({ validator }: ValidatorSummary) =>
      validator !== null && (await knownParties.get(validator)) === undefined;
    const checked = await Promise.all(rows.map(isUnknown));
    return rows.filter((_, index) => checked[index]);
  };

  /** Returns the newest validators. `undefined` if the key may not read this list. The whole list shows new ones later. */
  const readNewest = async (): Promise<readonly ValidatorSummary[] | undefined> => {
    try {
      return (await explorer.newValidators({ size: NEWCOMERS })).data;
    } catch (error) {
      if (problemIs("withheld")(error)) return undefined;
      throw error;
    }
  };

  /** Returns all listed validators that are not known yet, and if the whole list could be read. */
  const readAllUnknown = async () => {
    const { data, problem } = await readPagesOf(explorer, "validators");
    const known = await knownParties.list();
    const unknown = data.filter(({ validator }) => validator !== null && !known.has(validator));
    return { unknown, isComplete: problem === undefined };
  };

  /**
   * Returns true if the directory, which reads the whole list for completion, has a validator that is neither known nor in `rows`.
   * An explorer may list a validator late, when more than a hundred newer ones are listed before it.
   */
  const isAnyOverlooked = async (rows: ReadonlySet<string | null>): Promise<boolean> => {
    if (directory.readAt("validator") === comparedAt) return false;
    const known = await knownParties.list();
    return directory.entries("validator").some(({ id }) => !known.has(id) && !rows.has(id));
  };

  const noteWrites = (rows: readonly ValidatorSummary[]): Write[] =>
    rows.flatMap(({ validator }) =>
      validator === null ? [] : [knownParties.add(validator, { seenAt: now() })],
    );

  /**
   * Returns new validators that are not in `listed`. `undefined` if there must be more, and the whole list cannot be read.
   * @param mayBeMore true if all listed ones are new: this endpoint has no further pages (docs/explorer-api.md)
   */
  const findOthers = async (listed: ReadonlySet<string | null>, mayBeMore: boolean) => {
    if (!mayBeMore && !(await isAnyOverlooked(listed))) return [];
    const whole = await ifAnswered(readAllUnknown());
    if (whole?.isComplete) return whole.unknown.filter(({ validator }) => !listed.has(validator));
    // An overlooked one is looked for again after the directory's next reading. It does not hold up the others.
    return mayBeMore ? undefined : [];
  };

  /**
   * Stores all validators of the list as known. The list is sorted by the last report, and a validator that reports while it is
   * read moves to a page that was read before. So all are known only once a later reading finds no other.
   */
  const completeBaseline = async function* (): PollSteps {
    const { unknown, isComplete } = await readAllUnknown();
    for await (const piece of inPieces(unknown, WRITES_AT_ONCE)) yield { writes: noteWrites(piece) };
    if (isComplete && unknown.length === 0) yield { writes: [readTimes.put(WHOLE, { completeAt: now() })] };
    return "done";
  };

  return async function* (subscribers: Subscribers): PollSteps {
    const lastRead = await readTimes.get(PROGRESS);
    const isWhole = (await readTimes.get(WHOLE)) !== undefined;
    if ((await subscribers.subscriptions()).length === 0) {
      if (lastRead || isWhole) yield { writes: [readTimes.delete(PROGRESS), readTimes.delete(WHOLE)] };
      return "done";
    }
    const newest = await readNewest();
    // An empty answer is neither news nor a baseline.
    if (newest?.length === 0) return "partial";
    const rows = newest ?? [];
    const listedAt = directory.readAt("validator");
    const unknown = new Set(await unknownAmong(rows));
    let joined = lastRead ? joinedAmong(rows, (row) => !unknown.has(row)) : [];
    if (isWhole) {
      // Once all listed validators were known, an unknown one is new wherever it is listed.
      const listed = new Set(rows.map(({ validator }) => validator));
      const others = await findOthers(listed, unknown.size === rows.length && rows.length >= NEWCOMERS);
      if (!others) return "partial";
      joined = [...unknown, ...others];
    }
    const setAside = await Promise.all(
      joined.map(({ validator }) => validator !== null && knownParties.wasSetAside(validator)),
    );
    // A validator whose document was set aside is stored again, but is not new.
    const announced = joined.filter((_, index) => !setAside[index]);
    yield {
      events: announced.length > 0 ? [{ validators: announced }] : [],
      writes: [
        ...noteWrites([...new Set([...unknown, ...joined])]),
        readTimes.put(PROGRESS, { completeAt: now() }),
      ],
    };
    comparedAt = listedAt;
    for (const entry of announced.flatMap(validatorEntry)) directory.add("validator", entry);
    return isWhole ? "done" : yield* completeBaseline();
  };
}
