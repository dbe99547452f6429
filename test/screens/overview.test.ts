import { afterAll, beforeAll, expect, it } from "vitest";
import { HOUR } from "../../src/util/units.js";
import { type Harness, SMALL, startHarness, textOf } from "../harness.js";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ explorer: { size: { ...SMALL, parties: 300, validators: 260 } } });
});
afterAll(() => harness.close());

it("the overview counts all silent validators that the explorer still calls active", async () => {
  const { ledger } = harness.explorer;
  for (const each of [...ledger.validators]) ledger.setValidatorActive(each, true);
  // More than a page of the explorer's list.
  for (const each of ledger.validators.slice(0, 150)) each.lastActiveAt -= 3 * HOUR;
  const { driver, people, channels } = harness.discord;
  const overview = await driver.ask({ user: people.ana, channel: channels.general }, "/validator list");
  expect(textOf(overview)).toContain("🟢 **110** of 260 active · 🔴 **150** inactive");
});
