import { toDecimal, toRecord, toTime } from "../explorer/values.js";
import { COIN } from "../text/coin.js";
import { shortId } from "../text/ids.js";
import { grouped } from "../text/numbers.js";

/** A value of the ledger for display: a party (shown by its name), another id, a time (epoch ms), or words. It is untrusted. */
export type Value =
  | { readonly party: string }
  | { readonly id: string }
  | { readonly time: number }
  | { readonly words: string };

/** Converts a value from the ledger's format. */
export type Unit = (text: string) => Value;

const inWords =
  (format: (text: string) => string): Unit =>
  (text) => ({ words: format(text) });

const number = (text: string, format: (decimal: string) => string): string => {
  const decimal = toDecimal(text);
  return decimal === null ? text : format(decimal);
};

const countedUnit = (unit: string): Unit =>
  inWords((text) => number(text, (decimal) => [grouped(decimal), unit].filter(Boolean).join(" ")));

const SPANS = [
  ["d", 86_400_000_000n],
  ["h", 3_600_000_000n],
  ["min", 60_000_000n],
  ["s", 1_000_000n],
  ["µs", 1n],
] as const;

/** Formats a duration exactly: `5400000000` → "1 h 30 min". Returns anything but a whole number unchanged. */
function duration(microseconds: string): string {
  if (!/^\d{1,18}$/.test(microseconds)) return microseconds;
  let remainingMicroseconds = BigInt(microseconds);
  const spanParts = SPANS.flatMap(([unit, size]) => {
    const count = remainingMicroseconds / size;
    remainingMicroseconds %= size;
    return count > 0n ? [`${count} ${unit}`] : [];
  });
  return spanParts.join(" ") || "0 s";
}

/** Shifts the decimal point exactly: "20000" by -4 is "2". */
const shifted = (text: string, digits: number): string =>
  number(text, (decimal) => grouped(toDecimal(`${decimal}e${digits}`)));

const SIZES = [
  ["GB", 9],
  ["MB", 6],
  ["kB", 3],
] as const;

/** Formats a number of bytes in its largest unit without rounding, so that two different limits look different. */
function exactBytes(decimal: string): string {
  const size = SIZES.find(([, digits]) => Number(decimal) >= 10 ** digits);
  if (!size) return `${grouped(decimal)} ${decimal === "1" ? "byte" : "bytes"}`;
  const [unit, digits] = size;
  return `${shifted(decimal, -digits)} ${unit}`;
}

/** Returns a constructor's name without its prefix, in lowercase words: `DS_Operational` → "operational". */
const constructorWords = (text: string): string =>
  text
    .replace(/^[A-Za-z]+_/, "")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase();

/** Units of the ledger's values (docs/ledger.md). */
export const UNITS = {
  text: inWords((text) => text),
  party: (party) => ({ party }),
  /** Id of a contract, synchronizer or participant. */
  id: (id) => ({ id }),
  time(text) {
    const timeMs = toTime(text);
    if (timeMs !== null) return { time: timeMs };
    // A time of 1970 stands for none, and one of 9999 for never.
    return { words: isTimeText(text) && text < "2000" ? "unknown" : text };
  },
  duration: inWords(duration),
  seconds: countedUnit("s"),
  count: countedUnit(""),
  characters: countedUnit("characters"),
  bytes: inWords((text) => number(text, exactBytes)),
  coins: countedUnit(COIN),
  coinsPerCoupon: countedUnit(`${COIN} per coupon`),
  usd: countedUnit("USD"),
  usdADay: countedUnit("USD per day"),
  usdPerMegabyte: countedUnit("USD per MB"),
  usdPerRound: countedUnit("USD per round and coin contract"),
  /** 0.05 → "5%" */
  fraction: inWords((text) => (toDecimal(text) === null ? text : `${shifted(text, 2)}%`)),
  perTenThousand: countedUnit("per 10,000"),
  /** Basis points: 20000 → "2". The ledger's own pages write 2_0000. */
  weight: inWords((text) => shifted(text, -4)),
  constructorWord: inWords(constructorWords),
} as const satisfies Record<string, Unit>;

/** The name of a unit. */
export type UnitName = keyof typeof UNITS;

/** True for a date and time in the ledger's format. */
export const isTimeText = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text);

/** Parses a duration in the ledger's format, `{"microseconds": "604800000000"}`. Returns undefined for anything else. */
export function toMicroseconds(value: unknown): string | undefined {
  const valueRecord = toRecord(value);
  if (valueRecord === null) return undefined;
  const [only, ...more] = Object.entries(valueRecord);
  if (only?.[0] !== "microseconds" || more.length > 0) return undefined;
  return toDecimal(only[1]) ?? undefined;
}

/** Formats a value as plain text: a party with the name from `nameOf`, other ids shortened, and times in UTC. */
export function valueText(value: Value, nameOf: (party: string) => string): string {
  if ("words" in value) return value.words;
  if ("party" in value) return nameOf(value.party);
  if ("id" in value) return shortId(value.id);
  return `${new Date(value.time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
