import { afterAll, describe, expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { startRedis } from "../../sandbox/redis-process.js";
import { requestSummaries } from "../../src/directory/collections.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { longIds } from "../../src/storage/id-keys.js";
import { createKnownNetworks, prefixOf } from "../../src/storage/networks.js";
import { connectRedis } from "../../src/storage/redis.js";
import { createRedisStore } from "../../src/storage/redis-store.js";
import { createState, unreadableDocuments } from "../../src/storage/state.js";
import { StateError, type Store } from "../../src/storage/store.js";
import { quiet } from "../harness.js";
import { describeWithRedis } from "../needs.js";

/** Returns the state of each network, as after a start with these networks. */
function start(store: Store, ...ids: string[]) {
  const known = createKnownNetworks(createState(store, { log: quiet }), store, ids);
  const stateOf = (id: string | undefined) => createState(store, { log: quiet, prefix: prefixOf(id, known) });
  return { known, stateOf };
}

const subject = ["Feature Delta Labs"];

function contract(open: () => Promise<Store>): void {
  it("keeps existing documents in the oldest network, and separates the others", async () => {
    const store = await open();
    const before = start(store).stateOf(undefined);
    await before.commit([
      before.open(requestSummaries).put("a", subject),
      before.open(longIds).put("^k", { id: "long", usedAt: 1 }),
    ]);

    const both = start(store, "main", "test");
    const [main, test] = [both.stateOf("main"), both.stateOf("test")];
    expect(await main.open(requestSummaries).get("a")).toEqual(subject);
    expect(await test.open(requestSummaries).get("a")).toBeUndefined();
    await test.commit([test.open(requestSummaries).put("a", ["Another"])]);
    expect(await main.open(requestSummaries).get("a")).toEqual(subject);
    expect([...(await test.open(requestSummaries).list())]).toEqual([["a", ["Another"]]]);
    // Documents of the bot as a whole are shared by all networks.
    expect(await test.open(longIds).get("^k")).toMatchObject({ id: "long" });
    expect(await store.collections()).toEqual(
      expect.arrayContaining(["subjects", "test:subjects", "ids", "networks"]),
    );

    const turned = start(store, "test", "main");
    expect(await turned.stateOf("main").open(requestSummaries).get("a")).toEqual(subject);
    expect(turned.known.oldest()).toBe("main");
    const later = start(store, "dev");
    expect(await later.known.load()).toEqual(["main", "test", "dev"]);
    expect(later.known.oldest()).toBe("main");
    // Without a name, the oldest network is used.
    expect(await start(store).stateOf(undefined).open(requestSummaries).get("a")).toEqual(subject);
  });

  it("keeps expectations and unreadable documents within the network", async () => {
    const store = await open();
    const { stateOf } = start(store, "main", "test");
    const [main, test] = [stateOf("main"), stateOf("test")];
    await main.commit([main.open(requestSummaries).put("b", subject)]);
    expect(
      await test.commit([
        test.open(requestSummaries).expect("b", undefined),
        test.open(requestSummaries).put("b", ["x"]),
      ]),
    ).toBe(true);
    await store.commit([{ op: "put", collection: "test:subjects", id: "broken", text: "{" }]);
    expect(await test.open(requestSummaries).get("broken")).toBeUndefined();
    expect([...(await test.open(unreadableDocuments).list()).keys()]).toEqual(["subjects/broken"]);
    expect((await main.open(unreadableDocuments).list()).size).toBe(0);
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
    await expect.poll(() => redis.usable()).toBe(true);
    return createRedisStore(redis.client);
  });
});

it("does not read or write a named network until the oldest one is known", async () => {
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
  await expect(main.commit([main.open(requestSummaries).put("a", subject)])).rejects.toThrow("away");
  expect(known.oldest()).toBeUndefined();
  isAway = false;
  await main.commit([main.open(requestSummaries).put("a", subject)]);
  expect(await main.open(requestSummaries).get("a")).toEqual(subject);
  expect(known.oldest()).toBe("main");
});

it("rejects a network whose button code is already in use", async () => {
  const store = openFileStore(newDataDir());
  await start(store, "main", "test").known.load();
  await expect(start(store, "main", "tess").known.load()).rejects.toThrow(/tess .* test/);
});

it("infers the oldest network if the document is missing, or says that it cannot", async () => {
  const store = openFileStore(newDataDir());
  await store.commit([{ op: "put", collection: "test:subjects", id: "a", text: '["x"]' }]);
  await expect(start(store, "test").known.load()).rejects.toThrow(/test came later/);
  const { known } = start(store, "test", "main");
  await known.load();
  expect(known.oldest()).toBe("main");
});
