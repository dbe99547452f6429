import { describe, expect, it } from "vitest";
import { reminderId } from "../../src/feeds/governance/events.js";
import { believedReminders } from "../../src/feeds/governance/reminders.js";
import { readId, typedId } from "../../src/text/ids.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { NOW } from "./vote-requests.js";

const HEX = "ab".repeat(32);

describe("a typed id", () => {
  it.each([
    ["in lower case stays as it is", `1220${HEX}`, `1220${HEX}`],
    ["in capitals becomes lower case", `1220${HEX.toUpperCase()}`, `1220${HEX}`],
    ["of a party keeps the capitals of its hint", `ACME::1220${HEX.toUpperCase()}`, `ACME::1220${HEX}`],
    ["loses 0x", `0x${HEX}`, HEX],
    ["loses 0X before capitals", `0X${HEX.toUpperCase()}`, HEX],
    ["of an event loses #", `#1220${HEX}:3`, `1220${HEX}:3`],
    ["keeps 0x before fewer digits", "0xAB", "0xAB"],
    ["that is a name keeps its capitals", "Acme ABC", "Acme ABC"],
    ["of 63 digits is no id", "A".repeat(63), "A".repeat(63)],
    [
      "in a link to Discord stays a link",
      "https://discord.com/channels/1/2",
      "https://discord.com/channels/1/2",
    ],
    ["in an invitation stays a link", "https://discord.gg/abc", "https://discord.gg/abc"],
    ["in a link elsewhere is found", `https://notdiscord.com/x/${HEX}`, HEX],
  ])("%s", (_, typed, id) => {
    expect(typedId(typed)).toBe(id);
  });
});

describe("the id in pasted text", () => {
  const id = `acme-node::1220${HEX}`;
  const wraps: readonly (readonly [before: string, after: string])[] = [
    ...['""', "''", "``", "“”", "‘’", "«»", "<>", "()", "[]"].map(
      (pair) => [pair.charAt(0), pair.charAt(1)] as const,
    ),
    ...["**", "__", "||", "*", "_"].map((mark) => [mark, mark] as const),
    ["(**", "**)."],
    ["  ", "\t"],
    ["", "."],
    ["", ","],
    ["", ";"],
    ["", "!"],
    ["", "..."],
    ["- ", ""],
    ["* ", ""],
    ["• ", ""],
    ["12. ", ""],
    ["Party: ", ""],
    ["**Party id:** ", ""],
  ];
  it.each(wraps)("is found between %j and %j", (before, after) => {
    expect(readId(`${before}${id}${after}`)).toBe(id);
    expect(readId(`${before}${HEX}${after}`)).toBe(HEX);
  });

  it("keeps the spaces and marks of a party's hint", () => {
    const spaced = `Acme _Node_ 1::1220${HEX}`;
    expect(readId(` ${spaced} `)).toBe(spaced);
    expect(readId(`Acme   Node::1220${HEX}`)).toBe(`Acme Node::1220${HEX}`);
  });

  it("is found as the last word", () => {
    expect(readId(`- ${HEX} `)).toBe(HEX);
    expect(readId(`see (${HEX}).`)).toBe(HEX);
    expect(readId(`a::b ${HEX}`)).toBe(HEX);
  });

  it.each([
    ["https://x.example/party/abc", "abc"],
    [`https://x.example/${HEX}/details`, HEX],
    [`https://x.example/?id=${HEX}&tab=2`, HEX],
    [`https://x.example/#/update/${HEX}`, HEX],
    [`https://x.example/p/${encodeURIComponent(`a::1220${HEX}`)}`, `a::1220${HEX}`],
    [`[text](https://x.example/${HEX})`, HEX],
    [`<https://x.example/${HEX}>`, HEX],
    ["https://x.example/%E0%A4%A", "%E0%A4%A"],
    ["https://x.example/", ""],
    ["..", ""],
    ["Acme, Inc", "Acme, Inc"],
  ])("%s is read as %s", (text, expected) => {
    expect(readId(text)).toBe(expected);
  });
});

it("reminders of a clock that was ahead are due again", () => {
  const deadline = NOW + DAY;
  const [sent, early] = [reminderId(deadline, 2 * DAY), reminderId(deadline, HOUR)];
  const all = [sent, early];
  expect(believedReminders(all, NOW)).toEqual([sent]);
  expect(believedReminders(all, deadline - HOUR)).toBe(all);
  // Processes' clocks differ by seconds.
  expect(believedReminders(all, deadline - HOUR - 5 * MINUTE)).toBe(all);
  expect(believedReminders(all, deadline - HOUR - 5 * MINUTE - 1)).toEqual([sent]);
});
