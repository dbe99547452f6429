import { describe, expect, it } from "vitest";
import { namedAddress } from "../../src/screens/addresses.js";
import { fingerprint, hintOf, isWholeId, shortId } from "../../src/text/ids.js";

const HEX = `${"ab".repeat(31)}cd`;
const PARTY = `delta-labs::1220${HEX}`;
const UPDATE = `1220${HEX}`;

describe("a shortened id", () => {
  it.each([
    [PARTY, "delta-labs::1220ab…abcd", "1220ab…abcd", "delta-labs"],
    [`${"h".repeat(60)}::1220${HEX}`, `${"h".repeat(39)}…::1220ab…abcd`, "1220ab…abcd", `${"h".repeat(39)}…`],
    [UPDATE, "1220ababab…ababcd", "1220ababab…ababcd", "1220ababab…ababcd"],
    ["short", "short", "short", "short"],
    [`a::b::1220${HEX}`, "a::b::1220ab…abcd", "1220ab…abcd", "a::b"],
    [
      `x${PARTY}y`,
      `xdelta-lab…${"abcdy".slice(-6).padStart(6, "b")}`,
      `xdelta-lab…${"babcdy"}`,
      `xdelta-lab…${"babcdy"}`,
    ],
  ])("%s", (id, short, ends, hint) => {
    expect([shortId(id), fingerprint(id), hintOf(id)]).toEqual([short, ends, hint]);
  });
});

describe("a whole id", () => {
  it.each([
    [PARTY, true],
    [PARTY.toUpperCase(), true],
    [UPDATE, true],
    [`${UPDATE}:12`, true],
    [`${UPDATE}:`, false],
    [`x${UPDATE}`, false],
    [PARTY.slice(0, -1), false],
    [`${PARTY}0`, false],
    [HEX, true],
    [HEX.slice(1), false],
    [shortId(PARTY), false],
    ["Delta Labs", false],
  ])("%s: %s", (text, isOne) => {
    expect(isWholeId(text)).toBe(isOne);
  });
});

describe("a typed name", () => {
  it.each(["validator", "party", "rewards", "voteRequest", "votes", "token"] as const)(
    "opens a lookup for %s",
    (of) => {
      expect(namedAddress(of, "Delta Labs")).toEqual({
        screen: "lookup",
        parameters: { id: "Delta Labs", of },
      });
    },
  );

  it.each(["event", "price", "contract"] as const)("is not accepted for %s", (of) => {
    expect(namedAddress(of, "Delta Labs")).toBeUndefined();
  });
});
