import { LRUCache } from "lru-cache";
import { DateTime, IANAZone } from "luxon";
import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import { type FeedOption, oneOf, optionOf } from "../../delivery/feed.js";
import { perObject } from "../../util/per-object.js";

const EVERY = { day: "every day", week: "every week" } as const;
const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
const WEEKDAYS: Readonly<Record<string, string>> = Object.fromEntries(
  DAYS.map((day) => [day, day.replace(/^./, (letter) => letter.toUpperCase())]),
);

const every = oneOf("How often (default: every week)", EVERY, "week");

const onOption: FeedOption<(typeof DAYS)[number]> = {
  description: "Day of the week (default: Monday)",
  maxLength: 10,
  choices: WEEKDAYS,
  byDefault: "monday",
  schema: z.enum(DAYS),
  parse: (text) => DAYS.find((day) => day === text.toLowerCase()),
  problem: `Choose one of: ${Object.values(WEEKDAYS).join(", ")}.`,
};

/** Parses a time of day, such as `9:00`, `09:00`, `9`, `9am` or `5:30 pm`, to `HH:MM`. `undefined` if it is invalid. */
function parseTime(text: string): string | undefined {
  const [, typedHours = "", minutes = "00", half] =
    /^\s*(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm)?\s*$/i.exec(text) ?? [];
  if (typedHours === "" || Number(minutes) > 59) return undefined;
  const isOfTwelve = Number(typedHours) >= 1 && Number(typedHours) <= 12;
  if (half === undefined ? Number(typedHours) > 23 : !isOfTwelve) return undefined;
  const afternoonHours = half?.toLowerCase() === "pm" ? 12 : 0;
  const hours = half === undefined ? Number(typedHours) : (Number(typedHours) % 12) + afternoonHours;
  return `${String(hours).padStart(2, "0")}:${minutes}`;
}

const atOption: FeedOption<string> = {
  description: "Time of day, such as 9am or 17:30 (default: 09:00)",
  maxLength: 10,
  byDefault: "09:00",
  schema: z.string().refine((text) => parseTime(text) === text),
  parse: parseTime,
  problem: "Can't read that time. Try `09:00`, `17:30` or `9am`.",
};

/**
 * True for the name of a time zone that this version of Node knows. Offsets are rejected, because they ignore daylight saving.
 */
const isZone = (name: string): boolean =>
  name === "UTC" || (name.includes("/") && IANAZone.isValidZone(name));

/** Capitalizes each part of a time zone's name or of a city. */
const capitalParts = (name: string): string =>
  name.replace(/(^|[/_-])([a-z])/g, (letters) => letters.toUpperCase());

/** Returns a time zone's name with the capital letters that it has. Node may know it under an earlier name. */
function spelled(name: string): string {
  const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
  if (timeZone.toLowerCase() === name.toLowerCase()) return timeZone;
  return name === name.toLowerCase() ? capitalParts(name) : name;
}

/** Areas in the names of time zones (IANA). */
const AREAS = ["Europe", "America", "Asia", "Africa", "Australia", "Pacific", "Atlantic", "Indian"] as const;

/**
 * Parses a time zone's name, its city (`Berlin`) or whole hours from UTC (`UTC+2`, without daylight saving).
 * `undefined` if it is unknown, or if several areas have a city of this name.
 */
function parseZone(text: string): string | undefined {
  // The names are ASCII: "Sao_Paulo".
  const typed = text.trim().normalize("NFD").replace(/\p{M}/gu, "").replace(/\s+/g, "_");
  if (isZone(typed)) return spelled(typed);
  if (/^(utc|gmt|z)$/i.test(typed)) return "UTC";
  const [, sign, hours] = /^(?:utc|gmt)_?([+-])_?(\d{1,2})(?::?00)?$/i.exec(typed) ?? [];
  if (sign !== undefined) {
    // The sign is inverted in these names (IANA: etcetera).
    const name = Number(hours) === 0 ? "UTC" : `Etc/GMT${sign === "+" ? "-" : "+"}${Number(hours)}`;
    return isZone(name) ? name : undefined;
  }
  if (typed.includes("/")) return undefined;
  const city = capitalParts(typed);
  const found = AREAS.map((area) => `${area}/${city}`).filter(isZone);
  return found.length === 1 ? found[0] : undefined;
}

/** Returns the display name of a time zone, such as `UTC+2` for Etc/GMT-2. */
const zoneName = (name: string): string =>
  name.replace(/^Etc\/GMT([+-])/, (_, sign) => `UTC${sign === "+" ? "-" : "+"}`);

const zone: FeedOption<string> = {
  description: "Time zone, such as Berlin or UTC+2 (default: UTC)",
  maxLength: 60,
  byDefault: "UTC",
  // An imported zone, or one stored by a Node with newer zones, may be unknown here.
  schema: z.string().refine(isZone),
  parse: parseZone,
  format: zoneName,
  problem:
    "Can't find that time zone. Type a city, a zone or an offset of whole hours, such as `New York`, `Europe/Berlin` or `UTC+2`.",
};

/** Options for the time at which a digest is sent. */
export const options = { every, on: onOption, at: atOption, zone } as const;

/** Returns an error message if the options that a person typed contradict each other. */
export const contradiction = (
  { every: often }: Readonly<Record<string, unknown>>,
  typed: readonly string[],
): string | undefined =>
  often === "day" && typed.includes("on")
    ? "A daily digest comes every day, so `on` has no effect. Leave it out, or pick `every: every week`."
    : undefined;

/** Time at which a digest is sent: each day, or on one day of the week (1 is Monday), in a time zone. */
export interface Schedule {
  readonly every: keyof typeof EVERY;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  readonly zone: string;
}

/** Returns the schedule of a subscription. It is read once, because checking a time zone takes long. */
export const scheduleOf = perObject((subscription: Subscription): Schedule => {
  const [hour = 0, minute = 0] = optionOf(subscription, "at", atOption).split(":").map(Number);
  return {
    every: optionOf(subscription, "every", every),
    weekday: DAYS.indexOf(optionOf(subscription, "on", onOption)) + 1,
    hour,
    minute,
    zone: optionOf(subscription, "zone", zone),
  };
});

/** Maximum number of cached schedules. */
const MAX_SCHEDULES = 1_000;

/** A time at which a digest is due. */
export interface Slot {
  /** Date in the schedule's time zone, as ISO 8601. It identifies the slot. */
  readonly date: string;
  /** Epoch ms. */
  readonly at: number;
}

/** Maximum distance in days from now to the last or next time of a weekly digest. */
const MAX_DAYS = 8;

/**
 * Returns the nearest due time of a digest that is wanted, day by day. A time of day that is skipped when clocks go forward moves to
 * an hour later. One that occurs twice when they go back counts at its first occurrence.
 * @param step 1 to look ahead of a moment, -1 to look back
 * @throws {RangeError} if there is none, as in an unknown time zone
 */
function nearestSlot(
  { every: often, weekday, hour, minute, zone: name }: Schedule,
  from: number,
  step: 1 | -1,
  isWanted: (at: number) => boolean,
): Slot {
  const today = DateTime.fromMillis(from, { zone: name }).startOf("day");
  // If clocks go forward at midnight (America/Nuuk), yesterday's time may be skipped and fall on today.
  for (let days = -1; days <= MAX_DAYS; days += 1) {
    const day = today.plus({ days: step * days });
    if (often === "week" && day.weekday !== weekday) continue;
    const occurrences = day.set({ hour, minute }).getPossibleOffsets();
    const dueAt = Math.min(...occurrences.map((each) => each.toMillis()));
    if (isWanted(dueAt)) return { date: day.toISODate() ?? "", at: dueAt };
  }
  throw new RangeError(`A digest is never due at ${hour}:${minute} in the zone ${name}`);
}

/** Returns the last time that a digest was due. @throws {RangeError} */
export const slotBefore = (schedule: Schedule, now: number): Slot =>
  nearestSlot(schedule, now, -1, (at) => at <= now);

/** Returns the next time that a digest is due after a moment, epoch ms. @throws {RangeError} */
export const slotAfter = (schedule: Schedule, now: number): number =>
  nearestSlot(schedule, now, 1, (at) => at > now).at;

/**
 * Creates a `slotBefore` that caches its result until the schedule's next time, because it is called every minute for thousands
 * of channels.
 */
export function createSlots(): (schedule: Schedule, now: number) => Slot {
  const knownSlots = new LRUCache<string, { readonly slot: Slot; readonly until: number }>({
    max: MAX_SCHEDULES,
  });
  return (schedule, now) => {
    const key = JSON.stringify(schedule);
    const lastSlot = knownSlots.get(key);
    if (lastSlot && lastSlot.slot.at <= now && now < lastSlot.until) return lastSlot.slot;
    const slot = slotBefore(schedule, now);
    knownSlots.set(key, { slot, until: slotAfter(schedule, now) });
    return slot;
  };
}

/** Describes a schedule in words. */
export function scheduleWords({ every: often, weekday, hour, minute, zone: name }: Schedule): string {
  const two = (part: number) => String(part).padStart(2, "0");
  const day = WEEKDAYS[DAYS[weekday - 1] ?? "monday"];
  return `${often === "week" ? `every ${day}` : "every day"} at ${two(hour)}:${two(minute)} ${zoneName(name)}`;
}
