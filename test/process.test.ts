import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { botEnvironment, newDataDir, startBotProcess } from "../sandbox/bot-process.js";
import { type SandboxDiscord, startSandboxDiscord } from "../sandbox/discord/server.js";
import { type SandboxExplorer, startSandboxExplorer } from "../sandbox/explorer/server.js";
import { SMALL } from "./harness.js";

describe("the bot as a process", () => {
  let explorer: SandboxExplorer;
  let discord: SandboxDiscord;

  beforeAll(async () => {
    explorer = await startSandboxExplorer({ size: SMALL, lively: false });
    discord = await startSandboxDiscord();
  });
  afterAll(() => Promise.all([explorer.close(), discord.close()]));

  it("exits with 1 and a line for each invalid variable, without a stack", async () => {
    const bot = startBotProcess({ DATA_DIR: newDataDir(), HTTP_PORT: "99999" });
    expect(await bot.exited).toBe(1);
    const lines = bot.output().trim().split("\n");
    expect(lines.at(-1)).toContain("Copy .env.example to .env");
    expect(lines.slice(0, -1).map((line) => line.split(" ")[0])).toEqual([
      "DISCORD_TOKEN",
      "EXPLORER_API_URL",
      "EXPLORER_API_KEY",
      "HTTP_PORT",
    ]);
  });

  it("does not ask for a .env if the settings are in the environment, as in a container", async () => {
    const bot = startBotProcess(botEnvironment(discord, explorer, { HTTP_PORT: "99999" }));
    expect(await bot.exited).toBe(1);
    expect(bot.output().trim()).toBe("HTTP_PORT is malformed. Set it to a port from 1 to 65535");
  });

  it("names a folder that it can't use together with the other problems", async () => {
    const more = { HTTP_PORT: "99999", DATA_DIR: "/proc" };
    const bot = startBotProcess(botEnvironment(discord, explorer, more));
    expect(await bot.exited).toBe(1);
    expect(bot.output().trim().split("\n")).toEqual([
      "HTTP_PORT is malformed. Set it to a port from 1 to 65535",
      "DATA_DIR: /proc can't be used (ENOENT). Set it to a folder the bot can write to",
    ]);
  });

  it("names a line of .env that would be a part of the next variable's name, without its text", async () => {
    const env = botEnvironment(discord, explorer);
    writeFileSync(
      join(env.DATA_DIR, ".env"),
      "LOG_LEVEL=info\r\n\r\nmy notes\r\nREDIS_URL=redis://redis\r\n",
    );
    const bot = startBotProcess(env);
    expect(await bot.exited).toBe(1);
    expect(bot.output().trim()).toBe(".env: line 3 isn't NAME=value. Correct it, or put # in front of it");
  });

  it("stops in the usual way when its terminal is closed", async () => {
    const bot = startBotProcess(botEnvironment(discord, explorer));
    await bot.ready();
    expect(await bot.stop("SIGHUP")).toBe(0);
    expect(bot.output()).toContain('"msg":"Stopped"');
  });

  it("exits with 1 if Discord refuses the token", async () => {
    const bot = startBotProcess({ ...botEnvironment(discord, explorer), DISCORD_TOKEN: "not.the.token" });
    expect(await bot.exited).toBe(1);
    expect(bot.output()).toMatch(/^Discord rejects DISCORD_TOKEN/m);
    expect(bot.output()).not.toContain("not.the.token");
  });

  it("exits with 1, and says why, if Discord closes the connection for good", async () => {
    const bot = startBotProcess(botEnvironment(discord, explorer));
    await bot.ready();
    discord.gateway.end(4_004);
    expect(await bot.exited).toBe(1);
    expect(bot.output()).toMatch(/^Discord's gateway rejects DISCORD_TOKEN/m);
  });

  it("waits before it identifies again if Discord rejects its shards", async () => {
    discord.gateway.closeWith = 4_011;
    const before = discord.gateway.identifies;
    const bot = startBotProcess(botEnvironment(discord, explorer, { DISCORD_SHARDS: "0/1" }));
    const said = () => /"reason":"DISCORD_SHARDS does not fit[^}]*"retryInMs":600000/.test(bot.output());
    await expect.poll(said).toBe(true);
    expect(discord.gateway.identifies).toBe(before + 1);
    discord.gateway.closeWith = undefined;
    expect(await bot.stop("SIGTERM")).toBe(0);
  });

  it("prefers the environment to .env, registers commands, logs that it is ready, and exits with 0 on SIGTERM", async () => {
    const env = botEnvironment(discord, explorer);
    writeFileSync(
      join(env.DATA_DIR, ".env"),
      `EXPLORER_API_KEY=${env.EXPLORER_API_KEY}\nDISCORD_TOKEN=wrong\n`,
    );
    const bot = startBotProcess({ ...env, EXPLORER_API_KEY: "" });
    await bot.ready();
    expect(bot.output()).toContain("https://discord.com/oauth2/authorize?client_id=");
    expect(discord.world.commands.get("")?.length).toBeGreaterThan(3);
    const place = { user: discord.people.ana, channel: discord.channels.general };
    expect(JSON.stringify(await discord.driver.ask(place, "/price"))).toContain("USD");
    expect(await bot.stop("SIGTERM")).toBe(0);
    expect(bot.output()).not.toContain(discord.token);
    expect(bot.output()).not.toContain(explorer.key);
  });

  it("exits with 1 if another process uses the data folder, and leaves the whole state in one file if it is stopped before it was ready", async () => {
    const env = botEnvironment(discord, explorer);
    const first = startBotProcess(env);
    await first.ready();
    const second = startBotProcess(env);
    expect(await second.exited).toBe(1);
    expect(second.output()).toMatch(/in use by another process/);
    await first.stop("SIGKILL");
    const unmerged = () => statSync(join(env.DATA_DIR, "crier.db-wal")).size;
    expect(unmerged()).toBeGreaterThan(0);
    const third = startBotProcess({ ...env, DISCORD_API_URL: "http://127.0.0.1:9/api" });
    await expect.poll(third.output).toContain("Discord cannot be reached; retrying");
    expect(await third.stop("SIGTERM")).toBe(0);
    expect(unmerged()).toBe(0);
  });

  it("stops as usual while Discord does not answer the registration of the commands", async () => {
    const env = botEnvironment(discord, explorer);
    const hanging = { method: "GET", path: /^\/applications\/.*commands$/, delayMs: 30_000, times: 1 };
    discord.trap(hanging);
    const bot = startBotProcess(env);
    await expect.poll(() => hanging.times).toBe(0);
    expect(await bot.stop("SIGTERM")).toBe(0);
    expect(bot.output()).toContain("Stopped");
    expect(bot.output()).not.toContain('"Ready"');
    expect(statSync(join(env.DATA_DIR, "crier.db-wal")).size).toBe(0);
  });

  it("answers people who wait for a screen or a subscription before it ends, although the explorer does not answer", async () => {
    explorer.injectFault({ kind: "silence" }, { path: /contracts|get-price/ });
    const bot = startBotProcess(botEnvironment(discord, explorer));
    await bot.ready();
    const place = { user: discord.people.owner, channel: discord.channels.general };
    const interactions = [
      discord.driver.type(place, "/contract list"),
      discord.driver.type(place, "/subscribe price", { when: "above", value: "0.9" }),
    ];
    await expect.poll(() => interactions.every(({ thinking }) => thinking)).toBe(true);
    expect(await bot.stop("SIGTERM")).toBe(0);
    explorer.clearFaults();
    for (const { thinking, messages } of interactions) {
      expect(thinking).toBe(false);
      expect(messages.map(({ content }) => content)).toEqual([
        "I'm being restarted, and can't finish this. Please try again in a minute.",
      ]);
    }
  });

  it("stops as usual while its shards connect", async () => {
    const env = botEnvironment(discord, explorer, {
      DISCORD_SHARDS: "0-39/40",
      GOVERNANCE_POLL_SECONDS: "60",
    });
    const { identifyMs } = discord.gateway;
    discord.gateway.identifyMs = 2_000;
    const bot = startBotProcess(env);
    await expect.poll(bot.output).toContain("A shard is connected");
    expect(await bot.stop("SIGTERM")).toBe(0);
    discord.gateway.identifyMs = identifyMs;
    expect(statSync(join(env.DATA_DIR, "crier.db-wal")).size).toBe(0);
  });

  it("registers commands only if they changed, and removes those of the other scope", async () => {
    const registered = () =>
      discord.requests.filter(({ method }) => method === "PUT").map(({ path }) => path);
    const run = async (more: Record<string, string>) => {
      const before = registered().length;
      const bot = startBotProcess(botEnvironment(discord, explorer, more));
      await bot.ready();
      expect(await bot.stop("SIGINT")).toBe(0);
      return registered().slice(before);
    };
    expect(await run({})).toEqual([]);
    const guild = { DISCORD_GUILD_ID: discord.guild.id };
    expect(await run(guild)).toHaveLength(2);
    expect(discord.world.commands.get("")).toEqual([]);
    expect(discord.world.commands.get(discord.guild.id)?.length).toBeGreaterThan(3);
    expect(await run(guild)).toEqual([]);
    expect(await run({})).toHaveLength(2);
    expect(discord.world.commands.get(discord.guild.id)).toEqual([]);
  });
});
