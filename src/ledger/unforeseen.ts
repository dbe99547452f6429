import {
  type Difference,
  differencesIn,
  isEssential,
  MIN_LACKING,
  mayBeLeftOut,
} from "../explorer/differences.js";
import type { EndpointName } from "../explorer/endpoints.js";
import type { Log } from "../log.js";
import { DAY } from "../util/units.js";
import { unknownWordsIn } from "./known-words.js";

/** The differences that are told apart in one process; what comes after them is counted as "other". */
const MAX_KNOWN = 100;

const isTelling = (endpoint: EndpointName, difference: Difference): boolean =>
  !mayBeLeftOut(endpoint, difference) || (difference.lackedBy ?? 0) >= MIN_LACKING;

/** What the explorer answered otherwise than expected, and when it last did, in ms of the steady clock. */
export interface UnforeseenAnswer extends Difference {
  readonly endpoint: EndpointName;
  readonly at: number;
}

interface UnforeseenDeps {
  readonly log: Log;
  /** Counts one more, by endpoint and field. */
  readonly onUnforeseen: (endpoint: EndpointName, field: string) => void;
  /** The steady clock, ms. */
  readonly elapsed?: () => number;
}

/** Counts how the explorer's answers differ from what the bot expects, and logs each difference once a day. */
export function createUnforeseen({ log, onUnforeseen, elapsed = () => performance.now() }: UnforeseenDeps) {
  const known = new Map<string, UnforeseenAnswer & { readonly loggedAt: number }>();

  const noteOne = (endpoint: EndpointName, difference: Difference) => {
    const { path, kind, found, expected, isRead } = difference;
    const key = JSON.stringify([endpoint, kind, path, kind === "word" ? found : ""]);
    const before = known.get(key);
    // What people rely on is never crowded out by what a stranger makes up.
    if (!before && known.size >= MAX_KNOWN && !isEssential(endpoint, path)) {
      onUnforeseen(endpoint, "other");
      return;
    }
    onUnforeseen(endpoint, path);
    const at = elapsed();
    const isDue = !before || at - before.loggedAt >= DAY;
    known.set(key, { ...difference, endpoint, at, loggedAt: isDue ? at : before.loggedAt });
    if (isDue)
      log.warn(
        { endpoint, field: path, difference: kind, found, expected, isRead },
        "The explorer answers otherwise than documented",
      );
  };

  return {
    /** Compares one answer, as JSON. */
    note(endpoint: EndpointName, json: unknown): void {
      for (const difference of [...differencesIn(endpoint, json), ...unknownWordsIn(endpoint, json)])
        if (isTelling(endpoint, difference)) noteOne(endpoint, difference);
    },
    /** What was seen in the last day. */
    recent: (): readonly UnforeseenAnswer[] => [...known.values()].filter(({ at }) => elapsed() - at < DAY),
  };
}
