import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { botEnvironment, newDataDir, startBotProcess } from "../../sandbox/bot-process.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import type { Channel, Guild, Message, User } from "../../sandbox/discord/world.js";
import { startSandboxExplorer } from "../../sandbox/explorer/server.js";
import {
  pendingDeliveries,
  type Subscription,
  subscriptionDocuments,
} from "../../src/delivery/collections.js";
import { toldBy } from "../../src/delivery/feed.js";
import { definition as governance } from "../../src/feeds/governance/definition.js";
import { formatBefore, remindersOf } from "../../src/feeds/governance/topics.js";
import { chosenAfter } from "../../src/feeds/validator/topics.js";
import { priceSamples } from "../../src/ledger/price-history.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { longIds } from "../../src/storage/id-keys.js";
import { createState, STATE_VERSION, stateVersion, unreadableDocuments } from "../../src/storage/state.js";
import { importState } from "../../src/storage/transfer.js";
import { HOUR, MINUTE } from "../../src/util/units.js";
import { allCollections } from "../collections.js";
import { quiet, SMALL, textOf } from "../harness.js";

const TOOL = fileURLToPath(new URL("../../dist/src/state-tool.js", import.meta.url));
const file = (name: string) => fileURLToPath(new URL(`../states/${name}`, import.meta.url));

interface SavedRow {
  title: string;
  status: string;
}

/** Contents of the sandbox when the state was exported (see test/states/README.md) */
interface SavedWorld {
  readonly at: number;
  readonly environmentChannel: string;
  readonly longParty: string;
  readonly answers: Readonly<Record<string, { content?: SavedRow[] }>>;
  readonly discord: {
    readonly bot: string;
    readonly users: User[];
    readonly guild: Omit<Guild, "members"> & { readonly members: [string, string[]][] };
    readonly channels: Channel[];
    readonly messages: Readonly<Record<string, (Omit<Message, "author"> & { author: string })[]>>;
  };
}

const saved = (): SavedWorld => JSON.parse(readFileSync(file("0.1.0.world.json"), "utf8"));

/** Replaces the contents of a new sandbox with the saved ones. */
function restore({ world }: SandboxDiscord, { discord }: SavedWorld): void {
  for (const all of [world.users, world.guilds, world.channels, world.messages]) all.clear();
  world.bot.id = discord.bot;
  for (const user of discord.users) world.users.set(user.id, user.id === discord.bot ? world.bot : user);
  world.guilds.set(discord.guild.id, { ...discord.guild, members: new Map(discord.guild.members) });
  for (const channel of discord.channels) world.channels.set(channel.id, channel);
  for (const [id, messages] of Object.entries(discord.messages)) {
    const own = messages.map(({ author, ...message }) => ({
      ...message,
      author: world.users.get(author) ?? world.bot,
    }));
    world.messages.set(id, own);
  }
}

/** Serves the saved answers by path and query. */
async function serve(answers: SavedWorld["answers"]) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    paths.push(path);
    // The price was not saved. Always answer it, because a 404 would mean that the address is wrong.
    const answer = path === "/v1/market/get-price" ? { price: "0.15" } : answers[path];
    response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, paths, close: () => server.closeAllConnections() ?? server.close() };
}

it("a state of version 0.1.0 opens without lost or repeated announcements, and pending work is completed", async () => {
  const then = saved();
  // Deliveries that failed just before are retried within two minutes.
  const offset = then.at + 2 * MINUTE - Date.now();
  const discord = await startSandboxDiscord({ now: () => Date.now() + offset });
  restore(discord, then);
  const { world } = discord;
  const explorer = await serve(then.answers);
  const dataDir = newDataDir();
  const imported = spawnSync(process.execPath, [TOOL, "import", file("0.1.0.json")], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
  });
  expect(imported.status).toBe(0);
  const bot = startBotProcess(
    {
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.url,
      EXPLORER_API_URL: explorer.url,
      EXPLORER_API_KEY: "key",
      DATA_DIR: dataDir,
      GOVERNANCE_CHANNEL_ID: then.environmentChannel,
      GOVERNANCE_POLL_SECONDS: "1",
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
    },
    offset,
  );
  await bot.ready();

  const named = (name: string) => [...world.channels.values()].find((each) => each.name === name);
  const messagesIn = (name: string) => world.messages.get(named(name)?.id ?? "") ?? [];
  const counts = () =>
    Object.fromEntries(
      [...world.channels.values()].map(({ id }) => [id, world.messages.get(id)?.length ?? 0]),
    );
  const before = Object.fromEntries(
    then.discord.channels.map(({ id }) => [id, then.discord.messages[id]?.length ?? 0]),
  );
  const reads = () => explorer.paths.filter((path) => path.includes("vote-requests?")).length;
  const settled = async () => {
    const least = reads() + 3;
    await world.until(() => reads() >= least, "three polls");
  };

  // The pending delivery is sent and the pending thread is opened. Everything else is unchanged.
  await world.until(
    () => messagesIn("slow").length === (before[named("slow")?.id ?? ""] ?? 0) + 1,
    "the delivery",
  );
  await world.until(() => messagesIn("threaded").at(-1)?.thread, "the thread");
  await settled();
  const slow = named("slow")?.id ?? "";
  const thread = messagesIn("threaded").at(-1)?.id ?? "";
  expect(counts()).toEqual({ ...before, [slow]: (before[slow] ?? 0) + 1, [thread]: 0 });
  expect(textOf(messagesIn("slow").at(-1) ?? { content: "", embeds: [] })).toContain("Last of all");

  // All subscriptions are kept, and new messages reply to earlier announcements.
  const row = then.answers["/v1/governance/vote-requests?page=0&size=100"]?.content?.find(
    ({ title }) => title === "Feature me",
  );
  if (row) row.status = "Accepted";
  const told = ["governance", "plain", "news", "deleted-announcement", "slow"];
  const isAbout = (each: Message) => textOf(each).includes("Feature me");
  // The announcement also shows the outcome once it is edited.
  const isOutcome = (each: Message) => isAbout(each) && each.notified?.startsWith("✅ Accepted: ") === true;
  for (const name of told) {
    const closed = await world.until(() => messagesIn(name).find(isOutcome), `the outcome in #${name}`);
    const announced = messagesIn(name).find((each) => isAbout(each) && !isOutcome(each));
    if (announced) expect(closed.message_reference).toMatchObject({ message_id: announced.id });
  }
  await settled();
  for (const name of told) expect(messagesIn(name).filter(isOutcome)).toHaveLength(1);
  expect(messagesIn("paused").some(isOutcome)).toBe(false);
  await bot.stop();
  expect(bot.output()).not.toMatch(/cannot be read|"level":"error"/);

  const state = createState(openFileStore(dataDir), { log: quiet });
  const exported = JSON.parse(readFileSync(file("0.1.0.json"), "utf8")).collections;
  for (const name of ["subscriptions", "requests", "tokens", "ids"]) {
    const collection = allCollections.find((each) => each.name === name);
    const now = collection ? [...(await state.open<unknown>(collection).list()).keys()] : [];
    expect(now, name).toEqual(expect.arrayContaining(Object.keys(exported[name])));
  }
  expect((await state.open(priceSamples).get("samples"))?.slice(0, 5)).toEqual(exported.prices.samples);
  expect([...(await state.open(longIds).list()).values()].map(({ id }) => id)).toContain(then.longParty);
  expect(
    [...(await state.open(pendingDeliveries).list()).values()].map(({ channelId }) => channelId),
  ).toEqual([named("paused")?.id, named("paused")?.id]);
  expect((await state.open(unreadableDocuments).list()).size).toBe(0);
  expect(await state.open(stateVersion).get("state")).toEqual({ version: STATE_VERSION });
  await state.close();
  explorer.close();
  await discord.close();
});

it.each(["0.2.0", "0.3.0"])(
  "a bot starts on a state of version %s, polls, and reports no error",
  async (version) => {
    const discord = await startSandboxDiscord();
    const explorer = await startSandboxExplorer({ size: SMALL, lively: false });
    const { collections } = JSON.parse(readFileSync(file(`${version}.json`), "utf8"));
    const { world, guild } = discord;
    for (const { channelId, userId } of Object.values<Subscription>(collections.subscriptions)) {
      const recipients = userId === null ? [] : [world.addUser(`Watcher ${userId}`)];
      const place = userId === null ? { type: 0, guild_id: guild.id } : { type: 1, recipients };
      world.channels.set(channelId, { ...world.addChannel({ ...place, name: "kept" }), id: channelId });
    }
    const dataDir = newDataDir();
    const imported = spawnSync(process.execPath, [TOOL, "import", file(`${version}.json`)], {
      env: { PATH: process.env.PATH, DATA_DIR: dataDir },
    });
    expect(imported.status).toBe(0);
    const bot = startBotProcess(
      botEnvironment(discord, explorer, {
        DATA_DIR: dataDir,
        GOVERNANCE_POLL_SECONDS: "1",
        WATCH_POLL_SECONDS: "1",
        EXPLORER_REQUESTS_PER_MINUTE: "6000",
      }),
    );
    await bot.ready();
    for (const path of ["/vote-requests", "/validators"]) {
      const polls = () => explorer.requests.filter((request) => request.path.endsWith(path)).length;
      await world.until(() => polls() >= 4, `polls of ${path}`);
    }
    await discord.driver.ask({ user: discord.people.ana, channel: discord.channels.general }, "/network");
    await bot.stop();
    const errors = bot
      .output()
      .split("\n")
      .filter((line) => line.includes('"level":"error"'));
    expect(errors).toEqual([]);
    await Promise.all([discord.close(), explorer.close()]);
  },
);

it.each(["0.1.0", "0.2.0", "0.3.0"])(
  "every document of a state of version %s matches its schema",
  async (version) => {
    const store = openFileStore(newDataDir());
    const saved = JSON.parse(readFileSync(file(`${version}.json`), "utf8"));
    const count = await importState(store, saved, false);
    const problems: object[] = [];
    const state = createState(store, { log: { error: (details) => void problems.push(details) } });
    let read = 0;
    for (const each of allCollections) for await (const _ of state.open<unknown>(each).entries()) read += 1;
    expect(problems).toEqual([]);
    expect(read).toBe(count);
    await state.close();
  },
);

it("a document with a time that no Date can hold is set aside, whatever its collection", async () => {
  const { collections } = JSON.parse(readFileSync(file("0.3.0.json"), "utf8"));
  /** Replaces each time, and returns whether there was one. */
  const postpone = (holder: Record<string, unknown>): boolean =>
    Object.entries(holder).reduce((found, [key, value]) => {
      if (typeof value === "number" && value > 1e12) {
        holder[key] = 1e300;
        return true;
      }
      const inner = typeof value === "object" && value !== null ? { ...value } : undefined;
      if (!inner || !postpone(inner)) return found;
      holder[key] = Array.isArray(value) ? Object.values(inner) : inner;
      return true;
    }, false);
  const spoilt = new Set<string>();
  for (const [name, documents] of Object.entries<Record<string, unknown>>(collections))
    for (const id of Object.keys(documents).slice(0, 5))
      if (postpone({ [id]: documents[id] }) && !["unreadable", "lease"].includes(name)) {
        const holder = { document: documents[id] };
        postpone(holder);
        documents[id] = holder.document;
        spoilt.add(`${name}/${id}`);
      }
  const store = openFileStore(newDataDir());
  await importState(store, { crier: 1, collections }, false);
  const state = createState(store, { log: quiet });
  for (const each of allCollections) await state.open<unknown>(each).list();
  const aside = await state.open(unreadableDocuments).list();
  expect(spoilt.size).toBeGreaterThan(40);
  expect([...spoilt].filter((name) => !aside.has(name))).toEqual([]);
  await state.close();
});

it("options that were not chosen in version 0.2.0 get the new defaults, and choices are kept", async () => {
  const store = openFileStore(newDataDir());
  await importState(store, JSON.parse(readFileSync(file("0.2.0.json"), "utf8")), false);
  const state = createState(store, { log: quiet });
  const all = [...(await state.open(subscriptionDocuments).list()).values()];
  const valuesOf = <Value>(feed: string, value: (each: (typeof all)[number]) => Value) =>
    all.filter((each) => each.feed === feed).map(value);
  // Three were set up without `after:`, and one with three hours.
  expect(valuesOf("validator", chosenAfter).sort()).toEqual([3 * HOUR, undefined, undefined, undefined]);
  const reminders = valuesOf("governance", (each) => formatBefore(remindersOf(each)));
  expect(reminders.sort()).toEqual(["12h", "48h 24h 6h", "48h 24h 6h"]);
  // A watch of a super validator's votes never had more topics than its reminders.
  const voterWatches = all.filter(({ subject }) => subject?.startsWith("sv/"));
  expect(voterWatches.map((each) => toldBy(each, governance))).toEqual([
    ["reminders (48 h, 24 h and 6 h before each deadline)"],
  ]);
  await state.close();
});
