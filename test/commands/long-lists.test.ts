import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import type { Channel, Message } from "../../sandbox/discord/world.js";
import { type Harness, startHarness, textOf } from "../harness.js";

describe("a server with many subscriptions on two networks, whose channel is closed", () => {
  let harness: Harness;
  let ops: Channel;
  const world = () => harness.discord.world;
  const driver = () => harness.discord.driver;
  const olga = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.general });
  const ask = (command: string, given: Record<string, string | boolean> = {}) =>
    driver().ask(olga(), command, given);
  /** The names in the menu that opens a subscription, without their networks. */
  const offered = (message: Message) =>
    driver()
      .components(message)
      .flatMap(({ placeholder, options = [] }) => (placeholder?.startsWith("Edit") ? options : []))
      .map(({ label }) => label.replace(/^\w+: | · TestNet$/g, ""));

  beforeAll(async () => {
    harness = await startHarness({ second: {}, env: () => ({ WATCH_POLL_SECONDS: "1" }) });
    const { guild } = harness.discord;
    ops = world().addChannel({ type: 0, guild_id: guild.id, name: "ops" });
    const role = world().addRole(guild, "Operators", 0n, { mentionable: true }).id;
    const given = { channel: ops.id, role, network: "test" };
    const { validators = [] } = harness.second?.ledger ?? {};
    for (const { party } of validators.slice(0, 10))
      await ask("/subscribe validator", { ...given, validator: party.id, after: "3h", traffic: true });
    for (let at = 10; at < 30; at += 1)
      await ask("/subscribe price", { ...given, when: "above", value: `0.${at}` });
    await ask("/subscribe test", { channel: ops.id, subject: "above 0.11 USD" });
    ops.permission_overwrites.push({
      id: world().bot.id,
      type: 1,
      allow: "0",
      deny: String(PERMISSION.viewChannel),
    });
    const isPaused = async () => textOf(await ask("/setup")).includes("⏸️ paused");
    await world().until(isPaused, "the pause");
  });
  afterAll(() => harness.close());

  it.each(["/setup", "/subscribe list"])(
    "shows each subscription that the menu of %s opens",
    async (command) => {
      const shown = await ask(command);
      for (;;) {
        const text = textOf(shown);
        for (const name of offered(shown)) expect(text.replaceAll("\\\\", "")).toContain(`**${name}**`);
        expect(text).not.toContain('…"');
        if (command === "/setup") expect(text).toContain("This menu adds subscriptions about **MainNet**");
        if (
          !driver()
            .components(shown)
            .some(({ label }) => label === "Next page")
        )
          break;
        await driver().click(olga(), shown, "Next page");
      }
    },
  );
});

describe("a server that uses the second of two networks", () => {
  let harness: Harness;
  const driver = () => harness.discord.driver;
  const at = (user = harness.discord.people.owner) => ({ user, channel: harness.discord.channels.general });
  beforeAll(async () => {
    harness = await startHarness({ second: {} });
  });
  afterAll(() => harness.close());

  it("gets advice that names the network", async () => {
    const { ana } = harness.discord.people;
    const sv = harness.second?.ledger.superValidators[0]?.name ?? "";
    const set = () => driver().ask(at(), "/voters set", { sv, who: ana.id, network: "test" });
    const setup = /Add Governance in .*\/setup.* with `network: TestNet`, then/;
    await harness.discord.world.until(
      async () => setup.test(textOf(await set())),
      "the names and the advice",
    );
    expect(textOf(await driver().ask(at(), "/voters list", { network: "test" }))).toMatch(setup);
    expect(textOf(await driver().ask(at(), "/setup", { network: "test" }))).toMatch(
      /\/voters list.* with `network: TestNet` shows what's missing/,
    );
    await driver().ask(at(ana), "/watch price", { when: "above", value: "0.2", network: "test" });
    const watch = await driver().choose(at(ana), await driver().ask(at(ana), "/watch list"), "TestNet");
    expect(textOf(watch)).toMatch(/\/watch price.* again with `network: TestNet` for the same price/);
  });

  it("needs no network for `/subscribe remove`, which takes its name as it is shown", async () => {
    for (const network of ["TestNet", "testnet", "test"]) {
      await driver().ask(at(), "/subscribe newcomers", { network: "test" });
      const removed = await driver().ask(at(), "/subscribe remove", { network });
      expect(textOf(removed)).toContain("Subscription removed");
    }
  });

  it("has a row for each of many groups of validators in /setup", async () => {
    const { guild, world, driver, people, channels } = harness.discord;
    const olga = { user: people.owner, channel: channels.general };
    const role = world.addRole(guild, "Operators", 0n, { mentionable: true }).id;
    const validators = harness.second?.ledger.validators ?? [];
    const all = Array.from({ length: 25 }, (_, place) => {
      const { id } = world.addChannel({ type: 0, guild_id: guild.id, name: `ops-${place}` });
      return { id, validator: [0, 1, 2, 3].map((other) => validators[place + other]?.party.id).join(" ") };
    });
    for (const { id, validator } of all)
      await driver.ask(olga, "/subscribe validator", { channel: id, role, network: "test", validator });
    const shown = textOf(await driver.ask(olga, "/setup"));
    expect(all.filter(({ id }) => !shown.includes(`<#${id}>`))).toEqual([]);
  });
});
