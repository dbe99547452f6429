import { expect, it } from "vitest";
import { createDirectory } from "../../../src/directory/directory.js";
import { createNames } from "../../../src/directory/names.js";
import { ExplorerError } from "../../../src/explorer/errors.js";
import { createExplorerService } from "../../../src/explorer/service.js";
import { trackedVoteRequests } from "../../../src/feeds/governance/collections.js";
import { definition } from "../../../src/feeds/governance/definition.js";
import { requestKey } from "../../../src/feeds/governance/tracking.js";
import { createCache } from "../../../src/storage/cache.js";
import { shortId } from "../../../src/text/ids.js";
import { newState, quiet } from "../../harness.js";
import { tracked } from "../../spec/vote-requests.js";

const state = newState();
const directory = createDirectory();
const explorer = createExplorerService({
  upstream: () => Promise.reject(new ExplorerError("failing", "No answer")),
  cache: createCache({ memoryMb: 1, log: quiet }),
}).for("background");
const names = createNames({ directory, explorer, state, log: quiet });
/** Returns what `/watch list` calls a vote request while the explorer does not answer. */
const nameOf = (id: string) => definition.watches?.[0]?.subject.nameOf(id, { names, directory, state });

it("a watched vote request without a title is called by its action", async () => {
  const request = tracked({}, { title: null, action: "Set the reward weights" });
  await state.commit([state.open(trackedVoteRequests).put(requestKey("c1"), request)]);
  expect(await nameOf("c1")).toBe("Set the reward weights");
});

it("a watched vote request of which nothing could be read yet is called by its id", async () => {
  const id = `00${"1a".repeat(33)}ca10`;
  expect(await nameOf(id)).toBe(shortId(id));
});
