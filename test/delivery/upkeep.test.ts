import { REST } from "discord.js";
import { expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { announcedId, announcements } from "../../src/delivery/collections.js";
import type { Feed, SubjectState } from "../../src/delivery/feed.js";
import { createSubscriptions } from "../../src/delivery/subscriptions.js";
import { createUpkeep } from "../../src/delivery/upkeep.js";
import { createRenderer } from "../../src/discord/message.js";
import { createPacer } from "../../src/discord/pacer.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { createState } from "../../src/storage/state.js";
import { newLinks, quiet } from "../harness.js";

const CHANNELS = 100;
const SUBJECTS = 20;
const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

it("reads nothing in a run without due work, regardless of the number of messages", async () => {
  const store = openFileStore(newDataDir());
  const reads = { list: 0, get: 0 };
  let meanwhile = () => {};
  let failsAt = 0;
  const counted = {
    ...store,
    pages: (collection: string, start?: string) => {
      reads.list += 1;
      meanwhile();
      return store.pages(collection, start);
    },
    get: (collection: string, id: string) => {
      reads.get += 1;
      if (reads.get === failsAt) throw new Error("The state cannot be read");
      return store.get(collection, id);
    },
  };
  const state = createState(counted, { log: quiet });
  let now = 1_800_000_000_000;
  const states = new Map<string, SubjectState>();
  const writes = [];
  for (let subject = 0; subject < SUBJECTS; subject += 1) {
    // The sixth ended two days ago, and the others after the second just now.
    const endedAt = subject > 1 ? now - (subject === 5 ? 2 * DAY : 0) : null;
    states.set(`s${subject}`, { revision: 1, endedAt });
    for (let channel = 0; channel < CHANNELS; channel += 1)
      writes.push(
        state.open(announcements).put(announcedId("governance", `s${subject}`, `c${channel}`), {
          feed: "governance",
          subject: `s${subject}`,
          channelId: `c${channel}`,
          news: false,
          messageId: "1",
          in: `c${channel}`,
          at: now,
          revision: 1,
          editedAt: now,
        }),
      );
  }
  await state.commit(writes);
  const stateOf = async (subject: string) => states.get(subject);
  const feed = { lasting: { stateOf } } as unknown as Feed;
  const upkeep = createUpkeep({
    state,
    lease: { epoch: 1, validUntil: () => Number.POSITIVE_INFINITY },
    rest: new REST(),
    renderer: createRenderer(newLinks()),
    pacer: createPacer(0),
    feeds: new Map([["governance", feed]]),
    subscriptions: createSubscriptions(state),
    mayEdit: () => false,
    log: quiet,
    now: () => now,
  });
  const readsOf = async (runs: number) => {
    reads.list = 0;
    reads.get = 0;
    for (let run = 0; run < runs; run += 1) await upkeep.run();
    return { ...reads };
  };
  expect(await readsOf(1)).toEqual({ list: 1, get: 0 });
  expect(await readsOf(10)).toEqual({ list: 0, get: 0 });

  // If a subject changes, its messages are read once, and then wait until they are due.
  states.set("s0", { revision: 2, endedAt: null });
  upkeep.touch("governance", ["s0"]);
  expect(await readsOf(1)).toEqual({ list: 0, get: CHANNELS });
  expect(await readsOf(10)).toEqual({ list: 0, get: 0 });
  // After a read error, the failed message and the ones after it are read again.
  states.set("s1", { revision: 2, endedAt: null });
  upkeep.touch("governance", ["s1"]);
  reads.get = 0;
  failsAt = 3;
  await expect(upkeep.run()).rejects.toThrow("cannot be read");
  failsAt = 0;
  expect(await readsOf(1)).toEqual({ list: 0, get: CHANNELS });
  expect(await readsOf(1)).toEqual({ list: 0, get: 0 });
  states.set("s1", { revision: 1, endedAt: null });

  now += 6 * MINUTE;
  expect(await readsOf(1)).toEqual({ list: 0, get: 2 * CHANNELS });

  // Neither a newly recorded message nor a subject without messages causes a scan of all messages.
  upkeep.note([announcedId("governance", "s1", "c0")]);
  now -= 6 * MINUTE;
  expect((await readsOf(1)).list).toBe(0);
  upkeep.touch("governance", ["unheard"]);
  expect((await readsOf(1)).list).toBe(0);
  // If a subject changes soon after it has ended, only its own messages are read. Later, all messages are scanned once.
  upkeep.touch("governance", ["s4"]);
  expect(await readsOf(2)).toEqual({ list: 0, get: CHANNELS });
  upkeep.touch("governance", ["s5"]);
  expect((await readsOf(2)).list).toBe(1);
  // A message that is recorded during a scan is not lost.
  meanwhile = () => upkeep.note([announcedId("governance", "s1", "c9")]);
  upkeep.touch("governance");
  expect(await readsOf(1)).toEqual({ list: 1, get: 0 });
  expect(await readsOf(2)).toEqual({ list: 0, get: 1 });

  // Messages are forgotten a month after their subjects have ended. The others stay.
  now += 31 * 24 * 60 * MINUTE;
  expect((await readsOf(1)).list).toBe(1);
  const left = [...(await state.open(announcements).list()).values()].map(({ subject }) => subject);
  expect([left.length, ...new Set(left)]).toEqual([2 * CHANNELS, "s0", "s1"]);

  // An old message is forgotten without an edit if its subject no longer exists. An edit would fail, because there is no
  // Discord in this test.
  states.delete("s0");
  upkeep.touch("governance");
  await upkeep.run();
  expect([...(await state.open(announcements).list()).values()].some(({ subject }) => subject === "s0")).toBe(
    false,
  );
  await store.close();
});
