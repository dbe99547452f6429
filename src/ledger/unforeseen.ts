import {
  type AnswerDifference,
  differencesIn,
  isEssential,
  MIN_LACKING,
  mayBeLeftOut,
} from "../explorer/differences.js";
import type { EndpointName } from "../explorer/endpoints.js";
import { toRecord } from "../explorer/values.js";
import type { Log } from "../log.js";
import { DAY, MINUTE } from "../util/units.js";
import { unknownWordsIn } from "./known-words.js";

/** Maximum number of different differences per process. Further ones are counted as "other". */
const MAX_KNOWN = 100;

const isTelling = (endpoint: EndpointName, difference: AnswerDifference): boolean =>
  !mayBeLeftOut(endpoint, difference) || (difference.lackedBy ?? 0) >= MIN_LACKING;

/** A difference in an answer of the explorer, and the time when it was last seen (steady clock, ms). */
export interface UnforeseenAnswer extends AnswerDifference {
  readonly endpoint: EndpointName;
  readonly at: number;
}

interface UnforeseenDeps {
  readonly log: Log;
  /** Called with each difference, to count it by endpoint and field. */
  readonly onUnforeseen: (endpoint: EndpointName, field: string) => void;
  /** Steady clock, in ms. */
  readonly elapsed?: () => number;
}

/** Counts how the explorer's answers differ from what the bot expects, and logs each difference once a day. */
export function createUnforeseen({ log, onUnforeseen, elapsed = () => performance.now() }: UnforeseenDeps) {
  const knownAnswers = new Map<string, UnforeseenAnswer & { readonly loggedAt: number }>();

  const noteOne = (endpoint: EndpointName, difference: AnswerDifference) => {
    const { path, kind, found, expected, isRead } = difference;
    const key = JSON.stringify([endpoint, kind, path, kind === "word" ? found : ""]);
    const previousAnswer = knownAnswers.get(key);
    // Untrusted names must not displace essential fields.
    if (!previousAnswer && knownAnswers.size >= MAX_KNOWN && !isEssential(endpoint, path)) {
      onUnforeseen(endpoint, "other");
      return;
    }
    onUnforeseen(endpoint, path);
    const elapsedMs = elapsed();
    const isDue = !previousAnswer || elapsedMs - previousAnswer.loggedAt >= DAY;
    knownAnswers.set(key, {
      ...difference,
      endpoint,
      at: elapsedMs,
      loggedAt: isDue ? elapsedMs : previousAnswer.loggedAt,
    });
    if (isDue)
      log.warn(
        { endpoint, field: path, difference: kind, found, expected, isRead },
        "The explorer's answer differs from the documentation",
      );
  };

  return {
    /** Compares an answer (JSON) with the documentation. */
    note(endpoint: EndpointName, json: unknown): void {
      for (const difference of [...differencesIn(endpoint, json), ...unknownWordsIn(endpoint, json)])
        if (isTelling(endpoint, difference)) noteOne(endpoint, difference);
    },
    /** Returns the differences of the last day. */
    recent: (): readonly UnforeseenAnswer[] =>
      [...knownAnswers.values()].filter(({ at }) => elapsed() - at < DAY),
  };
}

/** Minimum time between two comparisons for an endpoint whose fields are the same, in ms. Comparing takes longer than parsing. */
const COMPARE_MS = MINUTE;

type Note = ReturnType<typeof createUnforeseen>["note"];

/** Returns the names of the fields of an answer and of its first row. */
function fieldNames(json: unknown): string {
  const answer = toRecord(json);
  const [first] = Array.isArray(answer?.content) ? (answer.content as unknown[]) : [];
  return [answer, toRecord(first)].map((each) => Object.keys(each ?? {}).join()).join(";");
}

/** Maximum number of comparisons per endpoint and minute, if an explorer leaves out different fields each time. */
const MAX_COMPARED = 5;

/**
 * Passes on one answer per endpoint and minute, and a few with other fields.
 * @param elapsed steady clock, in ms
 */
export function oncePerMinute(note: Note, elapsed: () => number = () => performance.now()): Note {
  const noted = new Map<EndpointName, readonly { readonly at: number; readonly fields: string }[]>();
  return (endpoint, json) => {
    const [at, fields] = [elapsed(), fieldNames(json)];
    const recent = (noted.get(endpoint) ?? []).filter((each) => at - each.at < COMPARE_MS);
    if (recent.length >= MAX_COMPARED || recent.some((each) => each.fields === fields)) return;
    noted.set(endpoint, [...recent, { at, fields }]);
    note(endpoint, json);
  };
}
