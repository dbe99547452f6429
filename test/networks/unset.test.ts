import { afterAll, expect, it } from "vitest";
import { type Harness, startHarness } from "../harness.js";

let harness: Harness;
afterAll(() => harness.close());

it("a state of several networks needs NETWORKS", async () => {
  harness = await startHarness({
    second: {},
    env: () => ({ NETWORKS: "", WATCH_POLL_SECONDS: "1", GOVERNANCE_POLL_SECONDS: "1" }),
  });
  const { channels, world, driver, people } = harness.discord;
  const owner = { user: people.owner, channel: channels.general };
  const { explorer: test, second: main } = harness;
  if (!main) throw new Error("There is no second network");
  // First a trial on TestNet, in #general.
  await driver.ask(owner, "/subscribe governance", {});
  // Then MainNet is added, the first one first as documented, and later becomes the default.
  const both = {
    EXPLORER_API_URL_MAIN: main.url,
    EXPLORER_API_KEY_MAIN: main.key,
    EXPLORER_API_URL_TEST: test.url,
    EXPLORER_API_KEY_TEST: test.key,
  };
  await harness.restart({ ...both, NETWORKS: "test,main" });
  await harness.restart({ ...both, NETWORKS: "main,test" });
  await driver.ask(owner, "/subscribe governance", { channel: channels.governance.id });
  main.ledger.openVoteRequest({ title: "On main" });
  await expect.poll(() => world.read(channels.governance)).toHaveLength(1);
  // TestNet is no longer needed: one network, without NETWORKS.
  await expect(
    harness.restart({ NETWORKS: "", EXPLORER_API_URL: main.url, EXPLORER_API_KEY: main.key }),
  ).rejects.toThrow(/NETWORKS is missing\. The state has the data of several networks \(test, main\)/);
  await harness.start({ NETWORKS: "main", EXPLORER_API_URL: main.url, EXPLORER_API_KEY: main.key });
  main.ledger.openVoteRequest({ title: "On main later" });
  await expect.poll(() => world.read(channels.governance)).toHaveLength(2);
  expect(world.read(channels.general)).toEqual([]);
});
