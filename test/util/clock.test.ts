import { expect, it } from "vitest";
import { ageOf, believed, isClockSet } from "../../src/util/clock.js";

const NOW = 1_000_000;

it.each([
  [NOW - 10, 10],
  [NOW, 0],
  [NOW + 4_000, 0],
  [NOW + 6_000, Number.POSITIVE_INFINITY],
  [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
])("a time at %d is %d ms old", (at, age) => {
  expect(ageOf(at, NOW)).toBe(age);
});

it.each([
  [NOW - 10, NOW - 10],
  [NOW + 100, NOW + 100],
  [NOW + 101, 0],
])("a deadline of %d becomes %d if waits last at most 100 ms", (at, moment) => {
  expect(believed(at, NOW, 100)).toBe(moment);
});

it.each([
  [0, false],
  [15 * 60_000 - 1, false],
  [15 * 60_000, true],
  // It was set back since the start.
  [-60_000, true],
])("%d ms after the start, the clock counts as set: %s", (ms, expected) => {
  expect(isClockSet(NOW, NOW + ms)).toBe(expected);
});
