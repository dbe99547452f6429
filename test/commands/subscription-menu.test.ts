import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import type { Channel, Message } from "../../sandbox/discord/world.js";
import { type Harness, startHarness, textOf } from "../harness.js";

describe("a channel with several subscriptions", () => {
  let harness: Harness;
  let channel: Channel;
  const owner = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.general });
  const ask = (command: string, given: Record<string, string | boolean> = {}) =>
    harness.discord.driver.ask(owner(), command, { ...given });
  const labels = (message: Message) =>
    harness.discord.driver
      .components(message)
      .flatMap(({ type, label }) => (type === 2 && label ? [label] : []));
  const told = (title: string) =>
    harness.discord.world.read(channel).filter((each) => textOf(each).includes(title)).length;
  const announcedElsewhere = (title: string) =>
    harness.discord.world.until(
      () =>
        harness.discord.world
          .read(harness.discord.channels.governance)
          .some((each) => textOf(each).includes(title)),
      "the announcement in another channel",
      20_000,
    );

  beforeAll(async () => {
    harness = await startHarness({
      env: (discord) => ({
        GOVERNANCE_CHANNEL_ID: discord.channels.governance.id,
        GOVERNANCE_POLL_SECONDS: "1",
      }),
    });
    channel = harness.discord.world.addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "both" });
    await ask("/subscribe governance", { channel: channel.id });
    await ask("/subscribe newcomers", { channel: channel.id });
  });
  afterAll(() => harness.close());

  it("gets a menu to choose one, with buttons to pause, resume, test and remove it", async () => {
    const { driver, world } = harness.discord;
    const which = await ask("/subscribe remove", { channel: channel.id });
    expect(textOf(which)).toContain("Which subscription?");
    const card = await driver.choose(owner(), which, "governance");
    expect(labels(card)).toEqual(["Pause", "Test", "Remove"]);

    await driver.click(owner(), card, "Pause");
    expect(textOf(card)).toContain("Paused: nothing is posted until you resume it.");
    expect(textOf(await ask("/subscribe list"))).toContain("⏸️ **paused**");
    harness.explorer.ledger.openVoteRequest({ title: "While paused" });
    await announcedElsewhere("While paused");
    expect(told("While paused")).toBe(0);

    await driver.click(owner(), card, "Resume");
    harness.explorer.ledger.openVoteRequest({ title: "After that" });
    await world.until(() => told("After that") === 1, "the announcement", 20_000);
    await driver.click(owner(), card, "Test");
    await world.until(() => told("🧪 TEST") === 1, "the drill", 20_000);
    await driver.click(owner(), card, "Remove");
    expect(textOf(card)).toContain("Subscription removed");
    expect(textOf(await ask("/subscribe remove", { channel: channel.id }))).toContain("Subscription removed");
    expect(world.refusals).toEqual([]);
  });

  it("can be changed only by server managers, except for the operator's own subscription", async () => {
    const { driver, people, channels } = harness.discord;
    await ask("/subscribe newcomers", { channel: channel.id });
    const list = await ask("/subscribe list");
    const refused = await driver.choose({ user: people.ana, channel: channels.general }, list, "newcomers");
    expect(textOf(refused)).toContain("Only people who can manage the server");
    const fixed = await driver.choose(owner(), list, "governance");
    expect(labels(fixed)).toEqual(["Test"]);
    const gone = await driver.choose(owner(), await ask("/subscribe list"), "newcomers");
    await ask("/subscribe remove", { channel: channel.id });
    expect(textOf(await driver.click(owner(), gone, "Pause"))).toContain(
      "That subscription no longer exists.",
    );
  });

  it("can be tested and resumed only by people who may do so with a command", async () => {
    const { driver, world, guild, people, channels } = harness.discord;
    const quiet = world.addRole(guild, "Quiet", 0n);
    const bot = guild.members.get(world.bot.id);
    bot?.push(world.addRole(guild, "Pinging bots", PERMISSION.mentionEveryone).id);
    await ask("/subscribe newcomers", { channel: channel.id, role: quiet.id });
    guild.members.set(people.ben.id, [world.addRole(guild, "Managers", PERMISSION.manageGuild).id]);
    const ben = { user: people.ben, channel: channels.general };
    const card = await driver.choose(ben, await driver.ask(ben, "/subscribe list"), "newcomers");
    const before = told("🧪 TEST");
    expect(textOf(await driver.click(ben, card, "Test"))).toContain("isn't mentionable");

    channel.permission_overwrites.push({
      id: guild.id,
      type: 0,
      allow: "0",
      deny: String(PERMISSION.sendMessages),
    });
    await driver.click(ben, card, "Pause");
    expect(textOf(await driver.click(ben, card, "Resume"))).toContain("You can't subscribe");
    expect(labels(card)).toEqual(["Resume", "Remove"]);
    channel.permission_overwrites.length = 0;
    await driver.click(
      owner(),
      await driver.choose(owner(), await ask("/subscribe list"), "newcomers"),
      "Resume",
    );
    expect(told("🧪 TEST")).toBe(before);
  });
});
