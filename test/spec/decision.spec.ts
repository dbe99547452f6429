import { describe, expect, it } from "vitest";
import { type Decision, decide } from "../../src/explorer/decision.js";

const freshness = { fresh: 60_000, stale: 300_000 };

describe("how a question is answered", () => {
  const cases: readonly [
    what: string,
    held: { ageMs: number; missing: boolean } | undefined,
    maxAgeMs: number | undefined,
    expected: Decision,
  ][] = [
    ["nothing is held", undefined, undefined, "fetch"],
    ["nothing is held, and nothing old will do", undefined, 0, "fetch"],
    ["it is fresh", { ageMs: 0, missing: false }, undefined, "answer"],
    ["it is just fresh", { ageMs: 60_000, missing: false }, undefined, "answer"],
    ["it is just stale", { ageMs: 60_001, missing: false }, undefined, "revalidate"],
    ["it is still stale", { ageMs: 300_000, missing: false }, undefined, "revalidate"],
    ["it is too old", { ageMs: 300_001, missing: false }, undefined, "fetch"],
    ["it is as old as will do", { ageMs: 10_000, missing: false }, 10_000, "answer"],
    ["it is fresh, but older than will do", { ageMs: 10_001, missing: false }, 10_000, "fetch"],
    ["it is old, but will do", { ageMs: 400_000, missing: false }, 500_000, "answer"],
    ["nothing old will do", { ageMs: 1, missing: false }, 0, "fetch"],
    ["it said so this moment, and nothing older will do", { ageMs: 0, missing: false }, 0, "answer"],
    ["there was no such thing half a minute ago", { ageMs: 30_000, missing: true }, undefined, "answer"],
    ["there was no such thing a little before", { ageMs: 30_001, missing: true }, undefined, "fetch"],
    ["there was none, and something newer is wanted", { ageMs: 10_001, missing: true }, 10_000, "fetch"],
    ["there was none, as late as wanted", { ageMs: 10_000, missing: true }, 10_000, "answer"],
    ["there was none, and anything old would do", { ageMs: 30_001, missing: true }, 500_000, "fetch"],
  ];
  it.each(cases)("if %s", (_, held, maxAgeMs, expected) => {
    expect(decide(held, freshness, maxAgeMs)).toBe(expected);
  });
});
