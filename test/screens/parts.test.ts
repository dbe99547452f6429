import { expect, it } from "vitest";
import { seenWords } from "../../src/screens/parts.js";
import { HOUR, MINUTE } from "../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 23, 12);
const seconds = (ms: number) => Math.floor(ms / 1_000);

it.each([
  ["an hour ago", NOW - HOUR, `last report <t:${seconds(NOW - HOUR)}:R>`],
  ["a minute ahead, as now", NOW + MINUTE, `last report <t:${seconds(NOW)}:R>`],
  ["three hours ahead, as unknown", NOW + 3 * HOUR, "last report unknown"],
  ["never, as unknown", null, "last report unknown"],
])("shows a report %s", (_, at, words) => {
  expect(seenWords(at, NOW).toString()).toBe(words);
});
