import { expect, it } from "vitest";
import { newDataDir } from "../../sandbox/bot-process.js";
import { openFileStore } from "../../src/storage/file-store.js";
import { createKnownNetworks } from "../../src/storage/networks.js";
import { createState } from "../../src/storage/state.js";
import { exportState, importState } from "../../src/storage/transfer.js";
import { quiet } from "../harness.js";

it("an export from before NETWORKS still belongs to the network that came first", async () => {
  const store = openFileStore(newDataDir());
  const started = (ids: string[]) => createKnownNetworks(createState(store, { log: quiet }), store, ids);
  await store.commit([{ op: "put", collection: "subscriptions", id: "1", text: "{}" }]);
  const backup = await exportState(store);
  // Added later, with the first one first, as documented. Then the new one becomes the default.
  await started(["test", "main"]).load();
  const reordered = started(["main", "test"]);
  await reordered.load();
  expect(reordered.oldest()).toBe("test");
  await importState(store, backup, true);
  const restored = started(["main", "test"]);
  await restored.load();
  expect(restored.oldest()).toBe("test");
  await store.close();
});
