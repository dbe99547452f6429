import { joinedRun } from "../util/single-flight.js";
import type { Write } from "./store.js";

/** Time for which commits are batched, in ms. They are written with one sync, because a disk may take long for it. */
const GATHER_MS = 20;

/** Maximum number of writes in a transaction, unless one commit has more. The process does nothing else until it is over. */
const MAX_WRITES = 200;

interface Pending {
  readonly writes: readonly Write[];
  readonly resolve: (applied: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers commits for a few milliseconds, and writes them in transactions of limited size, one after another. */
export interface CommitQueue {
  /** Returns false if one of the commit's expectations did not hold, so that nothing of it was written. @throws what writing throws */
  add(writes: readonly Write[]): Promise<boolean>;
  /** Waits until nothing is pending. */
  flush(): Promise<void>;
}

/**
 * Creates a queue of commits.
 * @param writeTogether writes commits in one transaction, and resolves once the disk has it. Returns which of them were applied
 */
export function createCommitQueue(
  writeTogether: (commits: readonly (readonly Write[])[]) => Promise<readonly boolean[]>,
): CommitQueue {
  const pending: Pending[] = [];
  /** Removes the oldest commits that fit into one transaction: at least one, if any is pending. */
  const nextBatch = (): readonly Pending[] => {
    let size = 0;
    const next = pending.findIndex(({ writes }) => {
      size += writes.length;
      return size > MAX_WRITES;
    });
    return pending.splice(0, next < 0 ? pending.length : Math.max(1, next));
  };
  /** Writes all pending commits. A transaction begins once the disk has the one before. */
  const flushOnce = joinedRun(async () => {
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) {
      try {
        const results = await writeTogether(batch.map(({ writes }) => writes));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] === true);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  });
  return {
    add: (writes) =>
      new Promise((resolve, reject) => {
        if (pending.push({ writes, resolve, reject }) === 1) setTimeout(flushOnce, GATHER_MS);
      }),
    async flush() {
      // The first one may only wait for commits that are being written.
      do await flushOnce();
      while (pending.length > 0);
    },
  };
}
