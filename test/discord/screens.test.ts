import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Harness, startHarness, textOf } from "../harness.js";

describe("a person in a channel", () => {
  let harness: Harness;
  const ana = () => ({ user: harness.discord.people.ana, channel: harness.discord.channels.general });
  const ben = () => ({ user: harness.discord.people.ben, channel: harness.discord.channels.general });
  /** A person who has used no requests yet. The limit is twenty a minute. */
  const olga = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.general });
  const driver = () => harness.discord.driver;

  beforeAll(async () => {
    harness = await startHarness();
    // The bot reads the lists of names once it has started, and these balances last.
    const { discord, explorer } = harness;
    await discord.world.until(
      () => explorer.requests.some(({ path }) => path.endsWith("/parties/top")),
      "the names",
    );
  });
  afterEach(() => {
    harness.explorer.clearFaults();
    harness.explorer.mood = undefined;
    expect(harness.discord.world.refusals.splice(0)).toEqual([]);
  });
  afterAll(() => harness.close());

  it("gets the price, its change and its age", async () => {
    const text = textOf(await driver().ask(ana(), "/price"));
    expect(text).toContain(`${harness.explorer.ledger.price} USD`);
    expect(text).toMatch(/<t:\d+:R>/);
    expect(text).toMatch(/Explorer data/);
  });

  it("turns pages, jumps to a page with a dialog, and uses one request for ten pages", async () => {
    const list = await driver().ask(ana(), "/validator list", { status: "ALL" });
    const first = textOf(list);
    const lists = () => harness.explorer.requests.filter(({ path }) => path === "/v1/validators").length;
    const before = lists();
    await driver().click(ana(), list, "▶");
    expect(textOf(list)).not.toBe(first);
    await driver().submit(ana(), await driver().open(ana(), list, "j"), ["5"]);
    expect(driver().find(list, "j").label).toBe("5 / 5");
    expect(driver().find(list, "▶").disabled).toBe(true);
    await driver().click(ana(), list, "⏮");
    expect(textOf(list)).toBe(first);
    expect(lists()).toBe(before);
  });

  it("sees the valid page numbers after typing an invalid one", async () => {
    const list = await driver().ask(ana(), "/party list");
    for (const typed of ["many", "0", "13", "400"]) {
      const wrong = await driver().submit(ana(), await driver().open(ana(), list, "j"), [typed]);
      expect(wrong.visibleTo).toBe(ana().user.id);
      expect(wrong.content).toContain("a page number from 1 to 12");
    }
    await driver().submit(ana(), await driver().open(ana(), list, "j"), ["12"]);
    expect(driver().find(list, "j").label).toBe("12 / 12");
  });

  it("follows links and goes back", async () => {
    const list = await driver().ask(ana(), "/validator list", { status: "ACTIVE" });
    const titleOf = () => (list.embeds[0] as { title: string }).title;
    const name =
      driver()
        .components(list)
        .find((each) => each.type === 3)?.options?.[3]?.label ?? "";
    await driver().click(ana(), list, "▶");
    await driver().click(ana(), list, "◀");
    await driver().choose(ana(), list, name);
    const validator = titleOf();
    await driver().click(ana(), list, "Party");
    await driver().click(ana(), list, "Rewards");
    expect(titleOf()).toContain("Rewards of");
    await driver().click(ana(), list, "Back");
    await driver().click(ana(), list, "Validator");
    expect(titleOf()).toBe(validator);
  });

  it("gets a private copy of another person's answer, which stays unchanged", async () => {
    const list = await driver().ask(ana(), "/party list");
    const before = JSON.stringify(list);
    const copy = await driver().click(ben(), list, "▶");
    expect(copy.id).not.toBe(list.id);
    expect(copy.visibleTo).toBe(ben().user.id);
    expect(JSON.stringify(list)).toBe(before);
    const again = await driver().click(ben(), copy, "▶");
    expect(again.id).toBe(copy.id);
    expect(driver().find(again, "j").label).toBe("3 / 12");
  });

  it("gets a private answer on request", async () => {
    expect((await driver().ask(ana(), "/price", { private: true })).visibleTo).toBe(ana().user.id);
  });

  it("gets a private one-sentence answer for an unknown id", async () => {
    for (const [command, given] of [
      ["/validator show", { validator: "nobody" }],
      ["/party show", { party: `nobody::1220${"0".repeat(64)}` }],
      ["/proposals show", { proposal: "zzzz" }],
    ] as const) {
      const message = await driver().ask(ana(), command, given);
      expect(message.visibleTo).toBe(ana().user.id);
      expect(message.content).toMatch(/^Can't find .*that id/);
    }
  });

  it("sees a vote request's action, file and votes", async () => {
    const request = harness.explorer.ledger.openVoteRequest({ motion: "dsoConfig" });
    harness.explorer.ledger.castVote(request, false);
    const shown = await driver().ask(ana(), "/proposals show", { proposal: request.firstContractId });
    expect(textOf(shown)).toMatch(/Unclaimed rewards merged from: 10 → \*\*\d+\*\*/);
    expect(shown.attachments).toEqual([]);
    const raw = await driver().click(ana(), shown, "Raw data");
    expect(raw.attachments[0]?.filename).toMatch(/^vote-request-.*\.json$/);
    const rules = textOf(await driver().click(ana(), shown, "How votes work"));
    expect(rules).toContain("Enough no votes");
    expect(rules).toMatch(/Without this date.*even then, enough yes votes still carry it until it's closed/);
    expect(rules).not.toContain("passes once 🟩");
    await driver().click(ana(), shown, "Votes");
    expect(textOf(shown)).toContain("❌ no");
    expect(textOf(shown)).toContain("✅ yes");
    const voted = request.ballots.map(({ voter }) => voter.name);
    const missing = harness.explorer.ledger.superValidators.filter(({ name }) => !voted.includes(name));
    const line = /Not voted yet:\*\* (.*?)\\n/.exec(textOf(shown))?.[1] ?? "";
    expect(new Set(line.split(", "))).toEqual(new Set(missing.map(({ name }) => name)));
  });

  it("gets a deferred answer while the explorer is slow", async () => {
    harness.explorer.injectFault({ kind: "slow", ms: 4_000 }, { times: 1 });
    const interaction = driver().type(ana(), "/party top");
    await harness.discord.world.until(() => interaction.answered === 5, "the deferral", 3_000);
    expect(textOf(await driver().answered(interaction))).toContain("Largest balances");
  });

  it("gets an error privately, and the public deferral is deleted", async () => {
    harness.explorer.injectFault({ kind: "slow", ms: 2_000 }, { times: 1 });
    const interaction = driver().type(ben(), "/validator show", { validator: "slow::1220" });
    await harness.discord.world.until(() => interaction.answered === 5, "the deferral");
    const message = await driver().answered(interaction);
    expect(message.visibleTo).toBe(ben().user.id);
    expect(message.content).toContain("Can't find a validator with that id");
    expect(interaction.original).toBeUndefined();
  });

  it("keeps the screen unchanged if a click fails", async () => {
    const list = await driver().ask(olga(), "/validator list", { order: "ASC" });
    const before = textOf(list);
    harness.explorer.injectFault({ kind: "status", status: 400 });
    const link =
      driver()
        .components(list)
        .find((each) => each.type === 3)?.options?.[7]?.label ?? "";
    const error = await driver().choose(olga(), list, link);
    expect(error.id).not.toBe(list.id);
    expect(error.visibleTo).toBe(olga().user.id);
    expect(textOf(list)).toBe(before);
  });

  it("gets a notice if a button is from an older version", async () => {
    const list = await driver().ask(ana(), "/price");
    const button = driver().find(list, "Refresh");
    button.custom_id = "rformer?screen=1";
    const message = await driver().click(ana(), list, "Refresh");
    expect(message.content).toContain("older version");
  });

  it("reaches the 5,100 rows that the API returns, and sees that there are more", async () => {
    const [party] = harness.explorer.ledger.parties;
    const row = { partyAddress: party?.id, partyName: "The last one", balance: 1 };
    harness.explorer.mood = (answer, path) => {
      const page = answer as { content: unknown[] };
      if (path !== "/v1/parties") return answer;
      const content =
        page.content.length > 0
          ? page.content
          : Array.from({ length: 100 }, (_, at) => ({ ...row, partyAddress: `${at}${row.partyAddress}` }));
      return { ...page, content, totalElements: 12_345, totalCount: 12_345, last: false };
    };
    const list = await driver().ask(olga(), "/party list", { sort: "FIRST_SEEN_AT", order: "ASC" });
    expect(textOf(list)).toContain("First 5,100 of 12,345 parties");
    await driver().click(olga(), list, "⏭");
    expect(driver().find(list, "j").label).toBe("510 / 510");
    expect(textOf(list)).toContain("The last one");
    expect(harness.explorer.requests.at(-1)?.query).toMatchObject({ page: "50", size: "100" });
  });
});
