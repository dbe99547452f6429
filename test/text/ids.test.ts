import { describe, expect, it } from "vitest";
import { readId } from "../../src/text/ids.js";

describe("a pasted name", () => {
  it.each([
    ['"Delta Labs"', "Delta Labs"],
    ["“Delta Labs”,", "Delta Labs"],
    ["(Delta Labs)", "Delta Labs"],
    ["Delta Labs)", "Delta Labs"],
    ["[Delta Labs", "Delta Labs"],
    ["Acme (EU)", "Acme (EU)"],
    ["(Acme (EU))", "Acme (EU)"],
    ["Raise the fee (Basalt Labs)", "Raise the fee (Basalt Labs)"],
    ["(A) and (B)", "(A) and (B)"],
    ['The "Best"', 'The "Best"'],
    ["  Delta \n Labs ", "Delta Labs"],
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
