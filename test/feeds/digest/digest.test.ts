import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSION } from "../../../sandbox/discord/permissions.js";
import type { Channel } from "../../../sandbox/discord/world.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

const SILENT = 1 << 12;

describe("a digest", () => {
  let harness: Harness;
  let channel: Channel;
  const world = () => harness.discord.world;
  const ledger = () => harness.explorer.ledger;
  const ask = (command: string, given: Record<string, string | boolean> = {}) => {
    const { driver, people, channels } = harness.discord;
    return driver.ask({ user: people.owner, channel: channels.general }, command, given);
  };
  const polls = async () => {
    const reads = () =>
      harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    const before = reads();
    await world().until(() => reads() > before + 2, "some polls");
  };
  const told = () => world().read(channel);
  const until = (count: number) => world().until(() => told()[count - 1], `${count} digests`);
  /** Advances the clock to just before the next 09:00 UTC. */
  const untilNine = () => {
    const now = new Date(harness.now());
    const nine = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), 9);
    const next = nine > now.getTime() + MINUTE ? nine : nine + DAY;
    harness.pass(next - now.getTime() - 2_000);
  };
  const alive = () => {
    for (const each of ledger().validators) if (each.active) each.lastActiveAt = harness.now() - MINUTE;
  };

  beforeAll(async () => {
    harness = await startHarness({
      explorer: {
        size: { validators: 20, parties: 40, voteRequests: 0, superValidators: 13, updates: 2, tokens: 1 },
      },
      env: () => ({ GOVERNANCE_POLL_SECONDS: "1", WATCH_POLL_SECONDS: "1" }),
    });
    ledger().openVoteRequest({ title: "Old motion", lastsMs: 30 * DAY, effectiveInMs: 31 * DAY });
    channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "digest" });
    const answer = await ask("/subscribe digest", {
      every: "day",
      at: "9",
      zone: "UTC",
      channel: channel.id,
    });
    expect(textOf(answer)).toMatch(/a digest every day at 09:00 UTC.*First digest: <t:\d+:f>/);
    expect(textOf(await ask("/subscribe digest", { zone: "Mars/Olympus" }))).toContain("find that time zone");
  });
  afterAll(() => harness.close());

  it("is posted at its hour, silently, with the news about votes", async () => {
    await polls();
    const request = ledger().openVoteRequest({ title: "Ended motion", lastsMs: DAY, effectiveInMs: 3 * DAY });
    for (let votes = 0; votes < 6; votes += 1) ledger().castVote(request, false);
    await polls();
    ledger().closeVoteRequest(request, "Rejected");
    ledger().openVoteRequest({ title: "Near motion", lastsMs: 2 * DAY, effectiveInMs: null });
    await polls();
    untilNine();
    alive();
    const message = await until(1);
    expect(message.flags & SILENT).toBe(SILENT);
    expect(message.pings).toEqual([]);
    const text = textOf(message);
    expect(text).toContain("📰 Daily digest: ");
    expect(text).toMatch(/"Opened","value":"• \*\*Near motion\*\*/);
    expect(text).toMatch(
      /"Ended","value":"• ❌ Rejected · \*\*Ended motion\*\*.*of the possible votes were cast/,
    );
    expect(text).not.toContain("Due before the next digest");
    expect(text).not.toContain("Late because");
  });

  it("is the next one, and no longer the first, once it resumes after a pause", async () => {
    const { driver, people, channels } = harness.discord;
    const owner = { user: people.owner, channel: channels.general };
    await ask("/subscribe newcomers", { channel: channel.id });
    const card = await driver.choose(
      owner,
      await ask("/subscribe remove", { channel: channel.id }),
      "digest",
    );
    await driver.click(owner, card, "Pause");
    await driver.click(owner, card, "Resume");
    expect(textOf(card)).toMatch(/Next digest: <t:\d+:f>/);
    const later = textOf(await ask("/subscribe digest", { channel: channel.id, at: "10:00" }));
    expect(later).toMatch(/Subscription changed.*Next digest: <t:\d+:f>/);
    await ask("/subscribe digest", { channel: channel.id, at: "09:00" });
    await ask("/subscribe remove", { channel: channel.id, feed: "newcomers" });
  });

  it("is posted once per slot, even after a restart, and says so if it is late", async () => {
    await harness.restart();
    await harness.bot().stop();
    harness.pass(DAY + HOUR);
    alive();
    await harness.start();
    const message = await until(2);
    expect(textOf(message)).toContain("Late because I was offline");
    await ask("/subscribe list");
    expect(told()).toHaveLength(2);
  });

  it("lists the validators that joined, went silent and came back", async () => {
    const [silent, other] = ledger().validators.filter(({ isSv }) => !isSv);
    if (!silent || !other) throw new Error("Too few");
    ledger().joinValidator("Newcomer Node");
    ledger().setValidatorActive(silent, false);
    untilNine();
    alive();
    const message = await until(3);
    const text = textOf(message);
    expect(text).toMatch(/🆕 Joined: .*Newcomer Node/);
    expect(text).toMatch(/🔴 Went silent: /);
    ledger().setValidatorActive(silent, true);
    untilNine();
    alive();
    expect(textOf(await until(4))).toMatch(/🟢 Came back: /);
  });

  it("calls nobody silent because the last report of one validator is in the future", async () => {
    const [ahead] = ledger().validators;
    if (!ahead) throw new Error("Too few");
    harness.explorer.mood = (answer, path) => {
      const { content } = answer as { content?: { validator: string; lastActiveAt: number }[] };
      if (path !== "/v1/validators" || !content) return answer;
      const later = harness.now() + 3 * HOUR;
      return {
        ...(answer as object),
        content: content.map((row) =>
          row.validator === ahead.party.id ? { ...row, lastActiveAt: later } : row,
        ),
      };
    };
    await polls();
    untilNine();
    alive();
    expect(textOf(await until(5))).not.toContain("Went silent");
    harness.explorer.mood = undefined;
  });

  it("says so if the validators could not be read for a day", async () => {
    for (const request of ledger().voteRequests) ledger().closeVoteRequest(request, "Rejected");
    untilNine();
    alive();
    await until(6);
    untilNine();
    alive();
    const message = await until(7);
    expect(textOf(message)).toContain(
      "No news, but some data is missing.\\n-# I couldn't read the validators for 1 day.",
    );
    expect(textOf(message)).not.toContain("No news between");
  });

  it("says that the bot was offline if the machine slept, and not that the explorer failed", async () => {
    untilNine();
    harness.pass(-10 * MINUTE);
    await polls();
    harness.pass(HOUR);
    alive();
    expect(textOf(await until(8))).toContain("Late because I was offline when it was due.");
  });

  it("covers the time of a pause after it, and not before", async () => {
    const { driver, people, channels } = harness.discord;
    const owner = { user: people.owner, channel: channels.general };
    const card = await driver.choose(owner, await ask("/setup"), "digest");
    await driver.click(owner, card, "Pause");
    const [, since] = /up to <t:(\d+)/.exec(textOf(await ask("/subscribe list"))) ?? [];
    const request = ledger().openVoteRequest({ title: "Ended in the pause", lastsMs: 30 * DAY });
    await polls();
    ledger().closeVoteRequest(request, "Rejected");
    await polls();
    for (const _ of [1, 2]) {
      untilNine();
      harness.pass(MINUTE);
      alive();
      await polls();
    }
    expect(textOf(await ask("/subscribe list"))).toContain(`up to <t:${since}`);
    await driver.click(owner, card, "Resume");
    await polls();
    expect(told()).toHaveLength(8);
    untilNine();
    alive();
    const text = textOf(await until(9));
    expect(text).toContain(`From <t:${since}`);
    expect(text).toContain("Ended in the pause");
    expect(text).not.toContain("Late");
  });

  it("does not cover the same time again after a clock that was ahead is corrected", async () => {
    untilNine();
    alive();
    await until(10);
    harness.pass(11 * MINUTE);
    await polls();
    harness.pass(-30 * MINUTE);
    const correctedAt = harness.now();
    await polls();
    harness.pass(45 * MINUTE);
    const [, from = 0] = /From <t:(\d+)/.exec(textOf(await until(11))) ?? [];
    expect(Number(from)).toBeGreaterThanOrEqual(Math.floor(correctedAt / 1_000));
  });

  it("is posted once although the clock is behind at a start until it is set", async () => {
    harness.pass(30 * MINUTE);
    await harness.bot().stop();
    harness.pass(-90 * MINUTE);
    await harness.start();
    await polls();
    harness.pass(2 * HOUR);
    await polls();
    expect(told()).toHaveLength(11);
  });

  it("covers the time of one that the channel refused for a day, too", async () => {
    const { length: before } = told();
    ledger().openVoteRequest({ title: "Refused motion", lastsMs: 30 * DAY, effectiveInMs: 31 * DAY });
    await polls();
    const listed = async () => textOf(await ask("/subscribe list"));
    const [, covered] = /up to <t:(\d+)/.exec(await listed()) ?? [];
    const denied = {
      id: world().bot.id,
      type: 1 as const,
      allow: "0",
      deny: String(PERMISSION.sendMessages),
    };
    channel.permission_overwrites.push(denied);
    untilNine();
    alive();
    await expect.poll(listed).toContain("⏸️ **paused**");
    expect(await listed()).not.toContain(`up to <t:${covered}`);
    harness.pass(DAY + HOUR);
    alive();
    await expect.poll(listed).toContain(`up to <t:${covered}`);
    channel.permission_overwrites.splice(channel.permission_overwrites.indexOf(denied), 1);
    await ask("/subscribe resume", { channel: channel.id });
    untilNine();
    alive();
    const text = textOf(await until(before + 1));
    expect(text).toContain(`From <t:${covered}`);
    expect(text).toContain("Refused motion");
  });
});
