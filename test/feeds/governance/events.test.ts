import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Channel, Message } from "../../../sandbox/discord/world.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

const HOUR = 3_600_000;

describe("a subscribed channel", () => {
  let harness: Harness;
  let plain: Channel;
  let threaded: Channel;
  let forum: Channel;
  let published: Channel;
  const world = () => harness.discord.world;
  const ledger = () => harness.explorer.ledger;
  const read = (channel: Channel) => world().read(channel);
  const owner = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.general });
  const polls = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  const settled = async (count = 2) => {
    const before = polls();
    await world().until(() => polls() >= before + count, "polls");
  };
  const until = (channel: Channel, pattern: RegExp): Promise<Message> =>
    world().until(
      () => read(channel).find((message) => pattern.test(textOf(message))),
      `${pattern} in #${channel.name}`,
    );

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
    const guild_id = harness.discord.guild.id;
    plain = world().addChannel({ type: 0, guild_id, name: "plain" });
    threaded = world().addChannel({ type: 0, guild_id, name: "threaded" });
    forum = world().addChannel({ type: 15, guild_id, name: "forum" });
    published = world().addChannel({ type: 5, guild_id, name: "news" });
    const role = world().addRole(harness.discord.guild, "Voters", 0n, { mentionable: true });
    const subscribe = (channel: Channel, given: object) =>
      harness.discord.driver.ask(owner(), "/subscribe governance", {
        channel: channel.id,
        changes: true,
        votes: true,
        ...given,
      });
    await subscribe(plain, { role: role.id });
    await subscribe(threaded, { thread: true, before: "6h" });
    await subscribe(forum, {});
    await subscribe(published, { publish: true, votes: false, changes: false, reminders: false });
    await settled();
  });
  afterAll(async () => {
    expect(world().refusals).toEqual([]);
    await harness.close();
  });

  let request: ReturnType<Harness["explorer"]["ledger"]["openVoteRequest"]>;

  it("gets each new request, with a ping for its role and none for text from the ledger", async () => {
    request = ledger().openVoteRequest({
      motion: "dsoConfig",
      title: "@everyone <@&1> **vote**",
      lastsMs: 30 * HOUR,
      effectiveInMs: 60 * HOUR,
    });
    const message = await until(plain, /New vote request/);
    expect(message.pings).toEqual(["@Voters"]);
    expect(message.content).toMatch(/^<@&\d+> 🗳️ New vote request: \\@everyone/);
    expect(textOf(message)).toMatch(/Unclaimed rewards merged from: 10 → \*\*\d+\*\*/);
    expect(textOf(message)).toMatch(/about 9 yes votes needed/);
    await until(published, /New vote request/);
    await world().until(() => read(published)[0]?.flags === 1, "the crosspost");
    await world().until(() => read(threaded)[0]?.thread, "the thread");
    const post = await world().until(
      () => [...world().channels.values()].find((each) => each.parent_id === forum.id),
      "the forum's post",
    );
    expect(read(post)).toHaveLength(1);
  });

  it("gets cast and changed votes as replies or in the thread, except the requester's own vote", async () => {
    await settled();
    const voter = ledger().superValidators.find((each) => each !== request.requester);
    ledger().castVote(request, true, voter);
    const reply = await until(plain, / voted (yes|no) on /);
    expect(textOf(reply)).toContain(`**${voter?.name}** ✅`);
    expect(reply.message_reference).toMatchObject({ message_id: read(plain)[0]?.id });
    ledger().castVote(request, false, voter);
    expect(textOf(await until(plain, /before: ✅/))).toContain("** ❌ no (before: ✅ yes)");
    const thread = world().channel(read(threaded)[0]?.id);
    await world().until(() => read(thread).length === 2, "both votes in the thread");
    expect(read(plain).filter((each) => / voted (yes|no) on /.test(textOf(each)))).toHaveLength(2);
  });

  it("gets the current tally in the announcement, edited at most every five minutes", async () => {
    await settled();
    const [message] = read(plain);
    const before = textOf(message ?? { content: "", embeds: [] });
    const edits = () =>
      harness.discord.requests.filter(
        ({ method, path }) => method === "PATCH" && path.includes(message?.id ?? "-"),
      ).length;
    const count = edits();
    ledger().castVote(request, true);
    await settled(3);
    harness.pass(6 * 60_000);
    await world().until(() => textOf(message ?? { content: "", embeds: [] }) !== before, "the edit");
    expect(textOf(message ?? { content: "", embeds: [] })).toMatch(/\*\*2\*\* yes · \*\*1\*\* no/);
    expect(edits() - count).toBeLessThanOrEqual(2);
  });

  it("gets changes with their old and new values once two reads agree", async () => {
    request.voteBefore += HOUR;
    const message = await until(plain, /Changed:/);
    expect(textOf(message)).toMatch(/Quorum by.*→/);
    await settled();
    expect(read(plain).filter((each) => textOf(each).includes("Changed:"))).toHaveLength(1);
  });

  it("gets each reminder at its time, with the missing voters", async () => {
    await settled();
    harness.pass(request.voteBefore - harness.now() - 23 * HOUR);
    const message = await until(plain, /left to vote/);
    expect(textOf(message)).toMatch(/Not voted yet:\*\* /);
    await settled();
    expect(
      read(world().channel(read(threaded)[0]?.id)).some((each) => textOf(each).includes("left to vote")),
    ).toBe(false);
    // If votes and details cannot be read, reminders are still sent on time, and the votes are reported afterwards.
    harness.explorer.injectFault({ kind: "status", status: 400 }, { path: /votes$|details$/ });
    const votes = () => read(plain).filter((each) => / voted (yes|no) on /.test(textOf(each))).length;
    const count = votes();
    ledger().castVote(request, true);
    await settled();
    harness.pass(18 * HOUR);
    await world().until(
      () => read(plain).filter((each) => textOf(each).includes("left to vote")).length === 2,
      "the second reminder",
    );
    expect(votes()).toBe(count);
    harness.explorer.clearFaults();
    await world().until(() => votes() === count + 1, "the vote");
    await until(world().channel(read(threaded)[0]?.id), /left to vote/);
    await settled();
    expect(read(plain).filter((each) => textOf(each).includes("left to vote"))).toHaveLength(2);
  });

  it("gets the outcome in a reply, in the announcement and in the thread, which is then archived", async () => {
    ledger().closeVoteRequest(request, "Rejected");
    await until(plain, /❌ Rejected: /);
    const [first] = read(plain);
    await world().until(
      () => /^<@&\d+> ❌ Rejected: /.test(first?.content ?? ""),
      "the outcome in the announcement",
    );
    expect(first?.embeds[0]).toMatchObject({ color: 0xd83c3e });
    const ended = /Voting ended when enough had voted no, (between )?<t:\d+:f>/;
    expect(textOf(first ?? { content: "", embeds: [] })).toMatch(ended);
    const shown = await harness.discord.driver.ask(owner(), "/proposals show", {
      proposal: request.firstContractId,
    });
    expect(textOf(shown)).toMatch(ended);
    const thread = world().channel(read(threaded)[0]?.id);
    await world().until(() => thread.thread_metadata?.archived, "the thread's archiving");
    await until(published, /(Accepted|Rejected|Expired|Ended[^:"]*): /);
    await settled();
    expect(read(published)).toHaveLength(2);
  });

  it("gets the outcome of a missing request once two complete reads lack it and its details confirm it", async () => {
    const vanishing = ledger().openVoteRequest({ title: "Vanishing" });
    await until(plain, /New vote request: Vanishing/);
    harness.explorer.mood = (answer, path) => {
      const page = answer as { content: { title: string }[]; totalElements: number };
      if (path !== "/v1/governance/vote-requests") return answer;
      return { ...page, content: page.content.filter(({ title }) => title !== "Vanishing") };
    };
    await settled(3);
    expect(
      read(plain).some((each) => /(Accepted|Rejected|Expired|Ended[^:"]*): Vanishing/.test(textOf(each))),
    ).toBe(false);
    ledger().closeVoteRequest(vanishing, "Accepted");
    expect(textOf(await until(plain, /(Accepted|Rejected|Expired|Ended[^:"]*): Vanishing/))).toContain(
      "✅ Accepted",
    );
    harness.explorer.mood = undefined;
  });

  it("gets votes that were cast before the request was first read", async () => {
    const early = ledger().openVoteRequest({ title: "Voted on at once" });
    ledger().castVote(early, true);
    await until(plain, / voted (yes|no) on Voted on at once/);
    ledger().closeVoteRequest(early, "Accepted");
    await until(plain, /(Accepted|Rejected|Expired|Ended[^:"]*): Voted on at once/);
  });

  it("gets no change if two reads disagree, or if details are missing", async () => {
    const changes = () => read(plain).filter((each) => textOf(each).includes("Changed:")).length;
    const before = changes();
    const open = ledger().openVoteRequest({ title: "Steady" });
    await until(plain, /New vote request: Steady/);
    await settled();
    let wrong = 1;
    harness.explorer.mood = (answer, path) => {
      const { content } = answer as { content?: { title: string; voteBefore: number }[] };
      if (path !== "/v1/governance/vote-requests" || !content || wrong === 0) return answer;
      wrong -= 1;
      return {
        ...(answer as object),
        content: content.map((row) => ({ ...row, voteBefore: row.voteBefore + HOUR })),
      };
    };
    await settled(3);
    harness.explorer.mood = undefined;
    expect(changes()).toBe(before);

    ledger().closeVoteRequest(open, "Expired");
    // The title is only the action's constructor. The subject comes from the details, which are read once.
    const offboard = ledger().openVoteRequest({ motion: "weight" });
    await until(plain, /New vote request: Reward weight of .* → \d+/);
    const called = (parent: Channel) =>
      [...world().channels.values()].some(
        (each) => each.parent_id === parent.id && /^Reward weight of .+ → \d+$/.test(each.name ?? ""),
      );
    await world().until(() => called(forum) && called(threaded), "the post and the thread, by its subject");
    await settled();
    harness.explorer.injectFault({ kind: "status", status: 500 }, { path: /details$/ });
    ledger().castVote(offboard, true);
    await until(plain, / voted (yes|no) on Reward weight of .* → \d+ \(/);
    harness.explorer.clearFaults();
    ledger().castVote(offboard, true);
    await world().until(
      () => read(plain).filter((each) => / voted (yes|no) on Reward/.test(textOf(each))).length === 2,
      "the second vote",
    );
    await settled();
    expect(changes()).toBe(before);
  });

  it("gets one digest for more than three requests after a gap, and later news replies to it", async () => {
    harness.explorer.injectFault({ kind: "reset" });
    const opened = Array.from({ length: 5 }, (_, at) => ledger().openVoteRequest({ title: `Missed ${at}` }));
    harness.pass(20 * 60_000);
    harness.explorer.clearFaults();
    const message = await world().until(
      () => read(plain).find((each) => textOf(each).includes("5 new vote requests")),
      "the digest",
    );
    expect(harness.discord.driver.components(message).find((each) => each.type === 3)?.options).toHaveLength(
      5,
    );
    expect(read(plain).some((each) => textOf(each).includes("New vote request: Missed"))).toBe(false);
    const [one] = opened;
    if (one) ledger().closeVoteRequest(one, "Expired");
    expect(
      (await until(plain, /(Accepted|Rejected|Expired|Ended[^:"]*): Missed 0/)).message_reference,
    ).toMatchObject({
      message_id: message.id,
    });
  });

  it("gets one message for several requests that opened at once, even without a gap", async () => {
    await settled();
    let opened = 0;
    // They open while a response without them is in flight, so the explorer listed them as early as possible.
    harness.explorer.mood = (answer, path) => {
      if (path === "/v1/governance/vote-requests")
        for (; opened < 4; opened += 1) ledger().openVoteRequest({ title: `Together ${opened}` });
      return answer;
    };
    const message = await until(plain, /4 new vote requests/);
    expect(textOf(message)).toMatch(/They opened after <t:\d+:f>, when I last checked/);
    harness.explorer.mood = undefined;
    expect(message.pings).toEqual(["@Voters"]);
    // The digest is never edited, so its text must stay true after the requests have ended.
    expect(textOf(message)).toMatch(/\*\*Together 0\*\* · quorum by <t:\d+:f>/);
    expect(textOf(message)).not.toContain("In Progress");
    await settled();
    expect(read(plain).some((each) => textOf(each).includes("New vote request: Together"))).toBe(false);
  });

  it("gets one message with the outcome if a request opened and ended while the bot was away", async () => {
    harness.explorer.injectFault({ kind: "reset" });
    const unseen = ledger().openVoteRequest({ title: "Over before anybody looked" });
    ledger().closeVoteRequest(unseen, "Rejected");
    harness.pass(20 * 60_000);
    harness.explorer.clearFaults();
    const message = await world().until(
      () => read(plain).find((each) => textOf(each).includes("Over before anybody looked")),
      "the message",
    );
    expect(textOf(message)).toMatch(/❌ Rejected: Over before.*Opened and ended while I was/);
    await settled();
    expect(read(plain).filter((each) => textOf(each).includes("Over before anybody looked"))).toHaveLength(1);
  });

  it("gets an ending with the ledger's own status, or with an unknown status after the last date", async () => {
    const words = new Map<string, string>();
    harness.explorer.mood = (answer, path) => {
      const rename = <Row extends { title?: string; status: string }>(row: Row): Row => ({
        ...row,
        status: words.get(row.title ?? "") ?? row.status,
      });
      const page = answer as { content: { title: string; status: string }[] };
      return path === "/v1/governance/vote-requests"
        ? { ...page, content: page.content.map(rename) }
        : answer;
    };
    ledger().openVoteRequest({ title: "By the ledger's word" });
    await until(plain, /New vote request: By the ledger's word/);
    words.set("By the ledger's word", "VRO_Rejected");
    expect(
      textOf(await until(plain, /(Accepted|Rejected|Expired|Ended[^:"]*): By the ledger's word/)),
    ).toContain("❌ Rejected");

    ledger().openVoteRequest({ title: "Wound up somehow", lastsMs: HOUR, effectiveInMs: 2 * HOUR });
    await until(plain, /New vote request: Wound up somehow/);
    words.set("Wound up somehow", "Wound up");
    harness.pass(HOUR + 60_000);
    await settled();
    expect(read(plain).some((each) => textOf(each).includes("”: Wound up"))).toBe(false);
    harness.pass(HOUR);
    expect(textOf(await until(plain, /(Accepted|Rejected|Expired|Ended[^:"]*): Wound up somehow/))).toContain(
      "Ended as “Wound up”",
    );
    harness.explorer.mood = undefined;
  });
});
