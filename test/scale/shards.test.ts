import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type BotProcess, botEnvironment, startBotProcess } from "../../sandbox/bot-process.js";
import type { Interaction } from "../../sandbox/discord/interactions.js";
import { USUAL } from "../../sandbox/discord/permissions.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import type { Channel } from "../../sandbox/discord/world.js";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { type RedisProcess, startRedis } from "../../sandbox/redis-process.js";
import { SMALL, textOf } from "../harness.js";
import { describeWithRedis } from "../needs.js";

const SHARDS = 16;
const PARTS = ["0-3", "4-7", "8-11", "12-15"] as const;

describeWithRedis("a bot with sixteen shards in four processes", () => {
  let redis: RedisProcess;
  let explorer: SandboxExplorer;
  let discord: SandboxDiscord;
  let channels: Channel[];
  let bots: BotProcess[];
  let interactions: Interaction[];
  let load: NodeJS.Timeout;

  const environment = (part: string) =>
    botEnvironment(discord, explorer, {
      REDIS_URL: redis.url,
      DISCORD_SHARDS: `${part}/${SHARDS}`,
      GOVERNANCE_POLL_SECONDS: "1",
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
    });
  const shardOf = ({ guild_id }: Channel) => discord.gateway.shardOf(guild_id, SHARDS);
  const count = (channel: Channel, title: string) =>
    discord.world.read(channel).filter((message) => textOf(message).includes(title)).length;
  const unanswered = () => interactions.filter(({ answered }) => answered === undefined);

  beforeAll(async () => {
    redis = await startRedis();
    explorer = await startSandboxExplorer({ size: SMALL, lively: false });
    discord = await startSandboxDiscord();
    discord.gateway.identifyMs = 5_000;
    const { world, people, driver } = discord;
    const firstAt = Date.now() - 100_000;
    channels = Array.from({ length: 2 * SHARDS }, (_, at) => {
      // The timestamp in a server's id determines its shard. With one server per millisecond, each shard gets two.
      const guild = world.addGuild(`Server ${at}`, people.owner, USUAL, world.snowflake(firstAt + at));
      for (const user of [world.bot, people.ana]) guild.members.set(user.id, []);
      return world.addChannel({ type: 0, guild_id: guild.id, name: `channel-${at}` });
    });
    expect(new Set(channels.map(shardOf)).size).toBe(SHARDS);
    bots = PARTS.map((part) => startBotProcess(environment(part)));
    await Promise.all(bots.map((bot) => bot.ready(30_000)));
    for (const channel of channels.slice(0, SHARDS)) {
      const answer = await driver.ask({ user: people.owner, channel }, "/subscribe governance");
      expect(textOf(answer)).toContain("Subscribed");
    }
    const polls = () => explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    await world.until(() => polls() > 2, "the baseline");
  });

  beforeEach(() => {
    const { driver, people } = discord;
    interactions = [];
    let at = 0;
    load = setInterval(() => {
      at += 1;
      const channel = channels[at % channels.length];
      if (channel) interactions.push(driver.type({ user: people.ana, channel }, "/price"));
    }, 150);
  });
  afterEach(() => clearInterval(load));

  afterAll(async () => {
    await Promise.all(bots.map((bot) => bot.stop("SIGKILL")));
    await Promise.all([redis.close(), explorer.close(), discord.close()]);
  });

  it("announces everything once if a process is killed, and only its commands go unanswered", async () => {
    const { world } = discord;
    const told = channels.slice(0, SHARDS);
    const everywhere = (title: string) => told.every((channel) => count(channel, title) === 1);
    explorer.ledger.openVoteRequest({ title: "Before the kill" });
    await world.until(() => everywhere("Before the kill"), "the first announcement");
    const leader = bots.findIndex((bot) => bot.output().includes("Took the lease"));
    explorer.ledger.openVoteRequest({ title: "During the kill" });
    await bots[leader]?.stop("SIGKILL");
    await world.until(() => everywhere("During the kill"), "the second announcement");
    bots[leader] = startBotProcess(environment(PARTS[leader] ?? ""));
    await bots[leader]?.ready(30_000);
    explorer.ledger.openVoteRequest({ title: "After the kill" });
    await world.until(() => everywhere("After the kill"), "the third announcement");
    clearInterval(load);
    const killed = new Set(Array.from({ length: 4 }, (_, at) => leader * 4 + at));
    await world.until(
      () => unanswered().every(({ channel }) => killed.has(shardOf(channel))),
      "every other process's answers",
    );
    console.info(`Killed: ${unanswered().length} of ${interactions.length} commands went unanswered`);
    expect(unanswered().length).toBeGreaterThan(0);
    for (const title of ["Before the kill", "During the kill", "After the kill"])
      expect(told.map((channel) => count(channel, title))).toEqual(told.map(() => 1));
    expect(discord.gateway.tooSoon).toBe(0);
    expect(world.refusals).toEqual([]);
  });

  it("answers all commands while its processes are replaced one by one", async () => {
    const { world } = discord;
    for (const [at, part] of PARTS.entries()) {
      const next = startBotProcess(environment(part));
      await next.ready(40_000);
      await bots[at]?.stop("SIGTERM");
      bots[at] = next;
    }
    await world.until(() => interactions.length > 70, "enough load");
    clearInterval(load);
    await world.until(() => unanswered().length === 0, "every answer");
    expect(discord.gateway.tooSoon).toBe(0);
    explorer.ledger.openVoteRequest({ title: "After all" });
    await world.until(
      () => channels.slice(0, SHARDS).every((channel) => count(channel, "After all") === 1),
      "the announcement",
    );
  });
});
