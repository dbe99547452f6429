import { PermissionFlagsBits } from "discord-api-types/v10";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSION } from "../../../sandbox/discord/permissions.js";
import type { Channel, Message, User } from "../../../sandbox/discord/world.js";
import type { VoteRequest } from "../../../sandbox/explorer/model.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("missing votes", () => {
  let harness: Harness;
  let channel: Channel;
  let roleId: string;
  const world = () => harness.discord.world;
  const ledger = () => harness.explorer.ledger;
  const ask = (command: string, given: Record<string, string | boolean> = {}, user?: User) => {
    const { driver, people, channels } = harness.discord;
    return driver.ask({ user: user ?? people.owner, channel: channels.general }, command, given);
  };
  const reads = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  const polls = async (count = 2) => {
    const before = reads();
    await world().until(() => reads() > before + count, `${count} polls`);
  };
  const about = (where: Channel, pattern: RegExp) =>
    world()
      .read(where)
      .filter((each) => pattern.test(textOf(each)));
  const until = (where: Channel, pattern: RegExp): Promise<Message> =>
    world().until(() => about(where, pattern)[0], String(pattern));
  const open = (title: string) => openIn(channel, title);
  const openIn = async (where: Channel, title: string): Promise<VoteRequest> => {
    const request = ledger().openVoteRequest({
      title,
      motion: "feature",
      lastsMs: 30 * HOUR,
      effectiveInMs: 20 * DAY,
    });
    await until(where, new RegExp(`New vote request.*${title}`));
    return request;
  };
  const missingFrom = ({ ballots }: VoteRequest) =>
    ledger().superValidators.filter((sv) => !ballots.some(({ voter }) => voter === sv));
  const direct = (user: User) => world().directChannel(user);

  beforeAll(async () => {
    // The directory, which reads once a minute, reads every three seconds.
    harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1", SANDBOX_HURRY: "20" }) });
    const { guild } = harness.discord;
    channel = world().addChannel({ type: 0, guild_id: guild.id, name: "votes" });
    roleId = world().addRole(guild, "Grove", 0n, { mentionable: true }).id;
    await ask("/subscribe governance", { channel: channel.id, before: "24h 6h" });
    await polls();
  });
  afterAll(async () => {
    expect(world().refusals).toEqual([]);
    await harness.close();
  });

  const offered = async (typed: string) => {
    const { driver, people, channels } = harness.discord;
    const place = { user: people.owner, channel: channels.general };
    return driver.complete(place, "/voters set", "sv", { sv: typed });
  };

  it("are mapped to members or roles of the server, with autocomplete for the super validator", async () => {
    const [first, second] = ledger().superValidators;
    if (!first?.name || !second?.name) throw new Error("Too few");
    let choice = await offered(first.name);
    while (!choice[0]?.name.includes(first.name)) choice = await offered(first.name);
    expect(choice[0]?.name).toContain(first.name);
    const { ana } = harness.discord.people;
    expect(textOf(await ask("/voters set", { sv: String(choice[0]?.value), who: ana.id }))).toContain(
      `<@${ana.id}>`,
    );
    expect(textOf(await ask("/voters set", { sv: second.name, who: roleId }))).toContain(`<@&${roleId}>`);
    const listed = textOf(await ask("/voters list"));
    expect(listed).toContain(`**${first.name}** → <@${ana.id}>`);
    expect(listed).toContain(`**${second.name}** → <@&${roleId}>`);
    expect(listed).toMatch(/No channel pings them yet\..*check that reminders before deadlines are on/);
    const closed = world().addRole(harness.discord.guild, "Closed", 0n);
    expect(textOf(await ask("/voters set", { sv: second.name, who: closed.id }))).toContain(
      "Make it mentionable",
    );
    expect(textOf(await ask("/voters set", { sv: "Nobody at all", who: ana.id }))).toContain(
      "Can't find a super validator",
    );
  });

  it("are said not to be pinged while the subscription that would ping them is paused", async () => {
    expect(textOf(await ask("/voters list"))).toContain("Pick the governance subscription in");
    const spare = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "spare" });
    await ask("/subscribe governance", { channel: spare.id, missing: "ping" });
    expect(textOf(await ask("/voters list"))).toContain(`reminders ping them in <#${spare.id}>`);
    const { driver, people, channels } = harness.discord;
    const here = { user: people.owner, channel: channels.general };
    const setup = await driver.ask(here, "/setup");
    const options = driver.components(setup).flatMap((menu) => menu.options ?? []);
    const chosen = options.find(({ description }) => description?.includes("#spare"))?.value ?? "";
    const card = await driver.choose(here, setup, chosen);
    await driver.click(here, card, "Pause");
    expect(textOf(await ask("/voters list"))).toContain(
      `the governance subscription in <#${spare.id}> is paused`,
    );
    expect(textOf(await ask("/setup"))).toContain("no channel pings them");
    await ask("/subscribe remove", { channel: spare.id });
  });

  it("are mapped only to members of the server", async () => {
    const stranger = world().addUser("Stranger");
    const [first] = ledger().superValidators;
    const answer = await ask("/voters set", { sv: first?.name ?? "", who: stranger.id });
    expect(textOf(answer)).toContain("isn't in this server");
  });

  it("are mapped to a role only by a person who may ping it in every channel that pings", async () => {
    const { guild, people, channels } = harness.discord;
    const bits = PermissionFlagsBits;
    const manager = world().addUser("Manager");
    const mayPing = world().addRole(guild, "Pingers", bits.ManageGuild | bits.MentionEveryone);
    const mayManage = world().addRole(guild, "Managers", bits.ManageGuild);
    const botRole = world().addRole(guild, "Bots", bits.MentionEveryone);
    guild.members.get(world().bot.id)?.push(botRole.id);
    const quietRole = world().addRole(guild, "Quiet", 0n);
    const votes = world().addChannel({ type: 0, guild_id: guild.id, name: "pinged-votes" });
    await ask("/subscribe governance", { channel: votes.id, missing: "ping" });
    const [first] = ledger().superValidators;
    const set = async () =>
      textOf(await ask("/voters set", { sv: first?.name ?? "", who: quietRole.id }, manager));
    const overwrite = (allow: bigint, deny: bigint) => ({
      id: manager.id,
      type: 1 as const,
      allow: String(allow),
      deny: String(deny),
    });

    guild.members.set(manager.id, [mayManage.id]);
    channels.general.permission_overwrites.push(overwrite(bits.MentionEveryone, 0n));
    expect(await set()).toMatch(/you don't have.* in this server/);
    guild.members.set(manager.id, [mayPing.id]);
    votes.permission_overwrites.push(overwrite(0n, bits.MentionEveryone));
    expect(await set()).toContain(`in <#${votes.id}>`);
    votes.permission_overwrites.length = 0;
    expect(await set()).toContain(`<@&${quietRole.id}>`);
    await ask("/subscribe remove", { channel: votes.id });
    await ask("/voters remove", { sv: first?.name ?? "" });
    await ask("/voters set", { sv: first?.name ?? "", who: people.ana.id });
  });

  it("are listed in a reminder without a ping by default, and updated as votes come in", async () => {
    const request = await open("Listed motion");
    const [voter] = missingFrom(request);
    if (!voter) throw new Error("Nobody");
    harness.pass(7 * HOUR);
    const reminder = await until(channel, /left to vote: Listed motion/);
    expect(reminder.pings).toEqual([]);
    for (const { name } of missingFrom(request)) expect(textOf(reminder)).toContain(name ?? "?");
    harness.pass(6 * MINUTE);
    ledger().castVote(request, true, voter);
    await world().until(() => !textOf(reminder).includes(voter.name ?? "?"), "the edited list");
    expect(textOf(reminder)).toContain("Not voted yet");
    expect(about(channel, /left to vote: Listed motion/)).toHaveLength(1);
    ledger().closeVoteRequest(request, "Rejected");
    await world().until(
      () => /^❌ Rejected: Listed motion/.test(reminder.content),
      "the end in the reminder",
    );
  });

  it("ping their representatives once in a reminder", async () => {
    await ask("/subscribe edit", { channel: channel.id, missing: "ping" });
    expect(textOf(await ask("/voters list"))).toContain(`reminders ping them in <#${channel.id}>`);
    const request = await open("Pinged motion");
    const [first, second] = ledger().superValidators;
    // Representatives of super validators that have voted are not pinged.
    ledger().castVote(request, true, second);
    await polls(3);
    harness.pass(7 * HOUR);
    const reminder = await until(channel, /left to vote: Pinged motion/);
    const isAsked = request.ballots.every(({ voter }) => voter !== first);
    expect(reminder.pings).toEqual(isAsked ? ["@ana"] : []);
    await polls();
    expect(about(channel, /left to vote: Pinged motion/)).toHaveLength(1);
    ledger().closeVoteRequest(request, "Rejected");
  });

  it("ping their representatives in one channel per server: the oldest one that gets the reminder", async () => {
    const { guild } = harness.discord;
    const second = world().addChannel({ type: 0, guild_id: guild.id, name: "second-votes" });
    await ask("/subscribe governance", { channel: second.id, missing: "ping", before: "24h" });
    const request = await open("Motion for two channels");
    harness.pass(7 * HOUR);
    const reminders = await Promise.all(
      [channel, second].map((each) => until(each, /left to vote: Motion for two channels/)),
    );
    const isAsked = missingFrom(request).some((sv) => sv === ledger().superValidators[0]);
    expect(isAsked).toBe(true);
    expect(reminders.map(({ pings }) => pings.includes("@ana"))).toEqual([true, false]);
    expect(reminders[1]?.pings).toEqual([]);
    ledger().closeVoteRequest(request, "Rejected");

    const closed = { id: guild.id, type: 0 as const, allow: "0", deny: String(PERMISSION.sendMessages) };
    const unseen = await open("Motion for a closed channel");
    await until(second, /New vote request: Motion for a closed channel/);
    // The bot has not noticed it yet, and does not until the other reminder is sent.
    channel.permission_overwrites.push(closed);
    const path = new RegExp(`^/channels/${channel.id}/messages$`);
    harness.discord.trap({ method: "POST", path, delayMs: 3_000, times: 1 });
    harness.pass(7 * HOUR);
    expect((await until(second, /left to vote: Motion for a closed channel/)).pings).toContain("@ana");
    ledger().closeVoteRequest(unseen, "Rejected");
    const later = await openIn(second, "Motion for the second channel");
    harness.pass(7 * HOUR);
    expect((await until(second, /left to vote: Motion for the second/)).pings).toContain("@ana");
    ledger().closeVoteRequest(later, "Rejected");
    await expect.poll(async () => textOf(await ask("/subscribe list"))).toContain("paused");
    channel.permission_overwrites.splice(channel.permission_overwrites.indexOf(closed), 1);
    expect(textOf(await ask("/subscribe resume", { channel: channel.id }))).toContain("Resumed");
    // Waiting messages are checked every eight seconds.
    await harness.pass(8 * SECOND);
    world().refusals.length = 0;
    await ask("/subscribe remove", { channel: second.id });
  });

  it("ping once in a server if an outage makes different reminders due together", async () => {
    const { guild } = harness.discord;
    const second = world().addChannel({ type: 0, guild_id: guild.id, name: "later-votes" });
    await ask("/subscribe governance", { channel: second.id, missing: "ping", before: "12h" });
    const request = await open("Motion during an outage");
    harness.pass(20 * HOUR);
    const pattern = /left to vote: Motion during an outage/;
    const pings = [await until(channel, pattern), await until(second, pattern)].map(({ pings }) => pings);
    expect(pings.map((each) => each.includes("@ana"))).toEqual([true, false]);
    ledger().closeVoteRequest(request, "Rejected");
    await ask("/subscribe remove", { channel: second.id });
  });

  it("ping in the next channel if the oldest one gets no reminders, or its role may not be pinged there", async () => {
    const { guild, people } = harness.discord;
    const bits = PermissionFlagsBits;
    const second = world().addChannel({ type: 0, guild_id: guild.id, name: "next-votes" });
    await ask("/subscribe governance", { channel: second.id, missing: "ping", before: "24h" });
    await ask("/subscribe edit", { channel: channel.id, reminders: false });
    const request = await open("Motion for the next channel");
    harness.pass(7 * HOUR);
    expect((await until(second, /left to vote: Motion for the next/)).pings).toContain("@ana");
    ledger().closeVoteRequest(request, "Rejected");
    await ask("/subscribe edit", { channel: channel.id, reminders: true });

    const setter = world().addUser("Careful setter");
    const mayPing = world().addRole(guild, "Careful setters", bits.ManageGuild | bits.MentionEveryone);
    const botRole = world().addRole(guild, "More pinging bots", bits.MentionEveryone);
    guild.members.get(world().bot.id)?.push(botRole.id);
    const silent = world().addRole(guild, "Silent reviewers", 0n);
    guild.members.set(setter.id, [mayPing.id]);
    const [first] = ledger().superValidators;
    await ask("/voters set", { sv: first?.name ?? "", who: silent.id }, setter);
    // Since then, the person or the bot may no longer ping in the oldest channel.
    for (const [id, title] of [
      [setter.id, "Motion with a careful role"],
      [world().bot.id, "Motion with a careful bot"],
    ] as const) {
      const denied = { id, type: 1 as const, allow: "0", deny: String(bits.MentionEveryone) };
      channel.permission_overwrites.push(denied);
      const later = await open(title);
      harness.pass(7 * HOUR);
      const pattern = new RegExp(`left to vote: ${title}`);
      expect((await until(channel, pattern)).content).not.toContain(silent.id);
      expect((await until(second, pattern)).pings).toEqual(["@Silent reviewers"]);
      ledger().closeVoteRequest(later, "Rejected");
      if (id === world().bot.id)
        expect(textOf(await ask("/voters set", { sv: first?.name ?? "", who: silent.id }, setter))).toContain(
          `I can't ping <@&${silent.id}> in <#${channel.id}>.`,
        );
      channel.permission_overwrites.splice(channel.permission_overwrites.indexOf(denied), 1);
    }
    await ask("/voters set", { sv: first?.name ?? "", who: people.ana.id });
    await ask("/subscribe remove", { channel: second.id });
  });

  it("ping in the next channel if they can't see the oldest one", async () => {
    const { guild, people } = harness.discord;
    const [first] = ledger().superValidators;
    const bits = PermissionFlagsBits;
    const second = world().addChannel({ type: 0, guild_id: guild.id, name: "open-votes" });
    await ask("/subscribe governance", { channel: second.id, missing: "ping", before: "24h" });
    const hidden = { id: people.ana.id, type: 1 as const, allow: "0", deny: String(bits.ViewChannel) };
    channel.permission_overwrites.push(hidden);
    const unseen = await open("Motion for somebody who can't see it");
    harness.pass(7 * HOUR);
    const pattern = /left to vote: Motion for somebody/;
    expect((await until(channel, pattern)).pings).not.toContain("@ana");
    expect((await until(second, pattern)).pings).toContain("@ana");
    ledger().closeVoteRequest(unseen, "Rejected");
    await ask("/subscribe remove", { channel: second.id });
    expect(textOf(await ask("/voters set", { sv: first?.name ?? "", who: people.ana.id }))).toContain(
      `<@${people.ana.id}> can't see <#${channel.id}>, so Discord won't notify them.`,
    );
    channel.permission_overwrites.splice(channel.permission_overwrites.indexOf(hidden), 1);
    expect(textOf(await ask("/voters set", { sv: first?.name ?? "", who: people.ana.id }))).not.toContain(
      "can't see",
    );
  });

  it("check and list many roles with few requests, and say first where they are pinged", async () => {
    const { guild, requests } = harness.discord;
    const setter = world().addUser("Mapper");
    const mapper = world().addRole(
      guild,
      "Mappers",
      PermissionFlagsBits.ManageGuild | PermissionFlagsBits.MentionEveryone,
    );
    const botRole = world().addRole(guild, "Mapped bots", PermissionFlagsBits.MentionEveryone);
    guild.members.get(world().bot.id)?.push(botRole.id);
    guild.members.set(setter.id, [mapper.id]);
    const voters = ledger().superValidators.slice(-6);
    for (const [at, { name }] of voters.entries()) {
      const role = world().addRole(guild, `Silent ${at}`, 0n);
      await ask("/voters set", { sv: name ?? "", who: role.id }, setter);
    }
    const reads = () => requests.filter(({ method }) => method === "GET").length;
    // Reminders of other requests would read roles, too.
    for (const each of ledger().voteRequests)
      if (each.status === "In Progress") ledger().closeVoteRequest(each, "Rejected");
    await polls();
    const request = await open("Motion for many roles");
    const beforeReminder = reads();
    harness.pass(7 * HOUR);
    const { pings } = await until(channel, /left to vote: Motion for many roles/);
    const missing = voters.filter((each) => request.ballots.every(({ voter }) => voter !== each));
    expect(pings.filter((each) => each.startsWith("@Silent "))).toHaveLength(missing.length);
    expect(reads() - beforeReminder).toBeLessThanOrEqual(8);
    ledger().closeVoteRequest(request, "Rejected");
    guild.members.set(setter.id, []);
    const beforeList = reads();
    const list = textOf(await ask("/voters list"));
    expect(reads() - beforeList).toBeLessThanOrEqual(8);
    expect(list.match(/⚠️ isn't pinged/g)).toHaveLength(voters.length);
    expect(list.indexOf("reminders ping them")).toBeLessThan(list.indexOf("isn't pinged"));
    for (const { name } of voters) await ask("/voters remove", { sv: name ?? "" });
  });

  it("ping a role only while the person who mapped it may ping it there", async () => {
    const { guild, people } = harness.discord;
    const bits = PermissionFlagsBits;
    const [first] = ledger().superValidators;
    const setter = world().addUser("Setter");
    const mayPing = world().addRole(guild, "Setters", bits.ManageGuild | bits.MentionEveryone);
    const mayManage = world().addRole(guild, "Only managers", bits.ManageGuild);
    const botRole = world().addRole(guild, "Pinging bots", bits.MentionEveryone);
    guild.members.get(world().bot.id)?.push(botRole.id);
    const quiet = world().addRole(guild, "Quiet reviewers", 0n);
    guild.members.set(setter.id, [mayPing.id]);
    await ask("/voters set", { sv: first?.name ?? "", who: quiet.id }, setter);
    const reminderPings = async (title: string) => {
      const request = await open(title);
      harness.pass(7 * HOUR);
      const { pings } = await until(channel, new RegExp(`left to vote: ${title}`));
      ledger().closeVoteRequest(request, "Rejected");
      // Ignore the mentionable role of another super validator.
      return pings.filter((each) => each !== "@Grove");
    };

    const listed = async () => textOf(await ask("/voters list"));
    expect(await reminderPings("Motion with a role")).toEqual(["@Quiet reviewers"]);
    expect(await listed()).not.toContain("isn't pinged");
    guild.members.set(setter.id, [mayManage.id]);
    expect(await reminderPings("Motion after a demotion")).toEqual([]);
    const list = await listed();
    expect(list).toContain(`<@&${quiet.id}> ⚠️ isn't pinged`);
    expect(list).toContain("both I and the person who set it may ping it");
    quiet.mentionable = true;
    expect(await listed()).not.toContain("isn't pinged");
    expect(await reminderPings("Motion with a mentionable role")).toEqual(["@Quiet reviewers"]);
    guild.roles.splice(guild.roles.indexOf(quiet), 1);
    expect(await reminderPings("Motion without the role")).toEqual([]);
    await ask("/voters set", { sv: first?.name ?? "", who: people.ana.id });
  });

  it("are not named if the number of votes differs from the tally", async () => {
    const request = await open("Unsure motion");
    harness.explorer.mood = (answer, path) => {
      if (path.endsWith("/details")) return { ...(answer as object), rawPayload: null };
      if (path.endsWith("/vote-requests/votes"))
        return { ...(answer as object), content: [], totalElements: 0 };
      return answer;
    };
    harness.pass(7 * HOUR);
    const reminder = await until(channel, /left to vote: Unsure motion/);
    expect(textOf(reminder)).toContain("I couldn't read who hasn't voted yet.");
    expect(reminder.pings).toEqual([]);
    harness.explorer.mood = undefined;
    ledger().closeVoteRequest(request, "Rejected");
  });

  it("leave out a former super validator, and count its replacement", async () => {
    const request = await open("Replaced motion");
    const [gone] = missingFrom(request);
    const validator = ledger().validators.find(({ party }) => party === gone);
    if (!validator) throw new Error("Nobody");
    validator.isSv = false;
    harness.pass(7 * HOUR);
    const reminder = await until(channel, /left to vote: Replaced motion/);
    const named = textOf(reminder).match(/Not voted yet:\*\* (.*?)(?:"|\\n)/)?.[1] ?? "";
    expect(named).not.toContain(gone?.name ?? "?");
    for (const { name } of missingFrom(request).filter((sv) => sv !== gone)) expect(named).toContain(name);
    expect(named).toMatch(/, 1 that has never voted before$/);
    validator.isSv = true;
    ledger().closeVoteRequest(request, "Rejected");
  });

  it("are named although the tally counts the vote of a former super validator", async () => {
    const request = await open("Overcounted motion");
    const [gone] = missingFrom(request);
    const validator = ledger().validators.find(({ party }) => party === gone);
    if (!validator || !gone) throw new Error("Nobody");
    ledger().castVote(request, true, gone);
    while (missingFrom(request).length > 1) ledger().castVote(request, true, missingFrom(request)[0]);
    const [last] = missingFrom(request);
    // Its successor voted on this request before it became a super validator, so that none is pending.
    const successor = ledger().validators.find(({ isSv }) => !isSv);
    if (!successor || !last?.name) throw new Error("Nobody");
    ledger().castVote(request, true, successor.party);
    validator.isSv = false;
    await polls();
    harness.pass(7 * HOUR);
    const reminder = await until(channel, /left to vote: Overcounted motion/);
    expect(textOf(reminder)).toMatch(new RegExp(`Not voted yet:\\*\\* ${last.name}(?:"|\\\\n)`));
    expect(textOf(reminder)).toContain("2 votes are from former super validators, and won't count");
    const votes = async () => textOf(await ask("/proposals votes", { proposal: request.firstContractId }));
    await expect.poll(votes).toMatch(new RegExp(`\\*\\*${gone.name}\\*\\*[^*]*no longer a super validator`));
    validator.isSv = true;
    ledger().closeVoteRequest(request, "Rejected");
  });

  it("cost no request for each super validator, which the directory has just checked", async () => {
    const request = await open("Cheap motion");
    const from = harness.explorer.requests.length;
    await harness.pass(5.5 * HOUR);
    const checks = () =>
      harness.explorer.requests.filter(({ path }) => /\/validators\/[^/]+::/.test(decodeURIComponent(path)))
        .length;
    // The pass may find the directory between the two lists, which then reads the validators in its next run.
    const directoryHasRead = () => {
      const paths = harness.explorer.requests.slice(from).map(({ path }) => path);
      return ["/validators", "/votes"].every((end) => paths.some((path) => path.endsWith(end)));
    };
    await world().until(directoryHasRead, "the directory");
    // Others read votes, too, so that it may still have to check the voters. It runs every three seconds.
    let checked = -1;
    while (checked < checks()) {
      checked = checks();
      await polls(6);
    }
    harness.pass(50 * MINUTE);
    const reminder = await until(channel, /left to vote: Cheap motion/);
    for (const { name } of missingFrom(request)) expect(textOf(reminder)).toContain(name ?? "?");
    // The directory may have asked for a former one, too.
    expect(checks() - checked).toBeLessThan(3);
    ledger().closeVoteRequest(request, "Rejected");
  });

  it("are sent privately to people who watch a voter, unless it has voted", async () => {
    const request = await open("Private motion");
    const [voter] = missingFrom(request);
    const [, other] = missingFrom(request);
    if (!voter?.name || !other?.name) throw new Error("Nobody");
    const { ana, ben } = harness.discord.people;
    const watching = textOf(await ask("/watch voter", { sv: voter.name }, ana));
    expect(watching).toContain(`voter: ${voter.name}`);
    expect(watching).toMatch(/Not voted yet:..• Private motion, quorum by/);
    expect(watching).not.toContain("reminder times before");
    await ask("/watch voter", { sv: other.name }, ben);
    const ordinary = ledger().validators.findLast(({ isSv }) => !isSv)?.party.id ?? "";
    expect(textOf(await ask("/watch voter", { sv: ordinary }, ben))).toContain("isn't a super validator");
    const nobody = `nobody::1220${"ab".repeat(32)}`;
    expect(textOf(await ask("/watch voter", { sv: nobody }, ben))).toContain("Can't find a super validator");
    ledger().castVote(request, true, other);
    await polls(3);
    harness.pass(7 * HOUR);
    const told = await until(direct(ana), /left: .* hasn't voted on/);
    expect(textOf(told)).toContain(`left: ${voter.name} hasn't voted on Private motion`);
    await until(channel, /left to vote: Private motion/);
    await polls();
    expect(about(direct(ben), /⏰ .*Private motion/)).toEqual([]);
    harness.pass(6 * MINUTE);
    ledger().castVote(request, true, voter);
    await world().until(() => /✅ Voted on Private motion: \w/.test(told.content), "the edit");
    expect(textOf(await ask("/watch list", {}, ana))).toContain(`voter: ${voter.name}`);

    // Somebody who starts later than the last reminder learns that none will come.
    await harness.pass(18 * HOUR);
    const late = world().addUser("Latecomer");
    harness.discord.guild.members.set(late.id, []);
    const [last] = missingFrom(request);
    const uncast = textOf(await ask("/watch voter", { sv: last?.name ?? "" }, late));
    expect(uncast).toMatch(/⏰ .*Private motion, quorum by/);
    expect(uncast).toContain("The reminder times before this date have passed");
    const settled = textOf(await ask("/watch voter", { sv: voter.name }, late));
    expect(settled).toContain("It has voted on everything that's undecided.");
    const one = textOf(await ask("/watch proposal", { proposal: request.trackingCid ?? "" }, late));
    expect(one).toContain("Its reminder times before this date have passed");

    // The answer to a resumption says what happened meanwhile.
    const { driver } = harness.discord;
    const there = { user: late, channel: harness.discord.channels.general };
    const resumed = async (part: string, meanwhile: () => void) => {
      const list = await driver.ask(there, "/watch list");
      await driver.choose(there, list, part);
      await driver.click(there, list, "Pause");
      meanwhile();
      await polls(2);
      await driver.click(there, list, "Resume");
      return textOf(list);
    };
    expect(await resumed(`voter: ${voter.name}`, () => {})).toContain("It has voted on everything");
    const closed = () => ledger().closeVoteRequest(request, "Rejected");
    expect(await resumed("Private motion", closed)).toContain("Resumed.\\n❌ Rejected");
  });

  it("have no mapping left after /watch forget and /voters remove", async () => {
    const { ana } = harness.discord.people;
    const [first, second] = ledger().superValidators;
    expect(textOf(await ask("/watch forget", {}, ana))).toContain("1 watch removed");
    expect(textOf(await ask("/voters list"))).not.toContain(`<@${ana.id}>`);
    const { driver, people, channels } = harness.discord;
    const place = { user: people.owner, channel: channels.general };
    const mapped = await driver.complete(place, "/voters remove", "sv", { sv: "" });
    expect(mapped).toEqual([{ name: second?.name, value: second?.name }]);
    expect(textOf(await ask("/voters remove", { sv: second?.name ?? "" }))).toContain(
      "Representative removed",
    );
    expect(textOf(await ask("/voters list"))).toContain("Nobody yet");
    expect(textOf(await ask("/voters remove", { sv: first?.name ?? "" }))).toContain(
      "has no representative here",
    );
  });
});
