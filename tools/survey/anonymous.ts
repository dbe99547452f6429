import * as z from "zod";
import { endpoints } from "../../src/explorer/endpoints.js";
import { contractOf } from "../../src/explorer/schema/fields.js";
import { parseJson, toRecord } from "../../src/explorer/values.js";
import { ACTIONS } from "../../src/ledger/action-table.js";

/** Returns the names of all fields in the contract, at any depth. */
function documentedNames(): ReadonlySet<string> {
  const names = new Set<string>();
  const addNames = (schema: z.ZodType): void => {
    const type = contractOf(schema)?.type ?? (schema instanceof z.ZodObject ? { fields: schema } : undefined);
    if (type === undefined || typeof type === "string") return;
    for (const [name, field] of Object.entries("rows" in type ? type.rows.shape : type.fields.shape)) {
      names.add(name);
      if (field instanceof z.ZodType) addNames(field);
    }
  };
  for (const { schema } of Object.values(endpoints)) addNames(schema);
  return names;
}

const DOCUMENTED = documentedNames();

/** Maximum number of rows of an array, and of fields of an object, in a report. */
const MAX_ROWS = 3;
const MAX_FIELDS = 60;
/** Number of undocumented fields above which an object counts as a map, whose keys may be names. */
const MAX_UNKNOWN = 10;
const MAX_DEPTH = 12;
const MAX_JSON = 100_000;

/** Constructors, which do not identify anyone. */
const CONSTRUCTOR = /^(?:[A-Z]*ARC_\w+|VRO_\w+|DS_\w+)$/;
/** An amount, a count, or a time in milliseconds or microseconds. Other digits may identify someone. */
const NUMBER = /^-?(?:\d{1,6}|\d{1,15}\.\d{1,12}|1[5-9]\d{11}|1[5-9]\d{14})$/;
const TIME = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]{5,20}(?:Z|[+-]\d\d:?\d\d)?)?$/;
const VERSION = /^\d+(?:\.\d+){1,3}(?:-(?:snapshot|rc|alpha|beta|dev)[.\d]*)?$/i;
/** Explorer fields with fixed words as values, although the same letters could be a name. */
const WORD_FIELDS: ReadonlySet<string> = new Set([
  "status",
  "transferType",
  "eventType",
  "templateName",
  "tokenStandard",
  "packageName",
  "choice",
]);
/** Fields with arbitrary data from the ledger, in which any key and any word may be a name. */
const FREE_FIELDS: ReadonlySet<string> = new Set([
  "actionConfig",
  "rawPayload",
  "additionalIdentifiersJson",
  "issuerRequirementsJson",
  "holderRequirementsJson",
]);
/** Keys of ledger data that are not names: fields of actions, vote requests and updates. */
const LEDGER_FIELDS: ReadonlySet<string> = new Set([
  ...[...ACTIONS.values()].flatMap(({ fields }) => fields.flatMap(([path]) => path.split("."))),
  ..."_1 _2 action amuletRulesAction ansEntryContextAction baseConfig body dsoAction map microseconds newConfig optCastAt reason requester sv tag targetEffectiveAt trackingCid url value voteBefore votes accept".split(
    " ",
  ),
  ..."update_id migration_id workflow_id record_time synchronizer_id effective_at offset root_event_ids events_by_id event_id event_type contract_id template_id package_name create_arguments signatories observers created_at choice_argument child_event_ids exercise_result consuming acting_parties interface_id".split(
    " ",
  ),
]);

/**
 * Creates an anonymizer, which replaces names and ids. Within a report, the same value always has the same
 * replacement.
 */
export function createAnonymizer() {
  const standIns = new Map<string, string>();

  const standInFor = (text: string): string => {
    const known = standIns.get(text);
    if (known !== undefined) return known;
    const number = standIns.size + 1;
    const [, event = ""] = /^[0-9a-f]{32,}(:\d+)$/i.exec(text) ?? [];
    const madeOf = () => {
      if (/::1220[0-9a-f]+$/i.test(text)) return `party-${number}::1220… (${text.length} characters)`;
      if (/^[0-9a-f]{32,}/i.test(text)) return `id-${number}${event} (${text.length} characters)`;
      if (/^https?:/i.test(text)) return `https://example.org/${number}`;
      return `text-${number} (${text.length} characters)`;
    };
    const made = madeOf();
    standIns.set(text, made);
    return made;
  };

  const ofText = (text: string, field: string, depth: number, isFree: boolean): string => {
    if (text === "" || [CONSTRUCTOR, NUMBER, TIME].some((kind) => kind.test(text))) return text;
    const isWord = WORD_FIELDS.has(field) && /^[\w .-]{1,60}$/.test(text);
    if (!isFree && (isWord || (field === "version" && VERSION.test(text)))) return text;
    if (/^[[{]/.test(text.trim()) && text.length <= MAX_JSON) {
      try {
        return JSON.stringify(of(parseJson(text), field, depth + 1, true));
      } catch {
        // The text is not JSON.
      }
    }
    return standInFor(text);
  };

  /**
   * Returns the key to show: fields of the explorer are kept even if undocumented, fields of ledger data only
   * if known.
   */
  const keyOf = (key: string, isFree: boolean): string =>
    LEDGER_FIELDS.has(key) || DOCUMENTED.has(key) || (!isFree && /^[a-z]\w{0,40}$/.test(key))
      ? key
      : standInFor(key);

  const of = (value: unknown, field: string, depth: number, isFree: boolean): unknown => {
    if (depth > MAX_DEPTH) return "…";
    if (typeof value === "string") return ofText(value, field, depth, isFree);
    if (Array.isArray(value)) {
      const rows = value.slice(0, MAX_ROWS).map((each) => of(each, field, depth + 1, isFree));
      return value.length > MAX_ROWS ? [...rows, `… ${value.length - MAX_ROWS} more`] : rows;
    }
    const record = toRecord(value);
    if (record === null) return value;
    const names = Object.keys(record).slice(0, MAX_FIELDS);
    const isMap = names.filter((name) => !DOCUMENTED.has(name)).length > MAX_UNKNOWN;
    return Object.fromEntries(
      names.map((name) => [
        keyOf(name, isFree || isMap),
        of(record[name], name, depth + 1, isFree || FREE_FIELDS.has(name)),
      ]),
    );
  };

  return {
    /**
     * Returns a JSON value with ids and names replaced and arrays shortened.
     * @param isFree true for arbitrary ledger data
     */
    json: (value: unknown, isFree: boolean): unknown => of(value, "", 0, isFree),
    /** Returns the name of an undocumented field, replaced if it may be a name. */
    key: (name: string): string => keyOf(name, false),
    /** Returns a word from an answer, replaced if it may be a name. */
    word: (field: string, word: string): string => ofText(word, field, 0, FREE_FIELDS.has(field)),
  };
}
