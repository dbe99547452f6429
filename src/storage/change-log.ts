/** The ids of documents that were changed lately, by collection. */
export interface ChangeLog {
  /** Notes a change of a document. */
  note(collection: string, id: string): void;
  /** Returns the number of changes so far. */
  now(): number;
  /** Returns the ids of the documents changed since a number of changes, `undefined` if there were too many to remember. */
  since(collection: string, then: number): ReadonlySet<string> | undefined;
}

/** Number of changes that are remembered per collection. Beyond that, reading everything is cheaper. */
const REMEMBERED = 1_000;

/** Creates an empty log. It is only complete if this process makes all changes. */
export function createChangeLog(): ChangeLog {
  let total = 0;
  const logs = new Map<string, { forgottenUpTo: number; changes: { number: number; id: string }[] }>();
  return {
    note(collection, id) {
      total += 1;
      const log = logs.get(collection) ?? { forgottenUpTo: 0, changes: [] };
      logs.set(collection, log);
      log.changes.push({ number: total, id });
      // Cut in halves, because each cut moves what remains.
      if (log.changes.length > 2 * REMEMBERED)
        log.forgottenUpTo = log.changes.splice(0, REMEMBERED).at(-1)?.number ?? total;
    },
    now: () => total,
    since(collection, then) {
      const log = logs.get(collection);
      if (!log) return new Set();
      if (then < log.forgottenUpTo) return undefined;
      const first = log.changes.findLastIndex(({ number }) => number <= then) + 1;
      return new Set(log.changes.slice(first).map(({ id }) => id));
    },
  };
}
