import { REST } from "discord.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import { mayPost } from "../../src/discord/places.js";

/** The flag of a forum whose posts need a tag (Discord: REQUIRE_TAG). */
const REQUIRE_TAG = 1 << 4;
const ARCHIVED_AT = "2026-11-29T00:00:00.000Z";

let discord: SandboxDiscord;
let rest: REST;
beforeAll(async () => {
  discord = await startSandboxDiscord();
  rest = new REST({ api: discord.url, retries: 0 }).setToken(discord.token);
});
afterAll(() => discord.close());

const forum = {
  type: 15 as const,
  flags: REQUIRE_TAG,
  available_tags: [{ id: "7", name: "Votes", moderated: false }],
};
const thread = (locked: boolean) => ({
  type: 11 as const,
  parent_id: discord.channels.general.id,
  thread_metadata: { archived: locked, locked, auto_archive_duration: 60, archive_timestamp: ARCHIVED_AT },
});

it.each([
  ["an open thread", () => thread(false), null, true],
  ["a locked thread", () => thread(true), null, false],
  ["a forum with a required tag", () => forum, "7", true],
  ["a forum whose required tag is missing", () => forum, null, false],
  ["a forum whose tag was deleted", () => forum, "8", false],
  ["a forum without required tags", () => ({ ...forum, flags: 0 }), null, true],
] as const)("knows if the bot may post in %s", async (_, make, tagId, expected) => {
  const { world, guild } = discord;
  const { id } = world.addChannel({ ...make(), guild_id: guild.id, name: "place" });
  const place = { guildId: guild.id, channelId: id, tagId };
  expect(await mayPost(rest, world.bot.id, place)).toBe(expected);
});

it("may post in a locked thread if the bot may manage threads", async () => {
  const { world, guild } = discord;
  const { id } = world.addChannel({ ...thread(true), guild_id: guild.id, name: "locked" });
  const role = world.addRole(guild, "Thread managers", PERMISSION.manageThreads);
  guild.members.get(world.bot.id)?.push(role.id);
  expect(await mayPost(rest, world.bot.id, { guildId: guild.id, channelId: id, tagId: null })).toBe(true);
});
