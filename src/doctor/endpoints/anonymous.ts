import { documentedNames } from "../../explorer/differences.js";
import { parseJson, toRecord } from "../../explorer/values.js";

/** Rows of an array, and letters of a text, that a report shows. */
const MAX_ROWS = 3;
const MAX_FIELDS = 60;
const MAX_DEPTH = 12;
const MAX_JSON = 100_000;

/** Words that say what kind of thing something is, and name nothing of anybody's. */
const WORD = /^(?:[A-Z]*ARC_\w+|VRO_\w+|DS_\w+|[A-Z]{2,16}|\d{1,15}(?:\.\d+)?|\d+\.\d+\.\d+\S{0,20})$/;
const TIME = /^\d{4}-\d\d-\d\d[T ]/;
/** Fields whose values are such words, in letters that a name might have as well. */
const WORD_FIELDS: ReadonlySet<string> = new Set([
  "status",
  "transferType",
  "eventType",
  "event_type",
  "tag",
  "templateName",
  "tokenStandard",
  "packageName",
  "choice",
]);
/** Names of fields: of several words, or these. A name that somebody gave looks otherwise. */
const FIELD = /^(?:_\d|[a-z]+(?:[A-Z][a-z0-9]*|_[a-z0-9]+)+|[A-Z]*ARC_\w+)$/;
const PLAIN_FIELDS: ReadonlySet<string> = new Set([
  ...documentedNames(),
  ..."action amount beneficiary body configuration map microseconds rate reason steps sv tag target terms unit url value vote votes weight".split(
    " ",
  ),
]);

/** Replaces whatever names or identifies somebody, the same thing by the same stand-in throughout one report. */
export function createAnonymizer() {
  const standIns = new Map<string, string>();

  const standInFor = (text: string): string => {
    const known = standIns.get(text);
    if (known !== undefined) return known;
    const number = standIns.size + 1;
    const [, event = ""] = /^[0-9a-f]{32,}(:\d+)$/i.exec(text) ?? [];
    const made = /::1220[0-9a-f]+$/i.test(text)
      ? `party-${number}::1220… (${text.length} characters)`
      : /^[0-9a-f]{32,}/i.test(text)
        ? `id-${number}${event} (${text.length} characters)`
        : /^https?:/i.test(text)
          ? `https://example.org/${number}`
          : `text-${number} (${text.length} characters)`;
    standIns.set(text, made);
    return made;
  };

  const ofText = (text: string, field: string, depth: number): string => {
    if (text === "" || WORD.test(text) || TIME.test(text)) return text;
    if (WORD_FIELDS.has(field) && /^[\w .-]{1,60}$/.test(text)) return text;
    if (/^[[{]/.test(text.trim()) && text.length <= MAX_JSON) {
      try {
        return JSON.stringify(of(parseJson(text), field, depth + 1));
      } catch {
        // No JSON after all.
      }
    }
    return standInFor(text);
  };

  const keyOf = (key: string): string => (FIELD.test(key) || PLAIN_FIELDS.has(key) ? key : standInFor(key));

  const of = (value: unknown, field: string, depth: number): unknown => {
    if (depth > MAX_DEPTH) return "…";
    if (typeof value === "string") return ofText(value, field, depth);
    if (Array.isArray(value)) {
      const rows = value.slice(0, MAX_ROWS).map((each) => of(each, field, depth + 1));
      return value.length > MAX_ROWS ? [...rows, `… ${value.length - MAX_ROWS} more`] : rows;
    }
    const record = toRecord(value);
    if (record === null) return value;
    const names = Object.keys(record).slice(0, MAX_FIELDS);
    return Object.fromEntries(names.map((name) => [keyOf(name), of(record[name], name, depth + 1)]));
  };

  return {
    /** A JSON value with its ids and names replaced, and its arrays cut. */
    json: (value: unknown): unknown => of(value, "", 0),
  };
}
