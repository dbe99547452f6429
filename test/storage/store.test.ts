import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { startRedis } from "../../sandbox/redis-process.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { connectRedis } from "../../src/storage/redis.js";
import { createRedisStore } from "../../src/storage/redis-store.js";
import { readAll, type Store, type Write } from "../../src/storage/store.js";
import { describeWithRedis } from "../needs.js";

/** Creates writes for one collection. */
const writesOf = (collection: string) => ({
  put: (id: string, text: string): Write => ({ op: "put", collection, id, text }),
  add: (id: string, text: string): Write => ({ op: "add", collection, id, text }),
  expect: (id: string, text: string | undefined): Write => ({ op: "expect", collection, id, text }),
  delete: (id: string): Write => ({ op: "delete", collection, id }),
});

/** Defines the tests for both kinds of store. */
function contract(open: () => Promise<{ store: Store; close: () => Promise<void> }>): void {
  let store: Store;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await open());
  });
  afterAll(() => close());

  it("stores documents with any text by collection and id", async () => {
    const things = writesOf("things");
    const text = JSON.stringify({ text: "ünïcödé \u0000 '\"", list: [1, null, { deep: true }] });
    expect(await store.commit([things.put("a b", text), things.put("c", "7")])).toBe(true);
    expect(await store.get("things", "a b")).toBe(text);
    expect(await store.get("things", "none")).toBeUndefined();
    expect(await readAll(store, "things")).toEqual(
      new Map([
        ["a b", text],
        ["c", "7"],
      ]),
    );
    expect(await readAll(store, "others")).toEqual(new Map());
    await store.commit([things.delete("c")]);
    expect(await store.get("things", "c")).toBeUndefined();
  });

  it("finds the documents whose ids begin with a text, whatever its characters", async () => {
    const things = writesOf("starts");
    const ids = ["1/a", "1/\u{10FFFE}", "1", "12/a", "2/a", "*/a", "[1]/a", "\\/a", "?/a"];
    await store.commit(ids.map((id) => things.put(id, id)));
    const startingWith = async (start: string) => {
      const found: string[] = [];
      for await (const page of store.pages("starts", start)) found.push(...page.map(([id]) => id));
      return found.sort();
    };
    expect(await startingWith("1/")).toEqual(["1/a", "1/\u{10FFFE}"].sort());
    for (const id of ids.slice(3)) expect(await startingWith(id.slice(0, -1))).toEqual([id]);
    expect(await startingWith("3/")).toEqual([]);
  });

  it("adds only missing documents", async () => {
    const things = writesOf("adds");
    await store.commit([things.add("x", "1")]);
    expect(await store.commit([things.add("x", "2"), things.add("y", "3")])).toBe(true);
    expect([await store.get("adds", "x"), await store.get("adds", "y")]).toEqual(["1", "3"]);
  });

  it("applies a commit completely or not at all", async () => {
    const things = writesOf("expects");
    await store.commit([things.put("x", "1")]);
    expect(await store.commit([things.put("y", ""), things.expect("x", "2")])).toBe(false);
    expect(await store.get("expects", "y")).toBeUndefined();
    const writes = [things.expect("x", "1"), things.expect("z", undefined), things.put("x", "2")];
    expect(await store.commit(writes)).toBe(true);
    expect(await store.commit([things.expect("x", undefined), things.delete("x")])).toBe(false);
    expect(await store.get("expects", "x")).toBe("2");
  });

  it("lets only one of several concurrent commits with the same expectation succeed", async () => {
    const things = writesOf("races");
    await store.commit([things.put("claim", "nobody")]);
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, by) =>
        store.commit([things.expect("claim", "nobody"), things.put("claim", String(by))]),
      ),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await store.get("races", "claim")).toBe(String(results.indexOf(true)));
  });

  it("accepts a commit of thousands of writes", async () => {
    const things = writesOf("many");
    await store.commit(Array.from({ length: 5_000 }, (_, at) => things.put(`id ${at}`, String(at))));
    expect((await readAll(store, "many")).size).toBe(5_000);
  });
}

it("applies many commits of one moment in their order, lets other work go on between them, and all of them before it closes", async () => {
  const dataDir = newDataDir();
  const store = openFileStore(dataDir);
  const commits = Array.from({ length: 1_000 }, (_, at) =>
    store.commit([writesOf("bursts").put("last", String(at)), writesOf("bursts").put(`id ${at}`, "")]),
  );
  await commits[0];
  let applied = 0;
  for (const each of commits) each.then(() => applied++);
  await new Promise(setImmediate);
  expect(applied).toBeLessThan(commits.length);
  const [first] = await Promise.all([store.get("bursts", "last"), store.close()]);
  expect(Number(first)).toBeLessThan(999);
  expect(await Promise.all(commits)).not.toContain(false);
  // Only an ended process releases the file, so this reads a copy.
  const copy = newDataDir();
  cpSync(dataDir, copy, { recursive: true });
  const reopened = openFileStore(copy);
  expect(await reopened.get("bursts", "last")).toBe("999");
  expect((await readAll(reopened, "bursts")).size).toBe(1_001);
  await reopened.close();
});

it("leaves nothing of deleted documents in the file", async () => {
  const dataDir = newDataDir();
  const store = openFileStore(dataDir);
  const people = writesOf("people");
  const ids = Array.from(
    { length: 2_000 },
    (_, at) => `${(at * 7_919) % 2_003}-${at % 10 ? "kept" : "person"}`,
  );
  // Documents that grow are moved to other pages.
  for (const maxLength of [300, 900])
    await store.commit(
      ids.map((id, at) => people.put(id, `text of ${id}${"x".repeat((at * 7_907) % maxLength)}`)),
    );
  await store.commit(ids.filter((id) => id.endsWith("person")).map((id) => people.delete(id)));
  await store.close();
  const written = ["crier.db", "crier.db-wal"].map((name) => readFileSync(join(dataDir, name), "latin1"));
  expect(written.join("")).toContain("-kept");
  expect(written.join("")).not.toContain("-person");
});

describe("a store in a file", () => {
  contract(async () => {
    const store = openFileStore(newDataDir());
    return { store, close: () => store.close() };
  });

  it("explains in one sentence why it cannot be used", () => {
    expect(() => openFileStore(join(fileURLToPath(import.meta.url), "data"))).toThrow(
      /DATA_DIR: .* Set it to a folder the bot can write to/,
    );
  });
});

describeWithRedis("a store in Redis", () => {
  contract(async () => {
    const server = await startRedis();
    const redis = connectRedis(server.url, { info: () => {}, warn: () => {} });
    await new Promise((resolve) => redis.client.once("ready", resolve));
    return {
      store: createRedisStore(redis.client),
      close: async () => {
        await redis.close();
        await server.close();
      },
    };
  });
});
