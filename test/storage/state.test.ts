import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { startRedis } from "../../sandbox/redis-process.js";
import { openFileState } from "../../src/storage/file-state.js";
import { connectRedis } from "../../src/storage/redis.js";
import { createRedisState } from "../../src/storage/redis-state.js";
import { collectionOf, type State } from "../../src/storage/state.js";
import { describeWithRedis } from "../needs.js";

/** What both kinds of state promise. */
function contract(open: () => Promise<{ state: State; close: () => Promise<void> }>): void {
  let state: State;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ state, close } = await open());
  });
  afterAll(() => close());

  it("keeps documents of any JSON by collection and id", async () => {
    const things = collectionOf<unknown>(state, "things");
    const document = { text: "ünïcödé \u0000 '\"", list: [1, null, { deep: true }] };
    expect(await state.commit([things.put("a b", document), things.put("c", 7)])).toBe(true);
    expect(await things.get("a b")).toEqual(document);
    expect(await things.get("none")).toBeUndefined();
    expect(await things.list()).toEqual(
      new Map<string, unknown>([
        ["a b", document],
        ["c", 7],
      ]),
    );
    expect(await collectionOf(state, "others").list()).toEqual(new Map());
    await state.commit([things.delete("c")]);
    expect(await things.get("c")).toBeUndefined();
  });

  it("adds only where there is nothing yet", async () => {
    const things = collectionOf<number>(state, "adds");
    await state.commit([things.add("x", 1)]);
    expect(await state.commit([things.add("x", 2), things.add("y", 3)])).toBe(true);
    expect([await things.get("x"), await things.get("y")]).toEqual([1, 3]);
  });

  it("applies all of a commit or nothing, by what it expects", async () => {
    const things = collectionOf<object>(state, "expects");
    await state.commit([things.put("x", { n: 1 })]);
    expect(await state.commit([things.put("y", {}), things.expect("x", { n: 2 })])).toBe(false);
    expect(await things.get("y")).toBeUndefined();
    expect(
      await state.commit([
        things.expect("x", { n: 1 }),
        things.expect("z", undefined),
        things.put("x", { n: 2 }),
      ]),
    ).toBe(true);
    expect(await state.commit([things.expect("x", undefined), things.delete("x")])).toBe(false);
    expect(await things.get("x")).toEqual({ n: 2 });
  });

  it("lets one of many win who expect the same", async () => {
    const things = collectionOf<object>(state, "races");
    await state.commit([things.put("claim", { by: null })]);
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, by) =>
        state.commit([things.expect("claim", { by: null }), things.put("claim", { by })]),
      ),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await things.get("claim")).toEqual({ by: results.indexOf(true) });
  });

  it("takes a commit of thousands of writes", async () => {
    const things = collectionOf<number>(state, "many");
    await state.commit(Array.from({ length: 5_000 }, (_, at) => things.put(`id ${at}`, at)));
    expect((await things.list()).size).toBe(5_000);
  });
}

describe("the state in a file", () => {
  contract(async () => {
    const state = openFileState(newDataDir());
    return { state, close: () => state.close() };
  });

  it("says in a sentence why it cannot be used", () => {
    expect(() => openFileState(join(fileURLToPath(import.meta.url), "data"))).toThrow(
      /DATA_DIR: .* wants a folder the bot may write to/,
    );
  });
});

describeWithRedis("the state in Redis", () => {
  contract(async () => {
    const server = await startRedis();
    const redis = connectRedis(server.url, { info: () => {}, warn: () => {} });
    await new Promise((resolve) => redis.client.once("ready", resolve));
    return {
      state: createRedisState(redis.client),
      close: async () => {
        await redis.close();
        await server.close();
      },
    };
  });
});
