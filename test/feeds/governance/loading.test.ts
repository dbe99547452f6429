import { afterAll, beforeAll, expect, it } from "vitest";
import { type Harness, startHarness } from "../../harness.js";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

it("a super validator's id is not called wrong while the names of super validators are still loading", async () => {
  const { driver, people, channels } = harness.discord;
  const [sv] = harness.explorer.ledger.superValidators;
  harness.explorer.injectFault({ kind: "slow", ms: 8_000 }, { path: /votes$/ });
  const place = { user: people.owner, channel: channels.general };
  const setRepresentative = () => driver.ask(place, "/voters set", { sv: sv?.id ?? "", who: people.ana.id });
  expect((await setRepresentative()).content).toContain("still loading");
  harness.explorer.clearFaults();
  await expect.poll(async () => JSON.stringify(await setRepresentative())).toContain("Representative");
});
