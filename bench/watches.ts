import { createServer } from "node:net";
import type { User } from "../sandbox/discord/world.js";
import { makeStack } from "../sandbox/stack.js";
import { type Subscription, subscriptionDocuments, subscriptionId } from "../src/delivery/collections.js";
import { defaultsOf } from "../src/delivery/feed.js";
import { validator } from "../src/feeds/validator/index.js";
import { HOUR, MINUTE } from "../src/util/units.js";
import { fill, onState } from "./growth.js";
import { memoryOf } from "./measure.js";

/** Number of people with private alerts, and of watches per person. */
const CROWDS = [
  [100, 1],
  [1_000, 1],
  [1_000, 5],
  [5_000, 1],
] as const;
const VALIDATORS = 300;
/** Number of validators that go silent together. */
const SILENT = 100;

/** Returns a free port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

/** Returns the longest turn of the bot's event loop since the last call, in ms. */
async function longestBlock(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return 1_000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]);
}

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
  const port = await freePort();
  const place = await makeStack({
    explorer: { lively: false, size: { validators: VALIDATORS, parties: VALIDATORS + 50, voteRequests: 3 } },
    env: () => ({
      WATCH_POLL_SECONDS: "1",
      EXPLORER_REQUESTS_PER_MINUTE: "6000",
      HTTP_PORT: String(port),
      NODE_ENV: "production",
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
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  await longestBlock(port);
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  const idleMs = await longestBlock(port);
  const somebody = () => ({
    user: channels[Math.floor(Math.random() * people)]?.user ?? discord.people.ana,
    channel: discord.channels.general,
  });
  await Promise.all(Array.from({ length: 50 }, () => discord.driver.ask(somebody(), "/watch list")));
  const listMs = await longestBlock(port);
  const memoryBefore = memoryOf(place.bot());
  place.pass(3 * HOUR);
  report(SILENT);
  const told = () => channels.filter(({ channel }) => discord.world.read(channel).length > 0).length;
  await discord.world.until(() => told() === people, "every alert", 10 * MINUTE);
  await discord.world.until(() => told() === people, "every alert", 10 * MINUTE);
  const alertMs = await longestBlock(port);
  discord.requests.length = 0;
  place.pass(10 * MINUTE);
  report(0);
  const edits = () => discord.requests.filter(({ method }) => method === "PATCH").length;
  await discord.world.until(() => edits() >= people, "every edit", 10 * MINUTE);
  const editMs = await longestBlock(port);
  const memoryMb = memoryOf(place.bot());
  await place.close();
  return { idleMs, listMs, alertMs, editMs, memory: memoryMb / memoryBefore };
}

/** Prints the longest turns of the event loop while many private alerts change together. */
export async function watches(): Promise<void> {
  console.log(
    "\n| people | watches each | longest turn of a poll, ms | while fifty open `/watch list`, ms | while all are alerted, ms | while all alerts end, ms | memory after ÷ before |\n| --- | --- | --- | --- | --- | --- | --- |",
  );
  for (const [people, watchesEach] of CROWDS) {
    const { idleMs, listMs, alertMs, editMs, memory } = await measure(people, watchesEach);
    const columns = [idleMs, listMs, alertMs, editMs].map((each) => each.toFixed(0));
    console.log(`| ${people} | ${watchesEach} | ${columns.join(" | ")} | ${memory.toFixed(2)} |`);
  }
}
