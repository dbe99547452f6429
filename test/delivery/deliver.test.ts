import { REST } from "discord.js";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { DiscordError } from "../../sandbox/discord/errors.js";
import { PERMISSION } from "../../sandbox/discord/permissions.js";
import { RateLimited } from "../../sandbox/discord/rate-limits.js";
import { type SandboxDiscord, startSandboxDiscord } from "../../sandbox/discord/server.js";
import {
  type Announced,
  announcedId,
  announcements,
  bundledDeliveries,
  channelHealths,
  pendingDeliveries,
  type Subscription,
  subscriptionDocuments,
  subscriptionId,
} from "../../src/delivery/collections.js";
import { requestDrill } from "../../src/delivery/drill.js";
import { BUNDLE, readListeners } from "../../src/delivery/fan-out.js";
import type { Feed, SubjectState } from "../../src/delivery/feed.js";
import { createJanitor } from "../../src/delivery/janitor.js";
import { createOutbox, type Outbox } from "../../src/delivery/outbox.js";
import { createSubscriptions } from "../../src/delivery/subscriptions.js";
import { createUpkeep } from "../../src/delivery/upkeep.js";
import { createRenderer } from "../../src/discord/message.js";
import { createPacer } from "../../src/discord/pacer.js";
import { postMessage } from "../../src/discord/post.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { createState, type State } from "../../src/storage/state.js";
import { md } from "../../src/text/markdown.js";
import { DAY } from "../../src/util/units.js";
import { newLinks, quiet } from "../harness.js";

const FEED = "tides";
const renderer = createRenderer(newLinks());
let discord: SandboxDiscord;
let channel: ReturnType<SandboxDiscord["world"]["addChannel"]>;
let channelId: string;
let store: ReturnType<typeof openFileStore>;
let outbox: Outbox;
let now = Date.now();

beforeAll(async () => {
  discord = await startSandboxDiscord({ now: () => now });
});
afterAll(() => discord.close());
beforeEach(() => {
  store = openFileStore(newDataDir());
  now = Date.now();
  channel = discord.world.addChannel({ type: 0, guild_id: discord.guild.id, name: "tides" });
  channelId = channel.id;
});
afterEach(async () => {
  await outbox.stop();
  await store.close();
});

const newRest = () =>
  new REST({
    api: discord.url,
    retries: 0,
    rejectOnRateLimit: () => true,
    globalRequestsPerSecond: 1_000,
  }).setToken(discord.token);

const viewOf = (text: string, mark?: string) =>
  renderer.message({
    notification: md`${text}`,
    title: md`Tide`,
    tone: "neutral",
    readings: [],
    links: [
      { label: "Price", to: { screen: "price", parameters: { over: "1d" } }, ...(mark ? { mark } : {}) },
    ],
  });

/** Creates an outbox and an upkeep with a feed of this test, whose clock the test sets. */
function deliveryOf(feed: Partial<Feed>) {
  const state = createState(store, { log: quiet });
  const ownFeed = {
    definition: { name: FEED, topics: { news: { words: "News", byDefault: true } } },
    readEvent: (event: unknown) => event,
    idOf: String,
    topicOf: () => "news",
    subjectsOf: () => ["high"],
    begins: () => true,
    wants: () => true,
    render: async (event: unknown, mark: string) => ({
      payload: viewOf(`Tide ${String(event)}`, mark),
      title: "Tide",
      revision: 1,
    }),
    ...feed,
  } as unknown as Feed;
  const subscriptions = createSubscriptions(state);
  const janitor = createJanitor(state, subscriptions);
  const context = {
    state,
    lease: { epoch: 1, validUntil: () => Number.POSITIVE_INFINITY },
    rest: newRest(),
    renderer,
    pacer: createPacer(0),
    feeds: new Map([[FEED, ownFeed]]),
    subscriptions,
    janitor,
    log: quiet,
    now: () => now,
    discordTime: () => now,
    onDelivered: () => {},
    mayEdit: () => true,
  };
  outbox = createOutbox({ ...context, onRecorded: () => {} });
  const subscribe = (subject: string | null, more: Partial<Subscription> = {}) =>
    state.commit([
      state.open(subscriptionDocuments).put(subscriptionId(channelId, FEED, subject), {
        channelId,
        feed: FEED,
        subject,
        guildId: discord.guild.id,
        userId: null,
        forum: false,
        tagId: null,
        since: 1,
        topics: {},
        roleId: null,
        thread: false,
        publish: false,
        ...more,
      }),
    ]);
  const publish = async (event: string) => {
    const { writes, release } = await outbox.prepare(
      ownFeed,
      [event],
      await readListeners(subscriptions, FEED, now),
    );
    await state.commit(writes);
    return release;
  };
  const note = (document: Partial<Announced>) =>
    state.commit([
      state.open(announcements).put(announcedId(FEED, "high", channelId), {
        ...{ feed: FEED, subject: "high", channelId, news: false, messageId: "1", in: channelId, at: now },
        ...{ revision: 1, pings: "", ...document },
      }),
    ]);
  return { state, subscriptions, janitor, subscribe, publish, note, upkeep: createUpkeep(context) };
}

const texts = () => discord.world.read(channel).map(({ content }) => content);
const isIdle = async () => outbox.idle() && (await outbox.waitingMs()) === 0;
const settled = () => expect.poll(isIdle).toBe(true);
/** Waits until each delivery has been sent or dropped, also just after its release, when the outbox is still idle. */
const untilNoneWaits = (state: State) =>
  expect.poll(async () => (await state.open(pendingDeliveries).list()).size).toBe(0);

it("does not ping the role of a subscription that is paused, and sends nothing if all of them are", async () => {
  const { state, subscribe, publish } = deliveryOf({});
  await subscribe("a");
  await subscribe("b");
  await subscribe("c", { isPaused: true, roleId: discord.world.addRole(discord.guild, "Paused", 0n).id });
  (await publish("one"))();
  await expect.poll(texts).toEqual(["Tide one"]);

  const release = await publish("two");
  await subscribe("a", { isPaused: true });
  await subscribe("b", { isPaused: true });
  release();
  await untilNoneWaits(state);
  expect(texts()).toEqual(["Tide one"]);
});

it("does not deliver what happened before a channel has subscribed again", async () => {
  const { state, subscribe, publish } = deliveryOf({});
  await subscribe(null);
  const release = await publish("old");
  await state.commit([state.open(subscriptionDocuments).delete(subscriptionId(channelId, FEED, null))]);
  now += 60_000;
  await subscribe(null, { since: now });
  release();
  await settled();
  (await publish("new"))();
  await expect.poll(texts).toEqual(["Tide new"]);
});

it("delivers to the subscription that has replaced its own, and pings the role whose settings apply", async () => {
  const role = discord.world.addRole(discord.guild, "Nearest", 0n, { mentionable: true });
  const { state, subscribe, publish } = deliveryOf({
    wants: ({ subject }) => subject !== "c",
    nearest: (wanting) => wanting.filter(({ roleId }) => roleId === role.id),
  });
  const other = discord.world.addRole(discord.guild, "Farther", 0n, { mentionable: true });
  await subscribe("a");
  const release = await publish("one");
  await state.commit([state.open(subscriptionDocuments).delete(subscriptionId(channelId, FEED, "a"))]);
  await subscribe("a b", { roleId: role.id });
  await subscribe("b d", { roleId: other.id });
  await subscribe("c");
  release();
  await expect.poll(texts).toEqual([`<@&${role.id}> Tide one`]);
});

it("takes an error while rendering for a reason to try again, and not for the channel's refusal", async () => {
  let attempts = 0;
  const { subscribe, publish, subscriptions } = deliveryOf({
    async render(event, mark) {
      attempts += 1;
      if (attempts === 1) await newRest().get(`/guilds/${discord.guild.id}/members/1`);
      return { payload: viewOf(`Tide ${String(event)}`, mark), title: "Tide", revision: 1 };
    },
  });
  discord.trap({
    method: "GET",
    path: /members\/1$/,
    times: 1,
    error: new DiscordError(404, 10_013, "Unknown User"),
  });
  await subscribe("a");
  (await publish("one"))();
  await expect.poll(() => attempts).toBe(1);
  await expect
    .poll(() => {
      // The failure may not be recorded yet.
      now += 60_000;
      outbox.wake();
      return texts();
    })
    .toEqual(["Tide one"]);
  expect(await subscriptions.health(channelId)).not.toHaveProperty("paused");
});

it("looks for a message that may have been sent where it was sent, although its thread has opened since", async () => {
  const { subscribe, publish, note } = deliveryOf({ begins: () => false });
  await subscribe("a");
  await note({});
  discord.trap({ method: "POST", path: /messages$/, times: 1, error: "lost" });
  (await publish("one"))();
  await expect.poll(texts).toEqual(["Tide one"]);
  await expect.poll(() => outbox.idle()).toBe(true);
  const thread = discord.world.addChannel({ type: 11, guild_id: discord.guild.id, name: "thread" });
  await note({ threadId: thread.id });
  // Discord knows a nonce for a few minutes.
  now += 600_000;
  outbox.wake();
  await settled();
  expect([texts(), discord.world.read(thread).length]).toEqual([["Tide one"], 0]);
});

it("keeps the channel's subscriptions if the thread in which it looks for a message is gone", async () => {
  const { state, subscribe, publish, note } = deliveryOf({ begins: () => false });
  await subscribe("a");
  const thread = discord.world.addChannel({ type: 11, guild_id: discord.guild.id, name: "thread" });
  await note({ threadId: thread.id });
  discord.trap({ method: "POST", path: /messages$/, times: 1, error: "reset" });
  (await publish("one"))();
  const pending = async () => [...(await state.open(pendingDeliveries).list()).values()];
  await expect.poll(async () => (await pending()).map(({ attempts }) => attempts)).toEqual([1]);
  await note({ threadId: thread.id, gone: true });
  const error = new DiscordError(404, 10_003, "Unknown Channel");
  discord.trap({ method: "GET", path: new RegExp(`${thread.id}/messages`), times: 1, error });
  now += 600_000;
  outbox.wake();
  await expect.poll(texts).toEqual(["Tide one"]);
  expect((await state.open(subscriptionDocuments).list()).size).toBe(1);
});

it("keeps nothing about a channel whose subscription ends while a delivery to it fails", async () => {
  const { state, subscribe, publish, janitor } = deliveryOf({});
  await subscribe("a");
  discord.trap({
    method: "POST",
    path: /messages$/,
    times: 1,
    delayMs: 200,
    error: new DiscordError(403, 50_001, "Missing Access"),
  });
  (await publish("one"))();
  await expect.poll(() => outbox.idle()).toBe(false);
  await janitor.removeSubscription({ channelId, feed: FEED, subject: "a" });
  await settled();
  expect([...(await state.open(channelHealths).list()).keys()]).toEqual([]);
});

it("shows a subject's end although its thread is gone, and shows it open again", async () => {
  let subject: SubjectState = { revision: 2, endedAt: now };
  const edits: string[] = [];
  const { state, note, upkeep } = deliveryOf({
    lasting: {
      stateOf: async () => subject,
      beginningOf: (name) => name,
      titleOf: async () => "Tide",
      async current() {
        edits.push(subject.endedAt === null ? "open" : "ended");
        return viewOf("Tide");
      },
    },
  });
  const post = { payload: viewOf("Tide"), nonce: "tide" };
  const messageId = await postMessage(newRest(), channelId, post, new AbortController().signal);
  await note({ messageId, threadId: "1" });
  const noted = () => state.open(announcements).get(announcedId(FEED, "high", channelId));
  await upkeep.run();
  expect(await noted()).toMatchObject({ revision: 2, isOver: true });
  subject = { revision: 3, endedAt: null };
  now += 600_000;
  upkeep.touch(FEED);
  await upkeep.run();
  expect(await noted()).toMatchObject({ revision: 3 });
  expect(await noted()).not.toHaveProperty("isOver");
  expect(edits).toEqual(["ended", "open"]);
});

it("sends an event to more channels than one commit writes, once and in order, also after a kill between the commits", async () => {
  discord.limits.enforced = false;
  const before = deliveryOf({});
  const channels = Array.from({ length: BUNDLE + 50 }, (_, at) =>
    discord.world.addChannel({ type: 0, guild_id: discord.guild.id, name: `tide ${at}` }),
  );
  for ({ id: channelId } of channels) await before.subscribe("a");
  const bundles = async () => (await before.state.open(bundledDeliveries).list()).size;
  await before.publish("one");
  expect((await before.state.open(pendingDeliveries).list()).size).toBe(BUNDLE);
  expect(await bundles()).toBe(1);
  await outbox.stop();

  const { publish } = deliveryOf({});
  const releases = [await publish("two"), await publish("three")];
  for (const release of releases) release();
  const told = () => channels.map((each) => discord.world.read(each).map(({ content }) => content));
  const wanted = ["Tide one", "Tide two", "Tide three"];
  await expect.poll(() => told().filter((each) => each.length < wanted.length)).toEqual([]);
  expect(told()).toEqual(channels.map(() => wanted));
  await expect.poll(async () => (await before.state.open(pendingDeliveries).list()).size).toBe(0);
  expect(await bundles()).toBe(0);
});

it("publishes no message that it sends to a thread", async () => {
  channel = discord.world.addChannel({ type: 5, guild_id: discord.guild.id, name: "news" });
  channelId = channel.id;
  const { subscribe, publish, note, upkeep } = deliveryOf({ begins: () => false });
  await subscribe("a", { publish: true, thread: true });
  const thread = discord.world.addChannel({
    type: 10,
    guild_id: discord.guild.id,
    name: "t",
    parent_id: channelId,
  });
  await note({ threadId: thread.id });
  (await publish("one"))();
  await expect.poll(() => discord.world.read(thread)).toHaveLength(1);
  await settled();
  await upkeep.run();
  expect(
    discord.requests.filter(({ path }) => path.includes(channelId) && path.endsWith("/crosspost")),
  ).toEqual([]);
});

it.each([
  ["threads", 160_007],
  ["crosspost", 20_016],
])("opens the thread and publishes, one although the other has to wait (%s)", async (waiting, code) => {
  channel = discord.world.addChannel({ type: 5, guild_id: discord.guild.id, name: "news" });
  channelId = channel.id;
  const { subscribe, publish, upkeep } = deliveryOf({
    lasting: { titleOf: async () => "Tide", stateOf: async () => ({ revision: 1, endedAt: null }) } as never,
  });
  await subscribe("a", { publish: true, thread: true });
  const path = new RegExp(`${channelId}.*${waiting}$`);
  const trap = { method: "POST", path, times: 100, error: new DiscordError(429, code, "Wait") };
  discord.trap(trap);
  (await publish("one"))();
  await settled();
  const done = () =>
    discord.world.read(channel).map(({ flags, thread }) => [(flags & 1) === 1, thread !== undefined]);
  await expect
    .poll(async () => {
      upkeep.touch(FEED);
      await upkeep.run();
      return done();
    })
    .toEqual([waiting === "threads" ? [true, false] : [false, true]]);
  trap.times = 0;
});

it("posts again in a forum whose archived posts it may not list, if an answer was lost before the post", async () => {
  const forum = discord.world.addChannel({ type: 15, guild_id: discord.guild.id, name: "forum" });
  channelId = forum.id;
  const { subscribe, publish, subscriptions } = deliveryOf({});
  await subscribe("a", { forum: true });
  discord.trap({ method: "POST", path: /threads$/, times: 1, error: "reset" });
  const error = new DiscordError(403, 50_013, "Missing Permissions");
  discord.trap({ method: "GET", path: /archived/, times: 1, error });
  (await publish("one"))();
  const posts = () => [...discord.world.channels.values()].filter((each) => each.parent_id === forum.id);
  await expect
    .poll(() => {
      now += 600_000;
      outbox.wake();
      return posts();
    })
    .toHaveLength(1);
  expect(await subscriptions.health(channelId)).not.toHaveProperty("paused");
});

it("opens one post in a forum for the news of a subject whose own post was deleted", async () => {
  const forum = discord.world.addChannel({ type: 15, guild_id: discord.guild.id, name: "forum" });
  channelId = forum.id;
  const { subscribe, publish } = deliveryOf({ begins: (event) => event === "opened" });
  await subscribe("a", { forum: true });
  const posts = () => [...discord.world.channels.values()].filter((each) => each.parent_id === forum.id);
  const inPosts = () => posts().flatMap((post) => discord.world.read(post).map(({ content }) => content));
  for (const event of ["opened", "first", "second"]) {
    (await publish(event))();
    await expect.poll(inPosts).toContain(`Tide ${event}`);
    await settled();
    if (event === "opened") for (const { id } of posts()) discord.world.channels.delete(id);
  }
  expect(posts()).toHaveLength(1);
  expect(inPosts()).toEqual(["Tide first", "Tide second"]);
});

it("waits until it may see a forum again, and then continues in the same post", async () => {
  const forum = discord.world.addChannel({ type: 15, guild_id: discord.guild.id, name: "forum" });
  channelId = forum.id;
  const { subscribe, publish, subscriptions, state } = deliveryOf({ begins: (event) => event === "opened" });
  await subscribe("a", { forum: true });
  (await publish("opened"))();
  const posts = () => [...discord.world.channels.values()].filter((each) => each.parent_id === forum.id);
  await expect.poll(posts).toHaveLength(1);
  await settled();
  for (const [code, words] of [
    [50_001, "Missing Access"],
    [50_013, "Missing Permissions"],
  ] as const) {
    const [post] = posts();
    const error = new DiscordError(403, code, words);
    discord.trap({ method: "POST", path: new RegExp(`${post?.id}/messages`), times: 1, error });
    (await publish(words))();
    await expect.poll(async () => (await subscriptions.health(channelId)).paused).toBe(true);
    await settled();
    await state.commit([subscriptions.healthWrite(channelId, {})]);
    await expect
      .poll(() => {
        now += 10_000;
        outbox.wake();
        return post && discord.world.read(post).map(({ content }) => content);
      })
      .toContain(`Tide ${words}`);
    await settled();
  }
  expect(posts()).toHaveLength(1);
});

it("leaves out what its channel no longer wants to be told", async () => {
  const { subscribe, publish } = deliveryOf({ topicOf: (event) => (event === "one" ? "news" : "gossip") });
  await subscribe("a", { topics: { gossip: true } });
  const releases = [await publish("two"), await publish("one")];
  await subscribe("a", { topics: { gossip: false } });
  for (const release of releases) release();
  await expect.poll(texts).toEqual(["Tide one"]);
  await settled();
  expect(texts()).toHaveLength(1);
});

it("drops a drill that could not be sent for ten minutes", async () => {
  const { state, subscribe, subscriptions } = deliveryOf({});
  await subscribe(null);
  const drill = (id: string) =>
    requestDrill(
      state,
      renderer,
      { channelId, feed: FEED, subject: null },
      id,
      async () => ({ notification: md`Drill ${id}`, title: md`Tide`, tone: "neutral", readings: [] }),
      now,
    );
  discord.trap({
    method: "POST",
    path: new RegExp(`${channelId}/messages`),
    times: 1,
    error: new DiscordError(403, 50_013, "Missing Permissions"),
  });
  await drill("one");
  await outbox.pickUpDrills();
  await expect.poll(async () => (await subscriptions.health(channelId)).paused).toBe(true);
  await state.commit([subscriptions.healthWrite(channelId, {})]);
  await expect
    .poll(async () => {
      now += 11 * 60_000;
      outbox.wake();
      return (await state.open(pendingDeliveries).list()).size;
    })
    .toBe(0);
  await drill("two");
  await outbox.pickUpDrills();
  await expect.poll(texts).toEqual(["🧪 TEST: Drill two"]);
});

it("drops what has waited for a day in a paused channel, so that it is no news when the channel is resumed", async () => {
  const { state, subscribe, subscriptions, publish } = deliveryOf({});
  await subscribe(null);
  await state.commit([subscriptions.healthWrite(channelId, { paused: true })]);
  (await publish("old"))();
  now += DAY + 1;
  await expect
    .poll(async () => {
      outbox.wake();
      return (await state.open(pendingDeliveries).list()).size;
    })
    .toBe(0);
  await state.commit([subscriptions.healthWrite(channelId, {})]);
  (await publish("new"))();
  await expect.poll(texts).toEqual(["Tide new"]);
});

it.each<[string, Partial<Announced>, number, readonly string[]]>([
  ["was sent after its end, and after the news", { isOver: true }, 1, []],
  ["was sent after its end, but before the news", { isOver: true }, -1, ["Tide news"]],
  ["was edited at its end", { isOver: true, editedAt: 1 }, 1, ["Tide news"]],
  ["shows no end", {}, 1, ["Tide news"]],
])(
  "sends news about a subject unless its message says the same: it %s",
  async (_, shown, later, expected) => {
    const { state, subscribe, publish, note } = deliveryOf({ begins: () => false });
    await subscribe(null);
    await note({ ...shown, at: now + later });
    (await publish("news"))();
    await untilNoneWaits(state);
    expect(texts()).toEqual(expected);
  },
);

it("opens a new post, and does not pause the forum, if a moderator has locked one", async () => {
  const forum = discord.world.addChannel({ type: 15, guild_id: discord.guild.id, name: "locked-forum" });
  channelId = forum.id;
  const { subscribe, publish, subscriptions } = deliveryOf({
    begins: (event) => String(event).startsWith("opened"),
    subjectsOf: (event) => [String(event).split(" ")[1] ?? ""],
  });
  await subscribe("a", { forum: true });
  const posts = () => [...discord.world.channels.values()].filter((each) => each.parent_id === forum.id);
  const written = () =>
    posts()
      .flatMap((each) => discord.world.read(each))
      .map(({ content }) => content);
  (await publish("opened x"))();
  await expect.poll(posts).toHaveLength(1);
  await settled();
  const [metadata] = posts().flatMap(({ thread_metadata }) => thread_metadata ?? []);
  Object.assign(metadata ?? {}, { archived: true, locked: true });
  for (const release of [await publish("news x"), await publish("opened y")]) release();
  await expect.poll(() => written().toSorted()).toEqual(["Tide news x", "Tide opened x", "Tide opened y"]);
  expect((await subscriptions.health(channelId)).paused).toBeFalsy();
});

it.each([
  ["Discord's firewall blocks the bot", new DiscordError(403, 40_333, "internal network error")],
  ["there are too many threads of announcements", new DiscordError(400, 160_007, "Maximum active threads")],
  ["Discord asks to wait, but not for how long", new RateLimited(0, "user")],
  ["Discord asks to wait for a time that is no number", new RateLimited(Number.NaN, "user")],
])("tries again later, also after a restart, if %s", async (_, error) => {
  const { subscribe, publish, subscriptions } = deliveryOf({});
  await subscribe("a");
  const path = new RegExp(`${channelId}/messages`);
  const trap = { method: "POST", path, times: 100, error };
  discord.trap(trap);
  const tries = () =>
    discord.requests.filter((each) => each.method === "POST" && path.test(each.path)).length;
  (await publish("one"))();
  await expect.poll(tries).toBeGreaterThan(0);
  await settled();
  // If the answer names no wait, it backs off.
  expect(tries()).toBeLessThan(4);
  expect((await subscriptions.health(channelId)).paused).toBeFalsy();
  trap.times = 0;
  await outbox.stop();
  now += 20 * 60_000;
  deliveryOf({});
  outbox.wake();
  await expect.poll(texts).toEqual(["Tide one"]);
});

it("sends a message without its picture if the bot may attach none", async () => {
  const { subscribe, publish, subscriptions } = deliveryOf({
    render: async (event, mark) => ({
      payload: renderer.message({
        notification: md`Tide ${String(event)}`,
        title: md`Tide`,
        picture: { name: "a.png", content: Buffer.from("x"), description: "A picture" },
        links: [{ label: "Price", to: { screen: "price", parameters: { over: "1d" } }, mark }],
      }),
      title: "Tide",
      revision: 1,
    }),
  });
  await subscribe("a");
  const deny = String(PERMISSION.attachFiles);
  channel.permission_overwrites.push({ id: discord.world.bot.id, type: 1, allow: "0", deny });
  (await publish("one"))();
  await expect.poll(texts).toEqual(["Tide one"]);
  expect((await subscriptions.health(channelId)).paused).toBeFalsy();
});

it("keeps editing a message in a person's archived thread, which the bot may open but not archive", async () => {
  const metadata = {
    archived: false,
    locked: false,
    auto_archive_duration: 10_080,
    archive_timestamp: new Date(now).toISOString(),
  };
  const thread = discord.world.addChannel({
    type: 11,
    guild_id: discord.guild.id,
    parent_id: channelId,
    name: "a moderator's thread",
    owner_id: discord.people.owner.id,
    thread_metadata: metadata,
  });
  channelId = thread.id;
  let subject: SubjectState = { revision: 2, endedAt: null };
  let edits = 0;
  const { state, note, upkeep } = deliveryOf({
    lasting: {
      stateOf: async () => subject,
      beginningOf: (name) => name,
      titleOf: async () => "Tide",
      async current() {
        edits += 1;
        return viewOf(`Tide ${subject.revision}`);
      },
    },
  });
  const post = { payload: viewOf("Tide 1"), nonce: "a thread's" };
  const messageId = await postMessage(newRest(), channelId, post, new AbortController().signal);
  await note({ messageId });
  const noted = () => state.open(announcements).get(announcedId(FEED, "high", channelId));
  // Nobody writes for eight days, and Discord archives the thread. It refuses edits there, which the sandbox does not.
  now += 8 * 86_400_000;
  metadata.archived = true;
  const error = new DiscordError(400, 50_083, "Thread is archived");
  discord.trap({ method: "PATCH", path: /messages/, times: 1, error });
  await upkeep.run();
  // The vote ends.
  subject = { revision: 3, endedAt: now };
  now += 600_000;
  upkeep.touch(FEED);
  await upkeep.run();
  expect(discord.world.read(thread).map(({ content }) => content)).toEqual(["Tide 3"]);
  expect(await noted()).toMatchObject({ revision: 3, isOver: true });
  expect(edits).toBe(2);
});

it("shows the ends of subjects first in the messages that were sent first, because Discord limits such edits", async () => {
  const edited: string[] = [];
  const { state, upkeep } = deliveryOf({
    lasting: {
      stateOf: async (subject) => ({ revision: 2, endedAt: subject === "open" ? null : now }),
      beginningOf: (name) => name,
      titleOf: async () => "Tide",
      async current(subject) {
        edited.push(subject);
        return viewOf("Tide");
      },
    },
  });
  const sentInOrder = ["open", "ebb", "high", "flood", "low"];
  const documents = sentInOrder.map((subject, at) =>
    state.open(announcements).put(announcedId(FEED, subject, channelId), {
      ...{ feed: FEED, subject, channelId, news: false, messageId: String(at + 1), in: channelId },
      ...{ at: now - 3_600_000 + at, revision: 1, pings: "" },
    }),
  );
  await state.commit(documents);
  await upkeep.run();
  expect(edited).toEqual(["ebb", "high", "flood", "low", "open"]);
});

it("edits a message in time although the clock is set back while the edit waits", async () => {
  const { note, upkeep } = deliveryOf({
    lasting: {
      stateOf: async () => ({ revision: 2, endedAt: null }),
      beginningOf: (name) => name,
      titleOf: async () => "Tide",
      current: async () => viewOf("Tide 2"),
    },
  });
  const post = { payload: viewOf("Tide 1"), nonce: "set back" };
  const messageId = await postMessage(newRest(), channelId, post, new AbortController().signal);
  await upkeep.run();
  now += 20 * 3_600_000;
  await note({ messageId, editedAt: now });
  upkeep.note([announcedId(FEED, "high", channelId)]);
  await upkeep.run();
  expect(texts()).toEqual(["Tide 1"]);
  now -= 10 * 3_600_000;
  await upkeep.run();
  expect(texts()).toEqual(["Tide 2"]);
});
