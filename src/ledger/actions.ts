import { leavesOf, toDecimal, toJson, toRecord, toText } from "../explorer/values.js";

/** What a vote request wants done, in words, as far as its configuration says. All text is still a stranger's. */
export interface Action {
  /** "Offboard Member"; an unknown constructor made readable; null where nothing is said at all. */
  readonly words: string | null;
  /** What it is about, such as the super validator's party id. */
  readonly subject: readonly { readonly label: string; readonly value: string }[];
  /** The configuration keys it changes; `from` is null where the base is not known. */
  readonly changes: readonly ConfigChange[];
}

/** One configuration key's old and new value, as text. */
export interface ConfigChange {
  readonly key: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** Constructors in words, and the fields that are their subject (docs/ledger.md). */
const ACTIONS: Readonly<Record<string, readonly [words: string, ...subject: string[]]>> = {
  SRARC_OffboardSv: ["Offboard Member", "sv"],
  SRARC_AddSv: ["Add Super Validator", "newSvName", "name", "newSvParty"],
  SRARC_GrantFeaturedAppRight: ["Feature Application", "provider"],
  SRARC_RevokeFeaturedAppRight: ["Unfeature Application", "rightCid"],
  SRARC_SetConfig: ["Set DSO Rules Configuration"],
  SRARC_UpdateSvRewardWeight: ["Update SV Reward Weight", "svParty", "newRewardWeight"],
  SRARC_CreateUnallocatedUnclaimedActivityRecord: [
    "Create Unclaimed Activity Record",
    "beneficiary",
    "amount",
  ],
  SRARC_ModifyValidatorLicenses: ["Change Validator Licences"],
  SRARC_ConfirmSvOnboarding: ["Confirm SV Onboarding"],
  SRARC_CreateExternalPartyAmuletRules: ["Create External-Party Rules"],
  SRARC_CreateTransferCommandCounter: ["Create Transfer Counter"],
  CRARC_SetConfig: ["Set Amulet Rules Configuration"],
  CRARC_AddFutureAmuletConfigSchedule: ["Add Configuration Schedule"],
  CRARC_RemoveFutureAmuletConfigSchedule: ["Remove Configuration Schedule"],
  CRARC_UpdateFutureAmuletConfigSchedule: ["Update Configuration Schedule"],
  CRARC_MiningRound_StartIssuing: ["Start Issuing Round"],
  CRARC_MiningRound_Archive: ["Archive Round"],
  ANSRARC_CollectInitialEntryPayment: ["Collect Name Payment"],
  ANSRARC_RejectEntryInitialPayment: ["Reject Name Payment"],
};

/** `SRARC_DoSomethingNew` → "Do Something New". */
function readable(tag: string): string {
  const words = tag
    .replace(/^(ARC|SRARC|CRARC|ANSRARC)_/, "")
    .replace(/_/g, " ")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .trim();
  return words || tag;
}

const label = (key: string): string => {
  const words = readable(key).toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const MAX_DEPTH = 8;

/** A scalar, or one wrapped in a single field, as text; null for anything larger. */
function scalar(value: unknown, depth = 0): string | null {
  if (typeof value !== "object" || value === null) return toText(value);
  const values = depth < MAX_DEPTH ? Object.values(value) : [];
  return values.length === 1 ? scalar(values[0], depth + 1) : null;
}

function sameValue(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  const left = toDecimal(a);
  return left !== null && left === toDecimal(b);
}

function configChanges(value: Readonly<Record<string, unknown>>): ConfigChange[] {
  const next = toRecord(value.newConfig);
  if (next === null) return [];
  const base = toRecord(value.baseConfig);
  const before = leavesOf(base);
  const after = leavesOf(next);
  const removed = [...before.keys()].filter((key) => !after.has(key));
  return [...after.keys(), ...removed]
    .filter((key) => base === null || !sameValue(before.get(key), after.get(key)))
    .map((key) => ({ key, from: before.get(key) ?? null, to: after.get(key) ?? null }));
}

/** A span of time on the ledger: `{"microseconds": "604800000000"}`. */
const MICROSECONDS = ".microseconds";
const UNITS = [
  ["d", 86_400_000_000n],
  ["h", 3_600_000_000n],
  ["min", 60_000_000n],
  ["s", 1_000_000n],
  ["µs", 1n],
] as const;

/** `5400000000` → "1 h 30 min", exactly; undefined for anything but a whole number. */
function duration(microseconds: string): string | undefined {
  if (!/^\d{1,18}$/.test(microseconds)) return undefined;
  let left = BigInt(microseconds);
  const parts = UNITS.flatMap(([unit, size]) => {
    const count = left / size;
    left %= size;
    return count > 0n ? [`${count} ${unit}`] : [];
  });
  return parts.join(" ") || "0 s";
}

/** A change as people read it: spans of time in words where both values are such, and any other as the ledger has it. */
export function readableChange(change: ConfigChange): ConfigChange {
  const { key, from, to } = change;
  const [was, will] = [from && duration(from), to && duration(to)];
  if (!key.endsWith(MICROSECONDS) || was === undefined || will === undefined) return change;
  return { key: key.slice(0, -MICROSECONDS.length), from: was, to: will };
}

/**
 * The innermost constructor of an `actionConfig` and its value: the tag is wrapped in `dsoAction`,
 * `amuletRulesAction` or `ansEntryContextAction`, itself under a tag.
 */
function constructorOf(config: unknown, depth = 0): [tag: string | null, value: unknown] {
  const record = toRecord(toJson(config));
  if (record === null) return [scalar(toJson(config)), null];
  const tag = toText(record.tag);
  const value = toRecord(record.value);
  const wrapped = value?.dsoAction ?? value?.amuletRulesAction ?? value?.ansEntryContextAction;
  if (wrapped !== undefined && depth < MAX_DEPTH) {
    const [innerTag, innerValue] = constructorOf(wrapped, depth + 1);
    return [innerTag ?? tag, innerValue];
  }
  if (tag !== null) return [tag, record.value];
  const [only, ...more] = Object.entries(record);
  return only && more.length === 0 && /^[A-Z]+ARC_/.test(only[0]) ? only : [null, record];
}

/** What an `actionConfig` wants done: an object, text with JSON in it, a bare tag, null, or a tag nobody has seen. */
export function toAction(actionConfig: unknown): Action {
  const [tag, value] = constructorOf(actionConfig);
  if (tag === null) return { words: null, subject: [], changes: [] };
  const [words, ...subjects] = (Object.hasOwn(ACTIONS, tag) && ACTIONS[tag]) || [readable(tag)];
  const fields = toRecord(value) ?? {};
  const subject = subjects.flatMap((key) => {
    const text = scalar(fields[key]);
    return text === null ? [] : [{ label: label(key), value: text }];
  });
  return { words, subject, changes: configChanges(fields) };
}

/** A constructor, such as `SRARC_OffboardSv`. */
const CONSTRUCTOR = /^[A-Z]+ARC_\w+$/;

/** Whether a text is an action's constructor, as titles often are. */
export const isConstructor = (text: string | null): text is string => text !== null && CONSTRUCTOR.test(text);

/** A title in words: titles are often the action's constructor. */
export function toTitle(title: string | null): string | null {
  return isConstructor(title) ? toAction(title).words : title;
}
