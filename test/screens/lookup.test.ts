import { describe, expect, it } from "vitest";
import { createDirectory, KINDS } from "../../src/directory/directory.js";
import { address } from "../../src/screens/addresses.js";
import { lookup } from "../../src/screens/lookup.js";
import type { ScreenContext, View } from "../../src/screens/view.js";

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

/** Looks up a name in a directory in which the lists of these kinds were read. */
async function open(id: string, of: "lookup" | "voteRequest" | "party", kinds = KINDS as readonly string[]) {
  const directory = createDirectory();
  for (const kind of KINDS)
    if (kinds.includes(kind)) await directory.replace(kind, kind === "proposal" ? REQUESTS : [], NOW);
  const names = {
    voteRequest: ({ identity }: { identity: string | null }) =>
      `${TITLE} (${REQUESTS.find((each) => each.id === identity)?.requester})`,
  };
  // A name causes no request.
  return lookup({ id, of }, { directory, names } as unknown as ScreenContext);
}

describe("a name that is looked up", () => {
  it.each(["lookup", "voteRequest"] as const)("can be chosen if two have the same title (%s)", async (of) => {
    const { menus = [] } = (await open(TITLE, of)) as View;
    expect(menus[0]?.choices.map(({ label }) => label)).toEqual([`${TITLE} (Ana)`, `${TITLE} (Ben)`]);
  });

  it("can be typed as lists show it", async () => {
    expect(await open("same title (ben)", "voteRequest")).toMatchObject({
      to: address("voteRequest", { id: "00ben" }),
    });
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
