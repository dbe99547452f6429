import type { AnswerDifference } from "../explorer/differences.js";
import type { EndpointName } from "../explorer/endpoints.js";
import { toName, toRecord } from "../explorer/values.js";
import { cut } from "../text/plain.js";
import { isKnownTag, tagOf } from "./actions.js";
import { statusGroup } from "./vote-rules.js";

/** Labels of transfer types. A plain transfer has no label. */
export const TRANSFER_KINDS: ReadonlyMap<string, string> = new Map([
  ["transfer", ""],
  ["instruction", "by instruction"],
  ["mergesplit", "own coins merged"],
]);

/** Returns an event's effect; null if the explorer's word is unknown. */
export function eventKind(eventType: string | null): "created" | "archived" | "exercised" | null {
  const lowerCaseType = eventType?.toLowerCase() ?? "";
  if (lowerCaseType.includes("create")) return "created";
  if (lowerCaseType.includes("archive")) return "archived";
  return lowerCaseType.includes("exercise") ? "exercised" : null;
}

/** A field whose values are undocumented words, some of which the bot knows. */
interface WordField {
  readonly field: string;
  wordOf(value: unknown): string | null;
  isKnown(word: string): boolean;
}

const STATUS: WordField = {
  field: "status",
  wordOf: toName,
  isKnown: (word) => statusGroup(word) !== "other",
};
const EVENT_TYPE: WordField = {
  field: "eventType",
  wordOf: toName,
  isKnown: (word) => eventKind(word) !== null,
};

const FIELDS: Readonly<Partial<Record<EndpointName, readonly WordField[]>>> = {
  voteRequests: [STATUS],
  voteRequest: [STATUS, { field: "actionConfig", wordOf: tagOf, isKnown: isKnownTag }],
  transfers: [
    {
      field: "transferType",
      wordOf: toName,
      isKnown: (word) => TRANSFER_KINDS.has(word.toLowerCase()),
    },
  ],
  events: [EVENT_TYPE],
  event: [EVENT_TYPE],
};

/** Maximum number of unknown words that are reported per field. */
const MAX_WORDS = 5;
const MAX_LENGTH = 60;

/** Returns the words in an endpoint's answer (JSON) that the bot does not know. It shows them unchanged. */
export function unknownWordsIn(name: EndpointName, json: unknown): readonly AnswerDifference[] {
  const content = toRecord(json)?.content;
  const isList = Array.isArray(content);
  const rows: readonly unknown[] = isList ? content : [json];
  return (FIELDS[name] ?? []).flatMap(({ field, wordOf, isKnown }) => {
    const fieldWords = rows.flatMap((row) => wordOf(toRecord(row)?.[field]) ?? []);
    return [...new Set(fieldWords)]
      .filter((word) => !isKnown(word))
      .slice(0, MAX_WORDS)
      .map((word) => ({
        path: `${isList ? "$.content[*]" : "$"}.${field}`,
        kind: "word" as const,
        found: cut(word, MAX_LENGTH),
        isRead: true,
      }));
  });
}
