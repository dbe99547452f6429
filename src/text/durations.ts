import { DAY, HOUR, MINUTE } from "../util/units.js";

const UNIT_MS = { m: MINUTE, h: HOUR, d: DAY } as const;

const isUnit = (text: string): text is keyof typeof UNIT_MS => Object.hasOwn(UNIT_MS, text);

/** Parses a duration such as "90m", "6h" or "2d", in ms. Returns NaN if it is invalid. */
export function parseDuration(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,4})\s?([mhd])$/.exec(text.trim().toLowerCase()) ?? [];
  return isUnit(unit) ? Number(count) * UNIT_MS[unit] : Number.NaN;
}

/** Formats a whole number of minutes, given in ms, so that `parseDuration` can read it. */
export function formatDuration(ms: number): string {
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

/** Formats an approximate duration: "9 min", "3 h", "2 days". */
export function roughly(ms: number): string {
  if (ms < 90 * MINUTE) return `${Math.max(1, Math.round(ms / MINUTE))} min`;
  return ms < 2 * DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} days`;
}
