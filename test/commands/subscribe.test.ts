import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import { type Harness, startHarness, textOf } from "../harness.js";

describe("/subscribe", () => {
  let harness: Harness;
  const world = () => harness.discord.world;
  const at = (channel = harness.discord.channels.general, user = harness.discord.people.owner) => ({
    user,
    channel,
  });
  const ask = (sub: string, given = {}, place = at()) =>
    harness.discord.driver.ask(place, `/subscribe ${sub}`, given);
  const addChannel = (name: string, more: object = {}) =>
    world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name, ...more });

  beforeAll(async () => {
    harness = await startHarness({
      env: (discord) => ({
        GOVERNANCE_CHANNEL_ID: discord.channels.governance.id,
        GOVERNANCE_POLL_SECONDS: "1",
      }),
    });
  });
  afterAll(() => harness.close());

  it("is available only in servers, and only to members who manage the server", () => {
    const command = harness.discord.driver
      .commandsIn(harness.discord.channels.general)
      .find(({ name }) => name === "subscribe");
    expect(command?.default_member_permissions).toBe(String(PERMISSION.manageGuild));
    expect(command?.contexts).toEqual([0]);
  });

  it("subscribes a channel with a private answer that lists the open vote requests", async () => {
    const polls = () =>
      harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    harness.explorer.ledger.openVoteRequest({ title: "An old question" });
    const before = polls();
    await world().until(() => polls() > before + 1, "a poll that knows it");
    const reply = await ask("governance", { before: "2d 90m", votes: true });
    expect(reply.visibleTo).toBe(harness.discord.people.owner.id);
    expect(textOf(reply)).toMatch(
      /new vote requests, outcomes, reminders \(2 d and 90 min before each deadline\), decisions, overdue requests, votes/,
    );
    expect(textOf(reply)).toContain("An old question");
  });

  it("reads the channel, the server and both members once", async () => {
    const channel = addChannel("read-once");
    const before = harness.discord.requests.length;
    const { ana } = harness.discord.people;
    expect(textOf(await ask("newcomers", { channel: channel.id }, at(channel, ana)))).toContain("Subscribed");
    const reads = harness.discord.requests.slice(before).filter(({ method }) => method === "GET");
    expect(reads).toHaveLength(4);
    await ask("remove", { channel: channel.id });
  });

  it("edits an existing subscription, and lists it with its state", async () => {
    expect(textOf(await ask("governance", { votes: false, reminders: false }))).toContain(
      "Subscription changed",
    );
    expect(textOf(await ask("edit", { votes: false }))).toContain("Nothing changed");
    const list = textOf(await ask("list"));
    expect(list).toContain(`<#${harness.discord.channels.general.id}>`);
    expect(list).toMatch(/new vote requests, outcomes, decisions, overdue requests"?\\n/);
    expect(list).toMatch(/last checked/);
    expect(list).toContain("Set up by the bot's operator");
  });

  it("posts the newest announcement as a drill, with its ping", async () => {
    const role = world().addRole(harness.discord.guild, "Readers", 0n, { mentionable: true });
    await ask("edit", { role: role.id });
    const request = harness.explorer.ledger.openVoteRequest({
      title: "The very newest",
      motion: "dsoConfig",
    });
    await world().until(
      () =>
        world()
          .read(harness.discord.channels.governance)
          .some((each) => textOf(each).includes("The very newest")),
      "its announcement",
    );
    expect(textOf(await ask("test"))).toContain("A test announcement is on its way");
    const drill = await world().until(
      () =>
        world()
          .read(harness.discord.channels.general)
          .findLast((each) => each.content.includes("🧪 TEST")),
      "the drill",
    );
    const text = textOf(drill);
    expect(drill.content).toMatch(/^<@&\d+> 🧪 TEST: 🗳️ New vote request: The very newest$/);
    expect(text).toContain("Unclaimed rewards merged from");
    expect(text).toContain(request.requester.name);
    expect(drill.pings).toEqual(["@Readers"]);
    const buttons = harness.discord.driver.components(drill).map(({ label }) => label);
    expect(buttons).toEqual(["Details", "Votes", "How votes work", "All vote requests"]);
    await ask("edit", { "no-role": true });
  });

  it("removes subscriptions, except those from the environment", async () => {
    const kept = await ask("remove", { channel: harness.discord.channels.governance.id });
    expect(kept.content).toContain("Set up by the bot's operator");
    expect(textOf(await ask("remove"))).toContain("Subscription removed");
    expect((await ask("edit")).content).toContain("has no subscription");
  });

  it("edits the only subscription that has the given option", async () => {
    const mixed = addChannel("mixed");
    await ask("price", { when: "above", value: "0.16", channel: mixed.id });
    await ask("governance", { channel: mixed.id });
    expect(textOf(await ask("edit", { channel: mixed.id, changes: true }))).toContain("Subscription changed");
    const which = textOf(await ask("edit", { channel: mixed.id, "no-role": true }));
    expect(which).toMatch(/Which subscription\?.*Nothing has changed yet/);
    for (const feed of ["price", "governance"]) await ask("remove", { channel: mixed.id, feed });
  });

  it("removes what was named in any case, and asks if only a part of a name was typed", async () => {
    const market = addChannel("market");
    await ask("price", { when: "above", value: "0.16", channel: market.id });
    const remove = (subject: string) => ask("remove", { channel: market.id, subject });
    for (const subject of ["a", "...", "0.2"])
      expect((await remove(subject)).content, subject).toContain("has no subscription to");
    expect(textOf(await remove("0.16"))).toContain("Which subscription?");
    expect((await remove("<@1> [x](https://x.example)")).content).toContain("\\<\\@1\\>");
    expect(textOf(await remove("ABOVE 0.16 usd"))).toContain("Subscription removed");
  });

  it("refuses @everyone, invalid reminder times, and anything that the person may not do themselves", async () => {
    expect((await ask("governance", { role: harness.discord.guild.id })).content).toContain(
      "never ping @everyone",
    );
    expect((await ask("governance", { before: "soon" })).content).toContain("24h 6h");
    expect((await ask("governance", { publish: true })).content).toContain("isn't an announcement channel");
    const thread = addChannel("a-thread", { type: 11, parent_id: harness.discord.channels.general.id });
    const inThread = await ask("governance", { thread: true }, at(thread));
    expect(inThread.content).toContain("can't have threads under its messages");
    const pinged = world().addRole(harness.discord.guild, "Pinged", 0n, { mentionable: true }).id;
    // A channel that was an announcement channel before can still be edited.
    const turned = addChannel("turned", { type: 5 });
    await ask("newcomers", { channel: turned.id, publish: true });
    turned.type = 0;
    expect(textOf(await ask("newcomers", { channel: turned.id, role: pinged }))).toContain(
      "Subscription changed",
    );
    const both = await ask("edit", { channel: turned.id, role: pinged, "no-role": true });
    expect(both.content).toContain("contradict each other");
    await ask("remove", { channel: turned.id });
    const hidden = addChannel("board", {
      permission_overwrites: [
        { id: harness.discord.guild.id, type: 0, allow: "0", deny: String(PERMISSION.viewChannel) },
        { id: world().bot.id, type: 1, allow: String(PERMISSION.viewChannel), deny: "0" },
      ],
    });
    const ana = at(harness.discord.channels.general, harness.discord.people.ana);
    expect((await ask("governance", { channel: hidden.id }, ana)).content).toContain(
      "you don't have **View Channel**",
    );
    const role = world().addRole(harness.discord.guild, "Voters", 0n);
    expect((await ask("governance", { role: role.id }, ana)).content).toContain("isn't mentionable");
  });

  it("names the permissions that the bot lacks in another channel, and how to grant them", async () => {
    const deny = PERMISSION.embedLinks | PERMISSION.readHistory;
    const quiet = addChannel("quiet", {
      permission_overwrites: [{ id: world().bot.id, type: 1, allow: "0", deny: String(deny) }],
    });
    const reply = await ask("governance", { channel: quiet.id });
    expect(reply.content).toContain("**Embed Links**, **Read Message History**");
    expect(reply.content).toContain("Permissions");
    const blind = addChannel("blind", {
      permission_overwrites: [
        { id: world().bot.id, type: 1, allow: "0", deny: String(PERMISSION.viewChannel) },
      ],
    });
    expect((await ask("governance", { channel: blind.id })).content).toContain("View Channel");
    const noThreads = addChannel("no-threads", {
      permission_overwrites: [
        { id: world().bot.id, type: 1, allow: "0", deny: String(PERMISSION.createPublicThreads) },
      ],
    });
    expect((await ask("governance", { channel: noThreads.id, thread: true })).content).toContain(
      "Create Public Threads",
    );
    expect(textOf(await ask("governance", { channel: noThreads.id }))).toContain("Subscribed");
    const mute = world().addRole(harness.discord.guild, "Council", 0n);
    expect((await ask("governance", { channel: noThreads.id, role: mute.id })).content).toContain(
      "Mention @everyone",
    );
  });

  it("uses a tag in a forum that requires one, and says so if there is none", async () => {
    const staff = { id: "666666666666666666", name: "Governance (staff)", moderated: true };
    for (const available_tags of [[], [staff]]) {
      const bare = addChannel("bare-forum", { type: 15, flags: 16, available_tags });
      expect((await ask("governance", { channel: bare.id })).content).toContain("requires a tag");
    }
    const forum = addChannel("forum", {
      type: 15,
      flags: 16,
      available_tags: [
        staff,
        { id: "111111111111111111", name: "other" },
        { id: "222222222222222222", name: "Governance" },
      ],
    });
    expect(textOf(await ask("governance", { channel: forum.id }))).toContain("A post for each vote request");
    await ask("test", { channel: forum.id });
    const post = await world().until(
      () =>
        [...world().channels.values()].find(
          ({ parent_id, thread_metadata }) => parent_id === forum.id && thread_metadata?.archived,
        ),
      "its post, archived",
    );
    expect(post).toMatchObject({ applied_tags: ["222222222222222222"], thread_metadata: { archived: true } });

    const left = { id: "333333333333333333", name: "Left over" };
    forum.available_tags = [left];
    expect(textOf(await ask("resume", { channel: forum.id }))).toContain("Posts get the tag **Left over**");
    await ask("test", { channel: forum.id });
    await world().until(
      () =>
        [...world().channels.values()].some(
          ({ parent_id, applied_tags }) => parent_id === forum.id && applied_tags?.[0] === left.id,
        ),
      "a post with the tag that is left",
    );
    await ask("upgrades", { channel: forum.id });
    const next = { id: "444444444444444444", name: "Next" };
    forum.available_tags = [next];
    // Subscribing again helps like resuming: also the other subscription.
    const again = textOf(await ask("governance", { channel: forum.id }));
    expect(again).toContain("Posts get the tag **Next**");
    await ask("test", { channel: forum.id, feed: "upgrades" });
    await world().until(
      () =>
        [...world().channels.values()].some(
          ({ parent_id, applied_tags }) => parent_id === forum.id && applied_tags?.[0] === next.id,
        ),
      "the other subscription's post with the new tag",
    );
    // A test posts with a tag that is left, instead of pausing the channel.
    const newest = { id: "555555555555555555", name: "Newest" };
    forum.available_tags = [newest];
    await ask("test", { channel: forum.id, feed: "upgrades" });
    await world().until(
      () =>
        [...world().channels.values()].some(
          ({ parent_id, applied_tags }) => parent_id === forum.id && applied_tags?.[0] === newest.id,
        ),
      "the test post with the newest tag",
    );
    await ask("remove", { channel: forum.id, feed: "upgrades" });
    forum.available_tags = [];
    expect((await ask("resume", { channel: forum.id })).content).toContain("requires a tag");
  });

  it("has a limit per server, and lists subscriptions in pages", async () => {
    const places = Array.from({ length: 12 }, (_, at) => addChannel(`room-${at}`));
    await harness.restart({ SUBSCRIPTIONS_PER_SERVER: "10" });
    // Simultaneous commands cannot exceed the limit together.
    const answers = await Promise.all(places.map(({ id }) => ask("governance", { channel: id })));
    const refused = answers.filter(({ content }) =>
      /^This server already has 10 subscriptions/.test(content),
    );
    expect(refused.length).toBeGreaterThan(1);
    expect(refused[0]?.content).toMatch(/<\/subscribe remove:\d+> first/);
    const first = textOf(await ask("list"));
    const second = textOf(await ask("list", { page: 2 }));
    const { driver, people, channels } = harness.discord;
    const owner = { user: people.owner, channel: channels.general };
    const pressed = await driver.click(owner, await ask("list"), "Next page");
    expect(textOf(pressed)).toMatch(/page 2 of 2/);
    expect(first).toMatch(/1[01] subscriptions, page 1 of 2/);
    const listed = [...`${first}${second}`.matchAll(/<#(\d+)>/g)].map(([, id]) => id);
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.length).toBeGreaterThanOrEqual(10);
    // Existing subscriptions can still be changed.
    const kept = places.find(({ id }) => listed.includes(id));
    expect(textOf(await ask("governance", { channel: kept?.id, votes: true }))).toContain(
      "Subscription changed",
    );
  });
});
