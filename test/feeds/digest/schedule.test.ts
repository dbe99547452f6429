import { DateTime } from "luxon";
import { describe, expect, it } from "vitest";
import {
  contradiction,
  createSlots,
  options,
  type Schedule,
  scheduleOf,
  scheduleWords,
  slotAfter,
  slotBefore,
} from "../../../src/feeds/digest/schedule.js";
import { subscribed } from "../../spec/vote-requests.js";

const monday: Schedule = { every: "week", weekday: 1, hour: 9, minute: 0, zone: "Europe/Berlin" };
const daily = (hour: number, minute = 0, zone = "Europe/Berlin"): Schedule => ({
  ...monday,
  every: "day",
  hour,
  minute,
  zone,
});
const iso = (at: number) => new Date(at).toISOString();
const before = (schedule: Schedule, now: string) => {
  const { date, at } = slotBefore(schedule, Date.parse(now));
  return [date, iso(at)];
};

describe("an invalid schedule", () => {
  const kept = (given: object) => scheduleOf({ ...subscribed(), feed: "digest", ...given });
  it.each([
    [{ zone: "Mars/Olympus" }, { zone: "UTC" }],
    [{ zone: "" }, { zone: "UTC" }],
    [{ at: "99:99" }, { hour: 9, minute: 0 }],
    [{ at: "noon" }, { hour: 9, minute: 0 }],
    [{ at: "" }, { hour: 9, minute: 0 }],
    [{ on: "someday" }, { weekday: 1 }],
    [{ every: "hour" }, { every: "week" }],
  ])("uses the default for invalid values: %j", (given, expected) => {
    expect(kept(given)).toMatchObject(expected);
    expect(slotBefore(kept(given), Date.UTC(2026, 10, 22)).at).toBeGreaterThan(0);
  });

  it("throws a RangeError for an invalid zone, instead of looping forever", () => {
    const impossible = { ...kept({}), zone: "Mars/Olympus" };
    expect(() => slotBefore(impossible, Date.UTC(2026, 10, 22))).toThrow(RangeError);
  });
});

describe("the last time that a digest was due", () => {
  it.each<[string, Schedule, string, string, string]>([
    ["at exactly that time", monday, "2026-11-23T08:00:00Z", "2026-11-23", "2026-11-23T08:00:00.000Z"],
    ["a moment before that time", monday, "2026-11-23T07:59:59Z", "2026-11-16", "2026-11-16T08:00:00.000Z"],
    ["on another day", monday, "2026-11-26T12:00:00Z", "2026-11-23", "2026-11-23T08:00:00.000Z"],
    ["in summer", monday, "2026-07-06T07:00:00Z", "2026-07-06", "2026-07-06T07:00:00.000Z"],
    [
      "before the clocks go forward",
      daily(9),
      "2026-03-28T12:00:00Z",
      "2026-03-28",
      "2026-03-28T08:00:00.000Z",
    ],
    [
      "after the clocks go forward",
      daily(9),
      "2026-03-29T12:00:00Z",
      "2026-03-29",
      "2026-03-29T07:00:00.000Z",
    ],
    [
      "at a time that the clock change skips",
      daily(2, 30),
      "2026-03-29T12:00:00Z",
      "2026-03-29",
      "2026-03-29T01:30:00.000Z",
    ],
    [
      "at the first occurrence of a time that comes twice",
      daily(2, 30),
      "2026-10-25T00:30:00Z",
      "2026-10-25",
      "2026-10-25T00:30:00.000Z",
    ],
    [
      "at the second occurrence of that time",
      daily(2, 30),
      "2026-10-25T01:30:00Z",
      "2026-10-25",
      "2026-10-25T00:30:00.000Z",
    ],
    ["after the clocks go back", daily(9), "2026-10-25T12:00:00Z", "2026-10-25", "2026-10-25T08:00:00.000Z"],
    [
      "in a zone ahead of UTC",
      daily(9, 0, "Pacific/Auckland"),
      "2026-11-22T21:00:00Z",
      "2026-11-23",
      "2026-11-22T20:00:00.000Z",
    ],
    ["in UTC", daily(9, 0, "UTC"), "2026-11-22T09:00:00Z", "2026-11-22", "2026-11-22T09:00:00.000Z"],
  ])("%s", (_, schedule, now, date, at) => {
    expect(before(schedule, now)).toEqual([date, at]);
  });

  it("is exactly one for each day of a year, despite clock changes", () => {
    const [hour, day] = [3_600_000, 86_400_000];
    const changes = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01"];
    const moments = Array.from(
      { length: 4 * 365 },
      (_, quarter) => Date.UTC(2026, 0, 2) + quarter * 6 * hour,
    );
    for (const change of changes)
      for (let at = Date.parse(change) - day; at < Date.parse(change) + 2 * day; at += hour / 3)
        moments.push(at);
    moments.sort((a, b) => a - b);
    for (const schedule of [
      daily(2, 30, "Europe/Berlin"),
      daily(1, 45, "America/New_York"),
      daily(2, 15, "Australia/Lord_Howe"),
      daily(23, 30, "America/Nuuk"),
    ]) {
      const times = new Map<string, number>();
      for (const moment of moments) {
        const slot = slotBefore(schedule, moment);
        expect(times.get(slot.date) ?? slot.at).toBe(slot.at);
        times.set(slot.date, slot.at);
      }
      const days = [...times.keys()].map((date) => Date.parse(date) / day);
      expect(days.slice(1).every((each, index) => each === (days[index] ?? 0) + 1)).toBe(true);
      expect(days.length).toBeGreaterThanOrEqual(365);
    }
  });
});

it("caches a slot only while it is the latest one, and not after the clock was set back", () => {
  const slotOf = createSlots();
  const [start, step] = [Date.parse("2026-10-23T12:00:00Z"), 1_200_000];
  const moments = Array.from({ length: 220 }, (_, index) => start + index * step);
  for (const moment of [...moments, ...moments.toReversed()])
    for (const schedule of [daily(2, 30), daily(3), monday])
      expect(slotOf(schedule, moment)).toEqual(slotBefore(schedule, moment));
});

describe("the next time that a digest is due", () => {
  it.each<[Schedule, string, string]>([
    [monday, "2026-11-23T07:00:00Z", "2026-11-23T08:00:00.000Z"],
    [monday, "2026-11-23T08:00:00Z", "2026-11-30T08:00:00.000Z"],
    [monday, "2026-03-24T08:00:00Z", "2026-03-30T07:00:00.000Z"],
    [daily(9), "2026-10-24T12:00:00Z", "2026-10-25T08:00:00.000Z"],
    // The clocks skip 23:00 to 23:59 on this Saturday.
    [daily(23, 30, "America/Nuuk"), "2026-03-28T02:00:00Z", "2026-03-29T01:30:00.000Z"],
    [daily(23, 30, "America/Nuuk"), "2026-03-29T01:30:00Z", "2026-03-30T00:30:00.000Z"],
  ])("%# after %s", (schedule, now, next) => {
    expect(iso(slotAfter(schedule, Date.parse(now)))).toBe(next);
  });
});

describe("typed schedule options", () => {
  it("show a zone at a whole-hour offset as UTC+2", () => {
    expect(scheduleWords(daily(9, 0, "Etc/GMT-2"))).toBe("every day at 09:00 UTC+2");
    expect(DateTime.fromISO("2026-11-24T09:00", { zone: "Etc/GMT-2" }).toUTC().hour).toBe(7);
  });

  it.each([
    ["day", ["every", "on"], true],
    ["day", ["every"], false],
    ["week", ["every", "on"], false],
  ] as const)("contradict each other for every: %s with %j: %s", (every, typed, isContradictory) => {
    expect(contradiction({ every }, typed) !== undefined).toBe(isContradictory);
  });

  it.each([
    ["9", "09:00"],
    ["9:30", "09:30"],
    ["17.05", "17:05"],
    ["24:00", undefined],
    ["9:7", undefined],
    ["nine", undefined],
    ["9am", "09:00"],
    ["5:30 PM", "17:30"],
    ["12am", "00:00"],
    ["12 pm", "12:00"],
    ["13pm", undefined],
    ["0am", undefined],
  ])("parse the time %s", (typed, read) => {
    expect(options.at.parse(typed)).toBe(read);
  });

  it.each([
    ["Europe/Berlin", "Europe/Berlin"],
    ["europe/berlin", "Europe/Berlin"],
    ["america/port_of_spain", "America/Port_of_Spain"],
    ["Europe/Kyiv", "Europe/Kyiv"],
    ["asia/kolkata", "Asia/Kolkata"],
    [" UTC ", "UTC"],
    ["Mars/Olympus", undefined],
    ["+02:00", undefined],
    ["CET", undefined],
    ["Berlin", "Europe/Berlin"],
    ["new york", "America/New_York"],
    ["São Paulo", "America/Sao_Paulo"],
    ["Zürich", "Europe/Zurich"],
    ["America/New York", "America/New_York"],
    ["Buenos Aires", "America/Buenos_Aires"],
    ["utc", "UTC"],
    ["UTC+2", "Etc/GMT-2"],
    ["GMT -5", "Etc/GMT+5"],
    ["UTC+0", "UTC"],
    ["UTC+5:30", undefined],
    ["UTC+99", undefined],
    ["Atlantis", undefined],
  ])("parse the zone %s", (typed, read) => {
    expect(options.zone.parse(typed)).toBe(read);
  });
});
