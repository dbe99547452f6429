import { beforeAll, describe, expect, it } from "vitest";
import { createDirectory } from "../../src/directory/directory.js";
import { readThing } from "../../src/discord/named-things.js";
import { newLinks } from "../harness.js";

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
    expect(await readThing(typed, ["validator"], { directory, links })).toBe(idOf(hint));
  });

  it.each([
    // The explorer may no longer list it, and another one's id contains the same words.
    ["a name that only resembles another one's id", "Node 7", /Can't find a validator with that name/],
    ["a part of several names", "Birch", /That matches several: Birch Custody.*; Birch Labs.*\. Pick one/],
    // With fewer than three characters, the only match is a coincidence.
    ["too short a part of one name", "la", /Can't find a validator with that name/],
    ["nothing that is known", "Zircon", /Can't find a validator with that name/],
  ])("is refused if it is %s", async (_, typed, words) => {
    await expect(readThing(typed, ["validator"], { directory, links })).rejects.toThrow(words);
  });
});
