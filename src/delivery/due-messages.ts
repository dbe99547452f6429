import type { Collection } from "../storage/state.js";
import { ageOf, SKEW_MS } from "../util/clock.js";
import { DAY } from "../util/units.js";
import type { Announced } from "./collections.js";
import type { SubjectState } from "./feed.js";

/** Creates the index of delivered messages: when each is checked next, and which belong to a subject. It starts with all of them due. */
export function createDueMessages(announced: Collection<Announced>, now: () => number) {
  /** Times at which messages are checked next (epoch ms), by message. Edits take turns by channel. */
  const dueTimes = new Map<string, number>();
  /** Messages by subject, if it is open or ended within a day, and the other subjects. */
  const idsBySubject = new Map<string, Set<string>>();
  const endedSubjects = new Set<string>();
  /** Subjects that have changed since the last run. One may have thousands of messages, and change with each of many commits. */
  const changedSubjects = new Set<string>();
  let needsFullScan = true;
  let fullScanAt = 0;
  /** Time of the last run, epoch ms. */
  let lookedAt = 0;

  const checkSoon = (name: string) => {
    for (const id of idsBySubject.get(name) ?? []) dueTimes.set(id, 0);
  };

  /** Indexes a message by its subject, so that a new revision finds it. */
  const follow = (id: string, { feed, subject }: Announced, state: SubjectState | undefined) => {
    const name = `${feed}/${subject}`;
    // A subject that ended lately may change again, and ends in one channel after the other.
    if (state && state.endedAt !== null && ageOf(state.endedAt, now()) > DAY) {
      if (changedSubjects.has(name)) checkSoon(name);
      idsBySubject.delete(name);
      endedSubjects.add(name);
      return;
    }
    const ids = idsBySubject.get(name) ?? new Set();
    idsBySubject.set(name, ids.add(id));
  };

  /** Yields the messages to check now: all of them, or those that are due. If the loop ends early, the rest is due again. */
  async function* due(): AsyncIterable<readonly [id: string, document: Announced]> {
    let isDone = false;
    // After the clock was set back, the times of messages that wait are too late.
    if (lookedAt > now() + SKEW_MS) for (const id of dueTimes.keys()) dueTimes.set(id, 0);
    lookedAt = now();
    if (needsFullScan || ageOf(fullScanAt, now()) > DAY) {
      // Reset this before reading, because messages that are recorded or changed meanwhile may be missing
      // from the result.
      needsFullScan = false;
      changedSubjects.clear();
      dueTimes.clear();
      idsBySubject.clear();
      endedSubjects.clear();
      try {
        yield* announced.entries();
        fullScanAt = now();
        isDone = true;
      } finally {
        if (!isDone) needsFullScan = true;
      }
      return;
    }
    for (const name of changedSubjects) checkSoon(name);
    changedSubjects.clear();
    const ids = [...dueTimes].filter(([, at]) => at <= now()).map(([id]) => id);
    for (const id of ids) dueTimes.delete(id);
    try {
      for (const id of ids) {
        const document = await announced.get(id);
        if (document) yield [id, document];
      }
      isDone = true;
    } finally {
      if (!isDone) for (const id of ids) dueTimes.set(id, 0);
    }
  }

  return {
    due,
    follow,
    /** Sets when a message is checked next (epoch ms). */
    checkAt(id: string, at: number): void {
      dueTimes.set(id, at);
    },
    /** Marks subjects of a feed as changed, or all of them if none are given. */
    touch(feed: string, subjects?: readonly string[]): void {
      if (!subjects) needsFullScan = true;
      for (const subject of subjects ?? []) {
        const name = `${feed}/${subject}`;
        // An ended subject has changed, but its messages are no longer indexed.
        if (endedSubjects.has(name)) needsFullScan = true;
        changedSubjects.add(name);
      }
    },
  };
}
