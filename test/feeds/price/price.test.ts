import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DiscordError } from "../../../sandbox/discord/errors.js";
import type { Channel, Message } from "../../../sandbox/discord/world.js";
import { HOUR } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("a channel with price alerts", () => {
  let harness: Harness;
  let channel: Channel;
  let role: string;
  const world = () => harness.discord.world;
  const told = () => world().read(channel);
  const until = (count: number): Promise<Message> =>
    world().until(() => told()[count - 1], `${count} messages`);
  const ask = (command: string, given: Record<string, string | boolean>) => {
    const { driver, people, channels } = harness.discord;
    return driver.ask({ user: people.owner, channel: channels.general }, command, given);
  };
  const polls = async (count: number) => {
    const read = () => harness.explorer.requests.filter(({ path }) => path.endsWith("get-price")).length;
    const before = read();
    await world().until(() => read() >= before + count, `${count} readings`);
  };

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ WATCH_POLL_SECONDS: "1" }) });
    channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "market" });
    role = world().addRole(harness.discord.guild, "Traders", 0n, { mentionable: true }).id;
    const { ledger } = harness.explorer;
    ledger.setPrice(0.15);
    const given = { when: "above", value: "0.16", channel: channel.id, role };
    expect(textOf(await ask("/subscribe price", given))).toMatch(
      /Subscribed.*the price above 0\.16 USD, every time.*Now: \*\*0\.15/,
    );
    await polls(2);
  });
  afterAll(() => harness.close());

  it("gets one alert with the old and new price and its role's ping while the price stays there", async () => {
    harness.explorer.ledger.setPrice(0.165);
    const message = await until(1);
    expect(message.content).toMatch(/^<@&\d+> Canton Coin rose above 0\.16 USD: 0\.165\d* \(\+10%\)$/);
    expect(message.pings).toEqual(["@Traders"]);
    await polls(3);
    expect(told()).toHaveLength(1);
  });

  it("gets no alert for a price that is off by a factor of 100, zero, or older than 15 minutes", async () => {
    harness.explorer.ledger.setPrice(0.15);
    await polls(2);
    harness.pass(2 * HOUR);
    for (const price of [16, 0]) {
      harness.explorer.ledger.setPrice(price);
      await polls(2);
    }
    harness.explorer.ledger.setPrice(0.17);
    harness.explorer.ledger.priceAt -= 16 * 60_000;
    await polls(2);
    expect(told()).toHaveLength(1);
  });

  it("gets another alert after the price has moved back and an hour has passed, and can snooze it", async () => {
    harness.explorer.ledger.setPrice(0.15);
    await polls(2);
    harness.explorer.ledger.setPrice(0.17);
    const again = await until(2);
    const { driver, people } = harness.discord;
    const refused = await driver.choose({ user: people.ana, channel }, again, "1 hour");
    expect(refused.content).toContain("Only people with the pinged role");
    harness.discord.guild.members.get(people.ben.id)?.push(role);
    const snoozed = await driver.choose({ user: people.ben, channel }, again, "1 hour");
    expect(textOf(snoozed)).toMatch(/Snoozed.*can end it earlier, with .*\/subscribe resume/);
    expect(snoozed.visibleTo).toBe(people.ben.id);
    const owner = { user: people.owner, channel };
    const list = await ask("/subscribe list", {});
    const menu = driver.components(list).find(({ placeholder }) => placeholder?.startsWith("Edit"));
    const card = await driver.choose(
      owner,
      list,
      menu?.options?.find(({ label }) => label.startsWith("price"))?.label ?? "",
    );
    expect(textOf(card)).toContain("💤 Snoozed until");
    expect(textOf(await driver.click(owner, card, "End snooze"))).not.toContain("💤");
    expect(textOf(await ask("/subscribe list", {}))).not.toContain("snoozed until");
    expect(world().refusals).toEqual([]);
  });

  it("can be snoozed in a forum's post, and does not say that it is gone while Discord does not answer", async () => {
    const { driver, guild, people } = harness.discord;
    const forum = world().addChannel({ type: 15, guild_id: guild.id, name: "markets" });
    harness.explorer.ledger.setPrice(0.15);
    await ask("/subscribe price", { when: "above", value: "0.16", channel: forum.id });
    await polls(2);
    harness.explorer.ledger.setPrice(0.165);
    const post = await world().until(
      () => [...world().channels.values()].find(({ parent_id }) => parent_id === forum.id),
      "the post",
    );
    const alert = await world().until(() => world().read(post)[0], "the alert");
    const path = new RegExp(`^/channels/${post.id}$`);
    const outage = { method: "GET", path, times: 100, error: new DiscordError(503, 0, "Error") };
    harness.discord.trap(outage);
    const snooze = () => driver.choose({ user: people.owner, channel: post }, alert, "1 hour");
    expect((await snooze()).content).toContain("Discord isn't answering");
    outage.times = 0;
    expect(textOf(await snooze())).toContain("Snoozed");
    await ask("/subscribe remove", { channel: forum.id });
    world().refusals.splice(0);
  });

  it("is neither armed by an edit that changes nothing, nor snoozed once its limit is edited", async () => {
    const { ledger } = harness.explorer;
    const edited = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "edited-market" });
    const alerts = () => world().read(edited);
    ledger.setPrice(0.15);
    await ask("/subscribe price", { when: "above", value: "0.16", channel: edited.id });
    await polls(2);
    ledger.setPrice(0.165);
    const [alert] = await world().until(() => alerts().length === 1 && alerts(), "the alert");
    ledger.setPrice(0.1595);
    await polls(2);
    const same = await ask("/subscribe edit", { channel: edited.id, feed: "price" });
    expect(textOf(same)).toContain("Nothing changed");
    ledger.setPrice(0.17);
    await polls(3);
    expect(alerts()).toHaveLength(1);

    const { driver, people } = harness.discord;
    if (alert) await driver.choose({ user: people.owner, channel: edited }, alert, "1 hour");
    await ask("/subscribe edit", { channel: edited.id, feed: "price", value: "0.18" });
    await polls(2);
    ledger.setPrice(0.19);
    await world().until(() => alerts().length === 2, "the alert at the new limit");
    expect(world().refusals).toEqual([]);
  });

  it("says after its only alert that it is done, offers no snooze, and can be subscribed again", async () => {
    const { ledger } = harness.explorer;
    const { driver, people, guild } = harness.discord;
    const single = world().addChannel({ type: 0, guild_id: guild.id, name: "single-market" });
    const alerts = () => world().read(single);
    const condition = { when: "above", value: "0.16", repeat: "once", channel: single.id };
    ledger.setPrice(0.15);
    expect(textOf(await ask("/subscribe price", condition))).toContain("You'll be told once.");
    await polls(2);
    ledger.setPrice(0.17);
    const [alert] = await world().until(() => alerts().length === 1 && alerts(), "the alert");
    if (!alert) throw new Error("There is no alert");
    const snoozeMenuOf = (message: Message | undefined) =>
      message && driver.components(message).find(({ placeholder }) => placeholder === "Snooze…");
    expect(snoozeMenuOf(alert)).toBeUndefined();
    const edited = textOf(await ask("/subscribe edit", { channel: single.id, feed: "price", role }));
    expect(edited).toContain("This one-time alert has been sent");
    expect(edited).not.toContain("You'll be told");
    expect(textOf(await ask("/subscribe list", {}))).toMatch(/alerted .*; done.*✅ done/);
    expect(textOf(await ask("/setup", {}))).toContain("✅ done");
    const resumed = textOf(await ask("/subscribe resume", { channel: single.id, feed: "price" }));
    expect(resumed).toMatch(/It wasn't paused.*This one-time alert has been sent/);
    const shown = { user: people.owner, channel: harness.discord.channels.general };
    const list = await ask("/subscribe list", {});
    const options = driver.components(list).flatMap((each) => each.options ?? []);
    const choice = options.find(({ description }) => description?.includes("#single-market"));
    const card = await driver.choose(shown, list, choice?.value ?? "");
    expect(textOf(card)).toContain("✅ Done. To get another alert");
    // One-time alerts of earlier versions have the menu.
    const menu = snoozeMenuOf(told()[0]);
    const place = { user: people.owner, channel: single };
    const pressed = driver.pick(place, alert, menu?.custom_id ?? "", menu?.options?.[0]?.value ?? "");
    expect((await driver.answered(pressed)).content).toContain("nothing to snooze");
    ledger.setPrice(0.15);
    const again = textOf(await ask("/subscribe price", { ...condition, role }));
    expect(again).toMatch(/Subscribed again.*You'll be told once\./);
    expect(textOf(await ask("/subscribe price", { ...condition, role }))).toContain("Nothing changed");
    await polls(2);
    ledger.setPrice(0.17);
    await world().until(() => alerts().length === 2, "the next alert");
  });

  it("says which price rearms an alert, and shows no time for a price from the future", async () => {
    const { ledger } = harness.explorer;
    ledger.setPrice(0.16);
    const atLimit = await ask("/subscribe price", { when: "below", value: "0.2", channel: channel.id });
    expect(textOf(atLimit)).toContain("passes the limit, after the price was back at 0.202 USD or above");
    harness.pass(HOUR);
    ledger.priceAt = harness.now() + 5 * HOUR;
    await polls(2);
    expect(textOf(await ask("/price", {}))).toContain("Price as of unknown");
    const ahead = await ask("/subscribe price", { when: "below", value: "0.22", channel: channel.id });
    expect(textOf(ahead)).toContain("its time is in the future, so alerts can't use it");
    ledger.priceAt = harness.now() - 3 * HOUR;
    await polls(2);
    const old = await ask("/subscribe price", { when: "below", value: "0.21", channel: channel.id });
    expect(textOf(old)).toMatch(/The explorer's last price is .*too old for alerts/);
    expect(textOf(old)).not.toContain("Now:");
  });

  it("shows in the lists that its alerts are snoozed", async () => {
    const { ledger } = harness.explorer;
    const { driver, people, guild } = harness.discord;
    const snoozed = world().addChannel({ type: 0, guild_id: guild.id, name: "snoozed-market" });
    ledger.setPrice(0.15);
    await ask("/subscribe price", { when: "above", value: "0.155", channel: snoozed.id });
    await polls(2);
    ledger.setPrice(0.165);
    const [alert] = await world().until(
      () => world().read(snoozed).length > 0 && world().read(snoozed),
      "the alert",
    );
    if (alert) await driver.choose({ user: people.owner, channel: snoozed }, alert, "1 hour");
    for (const command of ["/subscribe list", "/setup"])
      expect(textOf(await ask(command, {}))).toMatch(/snoozed-market|<#\d+>.*💤 snoozed until <t:\d+:f>/);
  });

  it("is told if the percentage may be meant as a price", async () => {
    const aside = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "aside" });
    const small = textOf(await ask("/subscribe price", { when: "moves", value: "0.16", channel: aside.id }));
    expect(small).toMatch(/up or down 0\.16% in 24h.*⚠️ 0\.16% is a small move.*a price of 0\.16 USD/);
    const usual = textOf(await ask("/subscribe price", { when: "moves", value: "5", channel: aside.id }));
    expect(usual).not.toContain("small move");
  });

  it("does not say on resuming that the price must be back first, if the alert comes then", async () => {
    const { ledger } = harness.explorer;
    const { driver, people, guild, channels } = harness.discord;
    const paused = world().addChannel({ type: 0, guild_id: guild.id, name: "paused-market" });
    const owner = { user: people.owner, channel: channels.general };
    ledger.setPrice(0.15);
    for (const value of ["0.2", "0.3"])
      await ask("/subscribe price", { when: "above", value, channel: paused.id });
    await polls(3);
    const card = await driver.choose(
      owner,
      await ask("/subscribe remove", { channel: paused.id }),
      "price: above 0.2 USD",
    );
    await driver.click(owner, card, "Pause");
    ledger.setPrice(0.21);
    await polls(2);
    await driver.click(owner, card, "Resume");
    expect(textOf(card)).toContain("but again only if the price was back at 0.198 USD or below");
    expect(textOf(card)).not.toContain("already above that");
    await world().until(() => world().read(paused).length === 1, "the alert");
    // Then it comes only after the price was back.
    await driver.click(owner, card, "Pause");
    await driver.click(owner, card, "Resume");
    expect(textOf(card)).toContain("already above that. You'll be told the next time");
    ledger.setPrice(0.15);
  });
});
