import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { startRedis } from "../../sandbox/redis-process.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { connectRedis } from "../../src/storage/redis.js";
import { StateError } from "../../src/storage/store.js";
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
  });
}

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
    expect(await client.keys("crier:import:*")).toEqual([]);
    await close();
    await redis.close();
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
