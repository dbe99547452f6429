import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Harness, startHarness, textOf } from "../harness.js";

const HOUR = 3_600_000;

describe("a clock set back by an hour", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({
      env: ({ channels }) => ({
        GOVERNANCE_POLL_SECONDS: "1",
        GOVERNANCE_CHANNEL_ID: channels.governance.id,
      }),
    });
  });
  afterAll(() => harness.close());

  it("does not suppress new prices, vote requests or outcomes", async () => {
    const { driver, world, people, channels } = harness.discord;
    const { ledger } = harness.explorer;
    const place = { user: people.ana, channel: channels.general };
    const told = (pattern: RegExp) =>
      world.read(channels.governance).some((message) => pattern.test(textOf(message)));
    const polls = () => harness.explorer.requests.filter(({ path }) => /vote-requests$/.test(path)).length;
    const polled = async () => {
      const count = polls();
      await world.until(() => polls() > count + 1, "two polls");
    };
    await polled();
    const before = ledger.openVoteRequest({ title: "Before", effectiveInMs: null });
    await world.until(() => told(/New vote request: Before/), "what opened before");
    const message = await driver.ask(place, "/price");

    harness.pass(-HOUR);
    ledger.setPrice(0.75);
    await world.until(async () => {
      await driver.click(place, message, "Refresh");
      return textOf(message).includes("0.7500 USD");
    }, "the new price");
    expect(textOf(await driver.ask({ ...place, user: people.ben }, "/price"))).toContain("0.7500 USD");
    ledger.openVoteRequest({ title: "After" });
    await world.until(() => told(/New vote request: After/), "what opened after");
    ledger.closeVoteRequest(before, "Rejected");
    await polled();
    await world.until(() => told(/Rejected/), "its end");
  });
});

describe("a clock a minute ahead of Discord's", () => {
  let harness: Harness;
  let ahead = 60_000;
  afterAll(() => harness.close());

  it("does not duplicate an interrupted message or forum post, even after its nonce has expired", async () => {
    ahead = 60_000;
    harness = await startHarness({
      discord: { now: () => Date.now() - ahead },
      env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }),
    });
    const { driver, world, people, channels, guild } = harness.discord;
    const forum = world.addChannel({ type: 15, guild_id: guild.id, name: "forum" });
    const owner = { user: people.owner, channel: channels.general };
    for (const { id } of [forum, channels.governance])
      await driver.ask(owner, "/subscribe governance", { channel: id });
    const posts = () => [...world.channels.values()].filter((each) => each.parent_id === forum.id);
    const inChannel = (title: string) =>
      world.read(channels.governance).filter((message) => textOf(message).includes(title)).length;
    const inForum = (title: string) => posts().filter(({ name }) => name.includes(title)).length;
    const both = (title: string) => inChannel(title) > 0 && inForum(title) > 0;

    for (const path of [`/channels/${forum.id}/threads`, `/channels/${channels.governance.id}/messages`])
      harness.discord.trap({ method: "POST", path: new RegExp(path), times: 1, error: "lost" });
    harness.explorer.ledger.openVoteRequest({ title: "Interrupted" });
    await world.until(() => both("Interrupted"), "the messages whose answers are lost");
    await harness.bot().stop("SIGKILL");
    // Long enough for Discord to forget the nonce.
    ahead -= 10 * 60_000;
    harness.pass(10 * 60_000);
    await harness.start();
    harness.explorer.ledger.openVoteRequest({ title: "Later" });
    await world.until(() => both("Later"), "what comes after");
    expect([inChannel("Interrupted"), inForum("Interrupted")]).toEqual([1, 1]);
  });
});
