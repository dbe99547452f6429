import { expect, it } from "vitest";
import * as z from "zod";
import { endSubscription } from "../../commands/subscribe/actions.js";
import { newDataDir } from "../../sandbox/bot-process.js";
import { startRedis } from "../../sandbox/redis-process.js";
import {
  announcedId,
  announcements,
  farewells,
  newsId,
  type Subscription,
  subscriptionDocuments,
  watchers,
} from "../../src/delivery/collections.js";
import { createJanitor } from "../../src/delivery/janitor.js";
import { createSubscriptions, idOf } from "../../src/delivery/subscriptions.js";
import { FIRST_FEED } from "../../src/delivery/version-1.js";
import { price } from "../../src/feeds/price/index.js";
import { defineCollection } from "../../src/storage/collection.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { connectRedis } from "../../src/storage/redis.js";
import { createRedisStore } from "../../src/storage/redis-store.js";
import { createState } from "../../src/storage/state.js";
import { readAll } from "../../src/storage/store.js";
import { currentSubscriptions } from "../../src/subscribe/editor.js";
import { newState, quiet } from "../harness.js";
import { describeWithRedis } from "../needs.js";

const CHANNELS = ["111111111111111", "222222222222222"] as const;

it("deletes everything about a removed channel, and keeps the others", async () => {
  const store = openFileStore(newDataDir());
  const state = createState(store, { log: quiet });
  const subscriptions = createSubscriptions(state);
  for (const channelId of CHANNELS) {
    await subscriptions.setHealth(channelId, { error: "none" });
    const message = { feed: FIRST_FEED, subject: "one", channelId, messageId: "1", in: channelId, at: 1 };
    const kept = [
      state.open(announcements).put(announcedId(FIRST_FEED, "one", channelId), { ...message, news: false }),
      state
        .open(announcements)
        .put(newsId(FIRST_FEED, "one", channelId, "one:vote:1"), { ...message, news: true }),
    ];
    await state.commit(kept);
  }
  await createJanitor(state, subscriptions).removeSubscription({
    channelId: CHANNELS[0],
    feed: FIRST_FEED,
    subject: null,
  });
  for (const collection of await store.collections()) {
    for (const id of (await readAll(store, collection)).keys()) expect(id).toContain(CHANNELS[1]);
  }
  expect((await state.open(announcements).list()).size).toBe(2);
  await state.close();
});

const subscribed = (channelId: string, subject: string | null): Subscription => ({
  channelId,
  feed: "tides",
  subject,
  guildId: null,
  userId: null,
  forum: false,
  tagId: null,
  since: 0,
  topics: {},
  roleId: null,
  thread: false,
  publish: false,
});

const gauges = defineCollection({
  name: "gauges",
  schema: z.object({ height: z.number() }),
  lifetime: "as long as its subscription",
  owners: [{ kind: "subscription" }],
});
const buoys = defineCollection({
  name: "buoys",
  schema: z.object({ channelId: z.string() }),
  lifetime: "as long as its channel's subscriptions",
  owners: [{ kind: "subscription", patternOf: (_, { channelId }) => ({ channelId, feed: "tides" }) }],
});

it("deletes documents that a poll wrote for a subscription removed meanwhile", async () => {
  const state = newState();
  const subscriptions = createSubscriptions(state);
  const [kept, gone] = CHANNELS;
  await state.commit(subscriptions.writes(subscribed(kept, "bay")));
  await state.commit([
    state.open(gauges).put(`tides/${kept}/bay`, { height: 1 }),
    state.open(gauges).put(`tides/${kept}/cove`, { height: 2 }),
    state.open(gauges).put(`tides/${gone}`, { height: 3 }),
    state.open(buoys).put("1", { channelId: kept }),
    state.open(buoys).put("2", { channelId: gone }),
  ]);
  await createJanitor(state, subscriptions, [gauges, buoys]).sweep();
  expect([...(await state.open(gauges).list()).keys()]).toEqual([`tides/${kept}/bay`]);
  expect([...(await state.open(buoys).list()).keys()]).toEqual(["1"]);
  await state.close();
});

it("deletes documents that several subscriptions share only with the last of them", async () => {
  const state = newState();
  const subscriptions = createSubscriptions(state);
  const janitor = createJanitor(state, subscriptions, [gauges, buoys]);
  const [channelId] = CHANNELS;
  for (const subject of ["bay", "cove"]) {
    await state.commit(subscriptions.writes(subscribed(channelId, subject)));
    await state.commit([state.open(gauges).put(`tides/${channelId}/${subject}`, { height: 1 })]);
  }
  await state.commit([state.open(buoys).put("1", { channelId })]);
  await subscriptions.setHealth(channelId, {});
  const left = async () => [
    (await state.open(gauges).list()).size,
    (await state.open(buoys).list()).size,
    (await subscriptions.healths()).size,
  ];
  await janitor.removeSubscription({ channelId, feed: "tides", subject: "bay" });
  expect(await left()).toEqual([1, 1, 1]);
  await janitor.removeSubscription({ channelId, feed: "tides", subject: "cove" });
  expect(await left()).toEqual([0, 0, 0]);
  await state.close();
});

it("forgets a person's messages that are still to be closed", async () => {
  const state = newState();
  const subscriptions = createSubscriptions(state);
  const janitor = createJanitor(state, subscriptions);
  const waiting = state.open(farewells);
  for (const [channelId, userId] of [
    [CHANNELS[0], "person-1"],
    [CHANNELS[1], "person-2"],
  ] as const) {
    await state.commit(subscriptions.writes({ ...subscribed(channelId, "bay"), guildId: null, userId }));
    const message = {
      feed: "tides",
      subject: "flood",
      channelId,
      in: channelId,
      messageId: "1",
      news: false,
    };
    const id = announcedId("tides", "flood", channelId);
    await state.commit([waiting.put(id, { ...message, at: 0, revision: 1, pings: "" })]);
  }
  await janitor.forgetPerson("person-1");
  expect([...(await waiting.list()).values()].map(({ channelId }) => channelId)).toEqual([CHANNELS[1]]);
  await state.close();
});

it("forgets a person whose last watch was removed before, and who was pinged in a channel", async () => {
  const state = newState();
  const subscriptions = createSubscriptions(state);
  const janitor = createJanitor(state, subscriptions);
  const [priv, open] = CHANNELS;
  const [person, other] = ["111111111111111111", "222222222222222222"];
  const watch = { ...subscribed(priv, "bay"), guildId: null, userId: person };
  await state.commit([
    ...subscriptions.writes(watch),
    ...subscriptions.writes(subscribed(open, null)),
    state.open(watchers).put(person, { channelId: priv }),
  ]);
  const messageIn = (channelId: string, pings: string) => ({
    ...{ feed: "tides", subject: "flood", channelId, in: channelId, messageId: "1", news: false },
    ...{ at: 0, revision: 1, pings },
  });
  const [privately, openly] = [priv, open].map((channelId) => announcedId("tides", "flood", channelId));
  await state.commit([
    state.open(announcements).put(privately ?? "", messageIn(priv, "")),
    state
      .open(announcements)
      .put(openly ?? "", messageIn(open, `<@${other}> <@${person}> <@&333333333333333333>`)),
  ]);
  await janitor.removeSubscription(watch);
  expect([...(await state.open(farewells).list()).values()]).toHaveLength(1);
  await janitor.forgetPerson(person);
  expect((await state.open(farewells).list()).size).toBe(0);
  const [message] = [...(await state.open(announcements).list()).values()];
  expect(message?.pings).toBe(`<@${other}> <@&333333333333333333>`);
  await janitor.forgetPerson(other);
  expect([...(await state.open(announcements).list()).values()][0]?.pings).toBe("<@&333333333333333333>");
  await state.close();
});

it("removes a subscription that is changed meanwhile, and says so if it has moved to another subject", async () => {
  const state = newState();
  const subscriptions = createSubscriptions(state);
  const [bay, cove] = [subscribed(CHANNELS[0], "bay"), subscribed(CHANNELS[0], "cove")];
  /** Creates a janitor whose reading of the subscriptions is followed by a change, once. */
  const janitorBefore = (change: () => Promise<unknown>) => {
    let isChanged = false;
    const all = async () => {
      const before = await subscriptions.all();
      if (!isChanged) await change();
      isChanged = true;
      return before;
    };
    return createJanitor(state, { ...subscriptions, all });
  };
  await state.commit(subscriptions.writes(bay));
  const inThread = () => subscriptions.change(bay, (stored) => ({ ...stored, thread: true }));
  expect(await janitorBefore(inThread).removeSubscription(bay)).toBe(true);
  expect(await subscriptions.all()).toEqual([]);

  await state.commit(subscriptions.writes(bay));
  const documents = state.open(subscriptionDocuments);
  const move = () => state.commit([documents.delete(idOf(bay)), ...subscriptions.writes(cove)]);
  expect(await janitorBefore(move).removeSubscription(bay)).toBe(false);
  expect((await subscriptions.all()).map(({ subject }) => subject)).toEqual(["cove"]);
  await state.close();
});

it("is removed for two people who remove it together, but not for one who removes it while it moves", async () => {
  const state = newState();
  const subscriptions = createSubscriptions(state);
  const janitor = createJanitor(state, subscriptions);
  const subscription = { ...subscribed(CHANNELS[0], "above-0.2"), feed: price.definition.name, since: 1 };
  const networkState = { id: undefined, name: "Main", state, subscriptions, janitor };
  const found = { subscription, feed: price.definition, networkState, network: undefined };
  await state.commit(subscriptions.writes(subscription));
  await Promise.all([endSubscription(found, "1"), endSubscription(found, "1")]);
  expect(await subscriptions.all()).toEqual([]);
  await state.commit(subscriptions.writes({ ...subscription, subject: "above-0.3" }));
  await expect(endSubscription(found, "1")).rejects.toThrow("no longer exists");
  expect(await subscriptions.all()).toHaveLength(1);
  await state.close();
});

it("records nothing for a subscription that has just been removed", async () => {
  const state = newState();
  const subscriptions = createSubscriptions(state);
  const subscription = subscribed(CHANNELS[0], null);
  await state.commit(subscriptions.writes(subscription));
  const unchanged = await subscriptions.unchanged(subscription);
  await createJanitor(state, subscriptions).removeSubscription(subscription);
  expect(await subscriptions.unchanged(subscription)).toBeUndefined();
  const record = subscriptions.healthWrite(subscription.channelId, { deliveredAt: 1 });
  expect(await state.commit([...(unchanged ? [unchanged] : []), record])).toBe(false);
  await state.close();
});

describeWithRedis("two processes on one Redis", () => {
  it("count the same subscriptions for a limit, whatever one of them has listed before", async () => {
    const server = await startRedis();
    const open = async () => {
      const connection = connectRedis(server.url, quiet);
      await connection.connected(5_000);
      const state = createState(createRedisStore(connection.client), { log: quiet });
      const subscriptions = createSubscriptions(state);
      const janitor = createJanitor(state, subscriptions);
      const own = { id: "main", name: "", state, subscriptions, janitor };
      const networks = { served: [], resting: async () => [own] };
      return { connection, state, subscriptions, networks };
    };
    const [first, second] = [await open(), await open()];
    const [channelId] = CHANNELS;
    const isOwn = (each: Subscription) => each.channelId === channelId;
    expect(await second.subscriptions.of([channelId])).toHaveLength(0);
    await first.state.commit(first.subscriptions.writes(subscribed(channelId, "bay")));
    expect(await currentSubscriptions(second.networks, isOwn)).toHaveLength(1);
    for (const { connection } of [first, second]) await connection.close();
    await server.close();
  });
});
