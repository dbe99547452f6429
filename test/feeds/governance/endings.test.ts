import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSION } from "../../../sandbox/discord/permissions.js";
import type { Channel } from "../../../sandbox/discord/world.js";
import type { VoteRequest } from "../../../sandbox/explorer/model.js";
import { toRecord } from "../../../src/explorer/values.js";
import { votesNeeded } from "../../../src/ledger/vote-rules.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("the end of a vote request", () => {
  let harness: Harness;
  let channel: Channel;
  let outcomes: Channel;
  let refusing: Channel;
  const world = () => harness.discord.world;
  const ledger = () => harness.explorer.ledger;
  const subscribe = (where: Channel, given: Record<string, string | boolean>) => {
    const { driver, people, channels } = harness.discord;
    const owner = { user: people.owner, channel: channels.general };
    return driver.ask(owner, "/subscribe governance", { channel: where.id, ...given });
  };
  const reads = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
  const polled = async (count = 2) => {
    const before = reads();
    await world().until(() => reads() > before + count, `${count} polls`);
  };
  /** Lets the bot read the complete list at least once in every quarter of an hour. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 15 * MINUTE) {
      harness.pass(Math.min(15 * MINUTE, left));
      await polled();
    }
  };
  const about = ({ title }: VoteRequest, pattern: RegExp, where = channel) =>
    world()
      .read(where)
      .filter((each) => textOf(each).includes(title) && pattern.test(textOf(each)));
  const until = (request: VoteRequest, pattern: RegExp, where = channel) =>
    world().until(() => about(request, pattern, where).length > 0, `${request.title}: ${pattern}`);
  const open = async (title: string, effectiveInMs: number | null = null) => {
    const request = ledger().openVoteRequest({
      title,
      motion: "feature",
      lastsMs: 10 * DAY,
      effectiveInMs,
    });
    await until(request, /New vote request/);
    return request;
  };

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
    ledger().moves = false;
    const guild_id = harness.discord.guild.id;
    channel = world().addChannel({ type: 0, guild_id, name: "votes" });
    outcomes = world().addChannel({ type: 0, guild_id, name: "outcomes" });
    refusing = world().addChannel({ type: 0, guild_id, name: "refusing" });
    await subscribe(channel, { decided: true });
    await subscribe(outcomes, { new: false, reminders: false, decided: false });
    await polled();
  });
  afterAll(async () => {
    expect(world().refusals.filter(({ path }) => !path.includes(refusing.id))).toEqual([]);
    await harness.close();
  });

  it("is taken back if the explorer lists it as open for an hour, and is told again when it comes", async () => {
    const request = await open("Mistaken");
    request.status = "Rejected";
    await until(request, /Rejected/);
    await pass(15 * MINUTE);
    const [card] = about(request, /New vote request/);
    const isRejected = () => card?.content.includes("Rejected") === true;
    await world().until(isRejected, "the edit of the announcement");
    request.status = "In Progress";
    await pass(75 * MINUTE);
    await world().until(() => !isRejected(), "the request to be open again");
    ledger().decideVoteRequest(request, "Accepted");
    await until(request, /Corrected outcome: .*Accepted/);
    expect(about(request, /Corrected outcome/)).toHaveLength(1);
  });

  it("is the end of news about its votes, also if fewer are needed later", async () => {
    harness.explorer.mood = (answer, path) =>
      path === "/v1/governance/vote-requests" && typeof answer === "object" && answer && "content" in answer
        ? { ...answer, content: (answer.content as object[]).map((row) => ({ ...row, abstainCount: null })) }
        : answer;
    const request = await open("One vote short");
    const { superValidators } = ledger();
    const short = votesNeeded(superValidators.length) - 1;
    // Its requester has voted.
    while (request.ballots.length < short) ledger().castVote(request, true);
    await polled();
    ledger().closeVoteRequest(request, "Expired");
    await until(request, /Expired/);
    ledger().superValidators.splice(-2);
    expect(votesNeeded(ledger().superValidators.length)).toBeLessThanOrEqual(short);
    await pass(2 * HOUR);
    expect(about(request, /Enough yes votes/)).toEqual([]);
    harness.explorer.mood = undefined;
  });

  it("is told to channels that only want outcomes, also if the bot was away from its opening to its end", async () => {
    await polled();
    await harness.bot().stop("SIGKILL");
    const request = ledger().openVoteRequest({ title: "Missed", motion: "feature", lastsMs: HOUR });
    ledger().decideVoteRequest(request, "Rejected");
    await harness.start();
    await until(request, /Opened and ended while I wasn't watching/);
    await until(request, /Rejected/, outcomes);
    // The corrected outcome goes to both channels.
    request.status = "Accepted";
    await pass(90 * MINUTE);
    await until(request, /Corrected outcome: .*Accepted/, outcomes);
    await until(request, /Corrected outcome: .*Accepted/);
  });

  /** Changes what the list says. */
  const alter = (change: (rows: readonly unknown[]) => readonly unknown[]) => {
    harness.explorer.mood = (answer, path) => {
      const page = toRecord(answer);
      return path.endsWith("/vote-requests") && Array.isArray(page?.content)
        ? { ...page, content: change(page.content) }
        : answer;
    };
  };

  it('is followed by "Open again" if the explorer lists the request as open again', async () => {
    const request = await open("Hasty");
    alter((rows) =>
      rows.map((row) =>
        JSON.stringify(row).includes(request.firstContractId)
          ? { ...toRecord(row), status: "Rejected" }
          : row,
      ),
    );
    await until(request, /Rejected/);
    harness.explorer.mood = undefined;
    await pass(75 * MINUTE);
    await until(request, /Open again/, outcomes);
    expect(about(request, /Open again/)).toHaveLength(1);
    expect(about(request, /Votes still count/)).toHaveLength(1);
  });

  it("is not assumed while the details of an unlisted request say that it is open", async () => {
    const request = await open("Stuck");
    request.isStuck = true;
    for (let votes = 0; votes < 10; votes += 1) ledger().castVote(request, true);
    await polled();
    await harness.pass(12 * DAY);
    await polled();
    alter((rows) => rows.filter((row) => !JSON.stringify(row).includes(request.firstContractId)));
    await pass(30 * MINUTE);
    harness.explorer.mood = undefined;
    await polled();
    expect(about(request, /outcome unknown/)).toEqual([]);
  });

  /** Lets a channel refuse messages until `resume`. */
  const refuse = () =>
    refusing.permission_overwrites.push({
      id: world().bot.id,
      type: 1,
      allow: "0",
      deny: String(PERMISSION.sendMessages),
    });
  const resume = () => {
    refusing.permission_overwrites.length = 0;
    const { driver, people, channels } = harness.discord;
    const owner = { user: people.owner, channel: channels.general };
    return driver.ask(owner, "/subscribe resume", { channel: refusing.id });
  };

  it("is told once to a channel that refused messages until then", async () => {
    await subscribe(refusing, { decided: true, reminders: false });
    refuse();
    const request = await open("Unheard", 11 * DAY);
    for (let votes = 0; votes < 10; votes += 1) ledger().castVote(request, true);
    await until(request, /Enough yes votes/);
    ledger().decideVoteRequest(request, "Accepted");
    await until(request, /Accepted/);
    await resume();
    await until(request, /Accepted/, refusing);
    await harness.pass(MINUTE);
    await polled(5);
    expect(about(request, /./, refusing)).toHaveLength(1);
  });

  it("is not preceded by decisions that were withdrawn while a channel refused messages", async () => {
    const request = await open("Wavering", 11 * DAY);
    await until(request, /New vote request/, refusing);
    refuse();
    const needed = votesNeeded(ledger().superValidators.length);
    while (request.ballots.length < needed) ledger().castVote(request, true);
    await until(request, /Enough yes votes/);
    ledger().castVote(request, false, request.requester);
    await until(request, /No longer enough yes votes/);
    ledger().castVote(request, true, request.requester);
    await world().until(() => about(request, /✅ Enough yes votes/).length === 2, "the second decision");
    await resume();
    await until(request, /✅ Enough yes votes/, refusing);
    ledger().decideVoteRequest(request, "Accepted");
    await until(request, /Accepted/, refusing);
    expect(about(request, /No longer enough/, refusing)).toEqual([]);
    expect(about(request, /✅ Enough yes votes/, refusing)).toHaveLength(1);
  });

  it("is told as it is now if it was corrected while a channel refused messages", async () => {
    const request = await open("Misstated");
    await until(request, /New vote request/, refusing);
    refuse();
    ledger().decideVoteRequest(request, "Rejected");
    await until(request, /Rejected/);
    request.status = "Accepted";
    await pass(75 * MINUTE);
    await until(request, /Corrected outcome: .*Accepted/);
    await resume();
    await until(request, /Corrected outcome: .*Accepted/, refusing);
    const told = about(request, /./, refusing).map(({ notified }) => notified);
    expect(told.filter((text) => text?.includes("Rejected"))).toEqual([]);
  });

  it("does not take away a reminder that came due before an edit", async () => {
    const request = await open("Edited");
    for (const step of [9 * DAY, 18 * HOUR - 10 * MINUTE]) {
      await harness.pass(step);
      await polled(3);
    }
    harness.explorer.injectFault({ kind: "status", status: 503 }, { path: /vote-requests$/ });
    await harness.pass(15 * MINUTE);
    const { driver, people, channels } = harness.discord;
    await driver.ask({ user: people.owner, channel: channels.general }, "/subscribe edit", {
      channel: channel.id,
      feed: "governance",
      missing: "ping",
    });
    harness.explorer.clearFaults();
    await pass(30 * MINUTE);
    await until(request, /5 h \d+ min left to vote/);
  });
});
