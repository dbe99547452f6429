import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { newDataDir, startBotProcess } from "../../sandbox/bot-process.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import type { Channel, Guild, Message, User } from "../../sandbox/discord/world.js";
import { collectionNames, STATE_VERSION } from "../../src/storage/catalogue.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { createState } from "../../src/storage/state.js";
import { importState } from "../../src/storage/transfer.js";
import { MINUTE } from "../../src/util/units.js";
import { quiet, textOf } from "../harness.js";

const TOOL = fileURLToPath(new URL("../../dist/src/state-tool.js", import.meta.url));
const file = (name: string) => fileURLToPath(new URL(`../states/${name}`, import.meta.url));

interface SavedRow {
  title: string;
  status: string;
}

/** What the sandbox held when the state was exported: see test/states/README.md. */
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

/** Puts what was saved in place of what a new sandbox has. */
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

/** Serves the answers that were saved, by path and query. */
async function serve(answers: SavedWorld["answers"]) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    paths.push(path);
    // The price was not saved. It always answers something: a 404 would say that the address is wrong.
    const answer = path === "/v1/market/get-price" ? { price: "0.15" } : answers[path];
    response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, paths, close: () => server.closeAllConnections() ?? server.close() };
}

it("a state of version 0.1.0 opens: nothing is announced again, nothing is lost, and what was pending is done", async () => {
  const then = saved();
  // What failed just before is tried again within two minutes.
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

  // The delivery that was in the outbox, and the thread that was still to be opened: done. All else stands as it did.
  await world.until(
    () => messagesIn("slow").length === (before[named("slow")?.id ?? ""] ?? 0) + 1,
    "the delivery",
  );
  await world.until(() => messagesIn("threaded").at(-1)?.thread, "the thread", 20_000);
  await settled();
  const slow = named("slow")?.id ?? "";
  const thread = messagesIn("threaded").at(-1)?.id ?? "";
  expect(counts()).toEqual({ ...before, [slow]: (before[slow] ?? 0) + 1, [thread]: 0 });
  expect(textOf(messagesIn("slow").at(-1) ?? { content: "", embeds: [] })).toContain("Last of all");

  // Everybody who was subscribed still is, and what happens next refers to what was announced before.
  const row = then.answers["/v1/governance/vote-requests?page=0&size=100"]?.content?.find(
    ({ title }) => title === "Feature me",
  );
  if (row) row.status = "Accepted";
  const told = ["governance", "plain", "news", "deleted-announcement", "slow"];
  for (const name of told) {
    const closed = await world.until(
      () => messagesIn(name).find((each) => textOf(each).includes('"Closed: Feature me')),
      `the outcome in #${name}`,
    );
    const announced = messagesIn(name).find((each) => textOf(each).includes('"Vote request: Feature me'));
    if (announced) expect(closed.message_reference).toMatchObject({ message_id: announced.id });
  }
  await settled();
  for (const name of told)
    expect(messagesIn(name).filter((each) => textOf(each).includes("Closed: Feature me"))).toHaveLength(1);
  expect(messagesIn("paused").some((each) => textOf(each).includes("Closed: Feature me"))).toBe(false);
  await bot.stop();
  expect(bot.output()).not.toMatch(/cannot be read|"level":"error"/);

  const state = createState(openFileStore(dataDir), { log: quiet });
  const exported = JSON.parse(readFileSync(file("0.1.0.json"), "utf8")).collections;
  for (const name of ["subscriptions", "voteRequests", "tokens", "ids"] as const) {
    const now = [...(await state[name].list()).keys()];
    const stored = name === "voteRequests" ? "requests" : name;
    expect(now, name).toEqual(expect.arrayContaining(Object.keys(exported[stored])));
  }
  expect((await state.prices.get("samples"))?.slice(0, 5)).toEqual(exported.prices.samples);
  expect([...(await state.ids.list()).values()].map(({ id }) => id)).toContain(then.longParty);
  expect([...(await state.outbox.list()).values()].map(({ channelId }) => channelId)).toEqual([
    named("paused")?.id,
  ]);
  expect((await state.unreadable.list()).size).toBe(0);
  expect(await state.version.get("state")).toEqual({ version: STATE_VERSION });
  await state.close();
  explorer.close();
  await discord.close();
});

it("every document of a state of version 0.1.0 fits its schema", async () => {
  const store = openFileStore(newDataDir());
  const count = await importState(store, JSON.parse(readFileSync(file("0.1.0.json"), "utf8")), false);
  const problems: object[] = [];
  const state = createState(store, { log: { error: (details) => void problems.push(details) } });
  let read = 0;
  for (const name of collectionNames) read += (await state[name].list()).size;
  expect(problems).toEqual([]);
  expect(read).toBe(count);
  await state.close();
});
