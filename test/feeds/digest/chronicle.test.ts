import { describe, expect, it } from "vitest";
import type { ValidatorSummary } from "../../../src/explorer/schema/validators.js";
import { validatorSummary } from "../../../src/explorer/schema/validators.js";
import { compareReading, UNREAD_MS, type ValidatorReading } from "../../../src/feeds/digest/chronicle.js";
import type { Happening } from "../../../src/feeds/digest/collections.js";
import { MINUTE } from "../../../src/util/units.js";

type Standing = ReturnType<ValidatorReading["standingOf"]>;

const AT = Date.UTC(2026, 10, 22);
const rowOf = (validator: string, version = "0.6.2"): ValidatorSummary =>
  validatorSummary.parse({ validator, validatorName: null, active: true, version });

/** Returns a reading. @param standings by validator */
const readingOf = (
  standings: Readonly<Record<string, Standing>>,
  at: number,
  version?: string,
): ValidatorReading => ({
  rows: Object.keys(standings).map((validator) => rowOf(validator, version)),
  standingOf: ({ validator }) => standings[validator ?? ""] ?? "unknown",
  at,
});
const words = (each: Happening): string => ("party" in each ? `${each.party} ${each.kind}` : each.kind);

describe("the validator chronicle", () => {
  it.each([
    ["records no event on the first reading", [{ a: "reporting", b: "silent" }], []],
    ["records who went silent", [{ a: "reporting" }, { a: "silent" }], ["a silent"]],
    ["records who came back, even with late reports", [{ a: "silent" }, { a: "late" }], ["a back"]],
    [
      "records an outage between two digests",
      [{ a: "reporting" }, { a: "silent" }, { a: "reporting" }],
      ["a silent", "a back"],
    ],
    [
      "does not treat missing data as an outage",
      [{ a: "reporting" }, { a: "unknown" }, { a: "reporting" }],
      [],
    ],
    [
      "remembers an outage across missing data",
      [{ a: "silent" }, { a: "unknown" }, { a: "reporting" }],
      ["a back"],
    ],
    [
      "assumes nothing about the time before the first report",
      [{ a: "unknown" }, { a: "silent" }, { a: "reporting" }],
      ["a back"],
    ],
    [
      "records who joined, even if silent",
      [{ a: "reporting" }, { a: "reporting", b: "silent" }],
      ["b joined"],
    ],
    [
      "does not record a validator as joined if it was unlisted for a while",
      [{ a: "reporting", b: "reporting" }, { a: "reporting" }, { a: "reporting", b: "late" }],
      [],
    ],
    [
      "records that an unlisted validator came back",
      [{ a: "reporting", b: "silent" }, { a: "reporting" }, { a: "reporting", b: "reporting" }],
      ["b back"],
    ],
  ] as const)("%s", (_, readings, expected) => {
    let known: ReturnType<typeof compareReading>["next"] | undefined;
    const happened: string[] = [];
    for (const [index, standings] of readings.entries()) {
      const result = compareReading(known, readingOf(standings, AT + index * 10 * MINUTE));
      known = result.next;
      happened.push(...result.happened.map(words));
    }
    expect(happened).toEqual(expected);
    expect(known?.startedAt).toBe(AT);
  });

  it("records a change of the most common version, and the version before", () => {
    const { next } = compareReading(undefined, readingOf({ a: "reporting" }, AT, "0.6.2"));
    const { happened } = compareReading(next, readingOf({ a: "reporting" }, AT + MINUTE, "0.6.3"));
    expect(happened).toEqual([{ kind: "version", at: AT + MINUTE, from: "0.6.2" }]);
  });

  it.each([
    [UNREAD_MS, []],
    [UNREAD_MS + 1, ["unread"]],
  ])("records a gap of %d ms between two readings as %j", (gapMs, expected) => {
    const { next } = compareReading(undefined, readingOf({ a: "reporting" }, AT));
    const { happened } = compareReading(next, readingOf({ a: "reporting" }, AT + gapMs));
    expect(happened.map(words)).toEqual(expected);
  });
});
