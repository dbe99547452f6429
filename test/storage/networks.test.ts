import { afterAll, describe, expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { startRedis } from "../../sandbox/redis-process.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { createKnownNetworks, storeOf } from "../../src/storage/networks.js";
import { connectRedis } from "../../src/storage/redis.js";
import { createRedisStore } from "../../src/storage/redis-store.js";
import { createState } from "../../src/storage/state.js";
import { StateError, type Store } from "../../src/storage/store.js";
import { quiet } from "../harness.js";
import { describeWithRedis } from "../needs.js";

/** The state of each network of a bot, as it would be after a start with these settings. */
function start(store: Store, ...ids: string[]) {
  const known = createKnownNetworks(createState(store, { log: quiet }), store, ids);
  const stateOf = (id: string | undefined) => createState(storeOf(store, id, known), { log: quiet });
  return { known, stateOf };
}

const subject = ["Feature Delta Labs"];

function contract(open: () => Promise<Store>): void {
  it("leaves what was there to the network that came first, and keeps the others apart", async () => {
    const store = await open();
    const before = start(store).stateOf(undefined);
    await before.commit([before.subjects.put("a", subject), before.ids.put("^k", { id: "long", usedAt: 1 })]);

    const both = start(store, "main", "test");
    const [main, test] = [both.stateOf("main"), both.stateOf("test")];
    expect(await main.subjects.get("a")).toEqual(subject);
    expect(await test.subjects.get("a")).toBeUndefined();
    await test.commit([test.subjects.put("a", ["Another"])]);
    expect(await main.subjects.get("a")).toEqual(subject);
    expect([...(await test.subjects.list())]).toEqual([["a", ["Another"]]]);
    // What belongs to the bot as a whole is the same.
    expect(await test.ids.get("^k")).toMatchObject({ id: "long" });
    expect(await store.collections()).toEqual(
      expect.arrayContaining(["subjects", "test:subjects", "ids", "networks"]),
    );

    const turned = start(store, "test", "main");
    expect(await turned.stateOf("main").subjects.get("a")).toEqual(subject);
    expect(turned.known.oldest()).toBe("main");
    const later = start(store, "dev");
    expect(await later.known.load()).toEqual(["main", "test", "dev"]);
    expect(later.known.oldest()).toBe("main");
    // Without a name it is the oldest one again.
    expect(await start(store).stateOf(undefined).subjects.get("a")).toEqual(subject);
  });

  it("keeps expectations and what cannot be read within the network", async () => {
    const store = await open();
    const { stateOf } = start(store, "main", "test");
    const [main, test] = [stateOf("main"), stateOf("test")];
    await main.commit([main.subjects.put("b", subject)]);
    expect(await test.commit([test.subjects.expect("b", undefined), test.subjects.put("b", ["x"])])).toBe(
      true,
    );
    await store.commit([{ op: "put", collection: "test:subjects", id: "broken", text: "{" }]);
    expect(await test.subjects.get("broken")).toBeUndefined();
    expect([...(await test.unreadable.list()).keys()]).toEqual(["subjects/broken"]);
    expect((await main.unreadable.list()).size).toBe(0);
  });
}

describe("the networks of a state in a file", () => contract(async () => openFileStore(newDataDir())));

describeWithRedis("the networks of a state in Redis", () => {
  const closing: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const close of closing) await close();
  });
  contract(async () => {
    const server = await startRedis();
    const redis = connectRedis(server.url, quiet);
    closing.push(
      () => redis.close(),
      () => server.close(),
    );
    await expect.poll(() => redis.usable(), { timeout: 5_000 }).toBe(true);
    return createRedisStore(redis.client);
  });
});

it("nothing of a named network is read or written before it is known which one is the oldest", async () => {
  const store = openFileStore(newDataDir());
  let isAway = true;
  const failing: Store = {
    ...store,
    async get(collection, id) {
      if (isAway) throw new StateError("away");
      return store.get(collection, id);
    },
  };
  const { known, stateOf } = start(failing, "main", "test");
  const main = stateOf("main");
  await expect(main.commit([main.subjects.put("a", subject)])).rejects.toThrow("away");
  expect(known.oldest()).toBeUndefined();
  isAway = false;
  await main.commit([main.subjects.put("a", subject)]);
  expect(await main.subjects.get("a")).toEqual(subject);
  expect(known.oldest()).toBe("main");
});

it("refuses a network that could not be told from an earlier one in a button", async () => {
  const store = openFileStore(newDataDir());
  await start(store, "main", "test").known.load();
  await expect(start(store, "main", "tess").known.load()).rejects.toThrow(/tess .* test/);
});

it("infers which network is the oldest where nothing says so, or says that it cannot", async () => {
  const store = openFileStore(newDataDir());
  await store.commit([{ op: "put", collection: "test:subjects", id: "a", text: '["x"]' }]);
  await expect(start(store, "test").known.load()).rejects.toThrow(/test came later/);
  const { known } = start(store, "test", "main");
  await known.load();
  expect(known.oldest()).toBe("main");
});
