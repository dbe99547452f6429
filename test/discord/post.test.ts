import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { REST } from "discord.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DiscordError } from "../../sandbox/discord/errors.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import { editAnnounced } from "../../src/delivery/edits.js";
import { createRenderer } from "../../src/discord/message.js";
import {
  crosspost,
  editMessage,
  openThread,
  postMessage,
  postToForum,
  setArchived,
} from "../../src/discord/post.js";
import { md } from "../../src/text/markdown.js";
import { newLinks } from "../harness.js";

let discord: SandboxDiscord;
beforeAll(async () => {
  discord = await startSandboxDiscord();
});
afterAll(() => discord.close());

it("archives a thread that is archived already, as after a lost answer, and no thread that was deleted", async () => {
  const rest = new REST({ api: discord.url, retries: 0 }).setToken(discord.token);
  const { world, channels } = discord;
  const payload = createRenderer(newLinks()).message({ title: md`News`, tone: "neutral", readings: [] });
  const post = { payload, nonce: "1" };
  const threadId = await postMessage(rest, channels.general.id, post, new AbortController().signal);
  await openThread(rest, channels.general.id, threadId, "News");
  await setArchived(rest, threadId, true);
  await setArchived(rest, threadId, true);
  expect(world.channel(threadId).thread_metadata?.archived).toBe(true);
  expect(world.refusals.map(({ body }) => body)).toEqual([expect.objectContaining({ code: 50_083 })]);
  await setArchived(rest, threadId, false);
  expect(world.channel(threadId).thread_metadata?.archived).toBe(false);
  world.channels.delete(threadId);
  await expect(setArchived(rest, threadId, true)).rejects.toThrow("Unknown Channel");
});

it("closes a post again that it opened for an edit, although the edit fails", async () => {
  const rest = new REST({ api: discord.url, retries: 0 }).setToken(discord.token);
  const { world, guild } = discord;
  const forum = world.addChannel({ type: 15, guild_id: guild.id, name: "forum" });
  const payload = createRenderer(newLinks()).message({ title: md`News`, tone: "neutral", readings: [] });
  const { signal } = new AbortController();
  const id = await postToForum(rest, forum.id, "News", { payload, nonce: "1" }, null, signal);
  await setArchived(rest, id, true);
  const patch = { method: "PATCH", path: new RegExp(`^/channels/${id}/messages/`), times: 1 };
  discord.trap({ ...patch, error: new DiscordError(400, 50_083, "Thread is archived") });
  discord.trap({ ...patch, error: new DiscordError(503, 0, "Error") });
  const announced = { feed: "", subject: "", channelId: forum.id, messageId: id, in: id, at: 0, pings: "" };
  await expect(editAnnounced(rest, { ...announced, news: false }, payload)).rejects.toThrow();
  expect(world.channel(id).thread_metadata?.archived).toBe(true);
});

it("does not take a proxy's page for an edited message, a thread or a crosspost", async () => {
  const proxy = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<p>Hello</p>"),
  );
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const rest = new REST({ api: `http://127.0.0.1:${port}`, retries: 0 }).setToken(discord.token);
  const payload = createRenderer(newLinks()).message({ title: md`News`, tone: "neutral", readings: [] });
  for (const work of [
    editMessage(rest, "1", "2", payload),
    openThread(rest, "1", "2", "News"),
    crosspost(rest, "1", "2"),
  ])
    await expect(work).rejects.toThrow("Discord's answer is a page");
  proxy.close();
});

it("cuts a picture's alternative text to what Discord takes", async () => {
  const rest = new REST({ api: discord.url, retries: 0 }).setToken(discord.token);
  const { world, channels } = discord;
  const picture = { name: "chart.png", content: Buffer.from("png"), description: "words ".repeat(1_000) };
  const payload = createRenderer(newLinks()).message({
    title: md`Chart`,
    tone: "neutral",
    readings: [],
    picture,
  });
  const post = { payload, nonce: "3" };
  const id = await postMessage(rest, channels.general.id, post, new AbortController().signal);
  expect(world.read(channels.general).map((message) => message.id)).toContain(id);
  expect(payload.files[0]?.description).toHaveLength(1_024);
});

it("pings as many as fit into a message's text, roles first", async () => {
  const rest = new REST({ api: discord.url, retries: 0 }).setToken(discord.token);
  const { world, guild, channels } = discord;
  const payload = createRenderer(newLinks()).message({
    title: md`News`,
    notification: md`${"n".repeat(300)}`,
    tone: "neutral",
    readings: [],
  });
  const roleIds = Array.from(
    { length: 25 },
    (_, at) => world.addRole(guild, `Role ${at}`, 0n, { mentionable: true }).id,
  );
  const userIds = Array.from({ length: 80 }, (_, at) => world.addUser(`Member ${at}`).id);
  await postMessage(
    rest,
    channels.general.id,
    { payload, nonce: "2", roleIds, userIds },
    new AbortController().signal,
  );
  const message = world.read(channels.general).at(-1);
  expect(message?.content.length).toBeLessThanOrEqual(2_000);
  expect(message?.content).toContain(`<@&${roleIds.at(-1)}>`);
  expect(message?.pings.length).toBeGreaterThan(50);
});
