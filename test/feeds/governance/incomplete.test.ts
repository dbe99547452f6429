import { afterAll, beforeAll, it } from "vitest";
import { type Harness, startHarness, textOf } from "../../harness.js";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
});
afterAll(() => harness.close());

it("an announcement gets the details that the explorer could not give at first", async () => {
  const { world, driver, people, channels } = harness.discord;
  const here = { user: people.owner, channel: channels.general };
  await driver.ask(here, "/subscribe governance", { channel: channels.governance.id });
  harness.explorer.injectFault({ kind: "status", status: 500 }, { path: /details$/ });
  const { length: before } = world.read(channels.governance);
  harness.explorer.ledger.openVoteRequest({ motion: "dsoConfig" });
  const announcement = () => world.read(channels.governance)[before];
  const says = (text: string) => {
    const message = announcement();
    return message !== undefined && textOf(message).includes(text);
  };
  await world.until(() => says("I couldn't read the details right now."), "the announcement");
  harness.explorer.clearFaults();
  await world.until(() => says("Unclaimed rewards merged from:"), "the details");
});
