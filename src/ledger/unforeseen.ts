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

/** The differences that are told apart in one process; what comes after them is counted as "other". */
const MAX_KNOWN = 100;

const isTelling = (endpoint: EndpointName, difference: AnswerDifference): boolean =>
  !mayBeLeftOut(endpoint, difference) || (difference.lackedBy ?? 0) >= MIN_LACKING;

/** An undocumented answer of the explorer, and when it was last seen (steady clock, ms). */
export interface UnforeseenAnswer extends AnswerDifference {
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
    /** Compares one answer, as JSON. */
    note(endpoint: EndpointName, json: unknown): void {
      for (const difference of [...differencesIn(endpoint, json), ...unknownWordsIn(endpoint, json)])
        if (isTelling(endpoint, difference)) noteOne(endpoint, difference);
    },
    /** Returns the differences of the last day. */
    recent: (): readonly UnforeseenAnswer[] =>
      [...knownAnswers.values()].filter(({ at }) => elapsed() - at < DAY),
  };
}

/** Answers of an endpoint with the same fields are compared at most this often, in ms: that takes longer than parsing them. */
const COMPARE_MS = MINUTE;

type Note = ReturnType<typeof createUnforeseen>["note"];

/** The names of an answer's fields, and of its first row's. */
function fieldNames(json: unknown): string {
  const answer = toRecord(json);
  const [first] = Array.isArray(answer?.content) ? (answer.content as unknown[]) : [];
  return [answer, toRecord(first)].map((each) => Object.keys(each ?? {}).join()).join(";");
}

/** Passes on one answer of each endpoint a minute, and each one whose fields are others. @param elapsed the steady clock, ms */
export function oncePerMinute(note: Note, elapsed: () => number = () => performance.now()): Note {
  const noted = new Map<EndpointName, { readonly at: number; readonly fields: string }>();
  return (endpoint, json) => {
    const [at, fields] = [elapsed(), fieldNames(json)];
    const notedFields = noted.get(endpoint);
    if (notedFields && at - notedFields.at < COMPARE_MS && fields === notedFields.fields) return;
    noted.set(endpoint, { at, fields });
    note(endpoint, json);
  };
}
