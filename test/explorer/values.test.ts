import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  parseJson,
  toCount,
  toDecimal,
  toFlag,
  toJson,
  toText,
  toTime,
  toUrl,
} from "../../src/explorer/values.js";
import { shortId } from "../../src/text/ids.js";
import { clean, cut } from "../../src/text/plain.js";

const MOMENT = Date.UTC(2026, 10, 21, 10, 0, 0);

describe("a time", () => {
  it.each([
    ["seconds", MOMENT / 1_000],
    ["milliseconds", MOMENT],
    ["microseconds", MOMENT * 1_000],
    ["nanoseconds as text", `${MOMENT}000000`],
    ["ISO text", "2026-11-21T10:00:00Z"],
    ["ISO text without a zone", "2026-11-21T10:00:00.000"],
    ["ISO text with an offset", "2026-11-21T12:00:00+02:00"],
  ])("is read from %s", (_, value) => {
    expect(toTime(value)).toBe(MOMENT);
  });

  it.each([0, -1, null, undefined, "", "soon", 12, {}, [], true, Number.NaN, "9".repeat(50), "1970-01-01"])(
    "is unknown for %j",
    (value) => {
      expect(toTime(value)).toBeNull();
    },
  );
});

describe("a decimal", () => {
  it("keeps every digit", () => {
    expect(toDecimal("12345678901234567890.1234567890")).toBe("12345678901234567890.123456789");
    expect(toDecimal("9007199254740993")).toBe("9007199254740993");
    expect(toDecimal(1e21)).toBe("1000000000000000000000");
    expect(toDecimal("1.5e-7")).toBe("0.00000015");
    expect(toDecimal("-0.0")).toBe("0");
    expect(toDecimal("0007")).toBe("7");
  });

  it("agrees with Number for every number", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(Number(toDecimal(number))).toBe(number === 0 ? 0 : number);
      }),
    );
  });

  it.each([null, "", "1,5", "0x10", {}, Number.POSITIVE_INFINITY, "NaN"])("is not read from %j", (value) => {
    expect(toDecimal(value)).toBeNull();
  });
});

describe("numbers past 2^53", () => {
  it("stay exact through JSON", () => {
    expect(
      parseJson('{"id":9007199254740993,"n":12,"x":0.1234567890123456789,"s":"9007199254740993 \\" 1"}'),
    ).toEqual({
      id: "9007199254740993",
      n: 12,
      x: "0.1234567890123456789",
      s: '9007199254740993 " 1',
    });
  });

  it("parses all other JSON like JSON.parse", () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: "medium" }), (value) => {
        const text = JSON.stringify(value);
        // parseJson may keep long runs of digits and points as text.
        if (!/[\d.]{15}/.test(text)) expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("parses several megabytes", () => {
    const text = JSON.stringify({ a: 'x\\"'.repeat(1_000_000), id: 1 }).replace(
      '"id":1',
      '"id":9007199254740993',
    );
    expect(parseJson(text)).toMatchObject({ id: "9007199254740993" });
  });
});

describe("other values", () => {
  it("distinguishes null from zero and false", () => {
    expect([toCount(null), toCount(0), toCount("7"), toCount(-1), toCount(1.5)]).toEqual([
      null,
      0,
      7,
      null,
      null,
    ]);
    expect([toFlag(null), toFlag(false), toFlag("TRUE"), toFlag(0), toFlag("no")]).toEqual([
      null,
      false,
      true,
      null,
      null,
    ]);
  });

  it("removes invisible and control characters from text", () => {
    expect(clean("a\u202eb\u0000c\u200bd\u{e0041}e")).toBe("abcde");
    expect(toText("  \u2066 ")).toBeNull();
    expect(encodeURIComponent(clean("\ud800x"))).toContain("x");
  });

  it("parses JSON in text, and keeps other text", () => {
    expect(toJson('{"a":[1]}')).toEqual({ a: [1] });
    expect(toJson("{oops")).toBe("{oops");
    expect(toJson("")).toBeNull();
  });

  it("shortens ids in the middle, and never splits a code point", () => {
    const id = `bob::1220${"ab".repeat(32)}`;
    expect(shortId(id)).toBe("bob::1220ab…abab");
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.integer({ min: 1, max: 50 }),
        (text, most) => {
          const short = cut(text.toWellFormed(), most);
          expect(short.length).toBeLessThanOrEqual(most);
          expect(short.isWellFormed()).toBe(true);
        },
      ),
    );
  });

  it("accepts only http(s) URLs", () => {
    expect(toUrl("https://a.example/x y")).toBe("https://a.example/x%20y");
    for (const bad of [
      "javascript:alert(1)",
      "data:,x",
      "//a.example",
      "http://user:pw@a.example",
      "x",
      "https://localhost",
      null,
    ]) {
      expect(toUrl(bad)).toBeNull();
    }
  });
});
