/** Formats numbers and amounts, without losing digits. */

import { NOTHING } from "./plain.js";

const formats = new Map<string, Intl.NumberFormat>();

function formatOf(maxFraction: number, minFraction = 0): Intl.NumberFormat {
  const key = `${minFraction}-${maxFraction}`;
  const format =
    formats.get(key) ??
    new Intl.NumberFormat("en-US", {
      minimumFractionDigits: minFraction,
      maximumFractionDigits: maxFraction,
      roundingMode: "halfExpand",
    });
  formats.set(key, format);
  return format;
}

// NumberFormat v3 (ECMA-402) formats a decimal string exactly, but its type requires a literal.
const exactly = (format: Intl.NumberFormat, decimal: string | number): string =>
  format.format(decimal as Intl.StringNumericLiteral);

const isZero = (decimal: string): boolean => !/[1-9]/.test(decimal.replace(/e.*$/i, ""));

/**
 * Formats a decimal string with thousands separators and a maximum number of fraction digits, without using floats. A value that
 * is not zero is never shown as zero: "under 0.01", "just below 0".
 */
export function grouped(decimal: string | number | null, maxFraction = 10): string {
  if (decimal === null) return NOTHING;
  if (isZero(String(decimal))) return "0";
  const text = exactly(formatOf(maxFraction), decimal);
  if (text === "-0") return "just below 0";
  return text === "0" ? `under ${formatOf(maxFraction).format(10 ** -maxFraction)}` : text;
}

/**
 * Formats a decimal with a fixed number of fraction digits, for columns and percentages. A value that is not zero is never shown
 * as zero.
 */
export function fixed(decimal: string | number, digits: number): string {
  const text = exactly(formatOf(digits, digits), decimal);
  if (/[1-9]/.test(text)) return text;
  return isZero(String(decimal)) ? text.replace("-", "") : grouped(decimal, digits);
}

/** Returns a share in whole percent. Only a complete share is 100, and only an empty one is 0. */
export const percentOf = (part: number, whole: number): number =>
  part === 0 || part === whole
    ? Math.round((100 * part) / whole)
    : Math.min(99, Math.max(1, Math.round((100 * part) / whole)));

/** Returns a share in percent: "62.3%"; a dash if the whole is zero. Only a complete share is "100.0%". */
export function share(part: number, whole: number): string {
  if (whole === 0) return NOTHING;
  const percent = fixed((part / whole) * 100, 1);
  return part < whole && percent === "100.0" ? "over 99.9%" : `${percent}%`;
}

/** Formats a change in percent with a sign and up to one fraction digit: "+3.3%", "−25%", "unchanged". */
export function signedPercent(percent: number): string {
  const size = grouped(Math.abs(percent).toFixed(Math.abs(percent) < 0.1 ? 2 : 1), 2);
  return size === "0" ? "unchanged" : `${percent > 0 ? "+" : "−"}${size}%`;
}

/** Returns a count with its noun, in the plural unless the count is one: "1 vote", "1,109 votes". */
export const countedWords = (count: number, one: string, several = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : several}`;

const BYTES = [
  ["GB", 1e9],
  ["MB", 1e6],
  ["kB", 1e3],
] as const;

/** Formats a number of bytes in the largest unit that keeps it at 1 or more. */
export function bytes(count: string | null): string {
  if (count === null) return "unknown";
  // Use the next unit if rounding would give 1,000 of this one.
  const isAtLeast = (size: number) => Math.round((10_000 * Math.abs(Number(count))) / size) >= 10_000;
  const [unit, size] = BYTES.find(([, least]) => isAtLeast(least)) ?? [
    Number(count) === 1 ? "byte" : "bytes",
    1,
  ];
  return `${grouped(Number(count) / size, 1)} ${unit}`;
}

/** Formats an approximate amount of USD, with fewer digits for larger amounts; null if it is unknown. */
export function aboutUsd(usd: number | null): string | null {
  if (usd === null) return null;
  if (usd === 0) return "$0";
  // No real amount is this large, and its digits would push other rows out.
  if (usd >= 1e15) return "over $1,000 trillion";
  const size = Math.abs(usd);
  if (size < 0.01) return "under $0.01";
  return `about ${usd < 0 ? "-" : ""}$${fixed(size, size < 100 ? 2 : 0)}`;
}
