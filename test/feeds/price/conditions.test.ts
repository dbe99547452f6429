import { describe, expect, it } from "vitest";
import type { PriceWatch } from "../../../src/feeds/price/collections.js";
import { type Condition, options, settingsOf, subjectOf } from "../../../src/feeds/price/conditions.js";
import {
  backWords,
  exampleMove,
  isBelievable,
  isPastLimit,
  judge,
  wholeFrom,
} from "../../../src/feeds/price/judge.js";
import type { PriceSample } from "../../../src/ledger/prices.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 22, 12);

describe("a typed value", () => {
  it.each([
    ["0.16", "0.16"],
    ["$0.16", "$0.16"],
    ["0,16", "0.16"],
    ["0,165", "0.165"],
    ["0,160 USD", "$0.16"],
    ["5%", "5%"],
    ["5 %", "5%"],
    [" 0.160 USD ", "$0.16"],
    ["100", "100"],
    ["0.0000001", "0.0000001"],
    ["1,000", undefined],
    ["12,345", undefined],
    ["$5%", undefined],
    ["-5", undefined],
    ["0", undefined],
    ["soon", undefined],
    ["1e9", undefined],
    [".16", "0.16"],
    ["$ .2", "$0.2"],
    ["USD 0.2", "$0.2"],
    ["1,234.50 USD", "$1234.5"],
    ["5 percent", "5%"],
    ["-5%", "5%"],
    ["+5%", "5%"],
    ["0%", undefined],
    ["0.000000001", undefined],
    ["99999999999999", undefined],
  ])("%s is read as %s", (typed, value) => {
    expect(options.value.parse(typed)).toBe(value);
  });
});

it.each([
  ["0", /more than 0/],
  ["99999999999999", /maximum is 999,999,999/],
  ["0.000000001", /too many decimals/],
])("a value that is out of range, %s, is told with its limit", (typed, words) => {
  expect(options.value.limit?.(typed)).toMatch(words);
});

it("encodes a condition's settings in its name, and reads them back", () => {
  for (const settings of [
    { when: "above", value: "0.16", over: "24h" },
    { when: "below", value: "0.1", over: "24h" },
    { when: "moves", value: "5", over: "1h" },
  ] as const)
    expect(settingsOf(subjectOf(settings))).toEqual(settings);
  expect(settingsOf("nonsense")).toBeUndefined();
  expect(subjectOf({ when: "above", value: "$0.16", over: "24h" })).toBe("above-0.16");
  expect(() => subjectOf({ when: "above", value: "5%", over: "24h" })).toThrow("a price in USD");
  expect(() => subjectOf({ when: "moves", value: "$5", over: "24h" })).toThrow(
    "For a move, type a percentage",
  );
  // An edit that changes only the kind.
  const price = { when: "above", value: "0.2", over: "24h" };
  expect(() => subjectOf({ ...price, when: "moves" }, price)).toThrow("For a move, type a percentage");
  expect(subjectOf({ ...price, when: "moves", value: "5" }, price)).toBe("moves-5-24h");
  expect(subjectOf({ ...price, when: "below" }, price)).toBe("below-0.2");
  const move = { when: "moves", value: "5", over: "24h" };
  expect(() => subjectOf({ ...move, when: "above" }, move)).toThrow("Type a price in USD");
  expect(subjectOf({ ...move, when: "above", value: "$5" }, move)).toBe("above-5");
  expect(subjectOf({ ...move, over: "1h" }, move)).toBe("moves-5-1h");
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
  ["0.16", -MINUTE, "0.15", true],
  ["0.16", -5 * 60 * MINUTE, "0.15", false],
])("a price of %s that is %d ms old, after %s, is plausible: %s", (price, age, last, expected) => {
  expect(isBelievable(price, NOW - age, last, NOW)).toBe(expected);
});

it("rejects a price without a time", () => {
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

  it("fires when it becomes true, and again after a move back by 1% and at least an hour", () => {
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

  it.each([
    ["0.1", "0.105"],
    ["0.2", "0.21"],
    ["0.14", "0.147"],
    ["0.15", "0.1575"],
    ["0.1", "0.095"],
  ])("fires at exactly the chosen percentage: %s → %s", (before, after) => {
    const samples = [[NOW - 20 * HOUR, before]] as const;
    const readings = [
      [0, before],
      [10, after],
    ] as const;
    expect(run({ when: "moves", value: 5 }, readings, samples)).toEqual([`10: ${before} → ${after}`]);
  });

  it.each([
    ["every", ["10: 0.15 → 0.16", "100: 0.15 → 0.135"]],
    ["once", ["10: 0.15 → 0.16"]],
  ] as const)("fires again if a move turns around without a reading in between: %s", (repeat, told) => {
    const readings = [
      [0, "0.15"],
      [10, "0.16"],
      [50, "0.16"],
      [100, "0.135"],
      [200, "0.134"],
    ] as const;
    const samples = [[NOW - 20 * HOUR, "0.15"]] as const;
    expect(run({ when: "moves", value: 5, repeat }, readings, samples)).toEqual(told);
  });

  it("fires once the hour is over if the price came back and passed the limit again within it", () => {
    const readings = [
      [0, "0.15"],
      [5, "0.161"],
      [20, "0.158"],
      [25, "0.165"],
      [60, "0.17"],
      [65, "0.2"],
      [300, "0.3"],
    ] as const;
    expect(run({}, readings)).toEqual(["5: 0.15 → 0.161", "65: 0.15 → 0.2"]);
  });

  it("tells the last price on the other side of the limit if the previous one had passed it already", () => {
    const samples = [
      [NOW - 20 * MINUTE, "0.15"],
      [NOW - 10 * MINUTE, "0.155"],
      [NOW - 5 * MINUTE, "0.165"],
    ] as const;
    const whole: Condition = { when: "above", value: 0.16, over: "24h", repeat: "every" };
    expect(judge(whole, { isArmed: true }, "0.17", samples, "0.165", NOW).from).toBe("0.155");
    expect(judge(whole, { isArmed: true }, "0.17", samples, "0.159", NOW).from).toBe("0.159");
  });

  it("is armed if it has stopped holding just before it is set up", () => {
    const whole: Condition = { when: "above", value: 0.16, over: "24h", repeat: "every" };
    expect(judge(whole, undefined, "0.1595", [], "0.161", NOW).memory.isArmed).toBe(true);
    expect(judge(whole, undefined, "0.165", [], "0.161", NOW).memory.isArmed).toBe(false);
  });

  it.each([0.03, 0.24, 0.43])("is armed again by exactly the price that people are told, for %d", (value) => {
    for (const when of ["above", "below"] as const) {
      const whole: Condition = { when, value, over: "24h", repeat: "every" };
      const [, back = ""] = /back at ([\d.]+) USD/.exec(backWords(whole)) ?? [];
      const told = { at: NOW - DAY, price: "1" };
      expect(judge(whole, { isArmed: false, told }, back, [], String(value), NOW).memory.isArmed).toBe(true);
    }
  });

  it("is armed by a price that came back while its alerts were snoozed, and fires once they are not", () => {
    const whole: Condition = { when: "above", value: 0.16, over: "24h", repeat: "every" };
    const told = { at: NOW, price: "0.17" };
    const back = judge(whole, { isArmed: false, told }, "0.15", [], "0.17", NOW + HOUR, false);
    expect(back.memory.isArmed).toBe(true);
    const again = judge(whole, back.memory, "0.17", [], "0.15", NOW + 2 * HOUR, false);
    expect(again).toEqual({ memory: back.memory });
    const samples = [[NOW + HOUR, "0.15"]] as const;
    expect(judge(whole, again.memory, "0.18", samples, "0.17", NOW + 3 * HOUR).from).toBe("0.15");
  });

  it("does not fire at exactly its limit", () => {
    expect(
      run({}, [
        [0, "0.15"],
        [5, "0.16"],
        [10, "0.1601"],
      ]),
    ).toEqual(["10: 0.15 → 0.1601"]);
    expect(
      run(
        { when: "below" },
        [
          [0, "0.17"],
          [5, "0.16"],
          [10, "0.1599"],
        ],
        [],
        "0.17",
      ),
    ).toEqual(["10: 0.17 → 0.1599"]);
  });

  it("does not fire if it was already true when it was created", () => {
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

  it("also fires below a price", () => {
    expect(
      run({ when: "below", value: 0.14 }, [
        [0, "0.15"],
        [5, "0.139"],
        [10, "0.13"],
      ]),
    ).toEqual(["5: 0.15 → 0.139"]);
  });

  it("measures a move from the price at the start of its span, if that is known", () => {
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

  it("measures a move from the oldest price within its span if the price at its start is unknown", () => {
    const day = { when: "moves", value: 5, over: "24h" } as const;
    const young: PriceSample[] = [
      [NOW - 3 * HOUR, "0.1"],
      [NOW - HOUR, "0.11"],
    ];
    const readings = [
      [0, "0.104"],
      [1, "0.106"],
    ] as const;
    expect(run(day, readings, young)).toEqual(["1: 0.1 → 0.106"]);
    // After a gap, the last price before the span is not used.
    expect(run(day, readings, [[NOW - 2 * DAY, "0.2"], ...young])).toEqual(["1: 0.1 → 0.106"]);
    const judged = judge({ ...day, repeat: "every" }, { isArmed: true }, "0.106", young, undefined, NOW);
    expect(judged).toMatchObject({ from: "0.1", since: NOW - 3 * HOUR });
  });

  it.each([
    ["no price yet", [], "24h", NOW + DAY],
    ["prices of three hours", [3 * HOUR, HOUR], "24h", NOW + 21 * HOUR],
    ["prices of three hours, for a move within one hour", [3 * HOUR, HOUR], "1h", undefined],
    ["prices of a day", [DAY, HOUR], "24h", undefined],
    ["prices of nearly a day", [DAY - 15 * MINUTE, HOUR], "24h", undefined],
    ["prices of slightly less than that", [DAY - 15 * MINUTE - 1, HOUR], "24h", NOW + 15 * MINUTE + 1],
    ["a gap of a day", [3 * DAY, 2 * HOUR], "24h", NOW + 22 * HOUR],
  ] as const)("says from when a move is measured over its whole span: %s", (_, ages, over, expected) => {
    const samples = ages.map((age): PriceSample => [NOW - age, "0.15"]);
    expect(wholeFrom({ when: "moves", over }, samples, NOW)).toBe(expected);
    expect(wholeFrom({ when: "above", over }, samples, NOW)).toBeUndefined();
  });
});

describe("the condition for repeating an alert", () => {
  it.each([
    [{ when: "above", value: 0.16 }, "the price was back at 0.1584 USD or below"],
    [{ when: "below", value: 0.1 }, "the price was back at 0.101 USD or above"],
    [{ when: "above", value: 0.0000001 }, "the price was back at 0.000000099 USD or below"],
    [{ when: "moves", value: 5 }, "the change was back within 4% over 24 hours"],
    [{ when: "moves", value: 1 }, "the change was back within 0.5% over 24 hours"],
  ] as const)("%j: %s", (condition, words) => {
    expect(backWords({ over: "24h", ...condition })).toBe(words);
  });
});

describe("a drill's example move", () => {
  it.each([
    [{ when: "below", value: 0.1 }, "0.16", { from: "0.101", to: "0.099" }],
    [{ when: "above", value: 0.16 }, "0.15", { from: "0.1584", to: "0.1616" }],
    [{ when: "above", value: 0.16 }, "0.2", { from: "0.1584", to: "0.2" }],
    [{ when: "moves", value: 25 }, "0.15", { from: "0.12", to: "0.15" }],
  ] as const)("%j at %s meets its own condition", (condition, price, move) => {
    const example = exampleMove(condition, price);
    expect(example).toEqual(move);
    if (condition.when !== "moves") {
      expect(isPastLimit(condition, Number(example.to))).toBe(true);
      expect(isPastLimit(condition, Number(example.from))).toBe(false);
    }
  });
});
