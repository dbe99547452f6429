import { REST } from "discord.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import type { Channel } from "../../sandbox/discord/world.js";
import { checkChannel } from "../../src/doctor/channel.js";

let discord: SandboxDiscord;
beforeAll(async () => {
  discord = await startSandboxDiscord();
});
afterAll(() => discord.close());

/** Creates a channel that denies or allows permissions for everyone, in addition to the usual ones. */
function newChannel(type: 0 | 5 | 15, { deny = 0n, allow = 0n } = {}): Channel {
  const { world, guild } = discord;
  const channel = world.addChannel({ type, guild_id: guild.id, name: "try-here" });
  const [denied, allowed] = [String(deny), String(allow)];
  channel.permission_overwrites.push({ id: guild.id, type: 0, allow: allowed, deny: denied });
  return channel;
}

/** Checks a channel. Returns the report's lines, and stores their fixes in `fixes`. */
async function check(channelId: string, { stopped = new AbortController().signal, timeout = 15_000 } = {}) {
  const rest = new REST({ api: discord.url, retries: 0, timeout }).setToken(discord.token);
  const lines: string[] = [];
  fixes = [];
  for await (const { what, result, detail, fix } of checkChannel(rest, channelId, stopped)) {
    lines.push(`${result} ${what}: ${detail}`);
    fixes.push(fix ?? "");
  }
  return lines;
}
/** Suggested fix for each line of the latest check */
let fixes: string[] = [];

const left = (channel: Channel) => ({
  messages: discord.world.read(channel).length,
  threads: [...discord.world.channels.values()].filter(({ parent_id }) => parent_id === channel.id),
});

describe("the doctor's channel check", () => {
  it.each([
    ["a text channel", 0],
    ["an announcement channel", 5],
  ] as const)("sends everything to %s, and cleans up", async (_, type) => {
    const channel = newChannel(type, { allow: PERMISSION.manageThreads });
    expect(await check(channel.id)).toEqual([
      `pass Channel ${channel.id}: the bot sees #try-here`,
      "pass Message: embed, buttons, menu, file: as sent, and without a sound",
      "pass Edit: the embed was replaced and the file removed",
      "pass Reply: refers to the message",
      "pass Thread: opened under the message",
    ]);
    expect(left(channel)).toEqual({ messages: 0, threads: [] });
    expect(discord.world.refusals).toEqual([]);
  });

  it("creates a forum post, and deletes it", async () => {
    const channel = newChannel(15, { allow: PERMISSION.manageThreads });
    expect((await check(channel.id)).map((line) => line.split(":")[0])).toEqual([
      `pass Channel ${channel.id}`,
      "pass Message",
      "pass Edit",
      "pass Reply",
    ]);
    expect(left(channel).threads).toEqual([]);
  });

  it("archives the thread if it may not delete it, and says so", async () => {
    const channel = newChannel(0);
    expect((await check(channel.id)).at(-1)).toMatch(/^warn Removal: the thread stays: archived instead/);
    const { messages, threads } = left(channel);
    expect(messages).toBe(0);
    expect(threads).toMatchObject([{ thread_metadata: { archived: true } }]);
  });

  it.each([
    ["Embed Links", PERMISSION.embedLinks],
    ["Attach Files", PERMISSION.attachFiles],
    ["View Channel", PERMISSION.viewChannel],
    ["Send Messages", PERMISSION.sendMessages],
  ])("reports Discord's reason if %s is denied, and asks to grant it", async (name, deny) => {
    const channel = newChannel(0, { deny });
    const lines = await check(channel.id);
    expect(lines.at(-1)).toMatch(/^(fail|warn) .*(Discord answered 403|did not keep)/);
    expect(left(channel).messages).toBe(0);
    expect(fixes.at(-1)).toMatch(new RegExp(`Grant the bot .*${name}|Report it`));
  });

  it("suggests a fix for an id that is not a channel, and for an invalid token", async () => {
    await check("1");
    expect(fixes).toEqual([expect.stringContaining("Give the id of a channel")]);
    const rest = new REST({ api: discord.url, retries: 0 }).setToken("no-token");
    for await (const { fix } of checkChannel(rest, newChannel(0).id, new AbortController().signal))
      expect(fix).toContain("Set DISCORD_TOKEN");
  });

  it("removes its messages if it is stopped halfway", async () => {
    const channel = newChannel(0, { allow: PERMISSION.manageThreads });
    const stopping = new AbortController();
    const checked = check(channel.id, { stopped: stopping.signal });
    await discord.world.until(() => left(channel).messages > 0, "the message");
    stopping.abort();
    expect((await checked).at(-1)).toMatch(/it was stopped$/);
    expect(left(channel)).toEqual({ messages: 0, threads: [] });
  });

  it("removes a message and a thread if the response to their creation was lost", async () => {
    const channel = newChannel(0, { allow: PERMISSION.manageThreads });
    discord.trap({ method: "POST", path: /messages$/, times: 1, error: "lost" });
    expect((await check(channel.id)).at(-1)).toMatch(/^fail Channel/);
    expect(left(channel)).toEqual({ messages: 0, threads: [] });
    discord.trap({ method: "POST", path: /threads$/, times: 1, error: "lost" });
    expect((await check(channel.id)).at(-1)).toMatch(/^warn Thread/);
    expect(left(channel)).toEqual({ messages: 0, threads: [] });
  });

  it("removes the reply if the response to its creation was lost", async () => {
    const channel = newChannel(0);
    discord.trap({ method: "POST", path: /messages$/, times: 1, delayMs: 1 });
    discord.trap({ method: "POST", path: /messages$/, times: 1, error: "lost" });
    const lines = await check(channel.id);
    expect(lines.map((line) => line.split(":")[0])).toEqual([
      `pass Channel ${channel.id}`,
      "pass Message",
      "pass Edit",
      `fail Channel ${channel.id}`,
    ]);
    expect(left(channel)).toEqual({ messages: 0, threads: [] });
  });

  it("removes a forum post if the response to its creation was lost", async () => {
    const channel = newChannel(15, { allow: PERMISSION.manageThreads });
    discord.trap({ method: "POST", path: /threads$/, times: 1, error: "lost" });
    expect((await check(channel.id)).at(-1)).toMatch(/^fail Channel/);
    expect(left(channel)).toEqual({ messages: 0, threads: [] });
  });

  it.each([
    ["a text channel", 0],
    ["a forum", 15],
  ] as const)("removes what Discord sends to %s after the answer is no longer awaited", async (_, type) => {
    const channel = newChannel(type, { allow: PERMISSION.manageThreads });
    discord.trap({ method: "POST", path: /(threads|messages)$/, times: 1, delayMs: 1_500 });
    expect(await check(channel.id, { timeout: 500 })).toEqual([
      `pass Channel ${channel.id}: the bot sees #try-here`,
      `fail Channel ${channel.id}: Discord did not answer in time`,
    ]);
    expect(left(channel)).toEqual({ messages: 0, threads: [] });
  });

  it.each([
    ["an announcement thread", 10],
    ["a public thread", 11],
    ["a private thread", 12],
  ] as const)("opens no thread in %s", async (_, type) => {
    const channel = discord.world.addChannel({
      type,
      guild_id: discord.guild.id,
      name: "a-thread",
      parent_id: newChannel(0).id,
    });
    expect((await check(channel.id)).map((line) => line.split(":")[0])).toEqual([
      `pass Channel ${channel.id}`,
      "pass Message",
      "pass Edit",
      "pass Reply",
    ]);
    expect(left(channel)).toEqual({ messages: 0, threads: [] });
  });

  it("continues if it may not open a thread", async () => {
    const channel = newChannel(0, { deny: PERMISSION.createPublicThreads });
    expect((await check(channel.id)).at(-1)).toMatch(/^warn Thread: Discord answered 403/);
    expect(left(channel).messages).toBe(0);
  });
});
