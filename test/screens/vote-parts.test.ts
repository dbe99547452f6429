import { describe, expect, it } from "vitest";
import type { Standable } from "../../src/ledger/vote-phase.js";
import type { Tally, VoteState } from "../../src/ledger/vote-rules.js";
import { shortVote, stateText, tallyBar, tallyLines } from "../../src/screens/vote-parts.js";
import { timeFields, untilWords } from "../../src/screens/vote-times.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";

const NOW = Date.UTC(2026, 10, 22);
const [PAST, SOON, LATER] = [NOW - DAY, NOW + DAY, NOW + 2 * DAY];
const at = (ms: number, style: string) => `<t:${ms / 1_000}:${style}>`;
const tally = (yes: number | null, no: number | null, pending: number | null) => ({ yes, no, pending });
type Vote = VoteState & Tally & Pick<Standable, "enoughYesAt">;
const vote = (
  status: string | null,
  voteBefore: number | null,
  targetEffectiveAt: number | null = null,
  more: Partial<Vote> = {},
): Vote => ({
  status,
  voteBefore,
  targetEffectiveAt,
  ...tally(null, null, null),
  ...more,
});

describe("vote times", () => {
  const soon = `${at(SOON, "f")} (${at(SOON, "R")})`;
  // The bot saw it end after its date.
  const closed = { after: PAST + HOUR, by: PAST + HOUR + 40_000 };
  const seen = at(closed.by, "f");
  it.each<[string, Vote, Record<string, unknown>]>([
    [
      "open, without an effective date",
      vote("Open", SOON),
      { "Quorum by": soon, "Takes effect": "as soon as enough have voted yes" },
    ],
    [
      "open, with an effective date",
      vote("Open", PAST, SOON),
      {
        "Quorum by": at(PAST, "f"),
        "Decided on": soon,
      },
    ],
    [
      "rejected early",
      vote("Rejected", SOON),
      {
        "Voting ended": "when enough had voted no",
      },
    ],
    [
      "rejected early, with a decision date",
      vote("Rejected", PAST, SOON),
      { "Voting ended": "when enough had voted no" },
    ],
    [
      "rejected by enough no votes, seen after its dates",
      vote("Rejected", PAST - DAY, PAST, tally(1, 9, 3)),
      {
        "Voting ended": `when enough had voted no, by ${at(PAST, "f")} at the latest`,
      },
    ],
    [
      "rejected before its date, as seen by the bot",
      vote("Rejected", PAST - 3 * DAY, PAST, { closed: { after: PAST - 2 * DAY, by: PAST - DAY } }),
      {
        "Voting ended": `when enough had voted no, between ${at(PAST - 2 * DAY, "f")} and ${at(PAST - DAY, "f")}`,
      },
    ],
    [
      "accepted at once, as seen by the bot within a few minutes",
      vote("Accepted", SOON, null, { closed: { after: PAST, by: PAST + 3 * MINUTE } }),
      {
        "Voting ended": `when enough had voted yes, between ${at(PAST, "f")} and ${at(PAST + 3 * MINUTE, "t")}`,
        "Took effect": "when enough had voted yes",
      },
    ],
    [
      "accepted at once, as seen by the bot within one minute",
      vote("Accepted", SOON, null, { closed: { after: PAST + 1_000, by: PAST + 40_000 } }),
      {
        "Voting ended": `when enough had voted yes, ${at(PAST + 40_000, "f")}`,
        "Took effect": "when enough had voted yes",
      },
    ],
    [
      "rejected, and only seen afterwards",
      vote("Rejected", SOON, null, { closed: { after: null, by: PAST } }),
      {
        "Voting ended": `when enough had voted no, by ${at(PAST, "f")}`,
      },
    ],
    [
      "no longer listed, without an outcome",
      vote(null, PAST - DAY, PAST, { isGone: true }),
      { "Voting ended": "at an unknown time" },
    ],
    [
      "rejected at its date",
      vote("VRO_Rejected", PAST - 1, PAST),
      {
        "Voting ended": `when enough had voted no, or with too few yes votes in the end, by ${at(PAST, "f")} at the latest`,
      },
    ],
    [
      "expired at its deadline, not at its effective date",
      vote("Expired", PAST, SOON),
      { "Voting ended": at(PAST, "f") },
    ],
    [
      "accepted, and yet to take effect",
      vote("Accepted", PAST, SOON),
      { "Voting ended": "before its date", "Takes effect": soon },
    ],
    [
      "accepted, and in effect",
      vote("Implemented", PAST - 1, PAST),
      { "Voting ended": at(PAST, "f"), "Took effect": at(PAST, "f") },
    ],
    [
      "accepted, and carried out days after its date",
      vote("Implemented", PAST - 4 * DAY, PAST - 3 * DAY, { closed: { after: PAST, by: PAST + 40_000 } }),
      { "Voting ended": at(PAST + 40_000, "f"), "Took effect": at(PAST + 40_000, "f") },
    ],
    [
      "accepted at once",
      vote("Accepted", PAST),
      {
        "Voting ended": `when enough had voted yes, by ${at(PAST, "f")} at the latest`,
        "Took effect": "when enough had voted yes",
      },
    ],
    [
      "accepted at once, a minute before the bot saw it",
      vote("Accepted", PAST, null, { ...tally(9, 1, 3), enoughYesAt: closed.after - MINUTE, closed }),
      {
        "Voting ended": `when enough had voted yes, ${seen}`,
        "Took effect": "when enough had voted yes",
      },
    ],
    [
      "accepted days after enough had voted yes",
      vote("Accepted", PAST, null, { ...tally(9, 1, 3), enoughYesAt: PAST - 2 * DAY, closed }),
      { "Voting ended": seen, "Took effect": seen },
    ],
    [
      "expired, but closed only later, until when votes counted",
      vote("Expired", PAST, null, { closed }),
      { "Voting ended": seen },
    ],
    [
      "accepted, but its action failed",
      vote("VRO_AcceptedButActionFailed", PAST),
      {
        "Voting ended": `when enough had voted yes, by ${at(PAST, "f")} at the latest`,
        "Takes effect": "never (accepted, but couldn't be carried out)",
      },
    ],
    ["over with an unknown status", vote("Wound up", PAST), { "Voting ended": at(PAST, "f") }],
    [
      "without any date",
      vote("Open", null),
      { "Quorum by": "unknown", "Takes effect": "as soon as enough have voted yes" },
    ],
  ])("shows the times of a vote that is %s", (_, state, expected) => {
    const fields = timeFields(state, NOW, "voting").map(({ name, value }) => [name, value.toString()]);
    expect(Object.fromEntries(fields)).toEqual(expected);
  });

  it("shows no decision date for a vote that has expired", () => {
    const fields = timeFields(vote("Open", PAST, SOON), NOW, "expired");
    expect(fields.map(({ name }) => name)).toEqual(["Quorum by"]);
  });

  it("shows no countdown for a vote that is over", () => {
    for (const status of ["Rejected", "Expired", "Wound up", "Implemented"])
      expect(
        timeFields(vote(status, PAST, PAST), NOW, "ended")
          .map(({ value }) => value)
          .join(),
      ).not.toContain(":R>");
  });

  it.each<[Vote, string, yes?: number]>([
    [vote("Open", SOON), `quorum by ${at(SOON, "f")}`],
    [vote("Open", SOON, LATER), `quorum by ${at(SOON, "f")}`],
    [vote("Open", SOON, LATER), `decided on ${at(LATER, "f")}`, 9],
    [vote("Open", PAST, SOON), "expired, not closed yet"],
    [vote("Open", PAST, PAST), "overdue", 9],
    [vote("Rejected", SOON), "voting has ended"],
    [vote("Rejected", PAST), "voting has ended"],
    [vote("Rejected", SOON, null, { closed }), `voting ended ${seen}`],
    [vote("Implemented", PAST - 1, PAST), `voting ended ${at(PAST, "f")}`],
    [vote("Expired", PAST), `voting ended ${at(PAST, "f")}`],
    [vote("Expired", PAST, null, { closed }), `voting ended ${seen}`],
    [vote("Expired", PAST, PAST, { closed }), `voting ended ${at(PAST, "f")}`],
    [vote("Implemented", PAST, PAST, { closed }), `voting ended ${seen}`],
  ])("summarizes the deadline in a list: %j", (state, words, yes = 3) => {
    expect(untilWords({ ...state, ...tally(yes, 1, 12 - yes) }, 9, NOW).toString()).toBe(words);
  });
});

describe("a tally", () => {
  it.each<[string, ReturnType<typeof tally>, number | undefined, string]>([
    ["a square for each vote", tally(6, 1, 6), undefined, "🟩🟩🟩🟩🟩🟩🟥⬛⬛⬛⬛⬛⬛"],
    ["a mark at the number of votes needed", tally(6, 1, 6), 9, "🟩🟩🟩🟩🟩🟩🟥⬛⬛┃⬛⬛⬛⬛"],
    ["no mark if all votes are needed", tally(1, 0, 1), 2, "🟩⬛"],
    ["at most twenty squares", tally(20, 0, 0), undefined, "🟩".repeat(20)],
    ["a bar of twelve squares for more votes", tally(21, 0, 21), 20, `${"🟩".repeat(6)}${"⬛".repeat(6)}`],
    ["a square for one vote among many", tally(60, 1, 39), undefined, `${"🟩".repeat(7)}🟥${"⬛".repeat(4)}`],
    ["that there are no votes yet", tally(0, 0, 0), 9, "no votes yet"],
    ["that a part of the tally is missing", tally(0, null, null), 9, "tally incomplete"],
    ["that the whole tally is missing", tally(null, null, null), 9, "tally unavailable"],
    ["no bar for a partial tally", tally(2, null, null), undefined, "tally incomplete"],
  ])("shows %s", (_, counts, needed, bar) => {
    expect(tallyBar(counts, needed).toString()).toBe(bar);
  });

  it.each([
    [null, null, null, "tally unavailable"],
    [null, 2, 3, "tally incomplete"],
    [2, null, 3, "tally incomplete"],
    [3, 0, null, "tally incomplete"],
    [0, 0, 0, "no votes yet"],
  ])("draws no bar for %s yes, %s no and %s missing", (yes, no, pending, words) => {
    expect(tallyBar({ yes, no, pending }, undefined).toString()).toBe(words);
  });

  it.each([
    [34, 1, 1],
    [98, 1, 1],
    [1, 1, 40],
    [1, 40, 0],
  ])("draws each side of %s yes, %s no and %s missing that has a vote", (yes, no, pending) => {
    const bar = tallyBar(tally(yes, no, pending), undefined).toString();
    expect([...bar]).toHaveLength(12);
    for (const [count, square] of [[yes, "🟩"] as const, [no, "🟥"] as const, [pending, "⬛"] as const])
      expect(bar.includes(square)).toBe(count > 0);
  });

  it("fills its bar completely with any counts", () => {
    for (let yes = 0; yes <= 60; yes += 1)
      for (const no of [0, 1, 7, 33])
        expect([...tallyBar(tally(yes, no, 25), undefined).toString()].length).toBe(
          yes + no + 25 <= 20 ? yes + no + 25 : 12,
        );
  });

  it.each<[string, VoteState, ReturnType<typeof tally>, string | undefined]>([
    ["how many yes votes are needed", vote("Open", SOON), tally(8, 1, 4), "-# about 9 yes votes needed"],
    [
      "that there are enough yes votes",
      vote("Open", SOON),
      tally(9, 1, 3),
      "-# enough yes votes (about 9 needed)",
    ],
    [
      "that enough yes votes count on the day of the decision",
      vote("Open", SOON, LATER),
      tally(9, 1, 3),
      "-# enough yes votes (about 9 needed); counted on the decision date",
    ],
    [
      "that there are enough no votes",
      vote("Open", SOON, LATER),
      tally(1, 9, 3),
      "-# enough no votes (about 9 needed)",
    ],
    ["nothing about the votes needed if it is over", vote("Expired", PAST), tally(8, 1, 4), undefined],
  ])("says %s", (_, state, counts, words) => {
    const lines = tallyLines({ ...state, ...counts }, 9, NOW).map(String);
    expect(lines[2]).toBe(words);
    expect(lines[0]).toContain(words === undefined ? "did not vote" : "not voted yet");
  });
});

it.each([
  [30 * MINUTE, "30 minutes"],
  [HOUR, "60 minutes"],
  [90 * MINUTE, "1 h 30 min"],
  [2.5 * HOUR, "2 h 30 min"],
  [4 * HOUR, "4 hours"],
  [4 * HOUR - 1, "4 hours"],
])("a vote that is open for %d ms is marked as short, with its length to the minute", (ms, words) => {
  const warning = shortVote({ createdAt: NOW, voteBefore: NOW + ms });
  expect(warning.map(String)).toEqual([`⚠️ Short vote: ${words}`]);
});

it.each([
  ["expired", "⌛ Not enough votes in time"],
  ["ready", "✅ Enough yes votes"],
  ["voting", "🗳️ In progress"],
] as const)("a list calls a request that is not closed and %s: %s", (phase, words) => {
  expect(stateText("In Progress", phase).toString()).toBe(words);
});
