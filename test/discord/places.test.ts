import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { REST } from "discord.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import { mayPost } from "../../src/discord/access.js";
import { guildOf, placesOf, visiblePlace } from "../../src/discord/places.js";

const ARCHIVED_AT = "2026-11-29T00:00:00.000Z";

let discord: SandboxDiscord;
let rest: REST;
beforeAll(async () => {
  discord = await startSandboxDiscord();
  rest = new REST({ api: discord.url, retries: 0 }).setToken(discord.token);
});
afterAll(() => discord.close());

const thread = (locked: boolean) => ({
  type: 11 as const,
  parent_id: discord.channels.general.id,
  thread_metadata: { archived: locked, locked, auto_archive_duration: 60, archive_timestamp: ARCHIVED_AT },
});

it.each([
  ["an open thread", false, false, true],
  ["a locked thread", true, false, false],
  ["a locked thread, if it may manage threads", true, true, true],
])("knows if the bot may post in %s", async (_, isLocked, mayManage, expected) => {
  const { world, guild } = discord;
  const { id } = world.addChannel({ ...thread(isLocked), guild_id: guild.id, name: "place" });
  const role = world.addRole(guild, "Thread managers", PERMISSION.manageThreads);
  if (mayManage) guild.members.get(world.bot.id)?.push(role.id);
  expect(await mayPost(rest, world.bot.id, guild.id, id)).toBe(expected);
});

it("takes no proxy's page for a channel, and asks again", async () => {
  let isBack = false;
  const proxy = createServer((_, response) =>
    response
      .setHeader("content-type", isBack ? "application/json" : "text/html")
      .end(isBack ? JSON.stringify({ id: "1", guild_id: "2" }) : "<p>Hello</p>"),
  );
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const behindProxy = new REST({ api: `http://127.0.0.1:${port}`, retries: 0 }).setToken(discord.token);
  const works = [
    () => guildOf(behindProxy, "1"),
    () => placesOf(behindProxy, "1"),
    () => visiblePlace(behindProxy, "2", "1"),
  ];
  for (const work of works) await expect(work()).rejects.toThrow("Discord's answer is a page");
  isBack = true;
  expect(await guildOf(behindProxy, "1")).toBe("2");
  proxy.close();
});
