import { afterAll, beforeAll, it } from "vitest";
import { MINUTE } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1" }) });
});
afterAll(() => harness.close());

it.each([
  ["at first", async () => {}],
  [
    "at first, also after a restart",
    async () => {
      const { requests } = harness.explorer;
      const reads = () => requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
      const before = reads();
      await harness.discord.world.until(() => reads() > before + 2, "polls");
      await harness.bot().stop("SIGKILL");
      await harness.start();
    },
  ],
])("an announcement gets the details that the explorer could not give %s", async (_, meanwhile) => {
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
  await meanwhile();
  harness.explorer.clearFaults();
  // A failed reading is repeated after two minutes.
  await harness.pass(3 * MINUTE);
  await world.until(() => says("Unclaimed rewards merged from:"), "the details");
});
