import { deleteWhere, type State } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import { ageOf } from "../util/clock.js";
import { DAY } from "../util/units.js";
import { ownerRevisions } from "./collections.js";

/** Returns the owner key for `commitWithin`: a server or a person. */
export const ownerOf = ({ guildId, userId }: { guildId: string | null; userId: string | null }): string =>
  userId === null ? `guild:${guildId}` : `person:${userId}`;

/** Number after which revisions begin again. */
const MAX_REVISION = 1_000_000_000;

/**
 * Checks a limit and commits the writes. If another write of the same owner is committed first, it starts
 * again, so that simultaneous commands cannot exceed the limit together.
 * @param check returns the writes, or throws PersonError if the limit is reached
 * @throws {StateError}
 */
export async function commitWithin(
  state: Pick<State, "open" | "commit">,
  owner: string,
  check: () => Promise<readonly Write[]>,
): Promise<void> {
  const revisions = state.open(ownerRevisions);
  for (;;) {
    const before = await revisions.get(owner);
    const writes = await check();
    // An imported number may be too large to be increased.
    const nextRevision = { revision: ((before?.revision ?? 0) % MAX_REVISION) + 1, at: Date.now() };
    if (await state.commit([revisions.expect(owner, before), revisions.put(owner, nextRevision), ...writes]))
      return;
  }
}

/** Deletes the revisions of owners that have not written for a day. A write that is being checked takes seconds. */
export const forgetOldRevisions = (state: State, now = Date.now()): Promise<void> =>
  deleteWhere(state, ownerRevisions, ({ at = 0 }) => ageOf(at, now) > DAY);
