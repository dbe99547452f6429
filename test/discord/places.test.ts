import { REST } from "discord.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import { mayPost } from "../../src/discord/places.js";

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
