import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../sandbox/discord/world.js";
import { makeStack, type Stack } from "../../sandbox/stack.js";
import { SMALL, textOf } from "../harness.js";

describe("a name typed without choosing a suggestion", () => {
  let stack: Stack;
  const party: Record<string, string> = {};

  beforeAll(async () => {
    stack = await makeStack({
      explorer: { size: SMALL, lively: false },
      env: () => ({ EXPLORER_REQUESTS_PER_MINUTE: "6000", GOVERNANCE_POLL_SECONDS: "1" }),
    });
    const names = ["Twin Custody", "Twin Custody", "Zephyr Pavilion", "Zephyr Lagoon", "Wxyz Unlike Others"];
    for (const [place, name] of names.entries()) {
      const { party: own } = stack.explorer.ledger.validators[place] ?? {};
      if (!own) throw new Error("Too few validators");
      own.name = name;
      if (place === 0) Object.assign(own, { id: `a-hint-that-leaves-too-little-room-in-a-${own.id}` });
      party[name] = own.id;
    }
    await stack.start();
    await stack.discord.world.until(
      async () => (await offered("/party show", "party", "zephyr lagoon")).join().includes("Zephyr"),
      "the names",
    );
    await stack.discord.world.until(
      async () => !(await offered("/proposals show", "proposal", "x")).join().includes("still loading"),
      "the titles",
    );
  });
  afterAll(() => stack.close());

  const driver = () => stack.discord.driver;
  const somebody = () => {
    const user = stack.discord.world.addUser(`Guest ${stack.discord.world.users.size}`);
    stack.discord.guild.members.set(user.id, []);
    return { user, channel: stack.discord.channels.general };
  };
  const ask = (command: string, option: string, text: string) =>
    driver().ask(somebody(), command, { [option]: text });
  const offered = async (command: string, option: string, text: string) =>
    (await driver().complete(somebody(), command, option, { [option]: text })).map(({ name }) => name);
  const titleOf = (message: Message) =>
    (message.embeds[0] as { title: string } | undefined)?.title ?? message.content;

  it("opens the validator or party with this name, ignoring case", async () => {
    const shown = await ask("/validator show", "validator", "ZEPHYR lagoon");
    expect(titleOf(shown)).toBe("Zephyr Lagoon");
    expect(textOf(shown)).not.toContain("The only");
    expect(titleOf(await ask("/party show", "party", "zephyr lagoon"))).toBe("Zephyr Lagoon");
    expect(textOf(await ask("/party rewards", "party", "Zephyr Lagoon"))).toContain(party["Zephyr Lagoon"]);
  });

  it("opens the only match for a part of a name, and says so", async () => {
    const shown = await ask("/validator show", "validator", "unlike");
    expect(titleOf(shown)).toBe("Wxyz Unlike Others");
    expect(textOf(shown)).toContain("The only validator that matches “unlike”");
    const found = textOf(await ask("/lookup", "id", "unlike"));
    expect(found).toContain("That's a validator, the only match for “unlike”.");
    expect(textOf(await ask("/lookup", "id", "Wxyz Unlike Others"))).toContain("That's a validator.");
  });

  it("offers a choice if several match, and the choice opens the requested screen", async () => {
    expect(titleOf(await ask("/validator show", "validator", "twin custody"))).toBe("Which one do you mean?");
    const place = somebody();
    const which = await driver().ask(place, "/party rewards", { party: "zephyr" });
    expect(titleOf(which)).toBe("Which one do you mean?");
    await driver().choose(place, which, "Zephyr Pavilion");
    expect(textOf(which)).toContain(party["Zephyr Pavilion"]);
    expect(titleOf(which)).toMatch(/^Rewards of/);
    // A refresh stays on the chosen screen.
    await driver().click(place, which, "Refresh");
    expect(titleOf(which)).toMatch(/^Rewards of/);
  });

  it("offers choices that still open after a restart, also with long ids", async () => {
    const place = somebody();
    const which = await driver().ask(place, "/validator show", { validator: "twin custody" });
    const values = driver()
      .components(which)
      .flatMap(({ options = [] }) => options.map(({ value }) => value));
    expect(values.some((value) => value.includes("^"))).toBe(true);
    await stack.restart();
    const [long = ""] = values.filter((value) => value.includes("^"));
    await driver().choose(place, which, long);
    expect(titleOf(which)).toBe("Twin Custody");
  });

  it("says privately that there is no match", async () => {
    const nobody = await ask("/validator show", "validator", "nobody at all");
    expect(nobody.content).toMatch(/^Can't find a validator with that id or name/);
    expect(nobody.visibleTo).toBeDefined();
    const untitled = await ask("/proposals votes", "proposal", "nothing like it");
    expect(untitled.content).toMatch(/^Can't find a vote request with that id or title/);
  });

  it("finds a recently announced vote request by its title", async () => {
    const { ledger } = stack.explorer;
    const { world } = stack.discord;
    ledger.openVoteRequest({ title: "Lighthouse fees" });
    const keeper = ledger.openVoteRequest({ title: "Lighthouse keeper" });
    const known = async (title: string) => (await offered("/proposals show", "proposal", title))[0] ?? "";
    await world.until(async () => (await known("lighthouse keeper")).startsWith("🗳️ Lighthouse"), "its name");
    expect((await offered("/proposals show", "proposal", ""))[0]).toMatch(/^🗳️ Lighthouse/);
    expect(titleOf(await ask("/proposals show", "proposal", "lighthouse fees"))).toBe("Lighthouse fees");
    expect(titleOf(await ask("/proposals votes", "proposal", "keeper"))).toBe("Votes on Lighthouse keeper");
    expect(titleOf(await ask("/proposals votes", "proposal", "lighthouse"))).toBe("Which one do you mean?");
    ledger.closeVoteRequest(keeper, "Rejected");
    await world.until(async () => /^▫️.*Rejected/.test(await known("lighthouse keeper")), "its mark");
  });

  it("prefers an id to another party with that id as its name", async () => {
    const id = party["Zephyr Lagoon"] ?? "";
    const impostor = stack.explorer.ledger.validators[7]?.party;
    if (impostor) impostor.name = id;
    expect(titleOf(await ask("/validator show", "validator", id))).toBe("Zephyr Lagoon");
  });
});
