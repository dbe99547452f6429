import { beforeAll, describe, expect, it } from "vitest";
import { typedNames } from "../../commands/subscribe/subjects.js";
import { createDirectory, SUPER_VALIDATORS } from "../../src/directory/directory.js";
import { toChoices } from "../../src/discord/autocomplete.js";
import { readThing } from "../../src/discord/named-things.js";
import { newLinks, newNames, newState } from "../harness.js";

describe("what a person typed as a validator", () => {
  const directory = createDirectory();
  const links = newLinks();
  const idOf = (hint: string) => `${hint}::1220${"ab".repeat(32)}`;

  beforeAll(() =>
    directory.replace(
      "validator",
      [
        { id: idOf("birch-custody-1"), name: "Birch Custody", active: true },
        { id: idOf("birch-labs-2"), name: "Birch Labs", active: true },
        { id: idOf("juniper-node-7"), name: "Cedar Trust", active: true },
        { id: idOf("quartz-9"), name: null, active: true },
      ],
      1,
    ),
  );

  it.each([
    ["a whole name", "birch custody", "birch-custody-1"],
    ["a part of one name", "Labs", "birch-labs-2"],
    ["the start of an id", "quartz", "quartz-9"],
    ["a whole id", idOf("elsewhere-3"), "elsewhere-3"],
  ])("is found by %s", async (_, typed, hint) => {
    expect(await readThing(typed, ["validator"], { directory, names: directory, links })).toBe(idOf(hint));
  });

  it.each([
    // The explorer may no longer list it, and another one's id contains the same words.
    ["a name that only resembles another one's id", "Node 7", /Can't find a validator with that name/],
    ["a part of several names", "Birch", /That matches several: Birch Custody.*; Birch Labs.*\. Pick one/],
    // With fewer than three characters, the only match is a coincidence.
    ["too short a part of one name", "la", /Can't find a validator with that name/],
    ["an invitation", "discord.gg/abc", /That's a Discord id or link/],
    ["nothing that is known", "Zircon", /Can't find a validator with that name/],
  ])("is refused if it is %s", async (_, typed, words) => {
    await expect(readThing(typed, ["validator"], { directory, names: directory, links })).rejects.toThrow(
      words,
    );
  });
});

describe("a name as messages show it", () => {
  const directory = createDirectory();
  const links = newLinks();
  const names = newNames(newState(), directory);
  const idOf = (hex: string) => `acme-${hex}::1220${hex.repeat(32)}`;
  const services = { directory, names, links };
  const offering = { ...services, renderer: { title: String }, intervals: () => ({ ms: 1 }) };

  beforeAll(async () => {
    const validators = [
      ["ab", "Acme"],
      ["cd", "Acme"],
      ["12", "To be continued…"],
      ["34", "To be continued… later"],
      ["56", "super-validators"],
      ["78", "BirchCustody"],
      ["9a", "株式会社デルタ"],
      ["f0", "Custom Labs"],
      ["f1", "BirchLabs"],
      ["bc", "Wide  Space"],
      ["de", "Wide Space"],
    ] as const;
    await directory.replace(
      "validator",
      validators.map(([hex, name]) => ({ id: idOf(hex), name, active: true })),
      1,
    );
    const requests = ["Ana", "Ben"].map((requester) => ({
      id: `by-${requester}`,
      name: "Wait for it…",
      active: true,
      requester,
    }));
    await directory.replace("proposal", requests, 1);
  });

  it.each([
    [names.distinct, "ab", "Acme (1220ab…abab)"],
    [undefined, "cd", "Acme (1220cd...cdcd)"],
    [undefined, "12", "To be continued…"],
    [undefined, "34", "acme-34::122034…3434"],
    [undefined, "bc", "wide space (1220bc…bcbc)"],
  ])("is found and offered (%#)", async (shown, hex, text) => {
    if (shown) expect(shown(idOf(hex))).toBe(text);
    expect(await readThing(text, ["validator", "group"], services)).toBe(idOf(hex));
    const [first] = toChoices(["validator"], text, offering);
    expect(await readThing(first?.value ?? "", ["validator"], services)).toBe(idOf(hex));
    expect(first?.name).not.toContain("No match");
  });

  it.each([
    ["custody", "78"],
    ["デルタ", "9a"],
    // An exact word comes first.
    ["labs", "f0"],
  ])("is offered for a part of it, %s, and not taken for it within a word", async (text, hex) => {
    const [first] = toChoices(["validator"], text, offering);
    expect(await readThing(first?.value ?? "", ["validator"], services)).toBe(idOf(hex));
    if (text !== "labs") await expect(readThing(text, ["validator"], services)).rejects.toThrow(/Can't find/);
  });

  it("has its own id in a dialog if it is the id of something else", async () => {
    const feed = {
      subject: { option: { kinds: ["validator", "group"] }, nameOf: (id: string) => names.distinct(id) },
    };
    const typed = await typedNames(feed as never, idOf("56"), services as never);
    expect(await readThing(typed, ["validator", "group"], services, false)).toBe(idOf("56"));
  });

  it("is found with its mark, also if it contains an ellipsis", async () => {
    const shown = names.voteRequest({ identity: "by-Ben", title: "Wait for it…" });
    expect(shown).toBe("Wait for it… (Ben)");
    expect(await readThing(shown, ["proposal"], services)).toBe("by-Ben");
  });

  it("has a mark if another's differs only in spaces, which messages do not show", () => {
    expect(names.distinct(idOf("bc"))).toBe("Wide  Space (1220bc…bcbc)");
  });

  it("does not hide a group whose id is a validator's name", async () => {
    expect(await readThing(SUPER_VALIDATORS, ["validator", "group"], services)).toBe(SUPER_VALIDATORS);
  });
});
