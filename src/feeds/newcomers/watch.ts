import type { PollOutcome, Publisher } from "../../delivery/feed.js";
import type { ValidatorSummary } from "../../explorer/schema/validators.js";
import type { Explorer } from "../../explorer/service.js";
import { NEWCOMERS } from "../../screens/validators.js";
import type { State } from "../../storage/state.js";

/** Under this id "progress" keeps when the newest validators were last read. */
export const PROGRESS = "newcomers";

interface WatchDeps {
  /** Takes nothing but new readings. */
  readonly explorer: Explorer;
  readonly state: State;
  /** Called with those that joined, once they are kept. */
  readonly onJoined: (joined: readonly ValidatorSummary[]) => void;
  readonly now: () => number;
}

/**
 * Reads the newest validators, and publishes those that were not there before. They are known by their party: contracts change
 * with every report. What is there at the first reading is known silently, and so it is when somebody subscribes again after a
 * time in which nobody was.
 */
export function createNewcomersWatch({ explorer, state, onJoined, now }: WatchDeps) {
  const { progress, validators: known } = state;

  /** Those of a reading that are not known, by party, the newest first. */
  const unknownAmong = async (rows: readonly ValidatorSummary[]) => {
    const parties = rows.flatMap((row) => (row.validator === null ? [] : [[row.validator, row] as const]));
    const held = await Promise.all(parties.map(([party]) => known.get(party)));
    return new Map(parties.filter((_, index) => held[index] === undefined));
  };

  return async (publisher: Publisher): Promise<PollOutcome> => {
    const last = await progress.get(PROGRESS);
    if ((await publisher.subscriptions()).length === 0) {
      if (last) await state.commit([progress.delete(PROGRESS)]);
      return "done";
    }
    const { data: rows } = await explorer.newValidators({ size: NEWCOMERS });
    // An empty answer is no news, and no baseline.
    if (rows.length === 0) return "partial";
    const unknown = await unknownAmong(rows);
    const joined = [...unknown.values()];
    const { writes, release } = await publisher.prepare(
      last && joined.length > 0 ? [{ validators: joined }] : [],
    );
    await state.commit([
      ...writes,
      ...[...unknown.keys()].map((party) => known.add(party, { seenAt: now() })),
      progress.put(PROGRESS, { completeAt: now() }),
    ]);
    release();
    onJoined(joined);
    return "done";
  };
}
