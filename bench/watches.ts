import type { User } from "../sandbox/discord/world.js";
import { makeStack } from "../sandbox/stack.js";
import { type Subscription, subscriptionDocuments, subscriptionId } from "../src/delivery/collections.js";
import { defaultsOf } from "../src/delivery/feed.js";
import { validator } from "../src/feeds/validator/index.js";
import { HOUR, MINUTE } from "../src/util/units.js";
import { fill, onState } from "./growth.js";
import { inOpenLoop, memoryOf, percentile, typed, WATCHED, watchBlocks } from "./measure.js";

/** Number of people with private alerts, and of watches per person. */
const CROWDS = [
  [100, 1],
  [1_000, 1],
  [1_000, 5],
  [5_000, 1],
  [5_000, 5],
] as const;
/** Number of subscriptions of channels, on servers with a hundred each. */
const SUBSCRIPTIONS = [1_000, 10_000] as const;
const PER_SERVER = 100;
const VALIDATORS = 300;
/** Number of validators that go silent together. */
const SILENT = 100;

const watchOf = (channelId: string, user: User, subject: string): Subscription => ({
  ...defaultsOf(validator.definition),
  channelId,
  feed: validator.definition.name,
  subject,
  guildId: null,
  userId: user.id,
  forum: false,
  tagId: null,
  since: 0,
});

async function measure(people: number, watchesEach: number) {
  const place = await makeStack({
    explorer: { lively: false, size: { validators: VALIDATORS, parties: VALIDATORS + 50, voteRequests: 3 } },
    env: () => ({
      WATCH_POLL_SECONDS: "1",
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
      NODE_ENV: "production",
      ...WATCHED,
    }),
  });
  const { discord, explorer, dataDir } = place;
  discord.limits.enforced = false;
  await place.start();
  await place.bot().stop();
  // A report moves a validator to the front of the ledger's list.
  const validators = [...explorer.ledger.validators];
  /** Makes all validators except for the first ones report. */
  const report = (silent: number) => {
    for (const each of validators.slice(silent)) explorer.ledger.setValidatorActive(each, true);
  };
  const channels = Array.from({ length: people }, (_, index) => {
    const user = discord.world.addUser(`Watcher ${index}`);
    return { user, channel: discord.world.directChannel(user) };
  });
  await onState(dataDir, (state) =>
    fill(
      state,
      channels.flatMap(({ user, channel }, index) =>
        Array.from({ length: watchesEach }, (_, nth) => {
          const subject = validators[(index * 7 + nth) % SILENT]?.party.id ?? "";
          const id = subscriptionId(channel.id, validator.definition.name, subject);
          return state.open(subscriptionDocuments).put(id, watchOf(channel.id, user, subject));
        }),
      ),
    ),
  );
  report(0);
  await place.start();
  const longestBlock = watchBlocks(place.bot());
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  longestBlock();
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  const idleMs = longestBlock();
  const somebody = () => ({
    user: channels[Math.floor(Math.random() * people)]?.user ?? discord.people.ana,
    channel: discord.channels.general,
  });
  const calm = { discord, bot: place.bot(), somebody };
  const idlePrice = percentile(await inOpenLoop(calm, 20, 5_000, typed(discord, "/price")), 0.99);
  await Promise.all(Array.from({ length: 50 }, () => discord.driver.ask(somebody(), "/watch list")));
  const listMs = longestBlock();
  const memoryBefore = memoryOf(place.bot());
  place.pass(3 * HOUR);
  report(SILENT);
  const told = () => channels.filter(({ channel }) => discord.world.read(channel).length > 0).length;
  const price = typed(discord, "/price");
  const subject = { discord, bot: place.bot(), somebody };
  const answers: number[] = [];
  /** Measures `/price` until a piece of work is done. */
  const beside = async (work: Promise<unknown>) => {
    let isOver = false;
    void work.then(() => {
      isOver = true;
    });
    while (!isOver) answers.push(...(await inOpenLoop(subject, 20, 2_000, price)));
    await work;
  };
  await beside(discord.world.until(() => told() === people, "every alert", 10 * MINUTE));
  const alertMs = longestBlock();
  discord.requests.length = 0;
  place.pass(10 * MINUTE);
  report(0);
  const edits = () => discord.requests.filter(({ method }) => method === "PATCH").length;
  await beside(discord.world.until(() => edits() >= people, "every edit", 10 * MINUTE));
  const editMs = longestBlock();
  const memoryMb = memoryOf(place.bot());
  const validatorId = validators.at(-1)?.party.id ?? "";
  await Promise.all(
    channels.slice(0, 50).map(({ user }) =>
      discord.driver.ask({ user, channel: discord.channels.general }, "/watch validator", {
        validator: validatorId,
      }),
    ),
  );
  const watchMs = longestBlock();
  await Promise.all(
    channels
      .slice(0, 20)
      .map(({ user }) => discord.driver.ask({ user, channel: discord.channels.general }, "/watch forget")),
  );
  const forgetMs = longestBlock();
  await place.close();
  const priceRatio = percentile(answers, 0.99) / idlePrice;
  return {
    blocks: [idleMs, listMs, alertMs, editMs, watchMs, forgetMs],
    priceRatio,
    memory: memoryMb / memoryBefore,
  };
}

/** Measures lists of subscriptions while there are this many. */
async function measureLists(subscriptions: number) {
  const place = await makeStack({
    explorer: { lively: false, size: { validators: 45, parties: 120, voteRequests: 3 } },
    env: () => ({ NODE_ENV: "production", EXPLORER_REQUESTS_PER_MINUTE: "6000", ...WATCHED }),
  });
  const { discord, dataDir } = place;
  const { world, guild, people, channels } = discord;
  discord.limits.enforced = false;
  await place.start();
  await place.bot().stop();
  const parties = place.explorer.ledger.validators.map(({ party }) => party.id);
  const ops = Array.from({ length: PER_SERVER / 5 }, (_, nth) =>
    world.addChannel({ type: 0, guild_id: guild.id, name: `ops-${nth}` }),
  );
  await onState(dataDir, (state) =>
    fill(
      state,
      Array.from({ length: subscriptions }, (_, nth) => {
        const server = Math.floor(nth / PER_SERVER);
        const own = ops[Math.floor((nth % PER_SERVER) / 5)]?.id ?? "";
        const channelId =
          server === 0 ? own : `9${String(server).padStart(8, "0")}${String(nth).padStart(9, "0")}`;
        const subject = parties[nth % 5] ?? "";
        const guildId = server === 0 ? guild.id : `8${String(server).padStart(17, "0")}`;
        const each = { ...watchOf(channelId, people.owner, subject), guildId, userId: null };
        return state.open(subscriptionDocuments).put(subscriptionId(channelId, each.feed, subject), each);
      }),
    ),
  );
  await place.start();
  const longestBlock = watchBlocks(place.bot());
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  const somebody = () => ({ user: people.owner, channel: channels.general });
  const subject = { discord, bot: place.bot(), somebody };
  const idlePrice = percentile(await inOpenLoop(subject, 20, 5_000, typed(discord, "/price")), 0.99);
  /** Returns `/price`'s p99 while fifty people type a command together, divided by its p99 when idle. */
  const priceBeside = async (command: string) => {
    const asked = Promise.all(Array.from({ length: 50 }, () => discord.driver.ask(somebody(), command)));
    const price = percentile(await inOpenLoop(subject, 20, 5_000, typed(discord, "/price")), 0.99);
    await asked;
    return price / idlePrice;
  };
  // Fifty answers that are in memory, whose sending alone takes time.
  const leastRatio = await priceBeside("/price");
  longestBlock();
  const priceRatio = await priceBeside("/subscribe list");
  const listMs = longestBlock();
  await place.close();
  return { listMs, priceRatio, leastRatio };
}

/** Prints the longest turns of the event loop while many private alerts change together. */
export async function watches(): Promise<void> {
  console.log(
    "\n| people | watches each | longest turn of a poll, ms | while fifty open `/watch list`, ms | while all are alerted, ms | while all alerts end, ms | while fifty start a watch, ms | while twenty type `/watch forget`, ms | `/price` p99 during the alerts ÷ idle | memory after ÷ before |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
  );
  for (const [people, watchesEach] of CROWDS) {
    const { blocks, priceRatio, memory } = await measure(people, watchesEach);
    const columns = blocks.map((each) => each.toFixed(0));
    console.log(
      `| ${people} | ${watchesEach} | ${columns.join(" | ")} | ${priceRatio.toFixed(2)} | ${memory.toFixed(2)} |`,
    );
  }
  console.log(
    "\n| subscriptions of channels | longest turn while fifty open `/subscribe list`, ms | `/price` p99 meanwhile ÷ idle | the same while fifty type `/price` |\n| --- | --- | --- | --- |",
  );
  for (const subscriptions of SUBSCRIPTIONS) {
    const { listMs, priceRatio, leastRatio } = await measureLists(subscriptions);
    console.log(
      `| ${subscriptions} | ${listMs.toFixed(0)} | ${priceRatio.toFixed(2)} | ${leastRatio.toFixed(2)} |`,
    );
  }
}
