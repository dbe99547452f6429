import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { VoteRequest } from "../../../sandbox/explorer/model.js";
import { DAY, HOUR } from "../../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../../harness.js";

describe("a vote request with enough votes for a decision", () => {
  let harness: Harness;
  const told = () => harness.discord.world.read(harness.discord.channels.governance);
  const about = (pattern: RegExp) => told().filter((message) => pattern.test(textOf(message)));
  const until = (pattern: RegExp) => harness.discord.world.until(() => about(pattern)[0], String(pattern));
  const polls = async (count: number) => {
    const read = () => harness.explorer.requests.filter(({ path }) => path.endsWith("/vote-requests")).length;
    const before = read();
    await harness.discord.world.until(() => read() > before + count, `${count} polls`);
  };
  const open = (title: string): VoteRequest =>
    harness.explorer.ledger.openVoteRequest({
      title,
      motion: "feature",
      lastsMs: DAY,
      effectiveInMs: 2 * DAY,
    });
  const vote = (request: VoteRequest, accept: boolean, count: number) => {
    for (let votes = 0; votes < count; votes += 1) harness.explorer.ledger.castVote(request, accept);
  };

  beforeAll(async () => {
    harness = await startHarness({
      env: ({ channels }) => ({
        GOVERNANCE_CHANNEL_ID: channels.governance.id,
        GOVERNANCE_POLL_SECONDS: "1",
      }),
    });
    await polls(2);
  });
  afterAll(() => harness.close());

  it("is announced with the decision date and without a ping, and is withdrawn when votes change", async () => {
    const request = open("Decided motion");
    await until(/New vote request.*Decided motion/);
    // The requester's own yes vote counts too.
    vote(request, true, 7);
    await polls(2);
    expect(about(/✅ Enough yes votes/)).toEqual([]);
    vote(request, true, 1);
    const decided = await until(/✅ Enough yes votes/);
    expect(textOf(decided)).toMatch(/9, about 9 needed.*Decided on <t:\d+:f>/);
    expect(decided.pings).toEqual([]);
    // One vote changes to no, and back to yes.
    const [first] = request.ballots;
    if (!first) throw new Error("No ballot");
    harness.explorer.ledger.castVote(request, false, first.voter);
    const withdrawn = await until(/No longer enough yes votes: Decided motion/);
    expect(textOf(withdrawn)).toMatch(/8 of about 9 needed.*Votes have changed/);
    expect(withdrawn.pings).toEqual([]);
    harness.explorer.ledger.castVote(request, true, first.voter);
    await harness.discord.world.until(
      () => about(/✅ Enough yes votes/).length === 2,
      "the second announcement",
    );
    await polls(3);
    expect(about(/(No longer e|E)nough yes votes: /)).toHaveLength(3);
  });

  it("is not called decided after an outage if too few had voted by the quorum date", async () => {
    const request = open("Outage motion");
    await until(/New vote request.*Outage motion/);
    vote(request, true, 7);
    await polls(2);
    await harness.bot().stop();
    await harness.pass(DAY + 2 * HOUR);
    vote(request, true, 2);
    await harness.start();
    await polls(3);
    expect(about(/Enough yes votes: Outage motion/)).toEqual([]);
    harness.explorer.ledger.closeVoteRequest(request, "Expired");
    expect(textOf(await until(/Expired: Outage motion/))).toMatch(
      /Too few had voted by the quorum date, <t:\d+:f>\./,
    );
  });

  it("announces enough no votes as a rejection", async () => {
    const request = open("Refused motion");
    await until(/New vote request.*Refused motion/);
    vote(request, false, 9);
    expect(textOf(await until(/Enough no votes: Refused motion/))).toContain(
      "It'll be rejected, unless votes change before it's closed.",
    );
  });

  it("is not called undecided once its date has passed", async () => {
    const request = open("Late motion");
    request.isStuck = true;
    await until(/New vote request.*Late motion/);
    vote(request, true, 8);
    await until(/✅ Enough yes votes: Late motion/);
    harness.pass(DAY + 5 * 60_000);
    await polls(3);
    harness.pass(DAY + 2 * HOUR);
    await until(/Overdue: Late motion/);
    const [first] = request.ballots;
    if (!first) throw new Error("No ballot");
    harness.explorer.ledger.castVote(request, false, first.voter);
    expect(textOf(await until(/No longer enough yes votes: Late motion/))).toContain(
      "Votes have changed, so it'll be rejected, unless votes change before it's closed.",
    );
    harness.explorer.ledger.closeVoteRequest(request, "Rejected");
    await until(/Rejected: Late motion/);
  });

  it("is not announced if it was decided before the bot watched, nor again after a restart", async () => {
    await harness.restart();
    await polls(3);
    expect(about(/(No longer e|E)nough (yes|no) votes: /)).toHaveLength(6);
  });
});
