import { describe, expect, it } from "vitest";
import { withMentions } from "../../src/discord/mentions.js";
import { isWholeId, readId } from "../../src/text/ids.js";
import { code, md } from "../../src/text/markdown.js";
import { cutEscaped } from "../../src/text/plain.js";

describe("untrusted text", () => {
  it.each(["discord.gg/free", "Discord.GG/free", "discordapp.com/invite/x", "https://discord.com/invite/x"])(
    "is not turned into an invitation: %s",
    (text) => expect(md`${text}`.toString()).toMatch(/discord(app)?\\\./i),
  );

  it.each(["-", "1.", "12)", "+"])("begins no list, if more follows in its line: %s", (name) => {
    expect(md`${name} ${code("1220ab…cdef")}`.toString()).toMatch(/^\d*\\/);
  });

  it("is not turned into a clickable command", () => {
    const commands = new Map([["price", "123"]]);
    expect(withMentions(`${code("/price")}`, commands)).not.toContain("</price");
    expect(withMentions("Type `/price` or `/prices`.", commands)).toBe("Type </price:123> or `/prices`.");
  });

  it("is never cut inside an escape sequence", () => {
    for (let most = 2; most < 14; most += 1)
      expect(cutEscaped("a\\*b\\\\c\\*d\\*", most).replace(/\\./g, "")).not.toContain("\\");
    expect(cutEscaped("short\\*", 20)).toBe("short\\*");
  });
});

it.each([
  [`name::1220${"ab".repeat(32)}`, true],
  ["ab".repeat(34), true],
  [`${"ab".repeat(34)}:3`, true],
  ["alice::1220ab", false],
  ["name::1220ab…cdef", false],
  ["Quartz Digital", false],
])("%s is a whole id: %s", (text, isOne) => {
  expect(isWholeId(text)).toBe(isOne);
});

const hash = "ab".repeat(32);
it.each([
  [`Falcon::1220${hash}.`, `Falcon::1220${hash}`],
  [`**Falcon::1220${hash}**:`, `Falcon::1220${hash}`],
  [`Party: Falcon::1220${hash}`, `Falcon::1220${hash}`],
  [`- **${hash}:3**.`, `${hash}:3`],
  [`Party id: \`Falcon::1220${hash}\`.`, `Falcon::1220${hash}`],
  [`**Party:** Falcon::1220${hash}`, `Falcon::1220${hash}`],
  [`***Falcon::1220${hash}***`, `Falcon::1220${hash}`],
  [`("Falcon::1220${hash}".)`, `Falcon::1220${hash}`],
  [`1. ${hash}`, hash],
  [`The update is ${hash}.`, hash],
  [`_Falcon::1220${hash}`, `_Falcon::1220${hash}`],
  [`My Party::1220${hash}`, `My Party::1220${hash}`],
  ["Falcon Finance Inc", "Falcon Finance Inc"],
  ["FALCON", "FALCON"],
])("the id in the pasted text %s is %s", (text, id) => {
  expect(readId(text)).toBe(id);
});
