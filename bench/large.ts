import { cpSync } from "node:fs";
import { join } from "node:path";
import { type BotProcess, botEnvironment, newDataDir, startBotProcess } from "../sandbox/bot-process.js";
import type { Interaction } from "../sandbox/discord/interactions.js";
import { USUAL } from "../sandbox/discord/permissions.js";
import { type SandboxDiscord, startSandboxDiscord } from "../sandbox/discord/server.js";
import type { Channel } from "../sandbox/discord/world.js";
import type { Validator } from "../sandbox/explorer/model.js";
import { type SandboxExplorer, startSandboxExplorer } from "../sandbox/explorer/server.js";
import { startRedis } from "../sandbox/redis-process.js";
import { subscriptionDocuments, subscriptionId } from "../src/delivery/collections.js";
import { draftOf, type FeedDefinition } from "../src/delivery/feed.js";
import { governance } from "../src/feeds/governance/index.js";
import { newcomers } from "../src/feeds/newcomers/index.js";
import { subjectOf } from "../src/feeds/price/conditions.js";
import { price } from "../src/feeds/price/index.js";
import { validator } from "../src/feeds/validator/index.js";
import { openFileStore } from "../src/storage/file-store.js";
import { createKnownNetworks, prefixOf } from "../src/storage/networks.js";
import { connectRedis } from "../src/storage/redis.js";
import { createRedisStore } from "../src/storage/redis-store.js";
import { createState } from "../src/storage/state.js";
import type { Store } from "../src/storage/store.js";
import { HOUR, MINUTE, SECOND } from "../src/util/units.js";
import { fill } from "./growth.js";
import { memoryOf, percentile, WATCHED, watchBlocks } from "./measure.js";

const NETWORKS = ["main", "test", "dev"] as const;
type Network = (typeof NETWORKS)[number];
const SERVERS = 2_000;
/** Channels by what they subscribe to: 10,000 subscriptions together. */
const CHANNELS = { votes: 500, "test-votes": 500, ops: 3_000, price: 3_000, news: 3_000 } as const;
const WATCHERS = 5_000;
const VALIDATORS = 1_000;
/** Number of validators that go silent together. */
const SILENT = 300;
const REQUESTS = 10;
const SHARDS = 16;
/** Interval between vote requests, and time measured while nothing happens, in ms. */
const REQUEST_EVERY = 20 * SECOND;
const IDLE_MS = 20 * SECOND;
const COMMANDS_PER_SECOND = 20;
/** Maximum time until everything is told after the last request, in ms. */
const MOST_WAITED = 4 * MINUTE;
const MOVE = { when: "moves", value: "5%", over: "24h" } as const;

/** The processes of a bot, each with its part of all shards, and the place of their state. */
interface Setup {
  readonly name: string;
  readonly parts: readonly string[];
  readonly isOnRedis: boolean;
}

const SETUPS: readonly Setup[] = [
  { name: "one process, file", parts: ["auto"], isOnRedis: false },
  { name: "one process, Redis", parts: ["auto"], isOnRedis: true },
  {
    name: "four processes, Redis, one killed",
    parts: ["0-3", "4-7", "8-11", "12-15"].map((part) => `${part}/${SHARDS}`),
    isOnRedis: true,
  },
];

interface Wanted {
  readonly network: Network;
  readonly feed: FeedDefinition;
  readonly channel: Channel;
  readonly subject: string | null;
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Creates the servers, channels and people, and the subscriptions that they want. */
function createCommunity({ world, people }: SandboxDiscord, validators: readonly Validator[]) {
  const servers = Array.from({ length: SERVERS }, (_, at) => {
    // The timestamp in a server's id determines its shard.
    const id = world.snowflake(world.now() - 100_000 + at);
    const guild = world.addGuild(`Server ${at}`, people.owner, USUAL, id);
    for (const user of [world.bot, people.ana]) guild.members.set(user.id, []);
    return guild;
  });
  const channelsOf = (name: keyof typeof CHANNELS) =>
    Array.from({ length: CHANNELS[name] }, (_, at) =>
      world.addChannel({ type: 0, guild_id: servers[at % SERVERS]?.id ?? "", name: `${name}-${at}` }),
    );
  const governed = { main: channelsOf("votes"), test: channelsOf("test-votes") };
  const [ops, priced, news] = [channelsOf("ops"), channelsOf("price"), channelsOf("news")];
  const watchers = Array.from({ length: WATCHERS }, (_, at) => {
    const user = world.addUser(`Watcher ${at}`);
    return world.addChannel({ type: 1, name: user.username, recipients: [user] });
  });
  const followed = [...ops, ...watchers].map((channel, at) => ({
    channel,
    subject: validators[(at * 7) % VALIDATORS]?.party.id ?? "",
  }));
  const silent = new Set(validators.slice(0, SILENT).map(({ party }) => party.id));
  const to = (network: Network, feed: FeedDefinition, channels: readonly Channel[], subject: string | null) =>
    channels.map((channel): Wanted => ({ network, feed, channel, subject }));
  return {
    governed,
    ops,
    /** Channels and people that get one message: about a silent validator, or the price. */
    alerted: [...followed.flatMap(({ channel, subject }) => (silent.has(subject) ? channel : [])), ...priced],
    wanted: [
      ...to("main", governance.definition, governed.main, null),
      ...to("test", governance.definition, governed.test, null),
      ...followed.map((each): Wanted => ({ network: "main", feed: validator.definition, ...each })),
      ...to("main", price.definition, priced, subjectOf(MOVE)),
      ...to("dev", newcomers.definition, news, null),
    ],
  };
}

/** Writes the subscriptions of each network to a state that no bot uses. */
async function subscribe(store: Store, wanted: readonly Wanted[]): Promise<void> {
  const log = { error: console.error };
  const known = createKnownNetworks(createState(store, { log }), store, NETWORKS);
  for (const network of NETWORKS) {
    const state = createState(store, { log, prefix: prefixOf(network, known) });
    const documents = state.open(subscriptionDocuments);
    await fill(
      state,
      wanted.flatMap(({ network: of, feed, channel, subject }) => {
        if (of !== network) return [];
        const userId = channel.recipients?.[0]?.id ?? null;
        const guildId = userId ? null : (channel.guild_id ?? null);
        const chosen = feed === price.definition ? MOVE : {};
        const subscription = { ...draftOf(feed, channel.id), subject, guildId, userId, ...chosen };
        return [documents.put(subscriptionId(channel.id, feed.name, subject), subscription)];
      }),
    );
  }
}

/** Starts three networks, Discord and, if the setup needs one, Redis. */
async function startSurroundings({ isOnRedis }: Setup) {
  let offset = 0;
  const now = () => Date.now() + offset;
  const startExplorer = (seed: number, validators: number) =>
    startSandboxExplorer({
      now,
      seed,
      lively: false,
      key: `key-of-${seed}`,
      size: { validators, parties: validators + 50, voteRequests: 3, superValidators: 13 },
    });
  const explorers = {
    main: await startExplorer(7, VALIDATORS),
    test: await startExplorer(8, 40),
    dev: await startExplorer(9, 40),
  };
  return {
    explorers,
    discord: await startSandboxDiscord({ now }),
    redis: isOnRedis ? await startRedis() : undefined,
    dataDir: newDataDir(),
    offset: () => offset,
    pass(ms: number) {
      offset += ms;
    },
  };
}

type Surroundings = Awaited<ReturnType<typeof startSurroundings>>;

function environmentOf({ explorers, discord, redis, dataDir }: Surroundings, part: string) {
  const addresses = Object.entries(explorers).flatMap(([id, { url, key }]: [string, SandboxExplorer]) => [
    [`EXPLORER_API_URL_${id.toUpperCase()}`, url],
    [`EXPLORER_API_KEY_${id.toUpperCase()}`, key],
  ]);
  return botEnvironment(discord, explorers.main, {
    DATA_DIR: dataDir,
    NETWORKS: NETWORKS.join(","),
    ...(Object.fromEntries(addresses) as Record<string, string>),
    ...(redis ? { REDIS_URL: redis.url } : {}),
    ...(part === "auto" ? {} : { DISCORD_SHARDS: part }),
    SUBSCRIPTIONS_PER_SERVER: "10000",
    GOVERNANCE_POLL_SECONDS: "5",
    WATCH_POLL_SECONDS: "5",
    EXPLORER_REQUESTS_PER_MINUTE: "6000",
    NODE_ENV: "production",
    ...WATCHED,
  });
}

/** Starts the processes of a bot. */
async function startBots(surroundings: Surroundings, { parts }: Setup) {
  const bots: BotProcess[] = [];
  const blocks: (() => number)[] = [];
  const startPart = async (index: number) => {
    const bot = startBotProcess(environmentOf(surroundings, parts[index] ?? "auto"), surroundings.offset());
    bots[index] = bot;
    blocks[index] = watchBlocks(bot);
    await bot.ready(2 * MINUTE);
  };
  for (const index of parts.keys()) await startPart(index);
  return {
    bots,
    longestBlock: () => Math.max(...blocks.map((each) => each())),
    /** Kills the process that does the background work, and starts it again. */
    async killLeader() {
      const leader = bots.findIndex((bot) => bot.output().includes("Took the lease"));
      await bots[leader]?.stop("SIGKILL");
      await startPart(leader);
    },
  };
}

const p99Of = (asked: readonly Interaction[]): number =>
  percentile(
    asked.flatMap(({ sentAt, answeredAt }) => (answeredAt === undefined ? [] : [answeredAt - sentAt])),
    0.99,
  );

async function measure(setup: Setup) {
  const surroundings = await startSurroundings(setup);
  const { explorers, discord, redis, dataDir } = surroundings;
  const { world, driver, people, limits } = discord;
  const { ledger } = explorers.main;
  // A report moves a validator to the front of the ledger's list.
  const validators = [...ledger.validators];
  const report = (silent: number) => {
    for (const each of validators.slice(silent)) ledger.setValidatorActive(each, true);
  };
  report(0);
  const { governed, ops, alerted, wanted } = createCommunity(discord, validators);
  if (redis) {
    const connection = connectRedis(redis.url, { info() {}, warn() {} });
    await connection.connected(10 * SECOND);
    await subscribe(createRedisStore(connection.client), wanted);
    await connection.close();
  } else {
    // libsql keeps a file open until this process exits.
    const filled = newDataDir();
    const store = openFileStore(filled);
    await subscribe(store, wanted);
    await store.close();
    cpSync(join(filled, "crier.db"), join(dataDir, "crier.db"));
  }
  const { bots, longestBlock, killLeader } = await startBots(surroundings, setup);
  await wait(15 * SECOND);
  longestBlock();

  let asked: Interaction[] = [];
  let askedCount = 0;
  const asking = setInterval(() => {
    askedCount += 1;
    const channel = ops[(askedCount * 13) % ops.length];
    if (channel) asked.push(driver.type({ user: people.ana, channel }, "/price"));
  }, SECOND / COMMANDS_PER_SECOND);
  await wait(IDLE_MS);
  const idle = { p99: p99Of(asked), blockMs: longestBlock() };
  asked = [];

  const memories: number[] = [];
  const sampling = setInterval(() => {
    memories.push(Math.max(...bots.map(memoryOf)));
    discord.requests.length = 0;
  }, 5 * SECOND);
  const startedAt = performance.now();
  const requests: { channels: readonly Channel[]; title: string }[] = [];
  for (let count = 0; count < REQUESTS; count += 1) {
    const network = count % 2 === 0 ? "main" : "test";
    const title = `Request number ${count} for all`;
    requests.push({ channels: governed[network], title });
    explorers[network].ledger.openVoteRequest({ title });
    if (count === 2) {
      surroundings.pass(3 * HOUR);
      await Promise.all(bots.map((bot) => bot.setClock(surroundings.offset())));
    }
    if (count >= 2) report(SILENT);
    if (count === 4) ledger.setPrice(ledger.price * 1.12);
    if (count === 5 && bots.length > 1) await killLeader();
    await wait(REQUEST_EVERY);
  }

  // Answers to commands, which are in the same channels, have no text above their embed.
  const count = (channel: Channel, text: string) =>
    world.read(channel).filter(({ content }) => content !== "" && content.includes(text)).length;
  const told = () =>
    requests.every(({ channels, title }) => channels.every((channel) => count(channel, title) > 0)) &&
    alerted.every((channel) => count(channel, "") > 0);
  let isAllTold = told();
  for (let waited = 0; waited < MOST_WAITED && !isAllTold; waited += 5 * SECOND) {
    await wait(5 * SECOND);
    report(SILENT);
    isAllTold = told();
  }
  const tookS = (performance.now() - startedAt) / SECOND;
  clearInterval(asking);
  await wait(5 * SECOND);
  clearInterval(sampling);
  const wrong = [
    ...requests.flatMap(({ channels, title }) => channels.filter((channel) => count(channel, title) !== 1)),
    ...alerted.filter((channel) => count(channel, "") !== 1),
  ];
  for (const channel of wrong.slice(0, 3))
    console.error("Not exactly once:", JSON.stringify(world.read(channel).map(({ content }) => content)));
  const found = {
    idle,
    blockMs: longestBlock(),
    ratio: p99Of(asked) / idle.p99,
    memoryMb: Math.max(...memories),
    growth: Math.max(...memories.slice(-3)) / Math.max(...memories.slice(3, 6)),
    messages: [...world.messages.values()].reduce((sum, each) => sum + each.length, 0),
    time: `${tookS.toFixed(0)}${isAllTold ? "" : ", not all"}`,
    wrong: wrong.length,
    refused: limits.refused,
    unanswered: asked.filter(({ answeredAt }) => answeredAt === undefined).length,
  };
  await Promise.all(bots.map((bot) => bot.stop("SIGKILL")));
  await Promise.all(
    [...Object.values(explorers), discord, ...(redis ? [redis] : [])].map((each) => each.close()),
  );
  return found;
}

/** Measures a busy hour of a large community, in a few minutes. */
export async function large(): Promise<void> {
  console.log(
    "\n| processes, state | longest block idle, ms | in the busy hour, ms | `/price` p99 ÷ idle | memory at most, MB | at the end ÷ at the beginning | messages | told after, s | told not exactly once | refused by Discord | commands without an answer |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
  );
  for (const setup of SETUPS) {
    const each = await measure(setup);
    const cells = [
      setup.name,
      each.idle.blockMs,
      each.blockMs,
      each.ratio.toFixed(2),
      each.memoryMb.toFixed(0),
      each.growth.toFixed(2),
      each.messages,
      each.time,
      each.wrong,
      each.refused,
      each.unanswered,
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}
