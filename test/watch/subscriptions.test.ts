import { expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { openFileState } from "../../src/storage/file-state.js";
import { announcedId, newsId } from "../../src/watch/deliveries.js";
import { createSubscriptions } from "../../src/watch/subscriptions.js";

it("forgets all of a channel that is removed, and nothing of another", async () => {
  const state = openFileState(newDataDir());
  const subscriptions = createSubscriptions(state, undefined);
  for (const channelId of ["111111111111111", "222222222222222"]) {
    await subscriptions.setHealth(channelId, { error: "none" });
    for (const id of [announcedId("one", channelId), newsId("one", channelId, "one:vote:1")]) {
      await state.commit([{ op: "put", collection: "announced", id, document: { messageId: "1" } }]);
    }
  }
  await subscriptions.remove("111111111111111");
  for (const collection of await state.collections()) {
    for (const id of (await state.list(collection)).keys()) expect(id).toContain("222222222222222");
  }
  expect((await state.list("announced")).size).toBe(2);
  await state.close();
});
