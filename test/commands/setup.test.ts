import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FieldValues } from "../../sandbox/discord/driver.js";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import type { Channel, Message } from "../../sandbox/discord/world.js";
import { type Harness, startHarness, textOf } from "../harness.js";

describe("/setup", () => {
  let harness: Harness;
  let ops: Channel;
  let role: string;
  const world = () => harness.discord.world;
  const driver = () => harness.discord.driver;
  const olga = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.general });
  const setUp = () => driver().ask(olga(), "/setup");
  const add = async (overview: Message, feed: string, values: FieldValues, who = olga()) => {
    const menu = driver()
      .components(overview)
      .find(({ placeholder }) => placeholder === "Add…");
    const choice = menu?.options?.find(({ label }) => label === feed);
    const interaction = driver().pick(who, overview, menu?.custom_id ?? "", choice?.value ?? "");
    const dialog = await world().until(() => interaction.dialog, "the dialog");
    return driver().submit(who, { dialog, source: overview }, values);
  };

  beforeAll(async () => {
    harness = await startHarness();
    const { guild } = harness.discord;
    ops = world().addChannel({ type: 0, guild_id: guild.id, name: "ops" });
    role = world().addRole(guild, "ops", 0n, { mentionable: true }).id;
    // Names are known once the lists are read, of which this is the last.
    const hasNames = () => harness.explorer.requests.some(({ path }) => path.endsWith("/parties/top"));
    await world().until(hasNames, "the names");
  });
  afterAll(() => harness.close());

  it("sets up votes, alerts for three validators and a digest on Mondays with three dialogs", async () => {
    const { governance } = harness.discord.channels;
    const first = await setUp();
    expect(textOf(first)).toContain("Nothing is set up yet");
    expect(first.visibleTo).toBe(harness.discord.people.owner.id);
    const named = harness.explorer.ledger.validators.filter(({ party, isSv }) => party.name && !isSv);
    const names = named.slice(0, 3).map(({ party }) => party.name);
    const votes = await add(first, "Governance", { channel: governance.id });
    expect(textOf(votes)).toMatch(/✅ Subscribed: <#\d+> · governance/);
    const validators = await add(votes, "Validator", {
      channel: ops.id,
      subjects: names.join(", "),
      role: [role],
    });
    expect(textOf(validators).match(/✅ Subscribed/g)).toHaveLength(1);
    expect(textOf(validators)).toContain("3 validators at the moment, 0 of them silent.");
    const digest = await add(validators, "Digest", { channel: ops.id });
    const text = textOf(digest);
    const row = /validator · \*\*(.+?)\*\* · pings <@&(\d+)> · ▶️ working/.exec(text);
    expect(row?.[1]?.split(", ").toSorted()).toEqual(names.toSorted());
    expect(row?.[2]).toBe(role);
    expect(text).toMatch(/<#\d+> · digest · ▶️ working/);
    expect(textOf(await driver().ask(olga(), "/subscribe list"))).toContain("a digest every Monday at 09");
    expect(world().refusals).toEqual([]);
  });

  it("says that a role that is pinged no longer exists", async () => {
    const { roles } = harness.discord.guild;
    const [deleted] = roles.splice(
      roles.findIndex(({ id }) => id === role),
      1,
    );
    for (const command of ["/setup", "/subscribe list"])
      expect(textOf(await driver().ask(olga(), command))).toContain("⚠️ pings a role that no longer exists");
    if (deleted) roles.push(deleted);
    expect(textOf(await setUp())).toContain(`pings <@&${role}>`);
  });

  it("shows the calendar, if votes appear in it", async () => {
    const { governance } = harness.discord.channels;
    const { guild } = harness.discord;
    const scheduling = world().addRole(guild, "Scheduling", PERMISSION.createEvents).id;
    guild.members.get(world().bot.id)?.push(scheduling);
    expect(textOf(await setUp())).not.toContain("Calendar");
    await driver().ask(olga(), "/subscribe governance", { channel: governance.id, calendar: true });
    expect(textOf(await setUp())).toContain(
      `🗓️ Calendar: open vote requests appear as server events (set in <#${governance.id}>).`,
    );
    await driver().ask(olga(), "/subscribe governance", { channel: governance.id, calendar: false });
  });

  it("sends a test to all, says which could not be tested, and reads the server and the members once", async () => {
    const spare = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "spare" });
    await add(await setUp(), "Newcomers", { channel: spare.id });
    const card = await driver().choose(olga(), await setUp(), "newcomers");
    world().channels.delete(spare.id);
    const refused = await driver().click(olga(), card, "Test");
    expect(refused.content).toContain("That channel no longer exists. Remove its subscription");
    const overview = await setUp();
    const before = harness.discord.requests.length;
    const tested = await driver().click(olga(), overview, "Test all");
    const reads = harness.discord.requests
      .slice(before)
      .flatMap(({ method, path }) => (method === "GET" && path.includes("/guilds/") ? [path] : []));
    expect(reads).toEqual([...new Set(reads)]);
    expect(textOf(tested)).toMatch(/🧪 3 test announcements on the way.*⚠️ Can't test <#\d+> · newcomers/);
    await world().until(() => world().read(ops).length >= 2, "the tests");
  });

  it("says what is wrong, and saves nothing", async () => {
    const overview = await setUp();
    const before = textOf(overview);
    const closed = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "closed" });
    closed.permission_overwrites.push({
      id: world().bot.id,
      type: 1,
      allow: "0",
      deny: String(PERMISSION.embedLinks),
    });
    expect((await add(overview, "Newcomers", { channel: closed.id })).content).toContain(
      "I need **Embed Links**",
    );
    const unknown = await add(overview, "Validator", { subjects: "Nobody at all" });
    expect(unknown.content).toMatch(
      /“Nobody at all”: Can't find a validator .* Check the spelling, or paste its full id/,
    );
    // The next dialog shows what was typed. Discord refuses spaces alone, and half of a surrogate pair.
    await add(overview, "Validator", { subjects: "Nobody at all", after: "  " });
    const hostile = await add(overview, "Validator", { subjects: "**Nobody** <@1>\ud800" });
    expect(hostile.content).toMatch(/^“\\\*\\\*Nobody\\\*\\\* \\<\\@1\\>\ufffd”: Can't find/);
    const many = Array.from({ length: 26 }, (_, at) => `v${at}`).join(",");
    expect((await add(overview, "Validator", { subjects: many })).content).toContain("The maximum is 25.");
    expect((await add(overview, "Price", { value: "cheap" })).content).toContain("Type a price in USD");
    expect(textOf(await setUp())).toBe(before);
  });

  it("opens a refused dialog again with what was typed, and shows no error once it is corrected", async () => {
    const channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "again" });
    const refused = await add(await setUp(), "Price", { value: "cheap", channel: channel.id });
    const again = await driver().open(olga(), refused, "Try again");
    const [value] = again.dialog.components.filter(({ component }) => component.custom_id === "value");
    expect(value?.component.value).toBe("cheap");
    const corrected = await driver().submit(olga(), again, { value: "5%", channel: channel.id });
    expect(textOf(corrected)).toContain("✅ Subscribed");
    expect(corrected.content).toBe("");
    await driver().ask(olga(), "/subscribe remove", { channel: channel.id });
  });

  it("takes a text that was deleted for the default", async () => {
    const channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "defaults" });
    const [name = ""] = harness.explorer.ledger.validators.flatMap(({ party, isSv }) =>
      party.name && !isSv ? [party.name] : [],
    );
    const added = await add(await setUp(), "Validator", { channel: channel.id, subjects: name, after: "3h" });
    expect(textOf(added)).toContain("✅ Subscribed");
    const rows = async () => textOf(await driver().ask(olga(), "/subscribe list"));
    expect(await rows()).toContain("silence of more than 3h");
    const card = await driver().choose(olga(), await setUp(), `validator: ${name}`);
    const dialog = await driver().open(olga(), card, "Edit");
    await driver().submit(olga(), dialog, { after: " " });
    expect(await rows()).not.toContain("more than 3h");
    await driver().ask(olga(), "/subscribe remove", { channel: channel.id });
    const digest = await add(await setUp(), "Digest", { channel: channel.id, at: "", zone: "" });
    expect(textOf(digest)).toContain("✅ Subscribed");
    expect(await rows()).toContain("a digest every Monday at 09:00 UTC");
    await driver().ask(olga(), "/subscribe remove", { channel: channel.id });
  });

  it("keeps what was refused in one channel out of the dialogs of another", async () => {
    const { channels, guild } = harness.discord;
    const elsewhere = world().addChannel({ type: 0, guild_id: guild.id, name: "elsewhere" });
    const subscribe = async (channel: Channel) => {
      const place = { user: olga().user, channel };
      return driver().open(place, await driver().ask(place, "/price"), "Subscribe this channel");
    };
    const there = { user: olga().user, channel: channels.general };
    await driver().submit(there, await subscribe(channels.general), { value: "cheap" });
    const { dialog } = await subscribe(elsewhere);
    const fields = Object.fromEntries(
      dialog.components.map(({ component }) => [component.custom_id, component]),
    );
    expect(fields.value?.value).not.toBe("cheap");
    expect(fields.channel?.default_values?.[0]?.id).toBe(elsewhere.id);
  });

  it("opens its dialog from a validator, with the name and the channel filled in", async () => {
    const named = harness.explorer.ledger.validators.filter(({ party, isSv }) => party.name && !isSv);
    const validator = named[5]?.party;
    const shown = await driver().ask(olga(), "/validator show", { validator: validator?.id ?? "" });
    const opened = await driver().open(olga(), shown, "Subscribe this channel");
    const values = Object.fromEntries(
      opened.dialog.components.map(({ component }) => [component.custom_id, component]),
    );
    expect(values.subjects?.value).toBe(validator?.name);
    expect(values.channel?.default_values?.[0]?.id).toBe(harness.discord.channels.general.id);
    const saved = await driver().submit(olga(), opened, {});
    expect(textOf(saved)).toContain("✅ Subscribed");
    expect(saved.visibleTo).toBe(harness.discord.people.owner.id);
    const ana = { user: harness.discord.people.ana, channel: harness.discord.channels.general };
    const own = await driver().ask(ana, "/validator show", { validator: validator?.id ?? "" });
    expect(
      driver()
        .components(own)
        .map(({ label }) => label),
    ).not.toContain("Subscribe this channel");
    for (const [command, given] of [
      ["/price", {}],
      ["/proposals show", { proposal: harness.explorer.ledger.voteRequests[0]?.firstContractId ?? "" }],
    ] as const) {
      const screen = await driver().ask(olga(), command, given);
      const { dialog } = await driver().open(olga(), screen, "Subscribe this channel");
      expect(dialog.title).toMatch(/^Add (price|governance)$/);
    }
  });

  it("makes one subscription of a dialog that is submitted twice, twenty minutes after it was opened", async () => {
    const late = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "late" });
    const overview = await setUp();
    const menu = driver()
      .components(overview)
      .find(({ placeholder }) => placeholder === "Add…");
    const choice = menu?.options?.find(({ label }) => label === "Upgrades");
    const interaction = driver().pick(olga(), overview, menu?.custom_id ?? "", choice?.value ?? "");
    const dialog = await world().until(() => interaction.dialog, "the dialog");
    harness.pass(20 * 60_000);
    const submit = () => driver().submit(olga(), { dialog, source: overview }, { channel: late.id });
    const answers = await Promise.all([submit(), submit(), submit()]);
    expect(answers.filter((each) => textOf(each).includes("✅ ")).length).toBe(3);
    const list = textOf(await driver().ask(olga(), "/subscribe list"));
    expect(list.match(/· upgrades/g)).toHaveLength(1);
  });

  it("does not replace the settings of an existing subscription by a dialog's defaults", async () => {
    const busy = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "busy" });
    const settings = { channel: busy.id, thread: true, votes: true, before: "12h" };
    await driver().ask(olga(), "/subscribe governance", settings);
    const listed = async () => textOf(await driver().ask(olga(), "/subscribe list"));
    const before = await listed();
    const again = await add(await setUp(), "Governance", { channel: busy.id });
    expect(again.content).toContain("already has that subscription, with other settings");
    expect(await listed()).toBe(before);
    await driver().ask(olga(), "/subscribe remove", { channel: busy.id });
  });

  it("keeps to the limit of a channel, however many dialogs are submitted together", async () => {
    const overview = await setUp();
    const menu = driver()
      .components(overview)
      .find(({ placeholder }) => placeholder === "Add…");
    const choice = menu?.options?.find(({ label }) => label === "Price");
    const opened = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const interaction = driver().pick(olga(), overview, menu?.custom_id ?? "", choice?.value ?? "");
        const dialog = await world().until(() => interaction.dialog, "the dialog");
        return { dialog, source: overview };
      }),
    );
    const answers = await Promise.all(
      opened.map((dialog, at) => driver().submit(olga(), dialog, { channel: ops.id, value: `0.${at + 10}` })),
    );
    const refused = answers.filter(({ content }) => content.includes("which is the maximum"));
    expect(refused.length).toBe(40 - 25);
    const count = answers.length - refused.length;
    const shown = await setUp();
    expect(textOf(shown)).toContain("page 1 of 2");
    const opens = () =>
      driver()
        .components(shown)
        .find(({ placeholder }) => placeholder?.startsWith("Edit"))
        ?.options?.filter(({ label }) => label.startsWith("price"))
        .map(({ value }) => value) ?? [];
    const first = opens();
    await driver().click(olga(), shown, "Next page");
    expect(new Set([...first, ...opens()]).size).toBe(count);
    await driver().click(olga(), shown, "Previous page");
    expect(opens()).toEqual(first);
  });

  it("is for people who manage the server", async () => {
    const { people, channels } = harness.discord;
    const ana = { user: people.ana, channel: channels.general };
    const menu = driver()
      .components(await setUp())
      .find(({ placeholder }) => placeholder === "Add…");
    const overview = await setUp();
    const interaction = driver().pick(ana, overview, menu?.custom_id ?? "", menu?.options?.[0]?.value ?? "");
    const answer = await driver().answered(interaction);
    expect(answer.content).toContain("Only people who can manage the server");
  });
});
