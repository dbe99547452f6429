import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { DiscordError } from "../../sandbox/discord/errors.js";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import type { Channel } from "../../sandbox/discord/world.js";
import { type Harness, startHarness, textOf } from "../harness.js";

describe("a failed delivery", () => {
  let harness: Harness;
  const world = () => harness.discord.world;
  const owner = () => ({ user: harness.discord.people.owner, channel: harness.discord.channels.general });
  const messages = (channel: Channel) => new RegExp(`^/channels/${channel.id}/messages$`);
  const count = (channel: Channel, title: string) =>
    world()
      .read(channel)
      .filter((each) => textOf(each).includes(title)).length;
  const list = async () => textOf(await harness.discord.driver.ask(owner(), "/subscribe list"));
  let titles = 0;
  const open = () => {
    titles += 1;
    const title = `Failing ${titles}.`;
    harness.explorer.ledger.openVoteRequest({ title });
    return title;
  };
  const subscribed = async (more: Partial<Channel> = {}): Promise<Channel> => {
    const channel = world().addChannel({
      type: 0,
      guild_id: harness.discord.guild.id,
      name: `c${world().channels.size}`,
      ...more,
    });
    await harness.discord.driver.ask(owner(), "/subscribe governance", { channel: channel.id });
    return channel;
  };
  let healthy: Channel;

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
    healthy = await subscribed();
    await world().until(
      () => harness.explorer.requests.some(({ path }) => path.endsWith("/vote-requests")),
      "the baseline",
    );
  });
  afterEach(() => world().refusals.splice(0));
  afterAll(() => harness.close());

  it.each([
    ["a lost response", "lost" as const],
    ["a connection reset", "reset" as const],
    ["status 500", new DiscordError(500, 0, "Internal Server Error")],
    ["status 429", new DiscordError(429, 0, "You are being rate limited.")],
    ["“sending is disabled”, as in an incident", new DiscordError(403, 40_004, "Disabled")],
    ["“unknown channel” although it is there", new DiscordError(404, 10_003, "Unknown Channel")],
  ])("is retried after %s without a duplicate, and does not delay other channels", async (_, error) => {
    const channel = await subscribed();
    harness.discord.trap({ method: "POST", path: messages(channel), times: 1, error });
    const title = open();
    await world().until(() => count(healthy, title) === 1, "the healthy channel");
    await world().until(() => count(channel, title) > 0, "the failing channel");
    const next = open();
    await world().until(() => count(channel, next) === 1, "the next one");
    expect(count(channel, title)).toBe(1);
    await harness.discord.driver.ask(owner(), "/subscribe remove", { channel: channel.id });
  });

  it("does not delay other channels if it is slow", async () => {
    const channel = await subscribed();
    harness.discord.trap({
      method: "POST",
      path: messages(channel),
      times: 1,
      error: "reset",
      delayMs: 8_000,
    });
    const title = open();
    await world().until(() => count(healthy, title) === 1, "the healthy channel");
    expect(count(channel, title)).toBe(0);
    await world().until(() => count(channel, title) === 1, "the slow channel");
  });

  it("pauses the subscription with a reason if a permission is missing, and resumes it on command", async () => {
    const channel = await subscribed();
    channel.permission_overwrites.push({
      id: world().bot.id,
      type: 1,
      allow: "0",
      deny: String(PERMISSION.sendMessages),
    });
    const missed = open();
    await expect.poll(list).toMatch(/paused.*can't post there/);
    const openedMeanwhile = open();
    await world().until(() => count(healthy, openedMeanwhile) === 1, "the healthy channel");
    const resume = () => harness.discord.driver.ask(owner(), "/subscribe resume", { channel: channel.id });
    expect((await resume()).content).toContain("Send Messages");
    channel.permission_overwrites.length = 0;
    expect(textOf(await resume())).toContain("Resumed");
    // Waiting messages are checked every eight seconds.
    harness.pass(8_000);
    const title = open();
    await world().until(() => count(channel, title) === 1, "the next one");
    await world().until(() => count(channel, missed) === 1, "the one that waited");
    await world().until(() => count(channel, openedMeanwhile) === 1, "the one after it");
  });

  it("edits the messages of a channel once it is resumed, and not an hour later", async () => {
    const channel = await subscribed();
    const { ledger } = harness.explorer;
    const request = ledger.openVoteRequest({ title: "Out of sight." });
    await world().until(() => count(channel, request.title) === 1, "the announcement");
    const deny = String(PERMISSION.viewChannel);
    channel.permission_overwrites.push({ id: world().bot.id, type: 1, allow: "0", deny });
    ledger.closeVoteRequest(request, "Rejected");
    await expect.poll(list).toMatch(/paused/);
    // An announcement is edited at most every five minutes.
    for (let passed = 0; passed < 3; passed += 1) {
      harness.pass(3 * 60_000);
      const elsewhere = open();
      await world().until(() => count(healthy, elsewhere) === 1, "the healthy channel");
    }
    channel.permission_overwrites.length = 0;
    await harness.discord.driver.ask(owner(), "/subscribe resume", { channel: channel.id });
    harness.pass(61_000);
    const first = () =>
      world()
        .read(channel)
        .find((each) => textOf(each).includes(request.title));
    await world().until(() => JSON.stringify(first() ?? "").includes("Rejected"), "the edit");
    await harness.discord.driver.ask(owner(), "/subscribe remove", { channel: channel.id });
  });

  it("says that it may not open a thread under an announcement", async () => {
    const channel = await subscribed();
    await harness.discord.driver.ask(owner(), "/subscribe governance", { channel: channel.id, thread: true });
    const deny = String(PERMISSION.createPublicThreads);
    channel.permission_overwrites.push({ id: world().bot.id, type: 1, allow: "0", deny });
    const title = open();
    await world().until(() => count(channel, title) === 1, "the announcement");
    await expect.poll(list).toMatch(/Last error in the channel.*Grant it Create Public Threads/);
    await harness.discord.driver.ask(owner(), "/subscribe remove", { channel: channel.id });
  });

  it("waits for the end of the bot's timeout, and says so", async () => {
    const channel = await subscribed();
    const { guild } = harness.discord;
    const ends = new Map([[world().bot.id, Date.now() + 3_600_000]]);
    guild.timeouts = ends;
    // Discord may not say at once that the bot is timed out.
    const path = new RegExp(`/members/${world().bot.id}$`);
    const unread = { method: "GET", path, times: 3, error: new DiscordError(503, 0, "Error") };
    harness.discord.trap(unread);
    const missed = open();
    const other = async () => (await list()).split("\\n\\n").find((each) => each.includes(channel.id));
    await expect.poll(other).toMatch(/active.*timed out/s);
    expect(unread.times).toBe(0);
    const resumed = await harness.discord.driver.ask(owner(), "/subscribe resume", { channel: channel.id });
    expect(resumed.content).toContain("timed out");
    ends.clear();
    await harness.pass(3_600_000);
    await world().until(() => count(channel, missed) === 1, "what waited");
    await expect.poll(other).not.toContain("timed out");
  });

  it("removes the subscription if the channel was deleted", async () => {
    const channel = await subscribed();
    world().channels.delete(channel.id);
    open();
    await expect.poll(list).not.toContain(channel.id);
  });

  it("waits if the channel of a variable does not exist, and the log names the variable", async () => {
    const channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "mistaken" });
    await harness.restart({ GOVERNANCE_CHANNEL_ID: channel.id });
    world().channels.delete(channel.id);
    const title = open();
    const isLogged = () =>
      /"variable":"GOVERNANCE_CHANNEL_ID","msg":"Discord knows no channel/.test(harness.bot().output());
    await expect.poll(isLogged).toBe(true);
    world().channels.set(channel.id, channel);
    const { driver } = harness.discord;
    const resumed = await driver.ask(owner(), "/subscribe resume", { channel: channel.id });
    expect(textOf(resumed)).toMatch(/Resumed|resumed/);
    await world().until(() => count(channel, title) === 1, "what waited");
    const { guild } = harness.discord;
    const ends = new Map([[world().bot.id, world().now() + 3_600_000]]);
    guild.timeouts = ends;
    const duringTimeout = open();
    await expect.poll(list).toMatch(/operator.*active.*timed out/s);
    ends.clear();
    await harness.pass(3_600_000);
    // An attempt that was under way when the clock moved backs off from the new time.
    const delivered = async () => {
      await harness.pass(60_000);
      return count(channel, duringTimeout);
    };
    await expect.poll(delivered).toBe(1);
    await harness.restart({});
  });

  /** Announces a vote request in a new channel with a thread that the bot knows. */
  const threaded = async (title: string) => {
    const channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: title });
    await harness.discord.driver.ask(owner(), "/subscribe governance", { channel: channel.id, thread: true });
    const request = harness.explorer.ledger.openVoteRequest({ title });
    const thread = await world().until(() => world().read(channel)[0]?.thread, "the thread");
    // Wait until the bot has asked for the thread.
    await world().until(
      () => harness.discord.requests.some(({ path }) => path.endsWith(`${thread.id}/threads`)),
      "it to be known",
    );
    return { channel, request, thread };
  };

  it("goes into its thread after the bot's timeout", async () => {
    const { channel, request, thread } = await threaded("Patient.");
    const { guild } = harness.discord;
    const ends = new Map([[world().bot.id, world().now() + 3_600_000]]);
    guild.timeouts = ends;
    harness.explorer.ledger.closeVoteRequest(request, "Rejected");
    const other = async () => (await list()).split("\\n\\n").find((each) => each.includes(channel.id));
    await expect.poll(other).toContain("timed out");
    ends.clear();
    await harness.pass(3_600_000);
    const outcome = () => count(channel, "Rejected: Patient.") + count(thread, "Rejected: Patient.");
    await world().until(() => outcome() > 0, "the outcome");
    expect(count(thread, "Rejected: Patient.")).toBe(1);
  });

  it("is sent to the channel if the thread was deleted, and the subscription stays", async () => {
    const { channel, request, thread } = await threaded("Threaded.");
    world().channels.delete(thread.id);
    harness.explorer.ledger.closeVoteRequest(request, "Rejected");
    await world().until(() => count(channel, "Rejected: Threaded.") === 1, "the outcome");
    const [announcement, outcome] = world().read(channel);
    expect(outcome?.message_reference).toMatchObject({ message_id: announcement?.id });
    expect(await list()).toContain(channel.id);
  });

  it("keeps the subscription if a person deletes the thread while it is unknown whether it arrived", async () => {
    const { channel, request, thread } = await threaded("Doubtful.");
    const path = new RegExp(`^/channels/${thread.id}/messages$`);
    const failing = { method: "POST", path, times: 1, error: new DiscordError(500, 0, "Error") };
    harness.discord.trap(failing);
    harness.explorer.ledger.closeVoteRequest(request, "Rejected");
    await world().until(() => failing.times === 0, "the failed send");
    world().channels.delete(thread.id);
    await world().until(() => count(channel, "Rejected: Doubtful.") === 1, "the outcome");
    expect(await list()).toContain(channel.id);
  });

  it("is retried after an answer 401, and so is everything later", async () => {
    const channel = await subscribed();
    const error = new DiscordError(401, 0, "401: Unauthorized");
    harness.discord.trap({ method: "POST", path: messages(channel), times: 1, error });
    const title = open();
    await world().until(() => count(channel, title) === 1, "the retried one");
    const next = open();
    await world().until(() => count(healthy, next) === 1, "the next one");
    expect(count(channel, title)).toBe(1);
    expect(count(healthy, title)).toBe(1);
  });

  it("is edited although Discord refuses the address of its picture", async () => {
    const channel = await subscribed();
    const error = new DiscordError(400, 50035, "Invalid Form Body");
    harness.discord.trap({ method: "POST", path: messages(channel), times: 1, error });
    const patched = {
      method: "PATCH",
      path: new RegExp(`^/channels/${channel.id}/messages/`),
      times: 1,
      error,
    };
    harness.discord.trap(patched);
    const request = harness.explorer.ledger.openVoteRequest({ title: "Pictured." });
    await world().until(() => count(channel, "Pictured.") === 1, "the announcement");
    harness.explorer.ledger.closeVoteRequest(request, "Rejected");
    const announcement = () => world().read(channel)[0]?.content ?? "";
    await world().until(() => announcement().includes("Rejected"), "the edit");
    expect(patched.times).toBe(0);
  });

  it("arrives without a reply reference if Read Message History is missing", async () => {
    const channel = await subscribed();
    const request = harness.explorer.ledger.openVoteRequest({ title: "Unread." });
    await world().until(() => count(channel, "Unread.") === 1, "the announcement");
    channel.permission_overwrites.push({
      id: world().bot.id,
      type: 1,
      allow: "0",
      deny: String(PERMISSION.readHistory),
    });
    harness.explorer.ledger.closeVoteRequest(request, "Rejected");
    await world().until(() => count(channel, "Rejected: Unread.") === 1, "the outcome");
    expect(world().read(channel).at(-1)?.message_reference).toBeUndefined();
  });

  it("arrives without a reply reference if a person deleted the announcement", async () => {
    const channel = await subscribed();
    const request = harness.explorer.ledger.openVoteRequest({ title: "Deleted." });
    await world().until(() => count(channel, "Deleted.") === 1, "the announcement");
    world().messages.set(channel.id, []);
    harness.explorer.ledger.closeVoteRequest(request, "Accepted");
    await world().until(() => count(channel, "Accepted: Deleted.") === 1, "the outcome");
    expect(count(channel, "Deleted.")).toBe(1);
  });

  it("is not posted again if it was deleted before its delivery was recorded", async () => {
    const channel = await subscribed();
    harness.discord.trap({ method: "POST", path: messages(channel), times: 1, error: "lost" });
    const title = open();
    await world().until(() => count(channel, title) === 1, "the message that nobody knows of");
    world().messages.set(channel.id, []);
    const next = open();
    await world().until(() => count(channel, next) === 1, "the next one");
    expect(count(channel, title)).toBe(0);
  });

  it("pauses the subscription and says so if the bot has left the server", async () => {
    const { owner: olga } = harness.discord.people;
    const other = world().addGuild(
      "Another server",
      olga,
      BigInt(harness.discord.guild.roles[0]?.permissions ?? 0),
    );
    other.members.set(world().bot.id, []);
    const channel = world().addChannel({ type: 0, guild_id: other.id, name: "elsewhere" });
    await harness.discord.driver.ask({ user: olga, channel }, "/subscribe governance");
    other.members.delete(world().bot.id);
    open();
    const listed = async () =>
      textOf(await harness.discord.driver.ask({ user: olga, channel }, "/subscribe list"));
    await expect.poll(listed).toMatch(/paused.*removed from the server/);
    const quick = await subscribed();
    const missed = open();
    await world().until(() => count(quick, missed) === 1, "the announcement elsewhere");
    other.members.set(world().bot.id, []);
    await harness.discord.driver.ask({ user: olga, channel }, "/subscribe resume");
    await world().until(() => count(channel, missed) === 1, "the news from while it was away");
    other.members.delete(world().bot.id);
    open();
    await expect.poll(listed).toMatch(/paused.*removed from the server/);
    // Invited again, it keeps the subscription, however long ago it left, and a new setting ends the pause.
    other.members.set(world().bot.id, []);
    harness.pass(31 * 24 * 3_600_000);
    const title = open();
    await subscribed().then((elsewhere) => {
      open();
      return world().until(() => world().read(elsewhere).length > 0, "an announcement elsewhere");
    });
    expect(count(channel, title)).toBe(0);
    // It is read once the bot is back, so it must not say that the bot is not there.
    expect(await listed()).toMatch(/paused.*was removed from the server/);
    const again = await harness.discord.driver.ask({ user: olga, channel }, "/subscribe governance");
    // After more than a day, some news may have been given up.
    expect(textOf(again)).toContain("refused this channel for more than a day");
    const next = open();
    await world().until(() => count(channel, next) === 1, "the next announcement");
    world().refusals.splice(0);
  });

  it("completes edits of messages over an hour old later if Discord rate-limits them", async () => {
    const channel = await subscribed();
    const { ledger } = harness.explorer;
    const requests: ReturnType<typeof ledger.openVoteRequest>[] = [];
    for (let at = 0; at < 5; at += 1) {
      // Open them one by one: more than three in one poll would become a digest.
      requests.push(ledger.openVoteRequest({ title: `Old ${at}.` }));
      await world().until(() => count(channel, `Old ${at}.`) === 1, "the announcement");
    }
    harness.pass(2 * 3_600_000);
    for (const request of requests) ledger.closeVoteRequest(request, "Expired");
    const outcomes = () =>
      world()
        .read(channel)
        .filter(({ content }) => /Expired: Old/.test(content)).length;
    await world().until(() => outcomes() === 3, "as many as an hour allows");
    expect(requests.every(({ title }) => count(channel, `Expired: ${title}`) <= 1)).toBe(true);
    harness.pass(3_700_000);
    await world().until(() => outcomes() === 5, "the others, an hour later");
  });
});
