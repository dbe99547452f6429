import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { openRedisAddress } from "../../sandbox/redis-pair.js";
import { type RedisProcess, startRedis } from "../../sandbox/redis-process.js";
import { nameListTimes } from "../../src/directory/collections.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { compete, isLeaseHeld, LEASE_KEY, type Lease, leased, leases } from "../../src/storage/lease.js";
import { connectRedis, type Redis } from "../../src/storage/redis.js";
import { createRedisStore } from "../../src/storage/redis-store.js";
import { createState, type State } from "../../src/storage/state.js";
import { readAll, StateError, type Store, type Write } from "../../src/storage/store.js";
import { quiet } from "../harness.js";
import { describeWithRedis } from "../needs.js";

const MANY = 50_000;
const writes = Array.from(
  { length: MANY },
  (_, place): Write => ({
    op: "put",
    collection: "outbox",
    id: `delivery-${place}`,
    text: JSON.stringify({ channelId: `${place}`, event: { kind: "vote", voter: "x".repeat(100) } }),
  }),
);

const holdsAll = async (store: Store) => {
  expect(await store.commit(writes)).toBe(true);
  expect((await readAll(store, "outbox")).size).toBe(MANY);
};

describe("the state in a file", () => {
  it("takes fifty thousand writes in one commit", async () => {
    const store = openFileStore(newDataDir());
    await holdsAll(store);
    await store.close();
  });

  it("is complete in one file after a stop, so that a copy of the file is a backup", async () => {
    const [dataDir, restored] = [newDataDir(), newDataDir()];
    const store = openFileStore(dataDir);
    await store.commit([{ op: "put", collection: "things", id: "a", text: "kept" }]);
    await store.close();
    copyFileSync(join(dataDir, "crier.db"), join(restored, "crier.db"));
    const copy = openFileStore(restored);
    expect(await copy.get("things", "a")).toBe("kept");
    await copy.close();
  });

  it.each([
    ["is not a database", () => Buffer.from("x".repeat(8_192))],
    [
      "has damaged pages",
      (whole: Buffer) => {
        whole.fill(0xab, 4_096 * 3, 4_096 * 6);
        return whole;
      },
    ],
  ])("fails to open with a clear message if it %s", async (_, damage) => {
    const dataDir = newDataDir();
    const store = openFileStore(dataDir);
    await store.commit(writes.slice(0, 2_000));
    await store.close();
    const [path, damaged] = [join(dataDir, "crier.db"), newDataDir()];
    writeFileSync(join(damaged, "crier.db"), damage(readFileSync(path)));
    const open = () => openFileStore(damaged);
    expect(open).toThrow(
      expect.objectContaining({
        name: StateError.name,
        message: expect.stringMatching(/crier\.db is damaged \((?!\*).+\): restore it from a backup/),
      }),
    );
  });
});

it("says so if the file was empty, and nothing of a new one", async () => {
  const said: string[] = [];
  const log = { info: () => {}, error: (_: object, message: string) => void said.push(message) };
  await openFileStore(newDataDir(), log).close();
  expect(said).toEqual([]);
  const dataDir = newDataDir();
  writeFileSync(join(dataDir, "crier.db"), "");
  await openFileStore(dataDir, log).close();
  expect(said).toEqual(["The file of the state was empty; the bot begins with an empty state"]);
});

it("a database that is a folder is called one", () => {
  const dataDir = newDataDir();
  mkdirSync(join(dataDir, "crier.db"));
  expect(() => openFileStore(dataDir)).toThrow(/crier\.db can't be used \(EISDIR\)/);
});

describeWithRedis("the state in Redis", () => {
  let server: RedisProcess;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = connectRedis(server.url, quiet);
    while (!redis.client.isReady) await new Promise((resolve) => redis.client.once("ready", resolve));
  });
  afterAll(async () => {
    await redis.close();
    await server.close();
  });

  it("takes fifty thousand writes in one commit", async () => {
    await holdsAll(createRedisStore(redis.client));
  });

  /** Competes for the lease. `working` resolves once the lease is held. */
  const competitor = () => {
    const state = createState(createRedisStore(redis.client), { log: quiet });
    let started: () => void = () => {};
    const working = new Promise<void>((resolve) => {
      started = resolve;
    });
    const work = { start: async () => started(), stop: async () => {} };
    return { working, leadership: compete(redis.client, state, work, quiet) };
  };

  it.each([
    [
      "without an expiry, as left by a person or a dump",
      async () => redis.client.set(LEASE_KEY, "left behind"),
    ],
    ["of a process that ended", async () => redis.client.set(LEASE_KEY, `token ${Date.now() - 1}`)],
    ["of a clock that was ahead", async () => redis.client.set(LEASE_KEY, `token ${Date.now() + 3_600_000}`)],
  ])("lets the background work start despite a leftover lease key %s", async (_, leave) => {
    await leave();
    expect(await isLeaseHeld(redis.client)).toBe(false);
    const { working, leadership } = competitor();
    await working;
    expect(await isLeaseHeld(redis.client)).toBe(true);
    // volatile-lru evicts keys that have an expiry.
    expect(await redis.client.pTTL(LEASE_KEY)).toBe(-1);
    await leadership.stop();
    expect(await redis.client.exists(LEASE_KEY)).toBe(0);
  });

  it("says so if the state is emptied while it holds the lease", async () => {
    const own = await startRedis();
    const { client, connected, close } = connectRedis(own.url, quiet);
    await connected(5_000);
    const said: string[] = [];
    const log = { ...quiet, error: (_: object, message: string) => void said.push(message) };
    const epochs: number[] = [];
    const work = {
      start: async (_: State, { epoch }: Lease) => void epochs.push(epoch),
      stop: async () => {},
    };
    const leadership = compete(client, createState(createRedisStore(client), { log: quiet }), work, log);
    await expect.poll(() => epochs).toEqual([1]);
    expect(said).toEqual([]);
    await client.flushAll();
    await expect.poll(() => epochs, { timeout: 10_000 }).toEqual([1, 1]);
    expect(said).toEqual(["The state in Redis was emptied or replaced while the bot was running"]);
    await leadership.stop();
    await close();
    await own.close();
  });

  it("says so although another process takes the lease of the emptied state", async () => {
    const own = await startRedis();
    const [one, other] = [connectRedis(own.url, quiet), connectRedis(own.url, quiet)];
    await Promise.all([one.connected(5_000), other.connected(5_000)]);
    const said: string[] = [];
    const log = { ...quiet, error: (_: object, message: string) => void said.push(message) };
    const epochs: number[] = [];
    const work = {
      start: async (_: State, { epoch }: Lease) => void epochs.push(epoch),
      stop: async () => {},
    };
    const holder = createState(createRedisStore(one.client), { log: quiet });
    await holder.commit([holder.open(leases).put("background", { epoch: 7 })]);
    const leaderships = [compete(one.client, holder, work, log)];
    await expect.poll(() => epochs).toEqual([8]);
    const standby = createState(createRedisStore(other.client), { log: quiet });
    leaderships.push(compete(other.client, standby, work, quiet));
    // As if the standby were faster: it holds the lease of the emptied state already, for longer than the test waits.
    await one.client
      .multi()
      .flushAll()
      .set(LEASE_KEY, `other ${Date.now() + 60_000}`)
      .exec();
    await expect.poll(() => said, { timeout: 10_000 }).toHaveLength(1);
    expect(said).toEqual(["The state in Redis was emptied or replaced while the bot was running"]);
    await Promise.all(leaderships.map((each) => each.stop()));
    await Promise.all([one.close(), other.close()]);
    await own.close();
  });

  it("takes the lease again if another process has raised the epoch too late", async () => {
    const own = connectRedis(server.url, quiet);
    await own.connected(5_000);
    const state = createState(createRedisStore(own.client), { log: quiet });
    const epochs: number[] = [];
    let leasedState: State | undefined;
    const work = {
      // The background work also creates its leased state itself.
      start: async (_: State, lease: Lease) => {
        leasedState = leased(state, lease);
        epochs.push(lease.epoch);
      },
      stop: async () => {},
    };
    const leadership = compete(own.client, state, work, quiet);
    await expect.poll(() => epochs).toHaveLength(1);
    const [first = 0] = epochs;
    await state.commit([state.open(leases).put("background", { epoch: first + 1 })]);
    const write = async () => {
      const names = leasedState?.open(nameListTimes).put("token", { readAt: 1 });
      return names && leasedState?.commit([names]).catch(({ name }: Error) => name);
    };
    expect(await write()).toBe("LeaseLost");
    await expect.poll(write).toBe(true);
    expect(epochs).toEqual([first, first + 2]);
    await leadership.stop();
    await own.close();
  });

  it("lets the background work go on after a failover, although nothing else uses Redis meanwhile", async () => {
    const [old, next] = [await startRedis(), await startRedis()];
    const address = await openRedisAddress(old);
    const own = connectRedis(address.url, quiet);
    const state = createState(createRedisStore(own.client), { log: quiet });
    const moments: string[] = [];
    const work = {
      start: async () => void moments.push("start"),
      stop: async () => void moments.push("stop"),
    };
    const leadership = compete(own.client, state, work, quiet, own.noteFailure);
    await expect.poll(() => moments).toEqual(["start"]);
    await next.replicate(old);
    await next.promote();
    await old.replicate(next);
    address.leadTo(next);
    const write = () =>
      own.client.set("crier:written", "1").then(
        () => "written",
        () => "refused",
      );
    await expect.poll(write).toBe("written");
    await expect.poll(() => moments.at(-1)).toBe("start");
    await expect.poll(() => isLeaseHeld(own.client)).toBe(true);
    await leadership.stop();
    await own.close();
    address.close();
    await Promise.all([old.close(), next.close()]);
  });

  it.each([
    ["another process", async () => redis.client.set(LEASE_KEY, `token ${Date.now() + 1_500}`)],
    ["a process of version 0.1.0", async () => redis.client.set(LEASE_KEY, "token", { PX: 1_500 })],
  ])("leaves the lease to %s while it is valid", async (_, hold) => {
    await hold();
    const heldAt = performance.now();
    const { working, leadership } = competitor();
    await working;
    expect(performance.now() - heldAt).toBeGreaterThan(1_400);
    await leadership.stop();
  });
});
