import { cpSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { botEnvironment, startBotProcess } from "../../sandbox/bot-process.js";
import { startSandboxDiscord } from "../../sandbox/discord/server.js";
import type { Message } from "../../sandbox/discord/world.js";
import { createRandom } from "../../sandbox/explorer/random.js";
import { startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { SMALL, textOf } from "../harness.js";

// The normal suite runs only a few rounds. `npm run test:crash` runs a hundred.
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 6);
/** Folder for what explains a failure: the state, what the bots logged, and the messages. */
const KEPT = process.env.CRASH_KEPT;

it(
  `announces each request exactly once in each channel, even if the bot is killed ${ROUNDS} times at random`,
  async () => {
    const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
    const random = createRandom(seed);
    const explorer = await startSandboxExplorer({ size: SMALL, lively: false });
    const discord = await startSandboxDiscord();
    const { world, channels } = discord;
    const env = botEnvironment(discord, explorer, {
      GOVERNANCE_POLL_SECONDS: "1",
      // Upgrades are polled at this interval. By default, the last process would poll them once, before it has read the votes.
      WATCH_POLL_SECONDS: "1",
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
      GOVERNANCE_CHANNEL_ID: channels.governance.id,
    });
    const titles: string[] = [];
    const forum = world.addChannel({ type: 15, guild_id: discord.guild.id, name: "forum" });
    const second = world.addChannel({ type: 0, guild_id: discord.guild.id, name: "second" });

    let bot = startBotProcess(env);
    const bots = [bot];
    await bot.ready();
    const polls = () => explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    // The second poll starts after the results of the first one are stored.
    await world.until(() => polls() > 1, "the baseline");
    const owner = { user: discord.people.owner, channel: channels.general };
    for (const channel of [second, forum])
      await discord.driver.ask(owner, "/subscribe governance", { channel: channel.id });
    const upgrades = world.addChannel({ type: 0, guild_id: discord.guild.id, name: "upgrades" });
    await discord.driver.ask(owner, "/subscribe upgrades", { channel: upgrades.id });
    /** Schedules an upgrade, and moves it by a day each time. */
    const schedule = () => explorer.ledger.openVoteRequest({ motion: "upgrade", effectiveInMs: null });
    let upgrade = schedule();
    let decidedCount = 0;

    for (let round = 0; round < ROUNDS; round += 1) {
      for (let opened = random.int(1, 3); opened > 0; opened -= 1) {
        titles.push(`Request ${titles.length}`);
        explorer.ledger.openVoteRequest({ title: titles.at(-1) ?? "" });
      }
      // An upgrade that was seen open is accepted, and the next one is proposed.
      if (round % 2 === 1) {
        explorer.ledger.decideVoteRequest(upgrade, "Accepted");
        decidedCount += 1;
        upgrade = schedule();
      }
      // Kill at a random time, from before the next poll to after the last delivery.
      await delay(random.int(0, 1_800));
      await bot.stop("SIGKILL");
      bot = startBotProcess(env);
      bots.push(bot);
      await bot.ready();
    }

    const inForum = () =>
      [...world.channels.values()]
        .filter((each) => each.parent_id === forum.id)
        .flatMap((each) => world.read(each));
    const places = [() => world.read(channels.governance), () => world.read(second), inForum];
    // If one poll finds more than three requests, they are announced in one digest. It names some, and its menu opens each.
    const listedIn = (message: Message) =>
      discord.driver.clickable(message).flatMap(({ options = [] }) => options.map(({ label }) => label));
    const announces = (message: Message, title: string) =>
      textOf(message).includes(`New vote request: ${title}"`) ||
      (textOf(message).includes(" new vote requests") && listedIn(message).includes(title));
    const counts = (messages: readonly Message[]) =>
      titles.map((title) => messages.filter((message) => announces(message, title)).length);
    await world
      .until(
        () => places.every((read) => counts(read()).every((count) => count > 0)),
        `every announcement (seed ${seed})`,
        // Discord accepts about one message a second per channel, so a backlog takes this long.
        60_000 + titles.length * 1_500,
      )
      .catch(() => {});
    if (KEPT && places.some((read) => counts(read()).some((count) => count !== 1))) {
      cpSync(env.DATA_DIR, KEPT, { recursive: true });
      writeFileSync(`${KEPT}/log.txt`, bots.map((each) => each.output()).join("\n"));
      writeFileSync(`${KEPT}/messages.json`, JSON.stringify(places.map((read) => read())));
    }
    for (const read of places) expect(counts(read()), `seed ${seed}`).toEqual(titles.map(() => 1));
    const isAbout = (each: string) => /Network upgrade (scheduled|moved)/.test(each);
    await world.until(
      () => world.read(upgrades).some(({ notified }) => isAbout(notified)),
      `an upgrade (seed ${seed})`,
    );
    // Schedules that follow each other before the bot has read the first one are told as one.
    const changes = world.read(upgrades).map(({ notified }) => notified);
    expect(new Set(changes).size, `seed ${seed}`).toBe(changes.length);
    expect(changes.filter((each) => each.includes("scheduled")).length).toBeLessThanOrEqual(1);
    expect(changes.length).toBeLessThanOrEqual(decidedCount);
    await bot.stop();
    await Promise.all([explorer.close(), discord.close()]);
  },
  Math.max(120_000, ROUNDS * 8_000),
);
