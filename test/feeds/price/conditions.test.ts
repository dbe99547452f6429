import { describe, expect, it } from "vitest";
import {
  type Condition,
  isBelievable,
  judge,
  options,
  settingsOf,
  subjectOf,
} from "../../../src/feeds/price/conditions.js";
import type { PriceSample } from "../../../src/ledger/prices.js";
import type { PriceWatch } from "../../../src/storage/catalogue.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 22, 12);

describe("what people type for a value", () => {
  it.each([
    ["0.16", "0.16"],
    ["$0.16", "$0.16"],
    ["0,16", "0.16"],
    ["5%", "5%"],
    ["5 %", "5%"],
    [" 0.160 USD ", "$0.16"],
    ["100", "100"],
    ["0.0000001", "0.0000001"],
    ["1,000", undefined],
    ["$5%", undefined],
    ["-5", undefined],
    ["0", undefined],
    ["soon", undefined],
    ["1e9", undefined],
  ])("%s is %s", (typed, value) => {
    expect(options.value.parse(typed)).toBe(value);
  });
});

it("names a condition by what it waits for, and reads it from that", () => {
  for (const settings of [
    { when: "above", value: "0.16", over: "24h" },
    { when: "below", value: "0.1", over: "24h" },
    { when: "moves", value: "5", over: "1h" },
  ] as const)
    expect(settingsOf(subjectOf(settings))).toEqual(settings);
  expect(settingsOf("nonsense")).toBeUndefined();
  expect(subjectOf({ when: "above", value: "$0.16", over: "24h" })).toBe("above-0.16");
  expect(() => subjectOf({ when: "above", value: "5%", over: "24h" })).toThrow("is in USD");
  expect(() => subjectOf({ when: "moves", value: "$5", over: "24h" })).toThrow("moves by a share");
});

it.each([
  ["0.16", 0, "0.15", true],
  ["0.16", 0, undefined, true],
  [null, 0, "0.15", false],
  ["0", 0, "0.15", false],
  ["1e308", 0, "0.15", false],
  ["16", 0, "0.15", false],
  ["0.0014", 0, "0.15", false],
  ["0.16", 16 * MINUTE, "0.15", false],
])("a price of %s that is %d ms old, after %s, may be believed: %s", (price, age, last, expected) => {
  expect(isBelievable(price, NOW - age, last, NOW)).toBe(expected);
});

it("does not believe a price that does not say when it is from", () => {
  expect(isBelievable("0.16", null, "0.15", NOW)).toBe(false);
});

describe("a condition", () => {
  const run = (
    condition: Partial<Condition>,
    readings: readonly (readonly [minutes: number, price: string])[],
    samples: readonly PriceSample[] = [],
    before = "0.15",
  ) => {
    let memory: PriceWatch | undefined;
    const told: string[] = [];
    const whole: Condition = { when: "above", value: 0.16, over: "24h", repeat: "every", ...condition };
    for (const [minutes, price] of readings) {
      const judged = judge(whole, memory, price, samples, before, NOW + minutes * MINUTE);
      memory = judged.memory;
      if (judged.from !== undefined) told.push(`${minutes}: ${judged.from} → ${price}`);
    }
    return told;
  };

  it("is told of as it comes to hold, and again once it came back by 1 % and an hour has passed", () => {
    const readings = [
      [0, "0.15"],
      [5, "0.161"],
      [10, "0.1599"],
      [15, "0.161"],
      [20, "0.158"],
      [25, "0.161"],
      [70, "0.158"],
      [75, "0.161"],
    ] as const;
    expect(run({}, readings)).toEqual(["5: 0.15 → 0.161", "75: 0.15 → 0.161"]);
    expect(run({ repeat: "once" }, readings)).toEqual(["5: 0.15 → 0.161"]);
  });

  it("that held already when it was made is no news", () => {
    const rising = [
      [0, "0.17"],
      [5, "0.18"],
    ] as const;
    expect(run({}, rising, [], "0.17")).toEqual([]);
    expect(run({}, rising)).toEqual(["0: 0.15 → 0.17"]);
    const fallen = [
      [0, "0.17"],
      [5, "0.15"],
      [10, "0.17"],
    ] as const;
    expect(run({}, fallen, [], "0.17")).toEqual(["10: 0.17 → 0.17"]);
  });

  it("is told of below a price just as well", () => {
    expect(
      run({ when: "below", value: 0.14 }, [
        [0, "0.15"],
        [5, "0.139"],
        [10, "0.13"],
      ]),
    ).toEqual(["5: 0.15 → 0.139"]);
  });

  it("compares a move with the price at the beginning of its span, where one is known", () => {
    const samples: PriceSample[] = [
      [NOW - DAY, "0.2"],
      [NOW - HOUR, "0.1"],
    ];
    const hour = { when: "moves", value: 5, over: "1h" } as const;
    const day = { when: "moves", value: 40, over: "24h" } as const;
    const readings = [
      [0, "0.101"],
      [1, "0.14"],
      [2, "0.106"],
    ] as const;
    expect(run(hour, readings, samples)).toEqual(["1: 0.1 → 0.14"]);
    expect(run(day, [[-1, "0.14"], ...readings], samples)).toEqual(["0: 0.2 → 0.101"]);
    expect(run(hour, readings, [])).toEqual([]);
  });
});
