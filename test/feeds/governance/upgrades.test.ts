import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("a vote on the network's next upgrade", () => {
  let harness: Harness;
  const governance = () => harness.discord.world.read(harness.discord.channels.governance);
  const until = (pattern: RegExp) =>
    harness.discord.world.until(
      () => governance().find((each) => pattern.test(textOf(each))),
      String(pattern),
    );
  const network = async () => {
    const { driver, people, channels } = harness.discord;
    return textOf(await driver.ask({ user: people.ana, channel: channels.general }, "/network"));
  };
  const untilNetwork = (isFine: (text: string) => boolean) =>
    harness.discord.world.until(async () => isFine(await network()), "the network's screen");
  const schedule = (at: number) => ({
    nextScheduledLogicalSynchronizerUpgrade: {
      topologyFreezeTime: new Date(at - 2 * HOUR).toISOString(),
      upgradeTime: new Date(at).toISOString(),
      newPhysicalSynchronizerSerial: 2,
      newPhysicalSynchronizerProtocolVersion: "34",
    },
  });
  const propose = (baseConfig: object, newConfig: object, title = "SRARC_SetConfig") =>
    harness.explorer.ledger.openVoteRequest({
      title,
      actionConfig: {
        tag: "ARC_DsoRules",
        value: { dsoAction: { tag: "SRARC_SetConfig", value: { baseConfig, newConfig } } },
      },
      lastsMs: 3 * DAY,
      effectiveInMs: 4 * DAY,
    });

  beforeAll(async () => {
    harness = await startHarness({
      env: ({ channels }) => ({
        GOVERNANCE_CHANNEL_ID: channels.governance.id,
        GOVERNANCE_POLL_SECONDS: "1",
        REQUESTS_PER_PERSON: "1000",
      }),
    });
    // Requests that are open at the first read are not announced.
    const reads = () =>
      harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    await harness.discord.world.until(() => reads() > 2, "the first polls");
  });
  afterAll(() => harness.close());

  it("is announced by what it means, and shown by /network once it is accepted", async () => {
    const { ledger } = harness.explorer;
    const upgradeAt = Math.ceil((harness.now() + 20 * DAY) / HOUR) * HOUR;
    const request = propose({}, schedule(upgradeAt));
    const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
    const announced = await until(/New vote request: Network upgrade: transactions pause on/);
    expect(announced.content).toContain(`transactions pause on ${day.format(upgradeAt)} at `);
    expect(await network()).not.toContain("Network upgrade");

    ledger.decideVoteRequest(request, "Accepted");
    await until(/Accepted: Network upgrade/);
    await untilNetwork((text) => text.includes(`pause on <t:${upgradeAt / 1_000}:f> (<t:`));
    expect(await network()).toContain(`from <t:${(upgradeAt - 2 * HOUR) / 1_000}:f> until then`);

    const cancel = propose(schedule(upgradeAt), {});
    await until(/New vote request: Cancel the network upgrade of /);
    expect(await network()).toContain("Network upgrade");
    harness.pass(HOUR);
    ledger.decideVoteRequest(cancel, "Accepted");
    await untilNetwork((text) => !text.includes("Network upgrade"));
    expect(harness.discord.world.refusals).toEqual([]);
  });

  it("says when transactions pause, although its title does not", async () => {
    propose({}, schedule(Math.ceil((harness.now() + 20 * DAY) / HOUR) * HOUR), "LSU to protocol version 35");
    await until(
      /New vote request: LSU to protocol version 35 · 🛠️ Network upgrade: transactions pause on \d+ \w+ at \d\d:00 UTC/,
    );
  });
});
