import { describe, expect, it } from "vitest";
import {
  behindWhat,
  isListedAgain,
  judge,
  judgeTraffic,
  judgeVersion,
  levelOf,
  manyAt,
  trafficLeft,
} from "../../../src/feeds/validator/decide.js";
import { surveyVersions } from "../../../src/ledger/versions.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 22, 12);
const ago = (ms: number) => NOW - ms;

describe("a validator that was no longer listed an hour ago", () => {
  it.each([
    ["is listed again if the poll reads it", true, undefined, true],
    ["is listed again if the list has a later report", false, ago(10 * MINUTE), true],
    ["is not if the list has only an earlier report", false, ago(2 * HOUR), false],
    ["is not if the list has a report in the future", false, NOW + 3 * HOUR, false],
    ["is not if nothing shows it", false, undefined, false],
  ] as const)("%s", (_, isSeen, lastReport, expected) => {
    expect(isListedAgain(ago(HOUR), isSeen, lastReport, NOW)).toBe(expected);
  });
});

describe("a silence", () => {
  it.each([
    [44 * MINUTE, 45 * MINUTE, 0],
    [46 * MINUTE, 45 * MINUTE, 1],
    [6 * HOUR + 1, 45 * MINUTE, 2],
    [DAY + 1, 45 * MINUTE, 3],
    [8 * HOUR, 7 * HOUR, 1],
    [DAY + 1, 7 * HOUR, 2],
    [DAY + 1, DAY, 1],
  ])("of %d ms, with a limit of %d ms, has passed %d limits", (silent, after, level) => {
    expect(levelOf(silent, after)).toBe(level);
  });

  const of = (more: Partial<Parameters<typeof judge>[0]>) =>
    judge({
      seenAt: ago(50 * MINUTE),
      afterMs: 45 * MINUTE,
      unconfirmed: undefined,
      open: undefined,
      onHold: false,
      asOf: NOW,
      ...more,
    });
  it.each([
    ["is unconfirmed at first", {}, { kind: "unconfirmed" }],
    [
      "is unconfirmed in the first reading after a hold, whatever was known before",
      { unconfirmed: ago(50 * MINUTE), isAfterHold: true },
      { kind: "unconfirmed" },
    ],
    [
      "does not get worse in the first reading after a hold",
      { seenAt: ago(7 * HOUR), open: { since: ago(7 * HOUR), level: 1 }, isAfterHold: true },
      { kind: "nothing" },
    ],
    [
      "is confirmed if the next reading has the same report time",
      { unconfirmed: ago(50 * MINUTE) },
      { kind: "silent", level: 1 },
    ],
    [
      "is not confirmed if the report time has changed",
      { unconfirmed: ago(60 * MINUTE) },
      { kind: "unconfirmed" },
    ],
    [
      "is not confirmed while silence alerts are on hold",
      { unconfirmed: ago(50 * MINUTE), onHold: true },
      { kind: "nothing" },
    ],
    ["continues without another alert", { open: { since: ago(50 * MINUTE), level: 1 } }, { kind: "nothing" }],
    [
      "escalates to the next level",
      { seenAt: ago(7 * HOUR), open: { since: ago(7 * HOUR), level: 1 } },
      { kind: "worse", level: 2 },
    ],
    [
      "does not escalate while silence alerts are on hold",
      { seenAt: ago(7 * HOUR), open: { since: ago(7 * HOUR), level: 1 }, onHold: true },
      { kind: "nothing" },
    ],
    [
      "ends with a newer report, however old it is",
      { open: { since: ago(7 * HOUR), level: 2 } },
      { kind: "back" },
    ],
    [
      "ends even while silence alerts are on hold",
      { open: { since: ago(7 * HOUR), level: 2 }, onHold: true },
      { kind: "back" },
    ],
    ["does not start within the limit", { seenAt: ago(45 * MINUTE) }, { kind: "nothing" }],
  ])("%s", (_, given, verdict) => {
    expect(of(given)).toEqual(verdict);
  });
});

describe("many silences", () => {
  const alive = (count: number) => Array.from({ length: count }, (_, index) => ago(index * 1_000));
  const silent = (count: number, at = ago(50 * MINUTE)) =>
    Array.from({ length: count }, (_, index) => at - index * 1_000);
  it.each([
    [
      "are one event if they are at least five and a tenth of all validators",
      [...alive(45), ...silent(5)],
      { silent: 5, total: 50 },
    ],
    ["are separate events if there are only four", [...alive(20), ...silent(4)], undefined],
    ["are separate events if they are less than a tenth", [...alive(100), ...silent(8)], undefined],
    [
      "do not count validators that went silent an hour earlier",
      [...alive(45), ...silent(4), ...silent(9, ago(2 * HOUR))],
      undefined,
    ],
  ])("%s", (_, seen, many) => {
    expect(manyAt(ago(50 * MINUTE), seen, 10 * MINUTE, NOW)).toEqual(many);
  });

  it("count validators that reported a few minutes ago as active", () => {
    const seen = [...silent(1, ago(21 * MINUTE)), ...Array.from({ length: 40 }, () => ago(9 * MINUTE))];
    expect(manyAt(ago(21 * MINUTE), seen, 10 * MINUTE, NOW)).toBeUndefined();
  });
});

describe("a version", () => {
  const running = (...versions: string[]) =>
    surveyVersions(versions.map((version) => ({ active: true, version })));
  it.each([
    [
      "is behind the version that 60% run",
      "0.4.15",
      running("0.4.16", "0.4.16", "0.4.16", "0.4.15", "0.4.15"),
      "0.4.16",
    ],
    [
      "is not behind if no version has a majority",
      "0.4.15",
      running("0.4.16", "0.4.16", "0.4.15", "0.4.14"),
      undefined,
    ],
    ["is not behind if it is newer", "0.4.17", running("0.4.16", "0.4.16", "0.4.16"), undefined],
    ["is not judged if it is not a version", "latest", running("0.4.16"), null],
    ["is not judged if no validators are known", "0.4.15", running(), null],
  ])("%s", (_, own, survey, target) => {
    expect(behindWhat(own, survey)).toBe(target);
  });

  it("is reported a day after it fell behind, once for each target", () => {
    let memory: Parameters<typeof judgeVersion>[1] = {};
    const told: string[] = [];
    const at = (hours: number, target: string | undefined) => {
      const judged = judgeVersion(target, memory, NOW + hours * HOUR);
      memory = judged.memory;
      if (judged.tell) told.push(`${hours}: ${judged.tell}`);
    };
    for (const [hours, target] of [
      [0, "1.1"],
      [23, "1.1"],
      [24, "1.1"],
      [48, "1.1"],
      // It caught up for a moment.
      [49, undefined],
      [50, "1.1"],
      [80, "1.1"],
      // The network moves on to a newer version, and this validator does not.
      [81, "1.2"],
      [104, "1.2"],
      [105, "1.2"],
    ] as const)
      at(hours, target);
    expect(told).toEqual(["24: 1.1", "105: 1.2"]);
    // The network goes back to a version that was told before, and on again.
    at(106, "1.1");
    at(131, "1.1");
    at(132, "1.2");
    at(157, "1.2");
    expect(told).toHaveLength(2);
  });
});

describe("traffic", () => {
  const left = (more: Partial<Parameters<typeof trafficLeft>[0]>) =>
    trafficLeft({ isSv: false, consumed: "85", limit: "100", purchased: "100", ...more });
  it.each([
    ["is the share that is left", {}, 15],
    ["is zero if overdrawn", { consumed: "120" }, 0],
    ["is exactly a fifth", { consumed: "2000000000", limit: "2500000000", purchased: "2500000000" }, 20],
    ["is unknown for a super validator", { isSv: true }, undefined],
    ["is unknown if the validator's kind is unknown", { isSv: null }, undefined],
    ["is unknown while a purchase is under way", { limit: "90" }, undefined],
    ["is unknown if the consumption is unknown", { consumed: null }, undefined],
    ["is unknown if none was bought", { purchased: "0", limit: "0" }, undefined],
  ])("%s", (_, given, share) => {
    expect(left(given)).toBe(share);
  });

  it("is reported after two readings, once at each limit, and again after it rose by five points", () => {
    let memory: Parameters<typeof judgeTraffic>[1];
    const told: string[] = [];
    for (const [reading, share] of [
      30,
      19,
      19,
      18,
      9,
      9,
      8,
      12,
      9,
      16,
      9,
      9,
      30,
      15,
      15,
      undefined,
      15,
    ].entries()) {
      const judged = judgeTraffic(share, memory, NOW);
      memory = judged.memory;
      if (judged.tell) told.push(`${reading}: ${judged.tell}`);
    }
    expect(told).toEqual(["2: 20", "5: 10", "11: 10", "14: 20"]);
  });

  it.each([
    ["is below the lower limit only if both readings are", [19, 9, 19], ["1: 20"]],
    ["falls below the lower limit while the higher one is confirmed", [19, 9, 9], ["1: 20", "2: 10"]],
    ["is below the higher limit if the first reading was lower", [9, 19, 19], ["1: 20"]],
  ])("%s", (_, shares, expected) => {
    let memory: Parameters<typeof judgeTraffic>[1];
    const told = shares.flatMap((share, reading) => {
      const judged = judgeTraffic(share, memory, NOW);
      memory = judged.memory;
      return judged.tell ? [`${reading}: ${judged.tell}`] : [];
    });
    expect(told).toEqual(expected);
  });
});
