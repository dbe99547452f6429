import { expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { createSubscriptions } from "../../src/delivery/subscriptions.js";
import { announcedId, FIRST_FEED, newsId } from "../../src/storage/catalogue.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { createState } from "../../src/storage/state.js";
import { readAll } from "../../src/storage/store.js";
import { quiet } from "../harness.js";

const CHANNELS = ["111111111111111", "222222222222222"] as const;

it("forgets all of a channel that is removed, and nothing of another", async () => {
  const store = openFileStore(newDataDir());
  const state = createState(store, { log: quiet });
  const subscriptions = createSubscriptions(state);
  for (const channelId of CHANNELS) {
    await subscriptions.setHealth(channelId, { error: "none" });
    const message = { feed: FIRST_FEED, subject: "one", channelId, messageId: "1", in: channelId, at: 1 };
    const kept = [
      state.announced.put(announcedId(FIRST_FEED, "one", channelId), { ...message, news: false }),
      state.announced.put(newsId(FIRST_FEED, "one", channelId, "one:vote:1"), { ...message, news: true }),
    ];
    await state.commit(kept);
  }
  await subscriptions.remove({ channelId: CHANNELS[0], feed: FIRST_FEED, subject: null });
  for (const collection of await store.collections()) {
    for (const id of (await readAll(store, collection)).keys()) expect(id).toContain(CHANNELS[1]);
  }
  expect((await state.announced.list()).size).toBe(2);
  await state.close();
});
