import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Place } from "../../sandbox/discord/driver.js";
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

  it("is not shown to a moderator of another server, who forges a button of one from the environment", async () => {
    const { driver, world, people, channels } = harness.discord;
    const guild = world.addGuild("Elsewhere", people.ben, 0n);
    const place = { user: people.ben, channel: world.addChannel({ type: 0, guild_id: guild.id, name: "x" }) };
    const message = await driver.ask(place, "/price");
    const custom_id = `Asub?c=${channels.governance.id}&feed=governance`;
    const forged = { type: 2, style: 2, label: "Forged", custom_id };
    const press = (at: Place, components: Message["components"]) =>
      driver.click(at, { ...message, components }, "Forged");
    const components = [{ type: 1 as const, components: [forged] }];
    expect(textOf(await press(owner(), components))).toContain("new vote requests");
    const answer = textOf(await press(place, components));
    expect(answer).toContain("That subscription no longer exists");
    expect(answer).not.toContain("new vote requests");
  });

  it("asks Discord once for the name of a channel, however many people open the menu together", async () => {
    const { discord } = harness;
    const before = discord.requests.length;
    const all = await Promise.all(Array.from({ length: 20 }, () => ask("/setup")));
    for (const each of all) expect(textOf(each)).toContain("governance");
    const reads = ({ id }: Channel) =>
      discord.requests
        .slice(before)
        .filter((each) => each.method === "GET" && each.path.endsWith(`/channels/${id}`)).length;
    expect(reads(channel)).toBe(1);
    // One for its server, which a subscription from the environment does not know, and one for its name.
    expect(reads(discord.channels.governance)).toBeLessThanOrEqual(2);
  });

  it("needs no channel of another subscription to open a dialog, or to say that one was added", async () => {
    const { discord } = harness;
    const { driver, world, guild, channels } = discord;
    const overview = await ask("/setup");
    const card = await driver.choose(owner(), await ask("/subscribe list"), "governance");
    const path = new RegExp(`/channels/${channels.governance.id}$`);
    const trap = { method: "GET", path, times: 1_000, error: "html" as const };
    discord.trap(trap);
    const { dialog } = await driver.open(owner(), card, "Edit");
    expect(dialog.title).toBe("Edit · governance");

    const menu = driver.components(overview).find(({ placeholder }) => placeholder === "Add…");
    const choice = menu?.options?.find(({ label }) => label === "Newcomers");
    const picked = driver.pick(owner(), overview, menu?.custom_id ?? "", choice?.value ?? "");
    const added = await world.until(() => picked.dialog, "the dialog to add");
    const another = world.addChannel({ type: 0, guild_id: guild.id, name: "another" });
    const answer = await driver.submit(owner(), { dialog: added, source: overview }, { channel: another.id });
    trap.times = 0;
    expect(textOf(answer)).toContain("✅ Subscribed");
    await ask("/subscribe remove", { channel: another.id });
  });

  it("gets a menu to choose one, with buttons to pause, resume, test and remove it", async () => {
    const { driver, world } = harness.discord;
    const which = await ask("/subscribe remove", { channel: channel.id });
    expect(textOf(which)).toContain("Which subscription?");
    const card = await driver.choose(owner(), which, "governance");
    expect(labels(card)).toEqual(["Edit", "Pause", "Test", "Remove", "Setup"]);

    await driver.click(owner(), card, "Pause");
    expect(textOf(card)).toContain("Paused: nothing is posted until you resume it.");
    expect(textOf(await ask("/subscribe list"))).toContain("⏸️ **paused**");
    harness.explorer.ledger.openVoteRequest({ title: "While paused" });
    await announcedElsewhere("While paused");
    expect(told("While paused")).toBe(0);

    await driver.click(owner(), card, "Resume");
    expect(textOf(card)).toMatch(/Already open.*While paused/);
    harness.explorer.ledger.openVoteRequest({ title: "After that" });
    await world.until(() => told("After that") === 1, "the announcement");
    // An edit keeps a pause and says so. Subscribing again ends it, as with /watch.
    await driver.click(owner(), card, "Pause");
    const options = { channel: channel.id, feed: "governance" };
    expect(textOf(await ask("/subscribe edit", { ...options, votes: true }))).toContain("⏸️ Paused: nothing");
    const again = textOf(await ask("/subscribe governance", { channel: channel.id }));
    expect(again).toContain("Subscription changed");
    expect(again).not.toContain("Paused");
    await driver.click(owner(), card, "Resume");
    await driver.click(owner(), card, "Test");
    await world.until(() => told("🧪 TEST") === 1, "the drill");
    const removed = await driver.click(owner(), card, "Remove");
    expect(labels(removed)).toEqual(["Setup"]);
    expect(textOf(card)).toContain("Subscription removed");
    expect(textOf(await ask("/subscribe remove", { channel: channel.id }))).toContain("Subscription removed");
    expect(world.refusals).toEqual([]);
  });

  it("edits a subscription in one dialog, which keeps what was chosen if something must be corrected", async () => {
    const { driver, world, guild, channels } = harness.discord;
    const role = world.addRole(guild, "Voters", 0n, { mentionable: true });
    await ask("/subscribe governance", { channel: channel.id });
    const openDialog = async () => {
      const list = await ask("/subscribe list");
      const menu = driver.components(list).find(({ type }) => type === 3);
      const own = menu?.options?.find(
        ({ label, description }) => label === "governance" && description?.includes("both"),
      );
      const card = await driver.choose(owner(), list, own?.value ?? "");
      return driver.open(owner(), card, "Edit");
    };
    const field = ({ dialog }: Awaited<ReturnType<typeof openDialog>>, name: string) =>
      dialog.components.find(({ component }) => component.custom_id.split("~")[0] === name)?.component;
    const opened = await openDialog();
    expect(opened.dialog.title).toBe("Edit · governance");
    expect(opened.dialog.components.map(({ component }) => component.custom_id.split("~")[0])).toEqual([
      "topics",
      "role",
      "before",
      "missing",
    ]);
    expect(field(opened, "before")?.value).toBe("48h 24h 6h");

    const wrong = await driver.submit(owner(), opened, {
      before: "1m",
      role: [role.id],
      topics: ["new", "votes"],
    });
    expect(wrong.content).toContain("1m is too short. The minimum is 5m.");
    const again = await openDialog();
    expect(field(again, "before")?.value).toBe("1m");
    expect(field(again, "role")?.default_values).toEqual([{ id: role.id, type: "role" }]);
    const saved = await driver.submit(owner(), again, { before: "12h" });
    expect(textOf(saved)).toMatch(/Subscription changed.*new vote requests, votes.*Pings <@&/);
    expect(harness.discord.driver.components(saved).map(({ label }) => label)).toEqual(["Setup"]);
    expect(textOf(await ask("/subscribe list"))).toMatch(/new vote requests, votes/);

    // Settings that were left alone do not count as chosen. Without a role, the pings end.
    const last = await driver.submit(owner(), await openDialog(), { role: [], topics: ["new", "reminders"] });
    expect(textOf(last)).toMatch(/new vote requests, reminders \(12 h before each deadline\)/);
    expect(textOf(last)).not.toContain("Pings");
    const ana = { user: harness.discord.people.ana, channel: channels.general };
    const refused = await driver.submit(ana, await openDialog(), { topics: [] });
    expect(refused.content).toContain("Only people who can manage the server");
    await ask("/subscribe remove", { channel: channel.id, feed: "governance" });
    expect(world.refusals).toEqual([]);
  });

  /** Opens the dialog of the channel's subscription to votes. */
  const open = async (who: Place) => {
    const { driver } = harness.discord;
    const list = await driver.ask(who, "/subscribe list");
    const menu = driver.components(list).find(({ type }) => type === 3);
    const own = menu?.options?.find(
      ({ label, description }) => label === "governance" && description?.includes("both"),
    );
    return driver.open(who, await driver.choose(who, list, own?.value ?? ""), "Edit");
  };

  it("keeps what two moderators change at the same time, each in a dialog of their own", async () => {
    const { driver, world, guild, people, channels } = harness.discord;
    const role = world.addRole(guild, "Voters of two", 0n, { mentionable: true });
    const manager = world.addRole(guild, "Managers", PERMISSION.manageGuild);
    guild.members.set(people.ben.id, [manager.id]);
    const ben = { user: people.ben, channel: channels.general };
    await ask("/subscribe governance", { channel: channel.id });
    const [first, second, third] = [await open(owner()), await open(ben), await open(ben)];
    await driver.submit(owner(), first, { role: [role.id], topics: ["new", "votes", "outcome"] });
    const saved = await driver.submit(ben, second, { before: "12h" });
    expect(textOf(saved)).toMatch(/new vote requests, outcomes, .*votes/);
    expect(textOf(saved)).toContain(`Pings <@&${role.id}>`);
    const text = textOf(await ask("/subscribe list"));
    expect(text.match(/· governance/g)).toHaveLength(1 + 1);

    // Permissions are checked when the dialog is submitted.
    guild.members.set(people.ben.id, []);
    expect((await driver.submit(ben, third, { before: "6h" })).content).toContain(
      "Only people who can manage the server",
    );
    guild.members.set(people.ben.id, [manager.id]);
    const late = await open(ben);
    guild.roles.splice(guild.roles.indexOf(role), 1);
    expect((await driver.submit(ben, late, { role: [role.id], before: "6h" })).content).toMatch(/role/i);
    const gone = await open(owner());
    await ask("/subscribe remove", { channel: channel.id, feed: "governance" });
    expect((await driver.submit(owner(), gone, { before: "6h" })).content).toContain("no longer exists");
    expect(world.refusals).toEqual([]);
  });

  it("keeps both changes of two dialogs that are submitted at the same moment", async () => {
    const { driver, world, guild, people, channels } = harness.discord;
    guild.members.set(people.ben.id, [world.addRole(guild, "Managers", PERMISSION.manageGuild).id]);
    const ben = { user: people.ben, channel: channels.general };
    await ask("/subscribe governance", { channel: channel.id });
    const rows = async () =>
      textOf(await ask("/subscribe list"))
        .split("\\n\\n")
        .filter((each) => each.includes(`<#${channel.id}> · governance`));
    for (let hours = 13; hours < 19; hours += 1) {
      const topics = ["new", "reminders", hours % 2 === 0 ? "votes" : "outcome"];
      const [mine, theirs] = [await open(owner()), await open(ben)];
      await Promise.all([
        driver.submit(owner(), mine, { topics }),
        driver.submit(ben, theirs, { before: `${hours}h` }),
      ]);
      const [row, ...others] = await rows();
      expect(others).toEqual([]);
      expect(row).toContain(hours % 2 === 0 ? "votes" : "outcomes");
      expect(row).toContain(`reminders (${hours} h before each deadline)`);
    }
    const open5 = await open(owner());
    const [removal, edit] = await Promise.all([
      ask("/subscribe remove", { channel: channel.id, feed: "governance" }),
      driver.submit(owner(), open5, { before: "5h" }),
    ]);
    expect(textOf(removal)).toContain("Subscription removed");
    expect(`${edit.content} ${textOf(edit)}`).toMatch(/no longer exists|Subscription changed/);
    expect(await rows()).toEqual([]);
    expect(world.refusals).toEqual([]);
  });

  it("is not called removed or resumed while an edit moves it to another subject", async () => {
    const { driver, world, guild } = harness.discord;
    const market = world.addChannel({ type: 0, guild_id: guild.id, name: "market" });
    const card = async () => driver.choose(owner(), await ask("/subscribe list"), "price");
    for (let round = 0; round < 20; round += 1) {
      await ask("/subscribe price", { when: "above", value: "0.2", channel: market.id });
      const dialog = await driver.open(owner(), await card(), "Edit");
      const changed = await card();
      const isRemoval = round % 2 === 0;
      if (!isRemoval) await driver.click(owner(), changed, "Pause");
      const act = () =>
        isRemoval
          ? driver.click(owner(), changed, "Remove")
          : ask("/subscribe resume", { channel: market.id });
      // The edit commits after some ms, so each round begins the other change at another point of it.
      const [answer] = await Promise.all([
        delay(round * 2).then(act),
        driver.submit(owner(), dialog, { value: "0.3" }),
      ]);
      const list = textOf(await ask("/subscribe list"));
      if (textOf(answer).includes("Subscription removed"))
        expect(list).not.toContain(`<#${market.id}> · price`);
      if (textOf(answer).includes("Resumed")) expect(list).not.toContain("paused");
      await ask("/subscribe remove", { channel: market.id });
    }
  });

  it.each(["/subscribe resume", "/subscribe governance"])(
    "says what opened during a pause that %s ends, because that isn't announced any more",
    async (command) => {
      const { driver } = harness.discord;
      const here = { channel: channel.id, feed: "governance" };
      for (const feed of ["governance", "newcomers"])
        await ask(`/subscribe ${feed}`, { channel: channel.id });
      const which = await ask("/subscribe remove", { channel: channel.id });
      await driver.click(owner(), await driver.choose(owner(), which, "governance"), "Pause");
      const title = `Unseen by ${command.slice(1)}`;
      harness.explorer.ledger.openVoteRequest({ title });
      await announcedElsewhere(title);
      const given = command.endsWith("resume") ? here : { channel: channel.id };
      expect(textOf(await ask(command, given))).toMatch(new RegExp(`Already open.*${title}`));
      expect(textOf(await ask("/subscribe resume", here))).not.toContain("Already open");
      expect(told(title)).toBe(0);
      await ask("/subscribe remove", here);
    },
  );

  it("can be changed only by server managers, except for the operator's own subscription", async () => {
    const { driver, people, channels } = harness.discord;
    await ask("/subscribe newcomers", { channel: channel.id });
    const list = await ask("/subscribe list");
    const refused = await driver.choose({ user: people.ana, channel: channels.general }, list, "newcomers");
    expect(textOf(refused)).toContain("Only people who can manage the server");
    const fixed = await driver.choose(owner(), list, "governance");
    expect(labels(fixed)).toEqual(["Edit", "Test", "Setup"]);
    const gone = await driver.choose(owner(), await ask("/subscribe list"), "newcomers");
    await ask("/subscribe remove", { channel: channel.id });
    expect(textOf(await driver.click(owner(), gone, "Pause"))).toContain(
      "That subscription no longer exists",
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
    expect(labels(card)).toEqual(["Edit", "Resume", "Remove", "Setup"]);
    channel.permission_overwrites.length = 0;
    await driver.click(
      owner(),
      await driver.choose(owner(), await ask("/subscribe list"), "newcomers"),
      "Resume",
    );
    expect(told("🧪 TEST")).toBe(before);
  });

  it("says what is missing if the bot can't see the channel of one from the environment", async () => {
    const { driver, channels, guild, world } = harness.discord;
    const message = await driver.ask(owner(), "/price");
    const custom_id = `Asub?c=${channels.governance.id}&feed=governance`;
    const components = [{ type: 1 as const, components: [{ type: 2, style: 2, label: "Open", custom_id }] }];
    const card = await driver.click(owner(), { ...message, components }, "Open");
    const before = channels.governance.permission_overwrites;
    const hidden = { allow: "0", deny: String(PERMISSION.viewChannel) };
    channels.governance.permission_overwrites = [
      { id: guild.id, type: 0, ...hidden },
      { id: world.bot.id, type: 1, ...hidden },
    ];
    const answer = textOf(await driver.click(owner(), card, "Test"));
    channels.governance.permission_overwrites = before;
    expect(answer).toContain("Grant me **View Channel** there");
  });

  it("says in its card which permission is missing now, and that a channel is gone", async () => {
    const { driver, world, guild } = harness.discord;
    const role = world.addRole(guild, "Pinged", 0n, { mentionable: true });
    const own = world.addChannel({ type: 0, guild_id: guild.id, name: "troubled" });
    const settings = { channel: own.id, role: role.id };
    expect(textOf(await driver.ask(owner(), "/subscribe upgrades", settings))).toContain("Subscribed");
    const card = async () => textOf(await driver.choose(owner(), await ask("/subscribe list"), "upgrades"));
    expect(await card()).not.toContain("⚠️");
    const deny = String(PERMISSION.embedLinks | PERMISSION.mentionEveryone);
    own.permission_overwrites.push({ id: world.bot.id, type: 1, allow: "0", deny });
    role.mentionable = false;
    expect(await card()).toMatch(/⚠️ I need .*Embed Links.*Mention .*everyone/);
    const list = await ask("/subscribe list");
    world.channels.delete(own.id);
    const gone = textOf(await driver.choose(owner(), list, "upgrades"));
    expect(gone).toContain("⚠️ I can't see this channel. It may have been deleted.");
  });
});
