import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Harness, startHarness, textOf } from "../harness.js";

const HOUR = 3_600_000;

describe("a clock that is set back by an hour", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({
      env: ({ channels }) => ({
        GOVERNANCE_POLL_SECONDS: "1",
        GOVERNANCE_CHANNEL_ID: channels.governance.id,
      }),
    });
  });
  afterAll(() => harness.close());

  it("hides no new price, and no vote request, its votes or its end", async () => {
    const { driver, world, people, channels } = harness.discord;
    const { ledger } = harness.explorer;
    const place = { user: people.ana, channel: channels.general };
    const told = (pattern: RegExp) =>
      world.read(channels.governance).some((message) => pattern.test(textOf(message)));
    const polls = () => harness.explorer.requests.filter(({ path }) => /vote-requests$/.test(path)).length;
    const polled = async () => {
      const count = polls();
      await world.until(() => polls() > count + 1, "two polls");
    };
    await polled();
    const before = ledger.openVoteRequest({ title: "Before", effectiveInMs: null });
    await world.until(() => told(/New vote request: Before/), "what opened before");
    const message = await driver.ask(place, "/price");

    harness.pass(-HOUR);
    ledger.setPrice(0.75);
    await world.until(async () => {
      await driver.click(place, message, "Refresh");
      return textOf(message).includes("0.7500 USD");
    }, "the new price");
    expect(textOf(await driver.ask({ ...place, user: people.ben }, "/price"))).toContain("0.7500 USD");
    ledger.openVoteRequest({ title: "After" });
    await world.until(() => told(/New vote request: After/), "what opened after");
    ledger.closeVoteRequest(before, "Rejected");
    await polled();
    await world.until(() => told(/Rejected/), "its end");
  }, 60_000);
});
