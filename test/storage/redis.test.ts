import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { type RedisProcess, startRedis } from "../../sandbox/redis-process.js";
import { createBudget } from "../../src/explorer/budget.js";
import { createHttp } from "../../src/explorer/http.js";
import { createQueue } from "../../src/explorer/queue.js";
import { createExplorerService, type ExplorerService } from "../../src/explorer/service.js";
import { createSharedBudget } from "../../src/explorer/shared-budget.js";
import { createUpstream } from "../../src/explorer/upstream.js";
import { createPriceHistory, priceSamples } from "../../src/ledger/price-history.js";
import { createCache } from "../../src/storage/cache.js";
import { connectRedis, type Redis } from "../../src/storage/redis.js";
import { createRedisStore } from "../../src/storage/redis-store.js";
import { createState } from "../../src/storage/state.js";
import { quiet, SMALL } from "../harness.js";
import { describeWithRedis } from "../needs.js";

/** Retries the test, because the bot may skip Redis once on a busy machine. */
const BUSY = { retry: 2 };

describeWithRedis("Redis behind the cache", () => {
  let server: RedisProcess;
  let explorer: SandboxExplorer;
  const connections: Redis[] = [];
  let warnings: string[] = [];
  const log = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message) };

  beforeAll(async () => {
    explorer = await startSandboxExplorer({ size: SMALL, lively: false });
  });
  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    server.thaw();
    await Promise.all(connections.splice(0).map((each) => each.close()));
    await server.close();
    warnings = [];
  });
  afterAll(() => explorer.close());

  const newUpstream = () =>
    createUpstream({
      get: createHttp({ apiUrl: `${explorer.url}/v1`, apiKey: explorer.key }),
      queue: createQueue({ budget: createBudget(60_000), concurrency: 4 }),
      onDown: () => {},
      onRefused: () => {},
      onBack: () => {},
    });
  /** Creates a bot's service with its own memory cache, and Redis behind it. */
  const startBot = async (
    url = server.url,
    wait = true,
  ): Promise<{ service: ExplorerService; redis: Redis }> => {
    const redis = connectRedis(url, log);
    connections.push(redis);
    if (wait) await expect.poll(() => redis.usable()).toBe(true);
    const cache = createCache({ memoryMb: 8, redis, log });
    return { redis, service: createExplorerService({ upstream: newUpstream(), cache }) };
  };
  /** Creates a service without Redis, to measure how long an answer takes on this machine. */
  const startWithout = () => ({
    service: createExplorerService({ upstream: newUpstream(), cache: createCache({ memoryMb: 8, log }) }),
  });
  const ask = async ({ service }: { service: ExplorerService }, page: number) => {
    const started = performance.now();
    await service.for({ person: `p${page}` }).events({ page, size: 1 });
    return performance.now() - started;
  };
  /** Returns by how much Redis delays each of these answers at least, in ms. A busy machine delays some by more; its deadline is 45 ms. */
  const delayOf = async (bot: { service: ExplorerService }, pages: readonly number[]) => {
    const delays: number[] = [];
    for (const page of pages) {
      const [withRedis, without] = await Promise.all([ask(bot, page), ask(startWithout(), page)]);
      delays.push(withRedis - without);
    }
    return Math.min(...delays);
  };
  const client = async () => {
    const first = connections.find((each) => each.client.isReady);
    if (!first) throw new Error("No connection");
    return first.client;
  };

  it("is shared by two bots, under the prefix, with an expiry on every entry", async () => {
    const [one, two] = [await startBot(), await startBot()];
    const before = explorer.requests.length;
    const first = await one.service.for({ person: "a" }).validators({ page: 0, size: 100 });
    await expect.poll(async () => (await (await client()).keys("*")).length).toBeGreaterThan(0);
    const second = await two.service.for({ person: "b" }).validators({ page: 0, size: 100 });
    expect(explorer.requests.length - before).toBe(1);
    expect(second.data).toEqual(first.data);
    for (const key of await (await client()).keys("*")) {
      expect(key).toMatch(/^crier:/);
      expect(await (await client()).ttl(key)).toBeGreaterThan(0);
    }
  });

  it("treats an unparsable entry as a cache miss, and logs it", BUSY, async () => {
    const one = await startBot();
    await one.service.for({ person: "a" }).dashboard({});
    const key = (await (await client()).keys("crier:cache*dashboard*"))[0] ?? "";
    for (const broken of ["{not json", '{"value":{"data":"x","fetchedAt":1,"bytes":1}}', '{"value":7}']) {
      await (await client()).set(key, broken);
      const before = explorer.requests.length;
      expect(
        (await (await startBot()).service.for({ person: "a" }).dashboard({})).data.totalSuperValidators,
      ).toBe(13);
      expect(explorer.requests.length - before).toBe(1);
    }
    expect(warnings.filter((message) => message.includes("cannot be parsed"))).toHaveLength(3);
  });

  it("is bypassed while it is frozen, killed or slow, and used again once it is back", BUSY, async () => {
    const bot = await startBot();
    await ask(bot, 0);
    server.freeze();
    // Under load, no caller waits longer than the deadline, and only the first ones wait at all.
    const burst = (one: { service: ExplorerService }) =>
      Promise.all(Array.from({ length: 50 }, (_, at) => ask(one, at % 40)));
    const [frozen, without] = await Promise.all([burst(bot), burst(startWithout())]);
    expect(Math.max(...frozen) - Math.max(...without)).toBeLessThan(600);
    expect(bot.redis.usable()).toBe(false);
    expect(await delayOf(bot, [44, 45, 46])).toBeLessThan(40);
    server.thaw();
    await expect.poll(() => bot.redis.usable()).toBe(true);

    await server.kill();
    expect(await delayOf(bot, [47, 48, 49])).toBeLessThan(40);
    await Promise.all(Array.from({ length: 20 }, (_, at) => ask(bot, at)));
    await server.start();
    await expect.poll(() => bot.redis.usable()).toBe(true);
    await ask(bot, 43);
    await expect.poll(async () => (await bot.redis.client.keys("crier:cache*page=43*")).length).toBe(1);
    expect(warnings.filter((message) => message.includes("not usable"))).toHaveLength(2);
  });

  it("does not say that announcements wait if it is only slow", BUSY, async () => {
    const bot = await startBot();
    await ask(bot, 0);
    warnings.length = 0;
    server.freeze();
    await ask(bot, 42);
    server.thaw();
    await expect.poll(() => bot.redis.usable()).toBe(true);
    expect(warnings).toEqual([
      expect.stringMatching(/^Redis is slow .* announcements and settings are as slow as Redis$/),
    ]);
  });

  it("does not delay anyone who needs stored prices", async () => {
    const { redis } = await startBot();
    const state = createState(createRedisStore(redis.client), { log: quiet });
    await state.commit([state.open(priceSamples).put("samples", [[1, "0.1"]])]);
    let time = 0;
    const prices = createPriceHistory(state, log, () => time);
    server.freeze();
    expect(await prices.samples()).toBeUndefined();
    // Redis answers nothing until it is thawed, so any answer shows that the deadline works.
    server.thaw();
    await expect.poll(() => prices.samples()).toEqual([[1, "0.1"]]);
    time += 61_000;
    server.freeze();
    expect(await prices.samples()).toEqual([[1, "0.1"]]);
    server.thaw();
    await expect.poll(() => redis.usable()).toBe(true);
  });

  it("may be down at the start, and is used once it is up", async () => {
    const later = await startRedis({ started: false });
    const bot = await startBot(later.url, false);
    expect(await ask(bot, 0)).toBeLessThan(200);
    await later.start();
    await expect.poll(() => bot.redis.usable()).toBe(true);
    await later.close();
  });

  it("is read once for a crowd that asks for the same answer", async () => {
    const [one, two] = await Promise.all(
      [1, 2].map(async () => createCache({ memoryMb: 8, redis: (await startBot()).redis, log })),
    );
    const entry = { data: 1, fetchedAt: Date.now(), bytes: 1 };
    for (const key of ["crowd", "last"]) await one?.set(key, entry, 60_000);
    await expect
      .poll(() => two?.get("last", { newerThan: 0, parse: (data) => data }))
      .toMatchObject({ layer: "redis" });
    let parsed = 0;
    const parse = (data: unknown) => {
      parsed += 1;
      return data;
    };
    const hits = await Promise.all(
      Array.from({ length: 100 }, () => two?.get("crowd", { newerThan: 0, parse })),
    );
    expect([new Set(hits.map((hit) => hit?.layer)), parsed]).toEqual([new Set(["redis"]), 1]);
  });

  it("does not grant what it has granted again when it is gone", async () => {
    const { redis } = await startBot();
    // No time passes for the process, so all that it grants is a burst.
    const budget = createSharedBudget(
      redis,
      120,
      createBudget(120, () => 0),
      "crier:test-quota-gone",
    );
    let granted = 0;
    while ((await budget.take("people")) === 0) granted += 1;
    expect(granted).toBeGreaterThan(3);
    await server.close();
    await expect.poll(() => redis.usable()).toBe(false);
    expect(await budget.take("people")).toBeGreaterThan(0);
  });

  it("shares one budget between two bots", async () => {
    const [one, two] = [await startBot(), await startBot()];
    const perMinute = 240;
    const take = async (ms: number, key: string) => {
      const budgets = [one, two].map(({ redis }) =>
        createSharedBudget(redis, perMinute, createBudget(perMinute), key),
      );
      const start = performance.now();
      let taken = 0;
      while (performance.now() < start + ms) {
        for (const each of budgets) if ((await each.take("people")) === 0) taken += 1;
        await delay(5);
      }
      return { taken, seconds: (performance.now() - start) / 1_000 };
    };
    let together = { taken: 0, seconds: 0 };
    // Repeat the round if the bot skipped Redis once on a busy machine.
    for (let round = 0; round === 0 || (warnings.length > 0 && round < 5); round += 1) {
      warnings = [];
      await expect.poll(() => one.redis.usable() && two.redis.usable()).toBe(true);
      together = await take(2_000, `crier:test-quota-${round}`);
    }
    // The burst and the refill of two seconds are granted once, not twice.
    expect(together.taken).toBeLessThanOrEqual(perMinute / 12 + together.seconds * (perMinute / 60) + 2);
    expect(together.taken).toBeGreaterThan(15);
  });
});
