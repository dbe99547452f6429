import { afterEach, beforeEach, expect, it } from "vitest";
import { type BotProcess, botEnvironment, startBotProcess } from "../../sandbox/bot-process.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { type RedisProcess, startRedis } from "../../sandbox/redis-process.js";
import { SMALL, textOf } from "../harness.js";
import { describeWithRedis } from "../needs.js";

describeWithRedis("two processes on one Redis", () => {
  let redis: RedisProcess;
  let explorer: SandboxExplorer;
  let discord: SandboxDiscord;
  let bots: BotProcess[];
  const told = () => discord.world.read(discord.channels.governance);
  const leads = (bot: BotProcess) => bot.output().includes("Took the lease");
  const count = (title: string) => told().filter((message) => textOf(message).includes(title)).length;

  beforeEach(async () => {
    redis = await startRedis();
    explorer = await startSandboxExplorer({ size: SMALL, lively: false });
    discord = await startSandboxDiscord();
    const env = botEnvironment(discord, explorer, {
      REDIS_URL: redis.url,
      GOVERNANCE_POLL_SECONDS: "1",
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
      GOVERNANCE_CHANNEL_ID: discord.channels.governance.id,
    });
    bots = [startBotProcess(env), startBotProcess(env)];
    await Promise.all(bots.map((bot) => bot.ready()));
    await discord.world.until(() => bots.some(leads), "a leader");
    const polls = () => explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    // The second poll starts after the results of the first one are stored.
    await discord.world.until(() => polls() > 1, "the baseline");
  });
  afterEach(async () => {
    for (const bot of bots) bot.child.kill("SIGCONT");
    await Promise.all(bots.map((bot) => bot.stop("SIGKILL")));
    await Promise.all([redis.close(), explorer.close(), discord.close()]);
  });

  const split = (): { leader: BotProcess; other: BotProcess } => {
    const [first, second] = bots;
    if (!first || !second) throw new Error("Two bots are needed");
    return leads(first) ? { leader: first, other: second } : { leader: second, other: first };
  };

  it("only one process does the work, and the other takes over within ten seconds if it is killed", async () => {
    const { leader, other } = split();
    explorer.ledger.openVoteRequest({ title: "First" });
    await discord.world.until(() => count("First") === 1, "the first announcement");
    expect(leads(other)).toBe(false);
    await leader.stop("SIGKILL");
    explorer.ledger.openVoteRequest({ title: "Second" });
    await discord.world.until(() => leads(other), "the other to take over");
    await discord.world.until(() => count("Second") === 1, "the second announcement");
    expect(count("First")).toBe(1);
  });

  it("a process that was frozen does not repeat an announcement when it resumes", async () => {
    const { leader, other } = split();
    leader.child.kill("SIGSTOP");
    explorer.ledger.openVoteRequest({ title: "Meanwhile" });
    await discord.world.until(() => leads(other), "the other to take over");
    await discord.world
      .until(() => count("Meanwhile") === 1, "the announcement")
      .catch((error: unknown) => {
        throw new Error(`${String(error)}\n${other.output()}`);
      });
    leader.child.kill("SIGCONT");
    await discord.world.until(() => leader.output().includes("Lost the lease"), "the old leader to notice");
    explorer.ledger.openVoteRequest({ title: "After" });
    await discord.world.until(() => count("After") > 0, "the next announcement");
    const polls = explorer.requests.length;
    await discord.world.until(() => explorer.requests.length > polls + 3, "more polls");
    expect([count("Meanwhile"), count("After")]).toEqual([1, 1]);
  });

  it("both processes see the subscriptions, even after a restart of Redis", async () => {
    const owner = { user: discord.people.owner, channel: discord.channels.general };
    await discord.driver.ask(owner, "/subscribe governance");
    await redis.kill();
    const failing = await discord.driver.ask(owner, "/subscribe list");
    expect(failing.content).toContain("I can't reach my storage");
    await redis.start();
    await expect
      .poll(async () => textOf(await discord.driver.ask(owner, "/subscribe list")))
      .toContain(discord.channels.general.id);
    explorer.ledger.openVoteRequest({ title: "Again" });
    await discord.world.until(() => count("Again") === 1, "the announcement");
  });
});
