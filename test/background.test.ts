import { REST } from "discord.js";
import { expect, it } from "vitest";
import { startSandboxDiscord } from "../sandbox/discord/server.js";
import { type BackgroundDeps, createBackground } from "../src/background.js";
import { pendingDeliveries, subscriptionDocuments, subscriptionId } from "../src/delivery/collections.js";
import { defaultsOf } from "../src/delivery/feed.js";
import { nameLists, nameListTimes } from "../src/directory/collections.js";
import { createDirectory } from "../src/directory/directory.js";
import { createDirectoryLoader } from "../src/directory/fill.js";
import { createNames } from "../src/directory/names.js";
import { createRenderer } from "../src/discord/message.js";
import { createPacer } from "../src/discord/pacer.js";
import { ExplorerError } from "../src/explorer/errors.js";
import { createExplorerService } from "../src/explorer/service.js";
import { validator } from "../src/feeds/validator/index.js";
import { createCache } from "../src/storage/cache.js";
import { holdForever } from "../src/storage/lease.js";
import { newLinks, newState, quiet } from "./harness.js";

it("loads thousands of stored names before the first message after a start", async () => {
  const discord = await startSandboxDiscord();
  const { channels, world } = discord;
  const channelId = channels.governance.id;
  const entries = Array.from({ length: 3_000 }, (_, at) => ({
    id: `node-${at}::1220${"ab".repeat(32)}`,
    name: `Node ${at}`,
    active: true,
  }));
  const subject = entries.at(-1)?.id ?? "";
  const since = Date.now();
  const state = newState();
  const { definition } = validator;
  await state.commit([
    state.open(nameLists).put("validator", { readAt: since, entries }),
    state.open(nameListTimes).put("validator", { readAt: since }),
    state.open(subscriptionDocuments).put(subscriptionId(channelId, definition.name, subject), {
      ...defaultsOf(definition),
      channelId,
      feed: definition.name,
      subject,
      guildId: discord.guild.id,
      userId: null,
      roleId: null,
      forum: false,
      tagId: null,
      since,
    }),
    state.open(pendingDeliveries).put("left", {
      feed: definition.name,
      event: { kind: "gone", channelId, validator: subject, since },
      channelId,
      subject,
      at: since,
      order: 1,
      attempts: 0,
      notBefore: 0,
    }),
  ]);
  const directory = createDirectory();
  const explorer = createExplorerService({
    upstream: () => Promise.reject(new ExplorerError("failing", "Nothing is there")),
    cache: createCache({ memoryMb: 1, log: quiet }),
  });
  const deps: BackgroundDeps = {
    feeds: [validator],
    state,
    explorer,
    directory,
    loadDirectory: createDirectoryLoader(directory, state, quiet),
    names: createNames({ directory, explorer: explorer.for("background"), state, log: quiet }),
    rest: new REST({ api: discord.url, retries: 0 }).setToken(discord.token),
    pacer: createPacer(),
    discordTime: Date.now,
    environment: () => [],
    renderer: createRenderer(newLinks()),
    charts: { price: async () => undefined, bars: async () => undefined },
    polls: { governance: { pollSeconds: 60 }, watchPollSeconds: 300 },
    self: {
      troubles: () => new Map(),
      unforeseen: () => [],
      explorerVariables: [],
      commandsProblem: () => null,
    },
    log: quiet,
    onDelivered() {},
    onPoll() {},
    onWaiting() {},
  };
  const { stop } = await holdForever(state, createBackground(deps));
  const told = await world.until(() => world.read(channels.governance)[0], "the announcement");
  expect(told.content).toContain("Node 2999");
  await stop();
  await discord.close();
});
