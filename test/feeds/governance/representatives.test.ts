import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Channel, User } from "../../../sandbox/discord/world.js";
import { HOUR } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("a super validator with a representative", () => {
  let harness: Harness;
  let channel: Channel;
  const world = () => harness.discord.world;
  const ledger = () => harness.explorer.ledger;
  const ask = async (command: string, given: Record<string, string | boolean> = {}, user?: User) => {
    const { driver, people, channels } = harness.discord;
    return textOf(
      await driver.ask({ user: user ?? people.owner, channel: channels.general }, command, given),
    );
  };
  const offered = async (typed: string) => {
    const { driver, people, channels } = harness.discord;
    const place = { user: people.owner, channel: channels.general };
    return driver.complete(place, "/voters set", "sv", { sv: typed });
  };

  beforeAll(async () => {
    harness = await startHarness({ env: () => ({ GOVERNANCE_POLL_SECONDS: "1", SANDBOX_HURRY: "20" }) });
    channel = world().addChannel({ type: 0, guild_id: harness.discord.guild.id, name: "votes" });
    await ask("/subscribe governance", { channel: channel.id, missing: "ping" });
    const { name } = ledger().superValidators[0] ?? {};
    while (!(await offered(name ?? ""))[0]?.name.includes(name ?? "?"));
  });
  afterAll(() => harness.close());

  it("is said to have left, also if it joined again under another party", async () => {
    const { ana } = harness.discord.people;
    const [first] = ledger().superValidators;
    const name = first?.name ?? "";
    await ask("/voters set", { sv: name, who: ana.id });
    await ask("/watch voter", { sv: name }, ana);
    const former = ledger().validators.find(({ party }) => party === first);
    if (!former) throw new Error("Nobody");
    former.isSv = false;
    const { party } = Object.assign(ledger().joinValidator(name), { isSv: true });
    ledger().superValidators.splice(0, 1, party);
    const request = ledger().openVoteRequest({ title: "Again", motion: "feature", lastsMs: 30 * HOUR });
    if (request.ballots.every(({ voter }) => voter !== party)) ledger().castVote(request, true, party);
    harness.pass(2 * HOUR);
    await expect.poll(() => ask("/watch list", {}, ana)).toContain("⚠️ no longer a super validator");
  });

  it("has no representative after those of its name are removed", async () => {
    const [first] = ledger().superValidators;
    const name = first?.name ?? "";
    // The former one has no votes in the list, as after a reset of the network.
    for (const each of ledger().voteRequests)
      for (const ballot of each.ballots) if (ballot.voter.name === name && first) ballot.voter = first;
    harness.pass(2 * HOUR);
    await expect.poll(async () => (await offered(name)).length).toBe(1);
    await ask("/voters set", { sv: name, who: harness.discord.people.ben.id });
    expect(await ask("/voters remove", { sv: name })).toContain("no longer ping anyone");
    expect(await ask("/voters list")).not.toContain(name);
  });
});
