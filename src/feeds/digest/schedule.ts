import { LRUCache } from "lru-cache";
import { DateTime, IANAZone } from "luxon";
import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import { type FeedOption, optionOf } from "../../delivery/feed.js";

const EVERY = { day: "every day", week: "every week" } as const;
const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
const WEEKDAYS: Readonly<Record<string, string>> = Object.fromEntries(
  DAYS.map((day) => [day, day.replace(/^./, (letter) => letter.toUpperCase())]),
);

const every: FeedOption<keyof typeof EVERY> = {
  description: "How often (every week)",
  maxLength: 10,
  choices: EVERY,
  byDefault: "week",
  schema: z.enum(["day", "week"]),
  parse: (text) => (["day", "week"] as const).find((each) => each === text),
  problem: "Choose one of: day, week.",
};

const onOption: FeedOption<(typeof DAYS)[number]> = {
  description: "Day of the week (Monday)",
  maxLength: 10,
  choices: WEEKDAYS,
  byDefault: "monday",
  schema: z.enum(DAYS),
  parse: (text) => DAYS.find((day) => day === text.toLowerCase()),
  problem: `Choose one of: ${Object.values(WEEKDAYS).join(", ")}.`,
};

/** Returns a time of day as `HH:MM`, from `9:00`, `09:00`, `9`, `9am` or `5:30 pm`; `undefined` if it is none. */
export function parseTime(text: string): string | undefined {
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
  description: "Time of day, such as 9am or 09:00",
  maxLength: 10,
  byDefault: "09:00",
  schema: z.string().refine((text) => parseTime(text) === text),
  parse: parseTime,
  problem: "I cannot read that time. Type one such as `09:00`, `17:30` or `9am`.",
};

/** True for a name of a zone that this version of Node knows. An offset is no zone: it knows no daylight saving. */
const isZone = (name: string): boolean =>
  name === "UTC" || (name.includes("/") && IANAZone.isValidZone(name));

/** The parts of the world in the names of zones (IANA). */
const AREAS = ["Europe", "America", "Asia", "Africa", "Australia", "Pacific", "Atlantic", "Indian"] as const;

/**
 * Returns the name of a time zone, from its name, its city (`Berlin`) or whole hours from UTC (`UTC+2`, which knows no daylight
 * saving); `undefined` if there is none, or if several parts of the world have such a city.
 */
export function parseZone(text: string): string | undefined {
  const typed = text.trim();
  if (isZone(typed)) return typed;
  if (/^(utc|gmt|z)$/i.test(typed)) return "UTC";
  const [, sign, hours] = /^(?:utc|gmt)\s*([+-])\s*(\d{1,2})(?::?00)?$/i.exec(typed) ?? [];
  if (sign !== undefined) {
    // The names of these zones have the sign the other way round (IANA: etcetera).
    const name = Number(hours) === 0 ? "UTC" : `Etc/GMT${sign === "+" ? "-" : "+"}${Number(hours)}`;
    return isZone(name) ? name : undefined;
  }
  if (typed.includes("/")) return undefined;
  const city = typed.replace(/\s+/g, "_").replace(/(^|[_-])([a-z])/g, (letters) => letters.toUpperCase());
  const found = AREAS.map((area) => `${area}/${city}`).filter(isZone);
  return found.length === 1 ? found[0] : undefined;
}

/** Returns a zone's name for people: `UTC+2` for Etc/GMT-2. */
const zoneName = (name: string): string =>
  name.replace(/^Etc\/GMT([+-])/, (_, sign) => `UTC${sign === "+" ? "-" : "+"}`);

const zone: FeedOption<string> = {
  description: "Time zone, such as Berlin or UTC+2 (UTC)",
  maxLength: 60,
  byDefault: "UTC",
  // One that was imported, or was kept by a Node with newer zones, may be unknown here.
  schema: z.string().refine(isZone),
  parse: parseZone,
  problem:
    "I know no such time zone. Type its name or its city, such as `Europe/Berlin`, `New York`, `UTC` or `UTC+2`.",
};

/** When a digest is sent. */
export const options = { every, on: onOption, at: atOption, zone } as const;

/** Returns why the options that a person typed contradict each other. `undefined` if they do not. */
export const contradiction = (
  { every: often }: Readonly<Record<string, unknown>>,
  typed: readonly string[],
): string | undefined =>
  often === "day" && typed.includes("on")
    ? "A daily digest comes each day, so that `on` means nothing. Leave `on` out, or choose `every: every week`."
    : undefined;

/** When a digest is sent: each day, or on one of the week (1 is Monday), by the clock of a zone. */
export interface Schedule {
  readonly every: keyof typeof EVERY;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  readonly zone: string;
}

/** The schedule of a subscription. */
export function scheduleOf(subscription: Subscription): Schedule {
  const [hour = 0, minute = 0] = optionOf(subscription, "at", atOption).split(":").map(Number);
  return {
    every: optionOf(subscription, "every", every),
    weekday: DAYS.indexOf(optionOf(subscription, "on", onOption)) + 1,
    hour,
    minute,
    zone: optionOf(subscription, "zone", zone),
  };
}

/** Different schedules whose last time is remembered. */
const MAX_SCHEDULES = 1_000;

/** One time that a digest is due. */
export interface Slot {
  /** Its day in its zone, as ISO 8601: the same slot always has the same one. */
  readonly date: string;
  /** Epoch ms. */
  readonly at: number;
}

/**
 * The last time that a digest was due, up to a moment. A time of day that a night skips comes an hour later in that night; one
 * that comes twice is due when it comes first.
 */
export function slotBefore({ every: often, weekday, hour, minute, zone: name }: Schedule, now: number): Slot {
  const localTime = DateTime.fromMillis(now, { zone: name });
  for (let daysAgo = 0; daysAgo <= MAX_DAYS; daysAgo += 1) {
    const day = localTime.startOf("day").minus({ days: daysAgo });
    if (often === "week" && day.weekday !== weekday) continue;
    const dueTime = firstOf(day.set({ hour, minute }));
    if (dueTime <= now) return { date: day.toISODate() ?? "", at: dueTime };
  }
  throw new RangeError(`A digest is never due at ${hour}:${minute} in the zone ${name}`);
}

/** The last and the next time of a weekly digest are at most this far away, in days. */
const MAX_DAYS = 8;

/** Of a time that comes twice in a night, the first. */
function firstOf(time: DateTime): number {
  return Math.min(...time.getPossibleOffsets().map((each) => each.toMillis()));
}

/** The next time that a digest is due, after a moment, epoch ms. */
export function slotAfter(
  { every: often, weekday, hour, minute, zone: name }: Schedule,
  now: number,
): number {
  const today = DateTime.fromMillis(now, { zone: name }).startOf("day");
  // Yesterday's time may be skipped by a change of the clocks at midnight, and so come today (America/Nuuk).
  for (let daysAhead = -1; daysAhead <= MAX_DAYS; daysAhead += 1) {
    const day = today.plus({ days: daysAhead });
    if (often === "week" && day.weekday !== weekday) continue;
    const dueTime = firstOf(day.set({ hour, minute }));
    if (dueTime > now) return dueTime;
  }
  throw new RangeError(`A digest is never due at ${hour}:${minute} in the zone ${name}`);
}

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

/** A schedule in words. */
export function scheduleWords({ every: often, weekday, hour, minute, zone: name }: Schedule): string {
  const two = (part: number) => String(part).padStart(2, "0");
  const day = WEEKDAYS[DAYS[weekday - 1] ?? "monday"];
  return `${often === "week" ? `every ${day}` : "every day"} at ${two(hour)}:${two(minute)} ${zoneName(name)}`;
}
