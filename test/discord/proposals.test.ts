import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../sandbox/discord/world.js";
import { DAY, HOUR } from "../../src/util/units.js";
import { type Harness, startHarness, textOf } from "../harness.js";

describe("/proposals", () => {
  let harness: Harness;
  const ask = (command: string, given: Record<string, string | boolean> = {}) => {
    const { driver, people, channels } = harness.discord;
    return driver.ask({ user: people.ana, channel: channels.general }, command, given);
  };
  const choose = (message: Message, label: string) => {
    const { driver, people, channels } = harness.discord;
    return driver.choose({ user: people.ana, channel: channels.general }, message, label);
  };
  const titlesIn = (message: Message) =>
    [...textOf(message).matchAll(/\*\*((?:Near|Far|Past|Config)[^*]*)\*\*/g)].map(([, title]) => title);
  const pagesRead = () =>
    harness.explorer.requests.filter(({ path }) => path.endsWith("/governance/vote-requests")).length;

  beforeAll(async () => {
    harness = await startHarness({
      explorer: {
        size: { validators: 10, parties: 30, voteRequests: 0, superValidators: 7, updates: 2, tokens: 1 },
      },
    });
    const { ledger } = harness.explorer;
    const open = (title: string, lastsMs: number) =>
      ledger.openVoteRequest({ title, motion: "feature", lastsMs, effectiveInMs: null });
    for (const [title, status] of [
      ["Past rejected", "Rejected"],
      ["Past expired", "Expired"],
      ["Past accepted", "Accepted"],
    ] as const) {
      const request = open(title, DAY);
      for (let votes = 0; votes < 4; votes += 1) ledger.castVote(request, votes > 0);
      ledger.closeVoteRequest(request, status);
    }
    open("Near motion", HOUR);
    open("Far motion", 5 * DAY);
    ledger.openVoteRequest({
      title: "SRARC_SetConfig",
      motion: "dsoConfig",
      lastsMs: 3 * DAY,
      effectiveInMs: null,
    });
    // Let cached answers expire.
    harness.pass(30 * 60_000);
  });
  afterAll(async () => {
    expect(harness.discord.world.refusals).toEqual([]);
    await harness.close();
  });

  it("lists open vote requests first, by deadline, and then the others", async () => {
    const titles = titlesIn(await ask("/proposals list"));
    expect(titles.slice(0, 2)).toEqual(["Near motion", "Far motion"]);
    expect(new Set(titles.slice(2))).toEqual(new Set(["Past rejected", "Past expired", "Past accepted"]));
  });

  it.each([
    ["open", ["Near motion", "Far motion"]],
    ["accepted", ["Past accepted"]],
    ["rejected", ["Past rejected"]],
    ["expired", ["Past expired"]],
  ])("filters by status: %s", async (status, titles) => {
    expect(titlesIn(await ask("/proposals list", { status }))).toEqual(titles);
  });

  it("filters by kind, and offers the other kinds in a menu", async () => {
    const configuration = await ask("/proposals list", { kind: "configuration" });
    expect(titlesIn(configuration)).toEqual([]);
    expect(textOf(configuration)).toContain("Vote requests: open first, configuration");
    expect(textOf(configuration)).toContain("1 vote request");
    expect(titlesIn(await choose(configuration, "All kinds"))).toContain("Near motion");
  });

  it("makes no requests to the explorer besides the regular polls", async () => {
    await ask("/proposals list");
    const before = pagesRead();
    for (const status of ["open", "accepted", "all"]) await ask("/proposals list", { status });
    // A poll may have run meanwhile.
    expect(pagesRead() - before).toBeLessThanOrEqual(1);
  });

  it("shows voters with their records, and opens a voter from the menu", async () => {
    const records = await ask("/proposals voters");
    expect(textOf(records)).toMatch(/voted on \*\*3\*\* of \*\*3\*\* · \d yes · \d no · 0 missed/);
    expect(textOf(records)).toMatch(/3 vote requests that ended, opened from <t:\d+:d> to <t:\d+:d>/);
    const [voter] = harness.explorer.ledger.superValidators;
    const one = await choose(records, voter?.name ?? "");
    expect(textOf(one)).toContain(`Votes of ${voter?.name}`);
    expect(titlesIn(one)).toHaveLength(3);
    expect(textOf(one)).not.toContain("⬛ missed");
    expect(textOf(one)).toMatch(/(✅ yes|❌ no) · \*\*Past/);
  });

  it("uses the kind in a vote request's details, whatever its title", async () => {
    const listed = async () => titlesIn(await ask("/proposals list", { kind: "apps", status: "open" }));
    const { ledger } = harness.explorer;
    for (const { title, firstContractId } of ledger.voteRequests)
      if (/Near|Far/.test(title)) await ask("/proposals show", { proposal: firstContractId });
    expect(await listed()).toEqual(["Near motion", "Far motion"]);
    harness.explorer.injectFault({ kind: "status", status: 500 }, { path: /details$/ });
    ledger.openVoteRequest({ title: "Past reading", motion: "feature", lastsMs: 4 * DAY });
    harness.pass(30 * 60_000);
    const unsorted = await harness.discord.world.until(async () => {
      const others = await ask("/proposals list", { kind: "other" });
      return /not sorted by kind yet/.test(textOf(others)) && others;
    }, "the new request");
    expect(textOf(unsorted)).toMatch(
      /\d vote requests? (is|are) not sorted by kind yet: I'm still reading what/,
    );
    expect(titlesIn(unsorted)).toEqual([]);
  });
});
