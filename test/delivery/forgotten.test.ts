import { expect, it } from "vitest";
import * as z from "zod";
import { newDataDir } from "../../sandbox/bot-process.js";
import { announcements, farewells } from "../../src/delivery/collections.js";
import { draftOf } from "../../src/delivery/feed.js";
import { createJanitor } from "../../src/delivery/janitor.js";
import { collectionsOf } from "../../src/delivery/module.js";
import { createSubscriptions } from "../../src/delivery/subscriptions.js";
import { feeds } from "../../src/feeds/index.js";
import { price } from "../../src/feeds/price/index.js";
import { networkChoices } from "../../src/networks/choices.js";
import { defineCollection } from "../../src/storage/collection.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { createState } from "../../src/storage/state.js";
import { exportState } from "../../src/storage/transfer.js";
import { quiet } from "../harness.js";

const USER = "111111111111111111";
const CHANNEL = "222222222222222222";

it.each([
  ["responses", "333333333333333333/a/1", { revision: "x", acknowledged: { by: USER, at: 1 } }],
  ["voters", "444444444444444444/a", { guildId: "4", who: { kind: "member", id: USER }, setAt: "bad" }],
  ["network-choices", `person:${USER}`, { network: "test" }],
  ["digests", `digest/${CHANNEL}`, { x: 1 }],
  ["validator-watches", `validator/${CHANNEL}/v`, []],
  ["health", CHANNEL, { paused: "x" }],
] as const)(
  "nothing is left of a forgotten person's unreadable document in %s",
  async (collection, id, document) => {
    const store = openFileStore(newDataDir());
    const state = createState(store, { log: quiet });
    await store.commit([
      { op: "put", collection: "people", id: USER, text: JSON.stringify({ channelId: CHANNEL }) },
      { op: "put", collection, id, text: JSON.stringify(document) },
    ]);
    const janitor = createJanitor(state, createSubscriptions(state), [
      ...collectionsOf(feeds),
      networkChoices,
    ]);
    await janitor.forgetPerson(USER);
    await janitor.sweep();
    expect((await exportState(store)).collections).toEqual({});
    await store.close();
  },
);

it.each([
  [true, 1],
  [false, 0],
])(
  "a removed subscription's open messages are closed only where something closes them: %s",
  async (closes, count) => {
    const store = openFileStore(newDataDir());
    const state = createState(store, { log: quiet });
    const subscriptions = createSubscriptions(state);
    const subscription = {
      ...draftOf(price.definition, CHANNEL),
      subject: "above-1",
      userId: USER,
      since: 1,
    };
    const message = {
      feed: "price",
      subject: "above-1",
      channelId: CHANNEL,
      messageId: "1",
      in: CHANNEL,
      at: 1,
    };
    await state.commit([
      ...subscriptions.writes(subscription),
      state.open(announcements).put("price/one", { ...message, news: false, revision: 1 }),
    ]);
    await createJanitor(state, subscriptions, [], closes).removeSubscription(subscription);
    expect((await state.open(farewells).list()).size).toBe(count);
    expect((await state.open(announcements).list()).size).toBe(0);
    await store.close();
  },
);

it("refuses a collection that all networks share and that belongs to subscriptions", async () => {
  const shared = defineCollection({
    name: "shared",
    schema: z.object({}),
    lifetime: "as long as its subscription",
    isShared: true,
    owners: [{ kind: "subscription" }],
  });
  const store = openFileStore(newDataDir());
  const state = createState(store, { log: quiet });
  expect(() => createJanitor(state, createSubscriptions(state), [shared])).toThrow(/shared by all networks/);
  await store.close();
});
