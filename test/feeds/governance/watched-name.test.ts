import { expect, it } from "vitest";
import { createDirectory } from "../../../src/directory/directory.js";
import { createNames } from "../../../src/directory/names.js";
import { ExplorerError } from "../../../src/explorer/errors.js";
import { createExplorerService } from "../../../src/explorer/service.js";
import { trackedVoteRequests } from "../../../src/feeds/governance/collections.js";
import { definition } from "../../../src/feeds/governance/definition.js";
import { requestKey } from "../../../src/feeds/governance/tracking.js";
import { createCache } from "../../../src/storage/cache.js";
import { newState, quiet } from "../../harness.js";
import { tracked } from "../../spec/vote-requests.js";

it("a watched vote request without a title is called by its action, although the explorer does not answer after a restart", async () => {
  const state = newState();
  const directory = createDirectory();
  const explorer = createExplorerService({
    upstream: () => Promise.reject(new ExplorerError("failing", "No answer")),
    cache: createCache({ memoryMb: 1, log: quiet }),
  }).for("background");
  const names = createNames({ directory, explorer, state, log: quiet });
  const request = tracked({}, { title: null, action: "Set the reward weights" });
  await state.commit([state.open(trackedVoteRequests).put(requestKey("c1"), request)]);
  const [watch] = definition.watches ?? [];
  const name = await watch?.subject.nameOf("c1", { names, directory, state });
  expect(name).toBe("Set the reward weights");
});
