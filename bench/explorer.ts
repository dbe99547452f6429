import { createRandom } from "../sandbox/explorer/random.js";
import { startSandboxExplorer } from "../sandbox/explorer/server.js";
import { redisInstalled, startRedis } from "../sandbox/redis-process.js";
import { createDirectory } from "../src/directory/directory.js";
import { createHttp } from "../src/explorer/http.js";
import { createExplorerService, type Explorer } from "../src/explorer/service.js";
import type { Upstream } from "../src/explorer/upstream.js";
import { createCache } from "../src/storage/cache.js";
import { connectRedis } from "../src/storage/redis.js";

/**
 * Measures the cost of a cache hit compared with JSON.parse of the same page, and the number of upstream
 * requests during a day of use compared with one per command. All numbers are ratios within the same run.
 */

const log = { warn: () => {}, info: () => {} };
const sandbox = await startSandboxExplorer({ lively: false });
const get = createHttp({ apiUrl: `${sandbox.url}/v1`, apiKey: sandbox.key });
const upstream: Upstream = ({ path, query }) => get(path, query, AbortSignal.timeout(10_000));
let now = Date.now();

async function microseconds(rounds: number, work: () => unknown): Promise<number> {
  for (let at = 0; at < rounds / 10; at += 1) await work();
  const started = performance.now();
  for (let at = 0; at < rounds; at += 1) await work();
  return ((performance.now() - started) * 1_000) / rounds;
}

const row = (what: string, value: string) => console.log(`| ${what.padEnd(58)} | ${value.padStart(12)} |`);
console.log(`| ${"what".padEnd(58)} | ${"".padStart(12)} |\n| ${"-".repeat(58)} | ${"-".repeat(11)}: |`);

// A page of a hundred validators.
const page = JSON.stringify(
  (await get("validators", { page: 0, size: 100, orderBy: "DESC" }, AbortSignal.timeout(10_000))).json,
);
const parse = await microseconds(2_000, () => JSON.parse(page));
const memory = createExplorerService({
  upstream,
  cache: createCache({ memoryMb: 64, log }),
  now: () => now,
});
const asAna = memory.for({ person: "ana" });
const hit = () => asAna.validators({ page: 0, size: 100 });
row("hit in memory ÷ JSON.parse of the same page", ((await microseconds(20_000, hit)) / parse).toFixed(3));

// Autocompletion: Discord allows 3 s, and searches share the event loop with everything else.
const directory = createDirectory();
const names = Array.from({ length: 5_100 }, (_, at) => ({
  id: `party-${at}::1220${at.toString(16).padStart(64, "0")}`,
  name: `Party ${at}`,
  active: null,
}));
await directory.replace("party", names, 1);
const keystrokes = ["p", "par", "party 4", "prty 12", "party-5099"];
const search = () => keystrokes.map((text) => directory.search(["party"], text, 25));
row(
  "keystroke among 5,100 names ÷ JSON.parse of the same page",
  ((await microseconds(100, search)) / keystrokes.length / parse).toFixed(1),
);

if (redisInstalled()) {
  const server = await startRedis();
  const redis = connectRedis(server.url, log);
  while (!redis.usable()) await new Promise((resolve) => setTimeout(resolve, 10));
  const keep = createCache({ memoryMb: 64, redis, log });
  await createExplorerService({ upstream, cache: keep, now: () => now })
    .for("background")
    .validators({ page: 0, size: 100 });
  // Without a memory cache, every read comes from Redis.
  const shared = createExplorerService({
    upstream,
    cache: createCache({ memoryMb: 1 / 1024, redis, log }),
    now: () => now,
  });
  const asBen = shared.for({ person: "ben" });
  row(
    "hit in Redis ÷ JSON.parse of the same page",
    ((await microseconds(500, () => asBen.validators({ page: 0, size: 100 }))) / parse).toFixed(2),
  );
  await redis.close();
  await server.close();
} else console.log("redis-server is not installed: its row is left out (apt-get install redis-server)");

/**
 * Picks an index by Zipf's law: the first is twice as likely as the second, and three times as likely as the
 * third.
 */
const random = createRandom(42);
function zipf(count: number): number {
  const total = Math.log(count) + 0.577;
  let left = random.next() * total;
  let at = 1;
  while (at < count && left > 1 / at) {
    left -= 1 / at;
    at += 1;
  }
  return at - 1;
}

/** Mix of commands, most used first. Pages of lists and things within a command follow Zipf's law. */
const { validators, parties } = sandbox.ledger;
const mix: readonly ((explorer: Explorer) => Promise<unknown>)[] = [
  (each) => each.price({}),
  (each) => each.voteRequests({ page: 0, size: 100 }),
  (each) => each.validator({ validatorId: validators[zipf(validators.length)]?.party.id ?? "" }),
  (each) => each.validators({ page: zipf(10), size: 100, status: "ALL" }),
  (each) => each.party({ partyId: parties[zipf(parties.length)]?.id ?? "" }),
  (each) => each.topParties({ page: zipf(10), size: 100 }),
  (each) => each.dashboard({}),
  (each) => each.newValidators({ size: 100 }),
];
const COMMANDS = 20_000;
const DAY = 86_400_000;
const before = sandbox.requests.length;
for (let at = 0; at < COMMANDS; at += 1) {
  now += -Math.log(1 - random.next()) * (DAY / COMMANDS);
  await mix[zipf(mix.length)]?.(memory.for({ person: `person ${zipf(500)}` }));
}
const requests = sandbox.requests.length - before;
row(`requests upstream ÷ commands, ${COMMANDS} in a day (Zipf)`, (requests / COMMANDS).toFixed(3));
console.log(
  `\nMix, most used first: price, vote requests, validator, validators, party, top parties, network, new validators; ${requests} requests.`,
);
await sandbox.close();
