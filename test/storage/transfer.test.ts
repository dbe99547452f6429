import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { type RedisProcess, startRedis } from "../../sandbox/redis-process.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { LEASE_KEY } from "../../src/storage/lease.js";
import { connectRedis, type Redis } from "../../src/storage/redis.js";
import { createRedisStore } from "../../src/storage/redis-store.js";
import { StateError } from "../../src/storage/store.js";
import { exportState, importState } from "../../src/storage/transfer.js";
import { quiet } from "../harness.js";
import { describeWithRedis } from "../needs.js";

const TOOL = fileURLToPath(new URL("../../dist/src/state-tool.js", import.meta.url));

/** Runs the state tool like an operator does. */
function run(env: Record<string, string>, ...args: string[]) {
  const { status, stdout, stderr } = runWith("", env, ...args);
  return { status, said: `${stdout}${stderr}` };
}

function runWith(input: string, env: Record<string, string>, ...args: string[]) {
  return spawnSync(process.execPath, [TOOL, ...args], {
    env: { PATH: process.env.PATH, ...env },
    cwd: newDataDir(),
    encoding: "utf8",
    input,
    timeout: 60_000,
  });
}

it("says that a folder cannot be made where the system makes none, instead of trying forever", () => {
  const file = join(newDataDir(), "state.json");
  writeFileSync(file, JSON.stringify({ crier: 1, collections: {} }));
  expect(run({ DATA_DIR: "/proc/crier" }, "import", file)).toMatchObject({
    status: 1,
    said: expect.stringMatching(/^DATA_DIR: \/proc\/crier.* can't be made/),
  });
});

it("says that it may not look into a folder, and not that there is no state", () => {
  const loop = join(newDataDir(), "loop");
  symlinkSync(loop, loop);
  expect(run({ DATA_DIR: loop }, "export", "-")).toMatchObject({
    status: 1,
    said: expect.stringMatching(/^DATA_DIR: .*crier.db can't be read \(ELOOP\)/),
  });
});

it("imports nothing if it is given two files", () => {
  const dataDir = newDataDir();
  const files = ["old", "new"].map((name) => join(dataDir, `${name}.json`));
  for (const file of files) writeFileSync(file, JSON.stringify({ crier: 1, collections: {} }));
  expect(run({ DATA_DIR: dataDir }, "import", ...files, "--replace")).toMatchObject({
    status: 1,
    said: expect.stringMatching(/^Use: npm run state/),
  });
});

it.each(["{}", "null", '{"crier":1,"collections":{"version":{"state":{"version":99}}}}'])(
  "leaves nothing behind if it refuses an import of %s",
  (text) => {
    const dataDir = newDataDir();
    const file = join(newDataDir(), "state.json");
    writeFileSync(file, text);
    expect(run({ DATA_DIR: dataDir }, "import", file).status).toBe(1);
    expect(readdirSync(dataDir)).toEqual([]);
  },
);

it.each<BufferEncoding>(["utf8", "utf16le"])(
  "imports a file that Windows wrote in %s, with a byte-order mark",
  (encoding) => {
    const dataDir = newDataDir();
    const file = join(dataDir, "state.json");
    const state = { crier: 1, collections: { subscriptions: { "1": { note: "ü" } } } };
    writeFileSync(file, `\uFEFF${JSON.stringify(state)}\r\n`, encoding);
    expect(run({ DATA_DIR: dataDir }, "import", file).said).toContain("Imported 1 documents");
    expect(JSON.parse(runWith("", { DATA_DIR: dataDir }, "export", "-").stdout)).toEqual(state);
  },
);

describeWithRedis("the state", () => {
  it("moves completely from a file to Redis and back", async () => {
    const redis = await startRedis();
    const [from, to] = [newDataDir(), newDataDir()];
    const files = ["given", "moved", "back"].map((name) => join(from, `${name}.json`));
    const [given = "", moved = "", back = ""] = files;
    const state = {
      crier: 1,
      collections: {
        prices: { samples: [[1, "0.1"]] },
        subscriptions: { "1": { guild: "2", topics: ["new"], note: "ü\u0000\n" }, "3": { guild: null } },
      },
    };
    writeFileSync(given, JSON.stringify(state));
    expect(run({ DATA_DIR: from }, "import", given)).toMatchObject({
      status: 0,
      said: expect.stringContaining("3"),
    });
    expect(run({ DATA_DIR: from }, "export", moved).status).toBe(0);
    expect(run({ REDIS_URL: redis.url }, "import", moved).status).toBe(0);
    expect(run({ REDIS_URL: redis.url }, "export", back).status).toBe(0);
    expect(JSON.parse(readFileSync(back, "utf8"))).toEqual(state);

    const { stdout } = runWith("", { REDIS_URL: redis.url }, "export", "-");
    expect(JSON.parse(stdout)).toEqual(state);
    expect(runWith(stdout, { DATA_DIR: to }, "import", "-").status).toBe(0);
    expect(runWith("", { DATA_DIR: to }, "export", "-").stdout).toBe(stdout);
    expect(run({ DATA_DIR: to }, "export", "/nowhere/state.json").said).toMatch(
      /^\/nowhere.* cannot be written/,
    );

    const again = run({ REDIS_URL: redis.url }, "import", moved);
    expect(again).toMatchObject({ status: 1, said: expect.stringContaining("--replace") });
    expect(run({ REDIS_URL: redis.url }, "import", moved, "--replace").status).toBe(0);
    expect(run({ DATA_DIR: to }, "import", fileURLToPath(import.meta.url)).said).toContain(
      "cannot be read as JSON",
    );
    writeFileSync(given, "[]");
    expect(run({ DATA_DIR: to }, "import", given).said).toContain("isn't an exported state");
    expect(run({ DATA_DIR: to }, "perhaps").said).toContain("Use: npm run state");
    await redis.close();
  });

  it("keeps the old state in Redis if the imported one does not fit, and discards leftovers of earlier imports", async () => {
    const redis = await startRedis();
    const folder = newDataDir();
    const [old, large] = [join(folder, "old.json"), join(folder, "large.json")];
    const stateOf = (collections: object) => JSON.stringify({ crier: 1, collections });
    writeFileSync(
      old,
      stateOf({ subscriptions: { "1": { guild: "2" } }, progress: { governance: { at: 1 } } }),
    );
    const documents = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [String(index), { text: "x".repeat(1_000) }]),
    );
    writeFileSync(large, stateOf({ prices: documents }));
    const env = { REDIS_URL: redis.url };
    expect(run(env, "import", old).status).toBe(0);
    const before = runWith("", env, "export", "-").stdout;

    const { client, connected, close } = connectRedis(redis.url, { info() {}, warn() {} });
    await connected(5_000);
    await client.hSet("crier:import:prices", "leftover", "{}");
    await client.sendCommand(["CONFIG", "SET", "maxmemory", "3mb"]);
    expect(run(env, "import", large, "--replace")).toMatchObject({ status: 1 });
    expect(runWith("", env, "export", "-").stdout).toBe(before);
    expect(await client.keys("crier:import:*")).toEqual([]);

    await client.hSet("crier:import:prices", "leftover", "{}");
    await client.sendCommand(["CONFIG", "SET", "maxmemory", "0"]);
    expect(run(env, "import", large, "--replace")).toMatchObject({ status: 0 });
    const after = join(folder, "after.json");
    expect(run(env, "export", after).status).toBe(0);
    expect(JSON.parse(readFileSync(after, "utf8")).collections).toEqual({ prices: documents });
    // Both streams share a pipe that is read late.
    const piped = spawnSync(
      "sh",
      ["-c", '"$0" "$1" export - 2>&1 | (sleep 0.2; cat)', process.execPath, TOOL],
      {
        env: { PATH: process.env.PATH, ...env },
        encoding: "utf8",
        maxBuffer: 100_000_000,
      },
    );
    expect(piped.stdout).toContain("Exported 5000 documents");
    expect(piped.stdout.length).toBeGreaterThan(5_000_000);
    expect(await client.keys("crier:import:*")).toEqual([]);
    await close();
    await redis.close();
  });
});

describeWithRedis("an import into Redis", () => {
  let redis: RedisProcess;
  const opened: Redis[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    for (const { close } of opened) await close();
    await redis.close();
  });
  const open = async (url = redis.url) => {
    const connection = connectRedis(url, quiet);
    opened.push(connection);
    await connection.connected(5_000);
    return { client: connection.client, store: createRedisStore(connection.client) };
  };
  const OLD = { crier: 1, collections: { old: { a: 1 }, both: { a: 1 } } };
  const many = (name: string, count: number) => ({
    crier: 1,
    collections: {
      both: { [name]: 1 },
      [name]: Object.fromEntries(Array.from({ length: count }, (_, at) => [String(at), { at }])),
    },
  });

  /** Waits until an import has written something. Its commands and these take turns on one connection. */
  const firstImported = async (client: Redis["client"]): Promise<string[]> => {
    const keys = await client.keys("crier:import:*");
    return keys.length > 0 ? keys : firstImported(client);
  };

  it.each(["rename", "del"])("keeps the old state if the user may not run %s", async (command) => {
    const { client, store } = await open();
    await importState(store, OLD, true);
    await client.sendCommand(["ACL", "SETUSER", "bot", "on", ">pw", "~crier:*", "+@all", `-${command}`]);
    const { store: restricted } = await open(redis.url.replace("redis://", "redis://bot:pw@"));
    await expect(importState(restricted, many("new", 10), true)).rejects.toThrow(StateError);
    expect(await exportState(store)).toEqual(OLD);
    expect(await client.keys("crier:import:*")).toEqual([]);
  });

  it.each([
    ["has no collections", {}],
    ["has no documents", { subscriptions: {} }],
    ["has only a lease", { lease: { work: { holder: "another" } } }],
  ])("keeps the old state if the new one %s", async (_, collections) => {
    const { store } = await open();
    await importState(store, OLD, true);
    await expect(importState(store, { crier: 1, collections }, true)).rejects.toThrow("is empty");
    expect(await exportState(store)).toEqual(OLD);
  });

  it("leaves the whole of one state if two are imported at once", async () => {
    const [first, second] = [many("first", 20_000), many("second", 3_000)];
    const [a, b] = [await open(), await open()];
    await Promise.all([importState(a.store, first, true), importState(b.store, second, true)]);
    expect([first, second]).toContainEqual(await exportState(a.store));
  });

  it("keeps the old state if a bot starts meanwhile, or if Redis loses a part of it", async () => {
    const { client, store } = await open();
    await importState(store, OLD, true);
    // The bot starts after the state tool has looked.
    await client.set(LEASE_KEY, `token ${Date.now() + 5_000}`);
    await expect(importState(store, many("new", 10), true)).rejects.toThrow("A bot is using this Redis");
    expect(await exportState(store)).toEqual(OLD);
    await client.del(LEASE_KEY);
    const evicted = importState(store, many("new", 20_000), true);
    for (const key of await firstImported(client)) await client.del(key);
    await expect(evicted).rejects.toThrow("Redis lost a part of the import");
    expect(await exportState(store)).toEqual(OLD);
    expect(await client.keys("crier:import:*")).toEqual([]);
  });

  it("lets what a killed import left expire", async () => {
    const { client, store } = await open();
    const importing = importState(store, many("new", 20_000), true);
    for (const key of await firstImported(client)) expect(await client.ttl(key)).toBeGreaterThan(0);
    await importing;
    for (const name of await store.collections()) expect(await client.ttl(`crier:state:${name}`)).toBe(-1);
  });
});

it("keeps the old state in a file if an imported document cannot be written", async () => {
  const store = openFileStore(newDataDir());
  await store.commit([{ op: "put", collection: "progress", id: "governance", text: "1" }]);
  const broken = { collection: "prices", id: "1", text: undefined as unknown as string };
  const documents = [{ collection: "prices", id: "0", text: "0" }, broken];
  await expect(store.replaceAll(documents, new Set())).rejects.toThrow(StateError);
  expect(await store.collections()).toEqual(["progress"]);
  await store.replaceAll(documents.slice(0, 1), new Set(["progress"]));
  expect((await store.collections()).toSorted()).toEqual(["prices", "progress"]);
  await store.close();
});
