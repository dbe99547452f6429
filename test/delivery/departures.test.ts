import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { REST } from "discord.js";
import { expect, it } from "vitest";
import { DiscordError } from "../../sandbox/discord/errors.js";
import { startSandboxDiscord } from "../../sandbox/discord/server.js";
import type { Subscription } from "../../src/delivery/collections.js";
import { createDepartures } from "../../src/delivery/departures.js";
import { draftOf } from "../../src/delivery/feed.js";
import { createJanitor } from "../../src/delivery/janitor.js";
import { createSubscriptions, type Subscriptions } from "../../src/delivery/subscriptions.js";
import { createPacer } from "../../src/discord/pacer.js";
import { validator } from "../../src/feeds/validator/index.js";
import type { State } from "../../src/storage/state.js";
import { DAY } from "../../src/util/units.js";
import { newState, quiet } from "../harness.js";

/** Runs the hourly check with a Discord on this port. */
const checkDepartures = (state: State, subscriptions: Subscriptions, port: number, now: number) =>
  createDepartures({
    state,
    lease: { epoch: 1, validUntil: () => Number.POSITIVE_INFINITY },
    stopping: new AbortController().signal,
    rest: new REST({ api: `http://127.0.0.1:${port}/api`, retries: 0 }).setToken("token"),
    subscriptions,
    janitor: createJanitor(state, subscriptions),
    pacer: createPacer(0),
    log: quiet,
    now: () => now,
  })();

it("removes quiet channels that were deleted, and notes servers that the bot has left", async () => {
  const discord = await startSandboxDiscord();
  const { world, guild } = discord;
  const state = newState();
  const subscriptions = createSubscriptions(state);
  let now = Date.now();
  const context = {
    state,
    lease: { epoch: 1, validUntil: () => Number.POSITIVE_INFINITY },
    stopping: new AbortController().signal,
    rest: new REST({ api: discord.url, retries: 0 }).setToken(discord.token),
    subscriptions,
    janitor: createJanitor(state, subscriptions),
    pacer: createPacer(0),
    log: quiet,
    now: () => now,
  };
  const other = world.addGuild("Left server", discord.people.owner, 0n);
  const again = world.addGuild("Server that invites it again", discord.people.owner, 0n);
  const channel = (name: string, guild_id = guild.id) => world.addChannel({ type: 0, guild_id, name });
  const channels = {
    deleted: channel("deleted"),
    pausedAndDeleted: channel("paused"),
    lively: channel("lively"),
    kept: channel("kept"),
    left: channel("left", other.id),
    returned: channel("returned", again.id),
    direct: channel("direct"),
    refused: channel("refused"),
  };
  const differences: Readonly<Record<string, Partial<Subscription>>> = {
    pausedAndDeleted: { since: now },
    direct: { guildId: null, userId: discord.people.ana.id },
    refused: { guildId: null, userId: discord.people.ben.id },
  };
  for (const [name, { id, guild_id }] of Object.entries(channels)) {
    const draft = { ...draftOf(validator.definition, id), guildId: guild_id ?? null, since: now - 30 * DAY };
    await state.commit(subscriptions.writes({ ...draft, ...differences[name] }));
  }
  await subscriptions.setHealth(channels.pausedAndDeleted.id, { paused: true });
  await subscriptions.setHealth(channels.refused.id, { paused: true, erroredAt: now });
  await subscriptions.setHealth(channels.lively.id, { deliveredAt: now - DAY });
  for (const each of ["deleted", "pausedAndDeleted", "lively", "direct"] as const)
    world.channels.delete(channels[each].id);
  for (const { members } of [other, again]) members.delete(world.bot.id);
  // In an incident, Discord does not know a channel for a moment.
  discord.trap({
    method: "GET",
    path: new RegExp(`${channels.kept.id}$`),
    times: 1,
    error: new DiscordError(404, 10_003, "Unknown Channel"),
  });

  await createDepartures(context)();
  const left = (await subscriptions.all()).map(({ channelId }) => channelId);
  const { lively, direct, refused, kept, left: abandoned, returned } = channels;
  // A delivery to the lively one, or to the person, will show that it is gone.
  expect(new Set(left)).toEqual(
    new Set([lively, direct, refused, kept, abandoned, returned].map(({ id }) => id)),
  );
  expect(await subscriptions.health(abandoned.id)).toMatchObject({
    paused: true,
    goneSince: now,
    error: "the bot was removed from the server",
  });
  expect(await subscriptions.health(kept.id)).toEqual({});
  // A server that invites the bot again a day later gets its news again, once somebody resumes it.
  now += DAY;
  again.members.set(world.bot.id, []);
  await createDepartures(context)();
  const { goneSince, ...back } = await subscriptions.health(returned.id);
  expect(goneSince).toBeUndefined();
  expect(back).toMatchObject({ paused: true, error: expect.stringContaining("has been invited again") });
  again.members.delete(world.bot.id);
  await subscriptions.setHealth(returned.id, { ...back, goneSince: now });
  now -= DAY;
  const isKept = async () => (await subscriptions.all()).some(({ channelId }) => channelId === abandoned.id);
  now += 30 * DAY;
  await createDepartures(context)();
  expect(await isKept()).toBe(true);
  now += 1;
  again.members.set(world.bot.id, []);
  await createDepartures(context)();
  expect(await isKept()).toBe(false);
  // If the bot leaves this one again, 30 days begin again.
  expect((await subscriptions.of([again.id])).map(({ channelId }) => channelId)).toEqual([returned.id]);
  expect(await subscriptions.health(returned.id)).not.toHaveProperty("goneSince");
  const isWatching = async ({ id }: { readonly id: string }) => (await subscriptions.of([id])).length > 0;
  now += 335 * DAY - 1;
  await createDepartures(context)();
  expect(await isWatching(refused)).toBe(true);
  now += 1;
  await createDepartures(context)();
  expect(await Promise.all([refused, direct].map(isWatching))).toEqual([false, true]);
  await state.close();
  await discord.close();
});

it.each([403, 404])("believes no page of a proxy with status %i", async (status) => {
  const proxy = createServer((_, response) => {
    response.writeHead(status, { "content-type": "text/html" }).end("<html>error code: 1020</html>");
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const state = newState();
  const subscriptions = createSubscriptions(state);
  const now = Date.now();
  const channelId = "111111111111111111";
  const draft = { ...draftOf(validator.definition, channelId), guildId: "222222222222222222" };
  await state.commit(subscriptions.writes({ ...draft, since: now - 30 * DAY }));
  await checkDepartures(state, subscriptions, port, now);
  expect(await subscriptions.all()).toHaveLength(1);
  expect(await subscriptions.health(channelId)).toEqual({});
  await state.close();
  proxy.close();
});

it("keeps the watches of a person who resumes them while Discord is asked about servers", async () => {
  const state = newState();
  const subscriptions = createSubscriptions(state);
  const now = Date.now();
  const [serverChannelId, directChannelId] = ["111111111111111111", "333333333333333333"];
  const answering = createServer(async (_, response) => {
    await subscriptions.setHealth(directChannelId, {});
    response.writeHead(404, { "content-type": "application/json" });
    response.end(JSON.stringify({ code: 10_004, message: "Unknown Guild" }));
  });
  await new Promise<void>((resolve) => answering.listen(0, "127.0.0.1", resolve));
  const { port } = answering.address() as AddressInfo;
  const inServer = { ...draftOf(validator.definition, serverChannelId), guildId: "222222222222222222" };
  const inPrivate = { ...draftOf(validator.definition, directChannelId), userId: "444444444444444444" };
  await state.commit(subscriptions.writes({ ...inServer, since: now }));
  await state.commit(subscriptions.writes({ ...inPrivate, since: now }));
  await subscriptions.setHealth(serverChannelId, { paused: true, goneSince: now - 31 * DAY });
  await subscriptions.setHealth(directChannelId, { paused: true, erroredAt: now - 366 * DAY });
  await checkDepartures(state, subscriptions, port, now);
  expect((await subscriptions.all()).map(({ channelId }) => channelId)).toEqual([directChannelId]);
  await state.close();
  answering.close();
});
