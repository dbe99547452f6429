import { expect, it } from "vitest";
import { validatorDetail } from "../../src/explorer/schema/validators.js";
import { idsIn, seenWords } from "../../src/screens/parts.js";
import { contactLines } from "../../src/screens/validator.js";
import { join } from "../../src/text/markdown.js";
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

it("all links of a validator fit into a field, and a long one is text", () => {
  const long = `https://x.example/${"a".repeat(2_000)}`;
  const usual = `https://x.example/${"a".repeat(150)}`;
  const fieldOf = (url: string) => {
    const links = { website: url, discord: url, twitter: url, github: url, telegram: url };
    return join(contactLines(validatorDetail.parse(links)), " · ").toString();
  };
  expect(fieldOf(usual).match(/\]\(https:/g)).toHaveLength(5);
  expect(fieldOf(long)).not.toContain("](");
  // These characters are written as three in a link.
  const underscores = `https://x.example/${"_".repeat(150)}`;
  expect(fieldOf(underscores)).not.toMatch(/\]\([^)]*$/);
  for (const url of [usual, long, underscores]) expect(fieldOf(url).length).toBeLessThanOrEqual(1_024);
});

const [ACME, OTHER] = [`Acme Corp::1220${"ab".repeat(32)}`, `Other::1220${"cd".repeat(32)}`];
const [EVENT, CHILD] = [`${"12".repeat(32)}:0`, `${"12".repeat(32)}:12`];
it.each([
  [
    [ACME, OTHER],
    [ACME, OTHER],
  ],
  [`${ACME},${OTHER}`, [ACME, OTHER]],
  [`["${ACME}", "${OTHER}"]`, [ACME, OTHER]],
  [`[${ACME},\n ${OTHER}]`, [ACME, OTHER]],
  [`${ACME} ${OTHER}`, [ACME, OTHER]],
  [`${EVENT} ${CHILD}`, [EVENT, CHILD]],
  ["", []],
  [null, []],
])("ids are separated, but hints with spaces are not: %j", (field, ids) => {
  expect(idsIn(field)).toEqual(ids);
});
