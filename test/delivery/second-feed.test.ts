import { cpSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BotProcess, botEnvironment, newDataDir, startBotProcess } from "../../sandbox/bot-process.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import type { Channel, Message } from "../../sandbox/discord/world.js";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { exportState } from "../../src/storage/transfer.js";
import { MINUTE } from "../../src/util/units.js";
import { SMALL, textOf } from "../harness.js";

const MAIN = fileURLToPath(new URL("./second-feed/main.ts", import.meta.url));
/** Runs the TypeScript sources, because this bot is not part of the build. */
const TSX = ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href];

describe("a feed defined outside src/", () => {
  const dataDir = newDataDir();
  const file = join(dataDir, "tides.json");
  let explorer: SandboxExplorer;
  let discord: SandboxDiscord;
  let bot: BotProcess;
  let plain: Channel;
  let high: Channel;
  let offset = 0;

  const sea = (...tides: object[]) => writeFileSync(file, JSON.stringify(tides));
  const start = async () => {
    const env = { DATA_DIR: dataDir, TIDES_FILE: file, GOVERNANCE_POLL_SECONDS: "1" };
    bot = startBotProcess(botEnvironment(discord, explorer, env), offset, MAIN, TSX);
    await bot.ready(30_000);
  };
  /** Returns the state from a copy of its folder, because the bot holds the lock. */
  const copiedState = async () => {
    const copy = newDataDir();
    cpSync(dataDir, copy, { recursive: true });
    const store = openFileStore(copy);
    try {
      return await exportState(store);
    } finally {
      await store.close();
    }
  };
  const read = (channel: Channel) =>
    discord.world.read(channel).map((message) => ({ message, text: textOf(message) }));
  const ask = (command: string, given: Record<string, string | boolean>, user = discord.people.owner) =>
    discord.driver.ask({ user, channel: discord.channels.general }, command, given);
  const until = async (channel: Channel, pattern: RegExp): Promise<Message> =>
    discord.world.until(
      () => read(channel).find(({ text }) => pattern.test(text))?.message,
      `${pattern} in #${channel.name}`,
    );

  beforeAll(async () => {
    sea();
    explorer = await startSandboxExplorer({ size: SMALL, lively: false });
    discord = await startSandboxDiscord({ now: () => Date.now() + offset });
    const guild_id = discord.guild.id;
    plain = discord.world.addChannel({ type: 0, guild_id, name: "plain" });
    high = discord.world.addChannel({ type: 0, guild_id, name: "high" });
    await start();
  });
  afterAll(async () => {
    await bot.stop();
    await Promise.all([explorer.close(), discord.close()]);
  });

  it("has its own subscription options", async () => {
    const answer = await ask("/subscribe tides", { channel: plain.id, surges: true, thread: true });
    expect(textOf(answer)).toMatch(/Subscribed to: rising tides, surges.*The sea is calm/);
    await ask("/subscribe tides", { channel: high.id, least: "5" });
    expect(textOf(await ask("/subscribe tides", { channel: high.id, least: "deep" }))).toContain(
      "Type whole metres",
    );
    expect(textOf(await ask("/subscribe list", {}))).toContain("The sea is always there");
    expect(discord.driver.commandsIn(plain).some(({ name }) => name === "subscribe")).toBe(true);
  });

  it("puts its buttons on any screen that it names", async () => {
    const { owner, ana } = discord.people;
    const screen = await ask("/transfers", {});
    const labels = discord.driver.components(screen).map(({ label }) => label);
    expect(labels).toEqual(expect.arrayContaining(["Watch", "Subscribe this channel"]));
    const channel = discord.channels.general;
    const offer = await discord.driver.click({ user: ana, channel }, screen, "Watch");
    expect(textOf(offer)).toContain("3 metres or more");
    const { dialog } = await discord.driver.open({ user: owner, channel }, screen, "Subscribe this channel");
    expect(dialog.title).toContain("tides");
  });

  it("is announced with a thread, and only once even if the bot is killed", async () => {
    sea({ place: "Harbour", height: 3, reading: 1, over: false });
    const message = await until(plain, /High tide at Harbour/);
    await discord.world.until(() => message.thread, "the thread");
    expect(message.thread?.name).toBe("Tide at Harbour");
    // Kill the bot when the next announcement is sent, but not recorded yet.
    discord.trap({
      method: "POST",
      path: new RegExp(`/channels/${plain.id}/messages`),
      times: 1,
      error: "lost",
    });
    sea(
      { place: "Harbour", height: 3, reading: 1, over: false },
      { place: "Bay", height: 4, reading: 1, over: false },
    );
    await until(plain, /High tide at Bay/);
    await bot.stop("SIGKILL");
    await start();
    const third = { place: "Cove", height: 6, reading: 1, over: false };
    sea(
      { place: "Harbour", height: 3, reading: 1, over: false },
      { place: "Bay", height: 4, reading: 1, over: false },
      third,
    );
    await until(plain, /High tide at Cove/);
    await until(high, /High tide at Cove/);
    for (const place of ["Harbour", "Bay", "Cove"])
      expect(
        read(plain).filter(({ text }) => text.includes(`High tide at ${place}`)),
        place,
      ).toHaveLength(1);
    expect(read(high)).toHaveLength(1);
  });

  it("edits announcements when a tide changes, and posts later news in the thread", async () => {
    const harbour = await until(plain, /High tide at Harbour/);
    offset += 6 * MINUTE;
    bot.setClock(offset);
    sea({ place: "Harbour", height: 7, reading: 2, over: false });
    await discord.world.until(() => /\*\*7\*\* metres/.test(textOf(harbour)), "the edit");
    const thread = discord.world.channel(harbour.id);
    expect(textOf(await until(thread, /High tide at Harbour/))).toContain("**7** metres");
    expect(read(plain).filter(({ text }) => text.includes("Harbour"))).toHaveLength(1);
    expect(discord.world.refusals).toEqual([]);
  });

  it("has a button, a watch and collections, whose documents are cleaned up", async () => {
    const { owner, ana } = discord.people;
    const direct = () => discord.world.directChannel(ana);
    const harbour = await until(plain, /High tide at Harbour/);
    for (const user of [owner, ana]) await discord.driver.click({ user, channel: plain }, harbour, "Swim");
    const bay = await until(plain, /High tide at Bay/);
    await discord.driver.click({ user: owner, channel: plain }, bay, "Swim");
    await ask("/watch tide", { least: "8" }, ana);
    const reef = { place: "Reef", height: 9, reading: 1, over: false };
    sea(reef);
    await until(direct(), /High tide at Reef/);
    expect(textOf(await ask("/watch list", {}, ana))).toContain("8 metres or more");

    expect(textOf(await ask("/watch forget", {}, ana))).toContain("1 watch removed");
    await ask("/subscribe remove", { channel: high.id });
    const gulf = { place: "Gulf", height: 5, reading: 1, over: false };
    sea(reef, { place: "Bay", height: 4, reading: 2, over: true }, gulf);
    await until(plain, /High tide at Gulf/);
    // The messages of removed subscriptions are closed in the background.
    await expect.poll(async () => (await copiedState()).collections.farewells ?? {}).toEqual({});
    await bot.stop();

    const stored = await copiedState();
    const idsIn = (name: string) => Object.keys(stored.collections[name] ?? {});
    expect(idsIn("tide-swimmers")).toEqual([`Harbour/${owner.id}`]);
    expect(stored.collections["tide-guards"]).toMatchObject({ Harbour: { userId: null } });
    expect(idsIn("tide-gauges")).toEqual([`tides/${plain.id}`]);
    // The state mentions neither the forgotten person nor the removed channel.
    expect(JSON.stringify(stored)).not.toMatch(new RegExp(`${ana.id}|${direct().id}|${high.id}`));
  });
});
