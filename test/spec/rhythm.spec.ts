import { describe, expect, it } from "vitest";
import {
  intervalFromReading,
  intervalOf,
  isRunning,
  judgeReports,
  networkInterval,
  type ReportGaps,
  silentAfter,
  stoppedAfter,
  USUAL_INTERVAL_MS,
  withGap,
} from "../../src/ledger/rhythm.js";
import { HOUR, MINUTE } from "../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 22, 12);
const minutes = (...values: number[]) => values.map((value) => value * MINUTE);

describe("a validator's interval", () => {
  it.each([
    ["is unknown with only two gaps", minutes(65, 65), undefined],
    ["is the median of its gaps", minutes(64, 65, 63), 64],
    ["ignores an outage among them", minutes(65, 540, 65, 64), 65],
    ["follows a new rhythm after three of its gaps", minutes(10, 10, 10, 10, 65, 65, 65), 65],
  ])("%s", (_, gaps, interval) => {
    expect(intervalOf({ gaps })).toBe(interval && interval * MINUTE);
  });

  it("keeps only as many of the latest gaps of each kind as it needs", () => {
    let known: Parameters<typeof withGap>[0] = { gaps: [] };
    for (const gap of [1, 2, 3, 4, 5, 6]) known = withGap(known, gap * MINUTE, 0);
    for (const gap of [1, 2, 3, 4]) known = withGap(known, gap * HOUR, 10 * HOUR);
    expect(known).toEqual({ gaps: minutes(2, 3, 4, 5, 6), roughGaps: minutes(120, 180, 240) });
    expect(intervalOf({ gaps: minutes(65, 65), roughGaps: minutes(65, 65) })).toBeUndefined();
    expect(intervalOf({ gaps: [] })).toBeUndefined();
  });

  it.each([
    ["agree", minutes(65, 64, 66), 65],
    ["just agree", minutes(80, 100, 90), 90],
    ["do not agree", minutes(50, 360, 50), undefined],
  ])("is taken from rough gaps if they %s", (_, roughGaps, interval) => {
    expect(intervalOf({ gaps: [], roughGaps })).toBe(interval && interval * MINUTE);
  });

  it.each([
    ["a short pause", 65, 5, "gaps"],
    ["the longest of short pauses", 16, 15, "gaps"],
    ["a pause of half the gap", 65, 32.5, "gaps"],
    ["a pause of less than half the gap", 65, 30, "gaps"],
    ["a pause that may hide a report", 65, 60, "roughGaps"],
  ] as const)("files a gap correctly after %s", (_, gap, unread, where) => {
    const next: ReportGaps = withGap({ gaps: [] }, gap * MINUTE, unread * MINUTE);
    expect(next[where]).toEqual([gap * MINUTE]);
  });
});

describe("the network's interval", () => {
  const spread = (count: number, interval: number, offset = 0) =>
    Array.from(
      { length: count },
      (_, index) => NOW - offset * MINUTE - ((index + 0.5) / count) * interval * MINUTE,
    );
  const dead = (count: number) => Array.from({ length: count }, (_, index) => NOW - (index + 3) * 7 * HOUR);

  it.each([
    ["reports every 65 minutes", spread(45, 65), 65],
    ["reports every ten minutes", spread(900, 10), 10],
    ["has dead validators too", [...spread(900, 65), ...dead(100)], 65],
    ["is seen through an explorer that is three hours behind", spread(60, 65, 180), 65],
    ["has as many dead validators", [...spread(60, 65), ...dead(60)], 65],
    ["has twenty validators, half of them dead", [...spread(10, 65), ...dead(10)], 65],
    ["reports at once, but for one validator of twenty", [...spread(19, 1), NOW - 50 * MINUTE], 10],
    [
      "reports at once, within exactly two minutes",
      [NOW, ...Array.from({ length: 19 }, () => NOW - 2 * MINUTE)],
      10,
    ],
    ["has just reported all at once", [...Array.from({ length: 44 }, () => NOW), NOW - 50 * MINUTE], 10],
  ])("is estimated from one reading of a network that %s", (_, reportedAt, interval) => {
    const estimate = intervalFromReading(reportedAt) ?? 0;
    expect(estimate / MINUTE).toBeGreaterThan(interval * 0.9);
    expect(estimate / MINUTE).toBeLessThan(interval * 1.15);
  });

  it.each([
    ["few validators", spread(8, 65)],
    ["one validator too few", spread(19, 65)],
    ["a burst of reports half an hour ago, and a few since", [...spread(40, 1, 30), ...spread(5, 5)]],
    ["fast and slow validators", [...spread(30, 10), ...spread(30, 65)]],
    ["validators of which only half report every ten minutes", [...spread(30, 10), ...spread(30, 240)]],
    ["a burst of two minutes among twenty of which two are dead", [...spread(18, 1.9), ...dead(2)]],
    ["nothing", []],
  ])("is not estimated from %s", (_, reportedAt) => {
    expect(intervalFromReading(reportedAt)).toBeUndefined();
  });

  it.each([
    ["95 of 100", 100, 95],
    ["exactly a twentieth fewer than all", 105, 99],
  ])("is a little longer than the age of the report of %s", (_, count, index) => {
    const age = (index / count) * 65 * MINUTE;
    expect(intervalFromReading(spread(count, 65))).toBeCloseTo(1.05 * age, -1);
  });

  it.each([
    ["eight that report every six hours", spread(8, 360), true],
    ["eight that report every hour", spread(8, 65), false],
    ["eight of which one is silent", [...spread(7, 65), NOW - 9 * HOUR], false],
    ["eight of which four have not reported for days", [...spread(4, 65), ...dead(4)], false],
  ])("is at least the age of most reports of %s, if that is longer than usual", (_, reportedAt, isSlow) => {
    const estimate = intervalFromReading(reportedAt);
    expect(estimate !== undefined && estimate > 3 * HOUR).toBe(isSlow);
  });

  it("needs twenty validators, and recognizes a burst of two minutes", () => {
    expect(intervalFromReading(spread(20, 65))).toBeGreaterThan(55 * MINUTE);
    expect(intervalFromReading(spread(100, 2.09))).toBe(10 * MINUTE);
    expect(USUAL_INTERVAL_MS).toBe(65 * MINUTE);
  });

  it("is the interval that nine in ten validators keep", () => {
    expect(networkInterval(minutes(65, 10, 30))).toBe(65 * MINUTE);
    expect(networkInterval(minutes(9, 1, 8, 2, 7, 3, 6, 4, 5, 10))).toBe(9 * MINUTE);
    expect(networkInterval([...minutes(10, 10, 10, 10, 10, 10, 10, 10), ...minutes(65, 540)])).toBe(
      65 * MINUTE,
    );
    expect(networkInterval([])).toBeUndefined();
  });
});

describe("judging reports", () => {
  const reportedAgo = (ms: number) => NOW - ms;
  it.each([
    [10, 23],
    [65, 139.75],
    [5, 20],
    [360, 774],
  ])("with reports every %d min calls a validator silent after %d min", (interval, limit) => {
    expect(silentAfter(interval * MINUTE) / MINUTE).toBeCloseTo(limit);
    // A drill's buttons had a fraction of a millisecond, and could not be read.
    expect(Number.isInteger(silentAfter(interval * MINUTE + 1 / 3))).toBe(true);
    expect(silentAfter(interval * MINUTE)).toBeLessThan(Math.max(20.1 * MINUTE, 2.5 * interval * MINUTE));
    expect(stoppedAfter(interval * MINUTE)).toBeLessThan(silentAfter(interval * MINUTE));
  });

  it.each([
    [65, 74.75],
    [10, 13],
    [5, 10],
  ])(
    "with reports every %d min treats %d min without any report as a change of rhythm",
    (interval, limit) => {
      expect(stoppedAfter(interval * MINUTE) / MINUTE).toBeCloseTo(limit);
    },
  );

  it.each([
    ["just reported", 0, 65, 0, "reporting"],
    ["exactly at the limit for late", 97.5, 65, 0, "reporting"],
    ["exactly at the limit for silent", 139.75, 65, 0, "late"],
    ["due", 66, 65, 0, "reporting"],
    ["irregular, but as slow as usual", 95, 77, 0, "reporting"],
    ["missed one report", 100, 65, 0, "late"],
    ["missed two", 139, 65, 0, "late"],
    ["missed two, and the margin has passed", 140, 65, 0, "silent"],
    ["silent by a chosen limit that is too short", 50, 65, 20, "reporting"],
    ["not silent yet by a longer chosen limit", 150, 65, 180, "late"],
    ["silent by the longer chosen limit", 181, 65, 180, "silent"],
    ["missed two ten-minute reports", 24, 10, 0, "silent"],
    ["reported with a timestamp in the future", -30, 65, 0, "reporting"],
  ] as const)("%s", (_, ago, interval, chosen, standing) => {
    const judged = judgeReports(reportedAgo(ago * MINUTE), interval * MINUTE, NOW, chosen * MINUTE);
    expect(judged.standing).toBe(standing);
  });

  it("does not treat an unknown report time as an outage", () => {
    expect(judgeReports(null, USUAL_INTERVAL_MS, NOW)).toMatchObject({ standing: "unknown", silentMs: 0 });
  });
});

it.each([
  ["reporting", false, true],
  ["late", false, true],
  ["silent", true, false],
  ["unknown", true, true],
  ["unknown", false, false],
  ["unknown", null, false],
] as const)(
  "a validator that is %s and that the explorer calls active: %s, counts as active: %s",
  (...row) => {
    const [standing, active, expected] = row;
    expect(isRunning(standing, active)).toBe(expected);
  },
);
