import { expect, it } from "vitest";
import * as z from "zod";
import { newDataDir } from "../../sandbox/bot-process.js";
import {
  announcements,
  ownerRevisions,
  type Subscription,
  subscriptionDocuments,
  watchers,
} from "../../src/delivery/collections.js";
import { FIRST_FEED } from "../../src/delivery/version-1.js";
import { knownTokens } from "../../src/directory/collections.js";
import { defineCollection } from "../../src/storage/collection.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { holdForever, LeaseLost } from "../../src/storage/lease.js";
import {
  claimVersion,
  createState,
  STATE_VERSION,
  type State,
  stateVersion,
  unreadableDocuments,
} from "../../src/storage/state.js";
import { StateError, type Store } from "../../src/storage/store.js";

const subscription: Subscription = {
  channelId: "1",
  feed: FIRST_FEED,
  subject: null,
  guildId: "2",
  userId: null,
  forum: false,
  tagId: null,
  since: 1,
  topics: { new: true },
  roleId: null,
  thread: false,
  publish: false,
};

/** Creates a state whose store can be written to without schema checks. */
function open() {
  const lines: { details: object; message: string }[] = [];
  const error = (details: object, message: string) => void lines.push({ details, message });
  const store = openFileStore(newDataDir());
  const write = (collection: string, id: string, text: string) =>
    store.commit([{ op: "put", collection, id, text }]);
  return { store, write, lines, error, state: createState(store, { log: { error } }) };
}

it.each([
  ["is no JSON", "{not json", "it is not JSON"],
  [
    "has a field of another type",
    '{"channelId":7}',
    "channelId: Invalid input: expected string, received number",
  ],
  ["is of another kind", "[]", "it: Invalid input: expected object, received array"],
])("a document that %s is logged once and set aside, without affecting others", async (_, text, problem) => {
  const { state, store, write, lines } = open();
  await write("subscriptions", "good", JSON.stringify(subscription));
  await write("subscriptions", "bad", text);
  for (let reads = 0; reads < 2; reads += 1) {
    expect([...(await state.open(subscriptionDocuments).list()).keys()]).toEqual(["good"]);
    expect(await state.open(subscriptionDocuments).get("bad")).toBeUndefined();
  }
  expect(lines).toEqual([
    {
      details: { collection: "subscriptions", id: "bad", problem },
      message: "A document of the state cannot be read; it was set aside",
    },
  ]);
  expect(await store.get("subscriptions", "bad")).toBeUndefined();
  expect(await state.open(unreadableDocuments).get("subscriptions/bad")).toMatchObject({
    collection: "subscriptions",
    id: "bad",
    text,
    problem,
  });
  // The id can be used again.
  await state.commit([state.open(subscriptionDocuments).put("bad", subscription)]);
  expect(await state.open(subscriptionDocuments).get("bad")).toEqual(subscription);
  await state.close();
});

it.each([
  ["a person with watches", watchers.name, "222222222222222222"],
  ["a person's revision", ownerRevisions.name, "person:222222222222222222"],
])("the log does not contain the id of a user if %s cannot be read", async (_, collection, id) => {
  const { state, store, write, lines } = open();
  await write(collection, id, "{not json");
  await Promise.all([state.open(watchers).list(), state.open(ownerRevisions).list()]);
  expect(await store.get(collection, id)).toBeUndefined();
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toContain("222222222222222222");
  await state.close();
});

it("parses listed documents again only if their text has changed", async () => {
  const { state, write } = open();
  await state.commit(["a", "b", "c"].map((id) => state.open(subscriptionDocuments).put(id, subscription)));
  const first = await state.open(subscriptionDocuments).list();
  await write("subscriptions", "b", JSON.stringify({ ...subscription, roleId: "9" }));
  await state.commit([state.open(subscriptionDocuments).delete("c")]);
  const then = await state.open(subscriptionDocuments).list();
  expect(then.get("a")).toBe(first.get("a"));
  expect(then.get("b")).toEqual({ ...subscription, roleId: "9" });
  expect([...then.keys()]).toEqual(["a", "b"]);
  await write("subscriptions", "a", "{}");
  expect([...(await state.open(subscriptionDocuments).list()).keys()]).toEqual(["b"]);
  await state.close();
});

it("reads only the documents that have changed since the last list, if no other process writes", async () => {
  const store = openFileStore(newDataDir());
  const reads = { pages: 0, documents: 0 };
  const counting: Store = {
    ...store,
    pages(collection, start) {
      reads.pages += 1;
      return store.pages(collection, start);
    },
    get(collection, id) {
      reads.documents += 1;
      return store.get(collection, id);
    },
  };
  const state = createState(counting, { log: { error: () => {} } });
  // The first commit reads the state's version.
  await state.commit([]);
  reads.documents = 0;
  const subscriptions = state.open(subscriptionDocuments);
  const listed = async () =>
    [...(await subscriptions.list())].map(([id, { channelId }]) => `${id}: ${channelId}`);
  await state.commit(["a", "b", "c"].map((id) => subscriptions.put(id, subscription)));
  expect(await listed()).toEqual(["a: 1", "b: 1", "c: 1"]);
  expect(reads).toEqual({ pages: 1, documents: 0 });
  expect(await subscriptions.list()).toBe(await subscriptions.list());
  await state.commit([
    subscriptions.put("a", { ...subscription, channelId: "2" }),
    subscriptions.delete("b"),
    subscriptions.add("d", { ...subscription, channelId: "3" }),
    subscriptions.add("aa", { ...subscription, channelId: "4" }),
  ]);
  expect(await listed()).toEqual(["a: 2", "aa: 4", "c: 1", "d: 3"]);
  // Another state over the same store, such as another network's, changes a document.
  await createState(store, { log: { error: () => {} } }).commit([subscriptions.delete("c")]);
  await store.commit([{ op: "put", collection: "subscriptions", id: "a", text: "{not json" }]);
  expect(await listed()).toEqual(["aa: 4", "d: 3"]);
  expect(reads.pages).toBe(1);
  // With very many changes, everything is read again.
  for (let commit = 0; commit < 3; commit += 1)
    await state.commit(
      Array.from({ length: 1_000 }, (_, at) =>
        subscriptions.put(`many-${at}`, { ...subscription, channelId: String(commit) }),
      ),
    );
  expect(await listed()).toHaveLength(1_002);
  expect((await listed()).filter((each) => each.endsWith(": 2"))).toHaveLength(1_000);
  expect(reads.pages).toBe(2);
});

it.each([
  ["by this process alone", false],
  ["by several processes", true],
])(
  "leaves documents that are over out of lists, and does not parse them again, if written %s",
  async (_, isShared) => {
    let parsed = 0;
    const countParse = (isOver: boolean) => {
      parsed += 1;
      return isOver;
    };
    const tasks = defineCollection({
      name: "tasks",
      schema: z.object({ isOver: z.boolean().transform(countParse), at: z.number() }),
      lifetime: "in this test",
      isListed: ({ isOver }) => !isOver,
    });
    const { changes, ...shared } = openFileStore(newDataDir());
    const state = createState(isShared || !changes ? shared : { ...shared, changes }, {
      log: { error: () => {} },
    });
    const all = state.open(tasks);
    const listed = async () => [...(await all.list()).keys()];
    await state.commit(["a", "b", "c", "d"].map((id) => all.put(id, { isOver: id === "b", at: 1 })));
    expect(await listed()).toEqual(["a", "c", "d"]);
    expect(parsed).toBe(4);
    await state.commit([all.put("c", { isOver: true, at: 1 })]);
    expect(await listed()).toEqual(["a", "d"]);
    await state.commit([all.put("a", { isOver: false, at: 2 })]);
    expect(await listed()).toEqual(["a", "d"]);
    expect(parsed).toBe(6);
    expect(await all.get("b")).toEqual({ isOver: true, at: 1 });
    await state.commit([all.put("b", { isOver: false, at: 1 }), all.delete("a")]);
    expect(await listed()).toEqual(["b", "d"]);
    await state.commit([all.delete("b")]);
    expect(await listed()).toEqual(["d"]);
    await state.close();
  },
);

it("changes nothing for a read-only user", async () => {
  const { store, write, error, lines } = open();
  const state = createState(store, { log: { error }, keepAside: false });
  await write("tokens", "t", "{}");
  expect((await state.open(knownTokens).list()).size).toBe(0);
  expect(await store.get("tokens", "t")).toBe("{}");
  expect(lines).toHaveLength(1);
  await state.close();
});

it("does not set aside a document that was repaired meanwhile", async () => {
  const { state, store, write } = open();
  const good = JSON.stringify({ id: "t", name: null, active: null });
  await write("tokens", "t", "{}");
  const reading = state.open(knownTokens).get("t");
  await write("tokens", "t", good);
  expect(await reading).toBeUndefined();
  expect(await store.get("tokens", "t")).toBe(good);
  expect((await state.open(unreadableDocuments).list()).size).toBe(0);
  await state.close();
});

it("accepts an expectation of a document that was read with defaults filled in", async () => {
  const { state, write } = open();
  const { feed, subject, ...old } = subscription;
  await write("subscriptions", "1", JSON.stringify({ ...old, before: [5], odd: 1 }));
  const read = await state.open(subscriptionDocuments).get("1");
  expect(read).toEqual({ ...subscription, before: [5], odd: 1 });
  expect(await state.commit([state.open(subscriptionDocuments).expect("1", { ...subscription })])).toBe(
    false,
  );
  expect(
    await state.commit([
      state.open(subscriptionDocuments).expect("1", read),
      state.open(subscriptionDocuments).put("1", subscription),
    ]),
  ).toBe(true);
  expect(await state.commit([state.open(subscriptionDocuments).expect("1", subscription)])).toBe(true);
  await state.close();
});

it("reads a message's feed, subject and channel from an id of version 1", async () => {
  const { state, write } = open();
  const old = { messageId: "7", in: "22", at: 1 };
  await write("announced", "key_-@22", JSON.stringify({ ...old, revision: 3 }));
  await write("announced", "key_-@22#key_-:vote:1", JSON.stringify({ ...old, todo: ["publish"] }));
  const place = { feed: FIRST_FEED, subject: "key_-", channelId: "22" };
  expect([...(await state.open(announcements).list()).values()]).toEqual([
    { ...old, ...place, revision: 3, news: false },
    { ...old, ...place, todo: ["publish"], news: true },
  ]);
  await state.close();
});

it("marks a state with its version, and refuses a newer version", async () => {
  const { state, write } = open();
  await claimVersion(state);
  expect(await state.open(stateVersion).get("state")).toEqual({ version: STATE_VERSION });
  await claimVersion(state);
  await write("version", "state", JSON.stringify({ version: STATE_VERSION + 1 }));
  await expect(claimVersion(state)).rejects.toThrow(StateError);
  const work = { start: async () => {}, stop: async () => {} };
  await expect(holdForever(state, work)).rejects.toThrow(/newer version of the bot/);
  await state.close();
});

it("writes nothing into a state that a newer bot has begun to use, and leaves its documents in place", async () => {
  const { state, store, write, lines } = open();
  await claimVersion(state);
  const put = () =>
    state.commit([state.open(knownTokens).put("t", { id: "t", name: "Token", active: null })]);
  expect(await put()).toBe(true);
  await write("version", "state", JSON.stringify({ version: STATE_VERSION + 1 }));
  await write("tokens", "new", "{}");
  await expect(put()).rejects.toThrow("newer version of the bot");
  for (let reads = 0; reads < 2; reads += 1) expect(await state.open(knownTokens).get("new")).toBeUndefined();
  expect(await store.get("tokens", "new")).toBe("{}");
  expect(lines.map(({ message }) => message)).toEqual([
    "A document of the state cannot be read; it stays where it is",
  ]);
  await state.close();
});

it("sets a document aside each time it becomes unreadable, and logs it once", async () => {
  const { state, write, lines } = open();
  const tokens = state.open(knownTokens);
  for (let times = 0; times < 2; times += 1) {
    await write("tokens", "t", "{}");
    expect(await tokens.get("t")).toBeUndefined();
    // A command that expects what it has read can write.
    expect(
      await state.commit([
        tokens.expect("t", undefined),
        tokens.put("t", { id: "t", name: "Token", active: null }),
      ]),
    ).toBe(true);
  }
  expect(lines).toHaveLength(1);
  await state.close();
});

it("writes nothing after another process has taken the lease", async () => {
  const { state } = open();
  const held: State[] = [];
  const work = { start: async (leased: State) => void held.push(leased), stop: async () => {} };
  await holdForever(state, work);
  await holdForever(state, work);
  const [first, second] = held;
  const write = state.open(knownTokens).put("t", { id: "t", name: null, active: null });
  await expect(first?.commit([write])).rejects.toThrow(LeaseLost);
  expect(await state.open(knownTokens).get("t")).toBeUndefined();
  expect(await second?.commit([write])).toBe(true);
  // A failed expectation of the commit itself is not a lost lease.
  expect(await second?.commit([state.open(knownTokens).expect("t", undefined)])).toBe(false);
  await state.close();
});

it("reads on if the state's own version cannot be read or set aside", async () => {
  const { store, write, error } = open();
  await write("version", "state", "{}");
  await write("tokens", "t", "{}");
  const commit: Store["commit"] = () => Promise.reject(new StateError("full"));
  const state = createState({ ...store, commit }, { log: { error } });
  for (let reads = 0; reads < 3; reads += 1) {
    expect(await state.open(stateVersion).get("state")).toBeUndefined();
    expect(await state.open(knownTokens).get("t")).toBeUndefined();
  }
  await store.close();
});

it("keeps a document that cannot be set aside, and sets it aside once the store can be written", async () => {
  const { store, write, lines, error } = open();
  await write("tokens", "t", "{}");
  let isFull = true;
  const commit: Store["commit"] = (writes) =>
    isFull ? Promise.reject(new StateError("full")) : store.commit(writes);
  const state = createState({ ...store, commit }, { log: { error } });
  const read = () => state.open(knownTokens).get("t");
  expect(await read()).toBeUndefined();
  expect(await read()).toBeUndefined();
  expect(await store.get("tokens", "t")).toBe("{}");
  isFull = false;
  expect(await read()).toBeUndefined();
  expect(await store.get("tokens", "t")).toBeUndefined();
  expect(await state.open(unreadableDocuments).get("tokens/t")).toMatchObject({ text: "{}" });
  expect(lines.map(({ message }) => message)).toEqual([
    "An unreadable document could not be set aside",
    "A document of the state cannot be read; it was set aside",
  ]);
  await store.close();
});
