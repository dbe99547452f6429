import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { isPartyId, packId, readId } from "../../src/text/ids.js";

describe("a pasted name", () => {
  it.each([
    ['"Delta Labs"', "Delta Labs"],
    ["“Delta Labs”,", "Delta Labs"],
    ["„Delta Labs“", "Delta Labs"],
    ["(Delta Labs)", "Delta Labs"],
    ["Delta Labs)", "Delta Labs"],
    ["[Delta Labs", "Delta Labs"],
    ["Acme (EU)", "Acme (EU)"],
    ["(Acme (EU))", "Acme (EU)"],
    ["Raise the fee (Basalt Labs)", "Raise the fee (Basalt Labs)"],
    ["(A) and (B)", "(A) and (B)"],
    ['The "Best"', 'The "Best"'],
    ["  Delta \n Labs ", "Delta Labs"],
    ['" Delta Labs "', "Delta Labs"],
    ["'Delta Labs", "Delta Labs"],
    ["Delta Labs'", "Delta Labs"],
    ["(Delta) Labs", "(Delta) Labs"],
    ["(A)(B)", "(A)(B)"],
    ['"The "Best""', '"The "Best""'],
    ["((((((Delta))))))", "Delta"],
    ["(((((((Delta)))))))", "(Delta)"],
  ])("%s is read as %s", (typed, name) => {
    expect(readId(typed)).toBe(name);
  });

  it("costs no more than its length, whatever marks it consists of", { timeout: 10_000 }, () => {
    const marks = "*_".repeat(1_500);
    const typed = `${marks}x${"(".repeat(3_000)}x${[...marks].reverse().join("")}`;
    // This took half a minute when each layer of marks was looked for in the whole text.
    expect(readId(typed)).toBe(typed);
  });
});

it.each([
  ["ab::cd", true],
  ["a::b", true],
  ["::cd", false],
  ["ab::", false],
  ["ab:cd", false],
  ["1\nab::cd", false],
  ["ab::cd\n1", false],
])("%j is a party's id: %s", (text, expected) => {
  expect(isPartyId(text)).toBe(expected);
});

describe("a pasted id", () => {
  it.each([`00${"cd".repeat(68)}`, `1220${"cd".repeat(32)}:1`, `acme-1::1220${"ab".repeat(32)}`])(
    "%s is read without the marks around it",
    (id) => {
      for (const [before, after] of [
        ["```\n", "\n```"],
        ["`` ", " ``"],
        ["```json\n", "\n```"],
        ["„", "“"],
        ["‚", "‘"],
        ["", " ."],
      ])
        expect(readId(`${before}${id}${after}`)).toBe(id);
    },
  );
});

describe("a link of the web explorer", () => {
  const party = `acme-1::1220${"ab".repeat(32)}`;
  const update = `1220${"cd".repeat(32)}`;
  it.each([
    [`party/${encodeURIComponent(party)}?after=${update}`, party],
    [`party/${encodeURIComponent(party)}?utm_id=${"0e".repeat(16)}#updates`, party],
    [`update/${update}#:~:text=${party}`, update],
    [`#/party/${encodeURIComponent(party)}`, party],
    [`page?party=${encodeURIComponent(party)}`, party],
    [`party/${encodeURIComponent(party)}/updates/${update}`, update],
  ])("%s has the id of its page", (path, id) => {
    expect(readId(`https://scan.example/${path}`)).toBe(id);
  });
});

it("long texts that people type are not kept in memory", () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const usedMb = () => {
    collect();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const before = usedMb();
  // Discord: a text has at most 6,000 characters.
  for (let each = 0; each < 5_000; each += 1)
    packId(JSON.parse(JSON.stringify(`${each} ${"я".repeat(5_990)}`)));
  expect(usedMb() - before).toBeLessThan(20);
});
