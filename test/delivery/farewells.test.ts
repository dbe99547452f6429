import { REST } from "discord.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { DiscordError } from "../../sandbox/discord/errors.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import { announcedId, farewells } from "../../src/delivery/collections.js";
import { createFarewells } from "../../src/delivery/farewells.js";
import { createRenderer } from "../../src/discord/message.js";
import { createPacer } from "../../src/discord/pacer.js";
import { postMessage } from "../../src/discord/post.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { createState } from "../../src/storage/state.js";
import { md } from "../../src/text/markdown.js";
import { newLinks, quiet } from "../harness.js";

let discord: SandboxDiscord;
beforeAll(async () => {
  discord = await startSandboxDiscord();
});
afterAll(() => discord.close());

it.each([
  ["Discord's limit", new DiscordError(429, 0, "You are being rate limited."), "closed"],
  ["an error of Discord", new DiscordError(500, 0, "Internal Server Error"), "closed"],
  ["lost access to its channel", new DiscordError(403, 50_001, "Missing Access"), "open"],
])("closes the message of a removed subscription after %s", async (_, error, expected) => {
  const store = openFileStore(newDataDir());
  const state = createState(store, { log: quiet });
  const rest = new REST({ api: discord.url, retries: 0, rejectOnRateLimit: () => true }).setToken(
    discord.token,
  );
  const renderer = createRenderer(newLinks());
  const viewOf = (title: string) => renderer.message({ title: md`${title}`, tone: "neutral", readings: [] });
  const { id: channelId } = discord.channels.general;
  const post = { payload: viewOf("open"), nonce: expected };
  const messageId = await postMessage(rest, channelId, post, new AbortController().signal);
  let now = Date.now();
  let isHeld = false;
  const document = { feed: "validator", subject: "alert", channelId, in: channelId, messageId, news: false };
  const id = announcedId("validator", "alert", channelId);
  await state.commit([state.open(farewells).put(id, { ...document, at: now, revision: 1, pings: "" })]);
  const lasting = {
    stateOf: async () => undefined,
    beginningOf: (subject: string) => subject,
    current: async () => viewOf("closed"),
    titleOf: async () => "",
  };
  const run = createFarewells({
    state,
    rest,
    renderer,
    pacer: createPacer(0),
    lease: { epoch: 1, validUntil: () => (isHeld ? Number.POSITIVE_INFINITY : 0) },
    feeds: new Map([["validator", { lasting }]]),
    log: quiet,
    now: () => now,
  });
  const left = async () => [...(await state.open(farewells).list()).keys()].length;
  // Another process may have taken over while this one waited for its turn.
  const edits = () => discord.requests.filter(({ method }) => method === "PATCH").length;
  const before = edits();
  await run();
  expect([await left(), edits()]).toEqual([1, before]);
  isHeld = true;
  discord.trap({ method: "PATCH", path: /messages/, times: 1, error });
  await run();
  expect(await left()).toBe(expected === "closed" ? 1 : 0);
  await run();
  now += 60_000;
  await run();
  expect(await left()).toBe(0);
  const [embed] = discord.world.read(discord.channels.general).at(-1)?.embeds ?? [];
  expect(JSON.stringify(embed)).toContain(expected);
  await store.close();
});
