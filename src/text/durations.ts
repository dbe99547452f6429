import { DAY, HOUR, MINUTE, SECOND } from "../util/units.js";

const UNIT_MS = { s: SECOND, m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY } as const;

const isUnit = (text: string): text is keyof typeof UNIT_MS => Object.hasOwn(UNIT_MS, text);

const PART =
  /(\d{1,6})\s*(?:(s)(?:ecs?|econds?)?|(m)(?:ins?|inutes?)?|(h)(?:rs?|ours?)?|(d)(?:ays?)?|(w)(?:eeks?)?)(?![a-z])/g;

/** Parses a duration such as "90m", "90 min", "6h", "1 hour", "2 days" or "2 h 20 min", in ms. Returns NaN if it is invalid. */
export function parseDuration(text: string): number {
  const typed = text.trim().toLowerCase();
  const parts = [...typed.matchAll(PART)];
  if (parts.length === 0 || typed.replace(PART, "").trim() !== "") return Number.NaN;
  const unitOf = ([, , ...units]: RegExpExecArray) => units.find(Boolean) ?? "";
  // "48h24h" is a list without spaces.
  if (new Set(parts.map(unitOf)).size < parts.length) return Number.NaN;
  return parts.reduce((sum, part) => {
    const [unit, [, count]] = [unitOf(part), part];
    return sum + (isUnit(unit) ? Number(count) * UNIT_MS[unit] : Number.NaN);
  }, 0);
}

/** Splits a list of durations such as "48h, 24 hours 6h" into one text for each. */
export const splitDurations = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .replace(/(\d)\s+(?=[a-z])/g, "$1")
    .split(/[\s,;]+/)
    .filter(Boolean);

/** Says which limit a duration exceeds, and what the limit is. `undefined` if it exceeds none, or is no duration. */
export function limitOf(text: string, leastMs: number, mostMs: number): string | undefined {
  const ms = text.trim() === "0" ? 0 : parseDuration(text);
  if (ms < leastMs) return `${text.trim()} is too short. The minimum is ${formatDuration(leastMs)}.`;
  if (ms > mostMs) return `${text.trim()} is too long. The maximum is ${formatDuration(mostMs)}.`;
  return undefined;
}

/** Formats a whole number of seconds, given in ms, so that `parseDuration` can read it. */
export function formatDuration(ms: number): string {
  if (ms % MINUTE !== 0) return `${ms / SECOND}s`;
  if (ms % DAY === 0 && ms > DAY) return `${ms / DAY}d`;
  return ms % HOUR === 0 ? `${ms / HOUR}h` : `${ms / MINUTE}m`;
}

/** Formats a duration in its two largest units: "35 min", "2 h 20 min", "3 days 4 h". */
export function spanWords(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / MINUTE));
  const [days, hours, rest] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24, minutes % 60];
  const durationParts = [
    days > 0 && (days === 1 ? "1 day" : `${days} days`),
    hours > 0 && `${hours} h`,
    rest > 0 && days === 0 && `${rest} min`,
  ];
  return durationParts.filter(Boolean).join(" ");
}

/** Formats an approximate duration: "9 min", "1 h 35 min", "8 h", "2 days". */
export function roughly(ms: number): string {
  if (ms < 90 * MINUTE) return `${Math.max(1, Math.round(ms / MINUTE))} min`;
  // Half an hour more or less changes what two missed reports are.
  if (ms < 6 * HOUR) return spanWords(Math.round(ms / (5 * MINUTE)) * 5 * MINUTE);
  return ms < 2 * DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} days`;
}
