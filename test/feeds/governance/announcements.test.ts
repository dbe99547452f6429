import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("an announcement", () => {
  let harness: Harness;
  const told = () => harness.discord.world.read(harness.discord.channels.governance);
  const polls = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;

  /** Waits for two more complete polls, so that pending announcements have been sent. */
  const settled = async () => {
    const before = polls();
    await harness.discord.world.until(() => polls() >= before + 2, "two more polls");
  };

  beforeAll(async () => {
    harness = await startHarness({
      env: (discord) => ({
        GOVERNANCE_CHANNEL_ID: discord.channels.governance.id,
        GOVERNANCE_POLL_SECONDS: "1",
      }),
    });
    await harness.discord.world.until(() => polls() >= 1, "the first poll");
  });
  afterAll(() => harness.close());

  it("is sent once per request, regardless of later votes and restarts, also if the bot was down when it opened", async () => {
    await settled();
    expect(told()).toEqual([]);
    const { ledger } = harness.explorer;
    const request = ledger.openVoteRequest({ motion: "feature" });
    await harness.discord.world.until(() => told()[0], "the announcement");
    expect(textOf(told()[0] ?? { content: "", embeds: [] })).toContain("Feature Application");
    for (let vote = 0; vote < 3; vote += 1) {
      ledger.castVote(request, true);
      await settled();
    }
    await harness.bot().stop();
    ledger.castVote(ledger.openVoteRequest({ motion: "weight" }), true);
    await harness.start();
    await harness.discord.world.until(() => told()[1], "the second announcement");
    await settled();
    expect(told()).toHaveLength(2);
  });

  it("shows details and votes privately to the person who clicks", async () => {
    await settled();
    const before = told().length;
    harness.explorer.ledger.openVoteRequest({ motion: "dsoConfig" });
    const message = await harness.discord.world.until(() => told()[before], "the announcement");
    const place = { user: harness.discord.people.ben, channel: harness.discord.channels.governance };
    const details = await harness.discord.driver.click(place, message, "Details");
    expect(details.visibleTo).toBe(place.user.id);
    expect(textOf(details)).toContain("Decided on");
    expect(textOf(await harness.discord.driver.click(place, message, "Votes"))).toContain("Votes on");
  });
});
