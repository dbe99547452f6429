import { progress } from "../../delivery/collections.js";
import type { PollSteps, Subscribers } from "../../delivery/module.js";
import type { ValidatorSummary } from "../../explorer/schema/validators.js";
import type { Explorer } from "../../explorer/service.js";
import { NEWCOMERS } from "../../screens/validators.js";
import type { State } from "../../storage/state.js";
import { knownValidators } from "./collections.js";

/** Id of the time of the last reading, in the collection "progress". */
export const PROGRESS = "newcomers";

/** Number of validators that are read if all of the newest ones are unknown. */
const MANY_NEWCOMERS = 1_000;

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

interface NewcomersWatchDeps {
  /** Returns fresh readings only. */
  readonly explorer: Explorer;
  readonly state: State;
  /** Called with new validators once they are stored. */
  readonly onJoined: (joined: readonly ValidatorSummary[]) => void;
  readonly now: () => number;
}

/**
 * Reads the newest validators and announces new ones. They are identified by party, because contracts change
 * with every report. The first reading is a silent baseline, and so is the first one after a time without
 * subscriptions.
 */
export function createNewcomersWatch({ explorer, state, onJoined, now }: NewcomersWatchDeps) {
  const readTimes = state.open(progress);
  const knownParties = state.open(knownValidators);

  /** Returns the parties that are already known. */
  const knownAmong = async (rows: readonly ValidatorSummary[]): Promise<ReadonlySet<string>> => {
    const parties = rows.flatMap(({ validator }) => validator ?? []);
    const documents = await Promise.all(parties.map((party) => knownParties.get(party)));
    return new Set(parties.filter((_, index) => documents[index] !== undefined));
  };

  /**
   * Reads the newest validators. Reads more if all of them are unknown, because many may have joined at once.
   */
  const readNewest = async (isBaseline: boolean) => {
    const { data: rows } = await explorer.newValidators({ size: NEWCOMERS });
    const known = await knownAmong(rows);
    if (isBaseline || known.size > 0 || rows.length < NEWCOMERS) return { rows, known };
    const { data: moreRows } = await explorer.newValidators({ size: MANY_NEWCOMERS });
    return moreRows.length > rows.length
      ? { rows: moreRows, known: await knownAmong(moreRows) }
      : { rows, known };
  };

  return async function* (subscribers: Subscribers): PollSteps {
    const lastRead = await readTimes.get(PROGRESS);
    if ((await subscribers.subscriptions()).length === 0) {
      if (lastRead) yield { writes: [readTimes.delete(PROGRESS)] };
      return "done";
    }
    const { rows, known } = await readNewest(lastRead === undefined);
    // An empty answer is neither news nor a baseline.
    if (rows.length === 0) return "partial";
    const isKnown = ({ validator }: ValidatorSummary) => validator === null || known.has(validator);
    const unknown = rows.flatMap((row) => (isKnown(row) ? [] : (row.validator ?? [])));
    const joined = lastRead ? joinedAmong(rows, isKnown) : [];
    yield {
      events: joined.length > 0 ? [{ validators: joined }] : [],
      writes: [
        ...unknown.map((party) => knownParties.add(party, { seenAt: now() })),
        readTimes.put(PROGRESS, { completeAt: now() }),
      ],
    };
    onJoined(joined);
    return "done";
  };
}
