// These imports register the buttons.
import "../../commands/index.js";
import "../../src/feeds/index.js";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { address, screenNames, wireIn, wireOf } from "../../src/screens/addresses.js";
import { packId, readId } from "../../src/text/ids.js";
import { newLinks } from "../harness.js";

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });
const hint = fc.string({ unit: fc.constantFrom(..."abcXYZ019:-_ &=%?~*!^"), minLength: 1, maxLength: 185 });

describe("an id", () => {
  it("is unchanged after packing and unpacking", () => {
    const party = fc.tuple(hint, hex(64)).map(([name, print]) => `${name}::1220${print}`);
    fc.assert(
      fc.property(fc.oneof(party, hex(138), hex(67), hint), (id) => {
        expect(readId(packId(id))).toBe(id);
      }),
    );
  });

  it("is packed into few characters", () => {
    expect(packId(`bob::1220${"ab".repeat(32)}`)).toHaveLength(3 + 1 + 43);
    expect(packId("ab".repeat(69))).toHaveLength(1 + 92);
    expect(packId(`${"ab".repeat(34)}:7`)).toHaveLength(1 + 46 + 2);
  });

  it("is read from pasted text", () => {
    const id = `bob::1220${"ab".repeat(32)}`;
    for (const pasted of [id, `  ${id}\n`, `"${id}"`, `\`${id}\``, `<${id}>,`])
      expect(readId(pasted)).toBe(id);
    expect(readId("..")).toBe("");
  });
});

describe("an address", () => {
  it("fits into a custom_id with any id, and decodes to the same address", async () => {
    const links = newLinks();
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(hint, hex(64)),
        fc.integer({ min: 1, max: 510 }),
        async ([name, print], page) => {
          const to = address("rewards", { id: `${name}::1220${print}`, page });
          const id = links.customId("A", to);
          expect(id.length).toBeLessThanOrEqual(100);
          expect(await links.decode(id.slice(1))).toEqual(to);
        },
      ),
    );
    expect(links.ids.size).toBeGreaterThan(0);
  });

  it("contains a whole contract id if it has no other parameter", () => {
    const links = newLinks();
    const id = `00${"ab".repeat(68)}`;
    for (const screen of ["voteRequest", "votes"] as const)
      expect(links.customId("r", address(screen, { id })).length).toBeLessThanOrEqual(100);
    expect(links.ids.size).toBe(0);
  });

  it("is encoded like a URL, without default values", () => {
    const to = address("validators", { status: "ACTIVE", order: "DESC", page: 3 });
    expect(newLinks().encode(to, 99)).toBe("validators?status=ACTIVE&page=3");
  });

  it.each([
    "nothing",
    "validators?page=0",
    "validators?page=x",
    "validators?status=ODD",
    "validator",
    "party?id=^unknownkey000000",
    "price?%",
  ])("is not decoded from %s", async (text) => {
    const parsed = await newLinks().decode(text);
    expect(parsed === undefined || wireIn(parsed) === "price").toBe(true);
  });

  it("is decoded from every format that was ever released", async () => {
    const released = readFileSync(new URL("../addresses.txt", import.meta.url), "utf8").split("\n");
    for (const text of released.filter((line) => line && !line.startsWith("#"))) {
      expect(await newLinks().decode(text), text).toBeDefined();
    }
    for (const screen of screenNames)
      expect(
        released.some((text) => text.split("?")[0] === wireOf(screen)),
        screen,
      ).toBe(true);
  });
});
