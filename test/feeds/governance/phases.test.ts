import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Channel, Message } from "../../../sandbox/discord/world.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { type Harness, SMALL, startHarness, textOf } from "../../harness.js";

describe("the phase of a vote request", () => {
  let harness: Harness;
  let channel: Channel;
  let role: string;
  const world = () => harness.discord.world;
  const ledger = () => harness.explorer.ledger;
  const told = (pattern: RegExp) =>
    world()
      .read(channel)
      .filter((message) => pattern.test(textOf(message)));
  const until = (pattern: RegExp): Promise<Message> => world().until(() => told(pattern)[0], String(pattern));
  const polls = async (count = 3) => {
    const read = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    const before = read();
    await world().until(() => read() >= before + count, `${count} polls`);
  };
  const ask = (command: string, given: Record<string, string | boolean> = {}) =>
    harness.discord.driver.ask(
      { user: harness.discord.people.owner, channel: harness.discord.channels.general },
      command,
      given,
    );

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
    const { guild } = harness.discord;
    channel = world().addChannel({ type: 0, guild_id: guild.id, name: "votes" });
    role = world().addRole(guild, "Voters", 0n, { mentionable: true }).id;
    const answer = await ask("/subscribe governance", { channel: channel.id, role });
    expect(textOf(answer)).toMatch(
      /reminders \(48 h, 24 h and 6 h before each deadline\), decisions, overdue requests/,
    );
    expect(textOf(answer)).toMatch(
      /Already open \(I won't announce these again\):.*(quorum by|decided on) <t:/,
    );
  });
  afterAll(() => harness.close());

  it("is marked as short for a four-hour vote, with a pinging reminder at half and an eighth of its time", async () => {
    ledger().openVoteRequest({
      title: "Emergency",
      motion: "feature",
      lastsMs: 4 * HOUR,
      effectiveInMs: null,
    });
    const opened = await until(/New vote request: .*Emergency/);
    expect(opened.content).toBe(`<@&${role}> 🗳️ New vote request: Emergency · ⚠️ Short vote: 4 hours`);
    expect(textOf(opened)).toContain("as soon as enough have voted yes");
    await polls();
    expect(told(/left to vote: Emergency/)).toEqual([]);
    harness.pass(2 * HOUR + MINUTE);
    const reminder = await until(/left to vote: Emergency/);
    expect(reminder.pings).toEqual(["@Voters"]);
    expect(textOf(reminder)).toMatch(/Quorum by <t:/);
    await polls();
    harness.pass(1.5 * HOUR);
    await world().until(() => told(/left to vote: Emergency/).length === 2, "the second reminder");
    await polls();
    expect(told(/left to vote: Emergency/)).toHaveLength(2);
  });

  it("is reminded of in a short vote also if somebody had voted before the bot first read it", async () => {
    await harness.bot().stop("SIGKILL");
    const request = ledger().openVoteRequest({
      title: "Voted early",
      motion: "feature",
      lastsMs: 4 * HOUR,
      effectiveInMs: null,
    });
    ledger().castVote(request, true);
    await harness.start();
    await until(/New vote request: .*Voted early/);
    await polls();
    harness.pass(2 * HOUR + MINUTE);
    expect((await until(/left to vote: Voted early/)).pings).toEqual(["@Voters"]);
  });

  it("is expired everywhere if too few have voted by the quorum date, without further reminders", async () => {
    // Use a new channel, because Discord limits edits of messages over an hour old per channel.
    channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "expiring" });
    await ask("/subscribe governance", { channel: channel.id, role });
    const request = ledger().openVoteRequest({
      title: "Forgotten",
      motion: "feature",
      lastsMs: 3 * DAY,
      effectiveInMs: 6 * DAY,
    });
    const opened = await until(/New vote request: .*Forgotten/);
    expect(opened.content).toBe(`<@&${role}> 🗳️ New vote request: Forgotten`);
    harness.pass(3 * DAY + 2 * HOUR);
    await world().until(() => /⌛ Expired: Forgotten/.test(opened.content), "the announcement's edit");
    const reminded = told(/left to vote: Forgotten/).length;
    const id = request.firstContractId;
    const show = textOf(await ask("/proposals show", { proposal: id }));
    expect(show).toMatch(/Expired, not closed yet: too few had voted by <t:\d+:f>.*did not vote/);
    // They may have shown that it had expired, and a message is edited at most every five minutes.
    harness.pass(6 * MINUTE);
    expect(textOf(await ask("/proposals list", { status: "expired" }))).toMatch(
      /Forgotten.*expired, not closed yet/,
    );
    expect(textOf(await ask("/proposals list", { status: "open" }))).not.toMatch(/Forgotten/);
    const place = { user: harness.discord.people.owner, channel };
    const [choice] = await harness.discord.driver.complete(place, "/proposals show", "proposal", {
      proposal: "Forgotten",
    });
    expect(choice?.name).toContain("expired, not closed yet");
    harness.pass(2.5 * DAY);
    await polls();
    expect(told(/left to vote: Forgotten/)).toHaveLength(reminded);
    ledger().closeVoteRequest(request, "Expired");
    await until(/Expired: Forgotten/);
  });

  it("is announced as overdue although a super validator has voted again, which makes its vote look new", async () => {
    const request = ledger().openVoteRequest({ title: "Recast", lastsMs: 3 * DAY, effectiveInMs: null });
    request.isStuck = true;
    await until(/New vote request: .*Recast/);
    const voters = ledger().superValidators.slice(0, 9);
    for (const voter of voters) ledger().castVote(request, true, voter);
    await until(/Enough yes votes: Recast/);
    harness.pass(50 * MINUTE);
    await polls();
    ledger().castVote(request, true, voters[2]);
    await polls();
    harness.pass(20 * MINUTE);
    await until(/Overdue: Recast/);
    ledger().closeVoteRequest(request, "Expired");
    await until(/Expired: Recast/);
  });

  it("is announced as overdue once if an accepted vote is not carried out within an hour", async () => {
    const request = ledger().openVoteRequest({
      title: "Stuck",
      motion: "feature",
      lastsMs: 3 * DAY,
      effectiveInMs: 4 * DAY,
    });
    request.isStuck = true;
    await until(/New vote request: .*Stuck/);
    for (let vote = 0; vote < 9; vote += 1) ledger().castVote(request, true);
    await until(/Enough yes votes: Stuck/);
    harness.pass(4 * DAY + 30 * MINUTE);
    await polls();
    expect(told(/Overdue: Stuck/)).toEqual([]);
    const list = textOf(await ask("/proposals list", { status: "open" }));
    expect(list).toMatch(/Stuck.*ready to close/);
    harness.pass(HOUR);
    const overdue = await until(/Overdue: Stuck/);
    expect(textOf(overdue)).toMatch(
      /Enough yes votes, and due since <t:\d+:f>, but not carried out yet\. Votes still count\./,
    );
    expect(textOf(await ask("/proposals show", { proposal: request.firstContractId }))).toContain(
      "⚠️ Overdue.",
    );
    await polls();
    await harness.restart();
    await polls();
    expect(told(/Overdue: Stuck/)).toHaveLength(1);
    ledger().closeVoteRequest(request, "Implemented");
    await until(/Implemented: Stuck/);
    expect(world().refusals).toEqual([]);
  });

  it("is ended with an unknown outcome everywhere if the request disappears, with its title kept", async () => {
    // Another try of this test begins as the first one did.
    harness.explorer.mood = undefined;
    harness.explorer.clearFaults();
    channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "vanishing" });
    await ask("/subscribe governance", { channel: channel.id, role });
    const request = ledger().openVoteRequest({
      title: "Lost without trace",
      motion: "feature",
      lastsMs: 30 * HOUR,
      effectiveInMs: null,
    });
    const opened = await until(/New vote request: Lost without trace/);
    await ask("/watch proposal", { proposal: request.firstContractId });
    harness.pass(25 * HOUR);
    const reminder = await until(/left to vote: Lost without trace/);
    harness.explorer.mood = (answer, path) => {
      const page = answer as { content: { title: string }[] };
      if (path !== "/v1/governance/vote-requests") return answer;
      return { ...page, content: page.content.filter(({ title }) => title !== "Lost without trace") };
    };
    harness.explorer.injectFault({ kind: "status", status: 404 }, { path: /details$/ });
    harness.pass(30 * HOUR);
    const closed = await until(/outcome unknown: Lost without trace/);
    expect(textOf(closed)).toMatch(/Ended, outcome unknown.*not voted when last seen/);
    // They may have shown that it had expired, and a message is edited at most every five minutes.
    const isEdited = () =>
      [opened, reminder].every(({ content }) => content.includes("Ended, outcome unknown: Lost"));
    for (let tries = 0; tries < 10 && !isEdited(); tries += 1) {
      harness.pass(6 * MINUTE);
      await polls();
    }
    await world().until(isEdited, "both edits");
    for (const message of [opened, reminder, closed]) {
      const card = JSON.stringify([message.content, message.embeds]);
      expect(card).not.toMatch(/not voted yet|needed|as soon as|left to vote|In progress/i);
      expect(card).toContain("Lost without trace");
    }
    await harness.restart();
    await polls();
    expect(textOf(await ask("/watch list"))).toMatch(
      /proposal: Lost without trace.* · ended, outcome unknown/,
    );
    harness.explorer.mood = undefined;
    harness.explorer.clearFaults();
    ledger().closeVoteRequest(request, "Accepted");
    await polls();
    expect(textOf(await ask("/watch list"))).toMatch(/Lost without trace.* · ended: ✅ Accepted/);
  });
});

it("is expired although enough have voted later, while the bot was not running", async () => {
  const harness = await startHarness({
    explorer: { size: { ...SMALL, voteRequests: 0 } },
    env: ({ channels }) => ({ GOVERNANCE_CHANNEL_ID: channels.governance.id, GOVERNANCE_POLL_SECONDS: "1" }),
  });
  const { world, channels, driver, people } = harness.discord;
  const { ledger, requests } = harness.explorer;
  const polls = async (count: number) => {
    const read = () => requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    const before = read();
    await world.until(() => read() >= before + count, `${count} polls`);
  };
  const told = (pattern: RegExp) =>
    world.read(channels.governance).some((each) => pattern.test(textOf(each)));
  await polls(3);
  const request = ledger.openVoteRequest({
    title: "Too late",
    motion: "feature",
    lastsMs: 3 * DAY,
    effectiveInMs: 5 * DAY,
  });
  await world.until(() => told(/New vote request: Too late/), "the announcement");
  await harness.bot().stop();
  harness.pass(3 * DAY + 2 * HOUR);
  for (const each of ledger.superValidators.slice(0, 10)) ledger.castVote(request, true, each);
  await harness.start();
  const place = { user: people.owner, channel: channels.general };
  await expect
    .poll(async () => textOf(await driver.ask(place, "/proposals list")))
    .toMatch(/Expired, not closed yet/i);
  harness.pass(2 * DAY);
  await polls(3);
  expect(told(/Overdue/)).toBe(false);
  await harness.close();
});
