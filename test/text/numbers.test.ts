import { describe, expect, it } from "vitest";
import { withCoin } from "../../src/text/coin.js";
import { coins } from "../../src/text/markdown.js";
import { aboutUsd, bytes, countedWords, fixed, grouped, share } from "../../src/text/numbers.js";

describe("a number", () => {
  it.each<[string | number | null, number, string]>([
    ["1234567.891", 2, "1,234,567.89"],
    ["0", 2, "0"],
    ["0.000", 2, "0"],
    ["-0", 2, "0"],
    ["0.004", 2, "under 0.01"],
    ["0.005", 2, "0.01"],
    ["-0.004", 2, "just below 0"],
    ["-0.3018", 2, "-0.3"],
    ["-12.5", 2, "-12.5"],
    [-0.05, 2, "-0.05"],
    ["-1e-20", 2, "just below 0"],
    ["0.00004", 4, "under 0.0001"],
    [4e-7, 4, "under 0.0001"],
    ["123456789012345678901234567890.1", 1, "123,456,789,012,345,678,901,234,567,890.1"],
    [null, 2, "—"],
  ])("shows %j with up to %d decimals", (value, digits, text) => {
    expect(grouped(value, digits)).toBe(text);
  });

  it("is labelled as coin, and is not shown as zero if it is small", () => {
    expect(withCoin(coins("0.00004", 2).toString(), "CC")).toBe("under 0.01 CC");
    expect(withCoin(coins("0", 2).toString(), "TC")).toBe("0 TC");
    expect(coins(null).toString()).toBe("unknown");
  });
});

describe("bytes", () => {
  it.each([
    ["0", "0 bytes"],
    ["1", "1 byte"],
    ["500", "500 bytes"],
    ["999949", "999.9 kB"],
    ["999960", "1 MB"],
    ["1500", "1.5 kB"],
    ["2000000", "2 MB"],
    ["3200000000", "3.2 GB"],
    [null, "unknown"],
  ])("shows %s as %s", (count, text) => {
    expect(bytes(count)).toBe(text);
  });
});

describe("a number in a column", () => {
  it.each([
    ["1234.5", 2, "1,234.50"],
    ["0", 2, "0.00"],
    ["-0.0", 2, "0.00"],
    ["0.004", 2, "under 0.01"],
    ["-0.004", 2, "just below 0"],
    [12, 1, "12.0"],
    ["123456789012345678901.005", 2, "123,456,789,012,345,678,901.01"],
  ])("shows %j with %d decimals: %s", (value, digits, text) => {
    expect(fixed(value, digits)).toBe(text);
  });

  it("shows a share in percent", () => {
    expect([
      share(623, 1000),
      share(1, 10_000),
      share(0, 3),
      share(3, 3),
      share(0, 0),
      share(4_999, 5_000),
    ]).toEqual(["62.3%", "under 0.1%", "0.0%", "100.0%", "—", "over 99.9%"]);
  });

  it("pluralizes the noun", () => {
    expect([
      countedWords(1, "vote"),
      countedWords(0, "vote"),
      countedWords(1109, "party", "parties"),
    ]).toEqual(["1 vote", "0 votes", "1,109 parties"]);
  });

  it("shows USD as approximate", () => {
    expect([168.4, 99.994, 0.5, 0.004, 0, null, 1_234_567, -76.2, -0.004].map(aboutUsd)).toEqual([
      "about $168",
      "about $99.99",
      "about $0.50",
      "under $0.01",
      "$0",
      null,
      "about $1,234,567",
      "about -$76.20",
      "under $0.01",
    ]);
  });
});
