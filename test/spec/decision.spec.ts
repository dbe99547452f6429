import { describe, expect, it } from "vitest";
import { type Decision, decide } from "../../src/explorer/decision.js";

const freshness = { fresh: 60_000, stale: 300_000 };

describe("the cache's decision", () => {
  const cases: readonly [
    what: string,
    held: { ageMs: number; missing: boolean } | undefined,
    maxAgeMs: number | undefined,
    expected: Decision,
  ][] = [
    ["nothing is cached", undefined, undefined, "fetch"],
    ["nothing is cached, with a maxAgeMs of 0", undefined, 0, "fetch"],
    ["it is fresh", { ageMs: 0, missing: false }, undefined, "answer"],
    ["it is exactly at the freshness limit", { ageMs: 60_000, missing: false }, undefined, "answer"],
    ["it has just become stale", { ageMs: 60_001, missing: false }, undefined, "revalidate"],
    ["it is exactly at the staleness limit", { ageMs: 300_000, missing: false }, undefined, "revalidate"],
    ["it is past the staleness limit", { ageMs: 300_001, missing: false }, undefined, "fetch"],
    ["it is exactly maxAgeMs old", { ageMs: 10_000, missing: false }, 10_000, "answer"],
    ["it is fresh, but older than maxAgeMs", { ageMs: 10_001, missing: false }, 10_000, "fetch"],
    ["it is old, but within maxAgeMs", { ageMs: 400_000, missing: false }, 500_000, "answer"],
    ["it is older than a maxAgeMs of 0", { ageMs: 1, missing: false }, 0, "fetch"],
    ["it was just fetched, with a maxAgeMs of 0", { ageMs: 0, missing: false }, 0, "answer"],
    ["it was missing half a minute ago", { ageMs: 30_000, missing: true }, undefined, "answer"],
    ["it was missing slightly longer ago", { ageMs: 30_001, missing: true }, undefined, "fetch"],
    ["it was missing longer than maxAgeMs ago", { ageMs: 10_001, missing: true }, 10_000, "fetch"],
    ["it was missing exactly maxAgeMs ago", { ageMs: 10_000, missing: true }, 10_000, "answer"],
    [
      "it was missing too long ago, even with a large maxAgeMs",
      { ageMs: 30_001, missing: true },
      500_000,
      "fetch",
    ],
  ];
  it.each(cases)("chooses where an answer comes from if %s", (_, held, maxAgeMs, expected) => {
    expect(decide(held, freshness, maxAgeMs)).toBe(expected);
  });
});
