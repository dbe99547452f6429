import { describe, expect, it } from "vitest";
import { createDirectory, KINDS } from "../../src/directory/directory.js";
import { createNames } from "../../src/directory/names.js";
import { ExplorerError } from "../../src/explorer/errors.js";
import { createExplorerService } from "../../src/explorer/service.js";
import { address } from "../../src/screens/addresses.js";
import { lookup } from "../../src/screens/lookup.js";
import type { View } from "../../src/screens/view.js";
import { createCache } from "../../src/storage/cache.js";
import { readId } from "../../src/text/ids.js";
import { newState, quiet } from "../harness.js";

const NOW = Date.now();
const TITLE = "Same title";
/** Two vote requests with one title, as lists show them: by their requester. */
const REQUESTS = ["Ana", "Ben"].map((requester) => ({
  id: `00${requester.toLowerCase()}`,
  name: TITLE,
  active: true,
  note: "In progress",
  requester,
}));

/** A name causes no request, and an id of an unknown form has no answer. */
const explorer = createExplorerService({
  upstream: () => Promise.reject(new ExplorerError("missing", "Not found")),
  cache: createCache({ memoryMb: 1, log: quiet }),
}).for("background");

/** Looks up a name in a directory in which the lists of these kinds were read. */
async function open(id: string, of: "lookup" | "voteRequest" | "party", kinds = KINDS as readonly string[]) {
  const directory = createDirectory();
  for (const kind of KINDS)
    if (kinds.includes(kind)) await directory.replace(kind, kind === "proposal" ? REQUESTS : [], NOW);
  const names = createNames({ directory, explorer, state: newState(), log: quiet });
  return lookup({ id, of }, { directory, names, explorer });
}

describe("a name that is looked up", () => {
  it.each(["lookup", "voteRequest"] as const)("can be chosen if two have the same title (%s)", async (of) => {
    const { menus = [] } = (await open(TITLE, of)) as View;
    expect(menus[0]?.choices.map(({ label }) => label)).toEqual([`${TITLE} (Ana)`, `${TITLE} (Ben)`]);
  });

  it.each([
    ["ab", "Type at least 3 characters"],
    ["discord.gg/abc", "That's a Discord id or link"],
  ])("is not searched for if it is %s", async (text, words) => {
    for (const of of ["lookup", "party"] as const) await expect(open(text, of)).rejects.toThrow(words);
  });

  it("says that there are more matches than a menu shows, also if some are the same thing", async () => {
    const directory = createDirectory();
    const fjords = Array.from({ length: 40 }, (_, at) => ({
      id: `f${at}`,
      name: `Fjord ${at}`,
      active: null,
    }));
    for (const kind of KINDS)
      await directory.replace(
        kind,
        { party: fjords, validator: fjords.slice(0, 12) }[kind as string] ?? [],
        NOW,
      );
    const names = createNames({ directory, explorer, state: newState(), log: quiet });
    const view = (await lookup({ id: "fjord", of: "party" }, { directory, names, explorer })) as View;
    expect(String(view.body?.[0])).toContain("25 or more things match");
    expect(view.menus?.[0]?.choices).toHaveLength(25);
  });

  it("can be typed as lists show it", async () => {
    expect(await open(readId("same title (ben)"), "voteRequest")).toMatchObject({
      to: address("voteRequest", { id: "00ben" }),
    });
  });

  it("costs about as much as the number of its namesakes", { timeout: 15_000 }, async () => {
    const directory = createDirectory();
    const apps = Array.from({ length: 3_000 }, (_, at) => ({
      id: `a${at}`,
      name: "Feature Application",
      active: null,
      requester: "Ana",
      openedAt: NOW - at * 60_000,
    }));
    await directory.replace("proposal", apps, NOW);
    const names = createNames({ directory, explorer, state: newState(), log: quiet });
    const sources = { directory, names, explorer };
    // Together, these took half a minute when every name was compared with every other.
    const minute = new Date(NOW - 5 * 60_000).toISOString().slice(11, 16);
    const marked = names.voteRequest({ identity: "a5", title: "Feature Application" });
    expect(marked).toContain(minute);
    expect(await lookup({ id: marked, of: "voteRequest" }, sources)).toMatchObject({
      to: address("voteRequest", { id: "a5" }),
    });
    const view = (await lookup({ id: "Feature Application", of: "voteRequest" }, sources)) as View;
    expect(view.menus?.[0]?.choices).toHaveLength(25);
  });

  it.each(["lookup", "party"] as const)("is not called unknown while a list is unread (%s)", async (of) => {
    const unread = KINDS.filter((kind) => kind !== "party");
    await expect(open("lumen bank", of, unread)).rejects.toThrow("Names are still loading");
  });

  it("is asked for at once if it looks like a party's id", async () => {
    expect(await open("nobody::1220", "party", [])).toMatchObject({
      to: address("party", { id: "nobody::1220" }),
    });
  });

  it("is unknown once all lists were read, although they are empty", async () => {
    await expect(open("lumen bank", "lookup")).rejects.toThrow("No match");
  });
});

it("finds a party whose validator licence is gone, although the explorer still lists it as a validator", async () => {
  const id = `harbor::1220${"ab".repeat(32)}`;
  const answers: Readonly<Record<string, unknown>> = {
    [`parties/${id}/types`]: { isAccount: true, isValidator: true, isSv: false },
    [`parties/${id}`]: { partyId: id, accountName: "Harbor Bank" },
  };
  const answering = createExplorerService({
    upstream: async ({ path }) => {
      const json = answers[decodeURIComponent(path)];
      if (json === undefined) throw new ExplorerError("missing", "Not found", { status: 404 });
      return { json, text: JSON.stringify(json), bytes: 1 };
    },
    cache: createCache({ memoryMb: 1, log: quiet }),
  }).for("background");
  const directory = createDirectory();
  const names = createNames({ directory, explorer: answering, state: newState(), log: quiet });
  const context = { directory, names, explorer: answering };
  expect(await lookup({ id, of: "lookup" }, context)).toMatchObject({
    to: { screen: "party", parameters: { id } },
  });
});
