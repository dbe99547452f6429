import { describe, expect, it } from "vitest";
import { typosBetween } from "../../src/config-shapes.js";
import { limitOf, parseDuration, roughly, splitDurations } from "../../src/text/durations.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";

describe("a typed duration", () => {
  it.each([
    ["90m", 90 * MINUTE],
    ["90 min", 90 * MINUTE],
    ["1 minute", MINUTE],
    ["6h", 6 * HOUR],
    ["1 hour", HOUR],
    ["2 Hours", 2 * HOUR],
    ["3 hrs", 3 * HOUR],
    ["2d", 2 * DAY],
    ["2 days", 2 * DAY],
    ["2 h 20 min", 140 * MINUTE],
    ["1d2h", 26 * HOUR],
    ["30s", MINUTE / 2],
    ["", Number.NaN],
    ["2 h 20", Number.NaN],
    ["2 h and 20 min", Number.NaN],
    ["soon", Number.NaN],
    ["48h24h6h", Number.NaN],
    ["6", Number.NaN],
    ["6 months", Number.NaN],
    ["6 dins", Number.NaN],
    ["-6h", Number.NaN],
  ])("%j is %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    ["24h 6h", ["24h", "6h"]],
    ["2 days, 6 hours", ["2days", "6hours"]],
    ["48h;24 h  90 min", ["48h", "24h", "90min"]],
    ["  ", []],
  ])("%j is a list of %j", (text, list) => {
    expect(splitDurations(text)).toEqual(list);
  });

  it.each([
    ["5m", "5m is too short. The minimum is 20m."],
    ["2 days", "2 days is too long. The maximum is 24h."],
    ["99999m", "99999m is too long. The maximum is 24h."],
    ["30s", "30s is too short. The minimum is 20m."],
    ["20m", undefined],
    ["24h", undefined],
    ["soon", undefined],
  ])("%j exceeds a limit: %s", (text, words) => {
    expect(limitOf(text, 20 * MINUTE, DAY)).toBe(words);
  });
});

it.each([
  ["OPERATOR_CHANEL_ID", "OPERATOR_CHANNEL_ID", 1],
  ["DISCORD_TOKNE", "DISCORD_TOKEN", 2],
  ["same", "same", 0],
  ["", "abc", 3],
])("%j has a distance from %j of %d", (a, b, distance) => {
  expect(typosBetween(a, b)).toBe(distance);
});

it.each([
  [61 * MINUTE, "61 min"],
  [94 * MINUTE, "1 h 35 min"],
  [149 * MINUTE, "2 h 30 min"],
  [5 * HOUR + 59 * MINUTE, "6 h"],
  [7.4 * HOUR, "7 h"],
  [60 * HOUR, "3 days"],
])("%d ms are roughly %s", (ms, words) => {
  expect(roughly(ms)).toBe(words);
});
