import { describe, expect, it } from "vitest";
import {
  isVotable,
  PHASE_WORDS,
  type Standable,
  shortWindow,
  standingOf,
  windowOf,
} from "../../src/ledger/vote-phase.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { NOW } from "./vote-requests.js";

const NEEDED = 9;
const [PAST, SOON, LATER] = [NOW - DAY, NOW + DAY, NOW + 2 * DAY];
const request = (
  yes: number | null,
  no: number | null,
  voteBefore: number | null,
  targetEffectiveAt: number | null = null,
  more: Partial<Standable> = {},
): Standable => ({
  status: "In Progress",
  yes,
  no,
  pending: yes === null || no === null ? null : 13 - yes - no,
  voteBefore,
  targetEffectiveAt,
  ...more,
});
const quorum = (at: number) => ({ name: "quorum by", at });
const decision = (at: number) => ({ name: "decided on", at });

describe("the standing of a vote request", () => {
  it.each<[string, Standable, string, number | null, object | null]>([
    ["too few, before both dates", request(3, 1, SOON, LATER), "voting", null, quorum(SOON)],
    ["enough have voted, before both dates", request(5, 4, SOON, LATER), "voting", null, decision(LATER)],
    ["enough have voted in time", request(5, 4, PAST, SOON), "voting", null, decision(SOON)],
    ["too few had voted in time", request(3, 1, PAST, SOON), "expired", PAST, null],
    ["too few had voted, exactly at the quorum date", request(3, 1, NOW, SOON), "expired", NOW, null],
    [
      "too few had voted, a moment before the quorum date",
      request(3, 1, NOW + 1, SOON),
      "voting",
      null,
      quorum(NOW + 1),
    ],
    [
      "too few had voted, and both dates are past",
      request(3, 1, PAST - DAY, PAST),
      "expired",
      PAST - DAY,
      null,
    ],
    ["enough yes, just decided", request(9, 1, PAST, NOW), "ready", NOW, null],
    ["enough yes for just under an hour", request(9, 1, PAST, NOW - HOUR + 1), "ready", NOW - HOUR + 1, null],
    ["enough yes for an hour", request(9, 1, PAST, NOW - HOUR), "overdue", NOW - HOUR, null],
    ["too few yes on the day", request(8, 4, PAST, NOW), "rejected", NOW, null],
    ["enough no, at any time", request(1, 9, SOON, LATER), "rejected", null, decision(LATER)],
    ["enough no, without a second date", request(1, 9, SOON), "rejected", null, quorum(SOON)],
    ["open, without a second date", request(3, 1, SOON), "voting", null, quorum(SOON)],
    ["expired, without a second date", request(8, 4, PAST), "expired", PAST, null],
    ["enough yes, without a second date", request(9, 0, SOON), "ready", null, null],
    [
      "enough yes for a long time, without a second date",
      request(9, 0, SOON, null, { enoughYesAt: PAST }),
      "overdue",
      PAST,
      null,
    ],
    ["enough yes after its date, without a second date", request(9, 0, PAST), "overdue", PAST, null],
    ["over by its status", request(3, 1, SOON, LATER, { status: "Rejected" }), "ended", null, null],
    [
      "an unknown status after its dates",
      request(9, 1, PAST, PAST, { status: "Closed" }),
      "ended",
      null,
      null,
    ],
    ["no status after its dates", request(9, 1, PAST, PAST, { status: null }), "overdue", PAST, null],
    ["no dates", request(3, 1, null), "voting", null, null],
    ["unknown counts after the quorum date", request(null, null, PAST, SOON), "voting", null, decision(SOON)],
    ["unknown counts after both dates", request(null, null, PAST - DAY, PAST), "voting", null, null],
    ["unknown counts, without a second date", request(null, null, PAST), "voting", null, null],
    ["one unknown count on the day", request(6, null, PAST - DAY, PAST), "voting", null, null],
    ["enough yes, and an unknown count", request(9, null, PAST - DAY, PAST), "overdue", PAST, null],
    ["only a decision date", request(3, 1, null, SOON), "voting", null, decision(SOON)],
  ])("%s", (_, given, phase, since, next) => {
    expect(standingOf(given, NEEDED, NOW)).toEqual({ phase, since, next });
  });

  it("does not judge by an unknown count", () => {
    const unknown = request(null, null, PAST, SOON);
    expect(standingOf(unknown, undefined, NOW)).toEqual({
      phase: "voting",
      since: null,
      next: decision(SOON),
    });
    const onTheDay = standingOf(request(null, null, NOW, SOON), undefined, NOW);
    expect(onTheDay.next).toEqual(decision(SOON));
  });

  const votes = (count: number, castAt: number | null) =>
    Array.from({ length: count }, () => ({ accept: true, castAt }));

  it("ignores votes that were cast too late", () => {
    const late = [...votes(5, PAST - HOUR), ...votes(5, PAST + HOUR)];
    expect(standingOf(request(10, 0, PAST, SOON, { votes: late }), NEEDED, NOW).phase).toBe("expired");
    const inTime = votes(10, PAST - HOUR);
    expect(standingOf(request(10, 0, PAST, SOON, { votes: inTime }), NEEDED, NOW).phase).toBe("voting");
    // Votes without a time all count, unless the bot saw the request expire.
    expect(standingOf(request(10, 0, PAST, SOON, { votes: votes(10, null) }), NEEDED, NOW).phase).toBe(
      "voting",
    );
    expect(standingOf(request(10, 0, PAST, SOON, { hasExpired: true }), NEEDED, NOW).phase).toBe("expired");
    // The explorer may have been behind when the bot saw too few.
    const dated = { votes: inTime, hasExpired: true };
    expect(standingOf(request(10, 0, PAST, SOON, dated), NEEDED, NOW).phase).toBe("voting");
    // Also if enough vote no afterwards: nobody has to be reminded to vote.
    const rejected = standingOf(request(1, 10, PAST, SOON, { hasExpired: true }), NEEDED, NOW);
    expect(rejected).toEqual({ phase: "expired", since: PAST, next: null });
  });

  it("counts a vote that was changed after the quorum date if the bot saw enough votes at that date", () => {
    const changed = [...votes(8, PAST - HOUR), ...votes(1, PAST + HOUR)];
    const seen = { votes: changed, hasExpired: false };
    expect(standingOf(request(9, 0, PAST, SOON, seen), NEEDED, NOW).phase).toBe("voting");
  });

  it("has had enough yes votes since the deciding one", () => {
    const cast = [...votes(8, PAST), ...votes(1, NOW - 2 * HOUR), ...votes(1, NOW)];
    expect(standingOf(request(10, 0, SOON, null, { votes: cast }), NEEDED, NOW)).toMatchObject({
      phase: "overdue",
      since: NOW - 2 * HOUR,
    });
  });

  it.each([
    [request(3, 1, SOON, LATER), true],
    [request(9, 1, PAST, NOW - HOUR), true],
    [request(8, 4, PAST, NOW), true],
    [request(3, 1, PAST, SOON), false],
    [request(3, 1, SOON, null, { status: "Accepted" }), false],
  ])("can be voted on while it is open, unless it has expired", (given, votable) => {
    expect(isVotable(standingOf(given, NEEDED, NOW))).toBe(votable);
  });
});

describe("a short vote", () => {
  it.each([
    [NOW, NOW + 4 * HOUR, 4 * HOUR],
    [NOW, NOW + 2 * DAY - 1, 2 * DAY - 1],
    [NOW, NOW + 2 * DAY, undefined],
    [NOW, NOW + 7 * DAY, undefined],
    [null, NOW + HOUR, undefined],
    [NOW, null, undefined],
    [NOW, NOW, undefined],
  ])("opened at %j, with a quorum by %j", (createdAt, voteBefore, window) => {
    expect(shortWindow({ createdAt, voteBefore })).toBe(window);
  });

  it("is measured from its opening", () => {
    expect(windowOf(NOW - 30 * MINUTE, NOW)).toBe(30 * MINUTE);
    expect(windowOf(null, NOW)).toBeUndefined();
    expect(windowOf(undefined, NOW)).toBeUndefined();
  });
});

describe("the times of votes", () => {
  const cast = (accept: boolean | null, castAt: number | null) => ({ accept, castAt });
  const withVotes = (votes: readonly ReturnType<typeof cast>[], targetEffectiveAt: number | null = SOON) =>
    standingOf(request(9, 0, PAST, targetEffectiveAt, { votes }), NEEDED, NOW);
  const nine = (castAt: number | null) => Array.from({ length: 9 }, () => cast(true, castAt));

  it("count up to the quorum date, but not on it", () => {
    expect(withVotes(nine(PAST - 1)).phase).toBe("voting");
    expect(withVotes(nine(PAST)).phase).toBe("expired");
  });

  it("are used only if all cast votes have one", () => {
    expect(withVotes([...nine(PAST), cast(true, null)]).phase).toBe("voting");
    expect(withVotes([...nine(PAST), cast(null, null)]).phase).toBe("expired");
    expect(withVotes([cast(null, null)]).phase).toBe("voting");
  });

  it("show since when there are enough yes votes, in any order and ignoring other votes", () => {
    const early = NOW - 3 * HOUR;
    const mixed = [
      cast(true, early + 5),
      ...nine(early).slice(1),
      cast(false, early + 9),
      cast(null, early + 9),
    ];
    expect(withVotes(mixed, null)).toEqual({ phase: "overdue", since: early + 5, next: null });
    expect(withVotes([...nine(early), cast(true, NOW)], null).since).toBe(early);
    const last = NOW - 10 * MINUTE;
    const turned = [...nine(early).slice(1), cast(false, early), cast(true, last)];
    expect(withVotes(turned, null)).toEqual({ phase: "ready", since: last, next: null });
    const undated = request(9, 0, PAST, null, { votes: nine(null), enoughYesAt: last });
    expect(standingOf(undated, NEEDED, NOW).since).toBe(last);
  });

  it("start a decision at its date, or at the last vote that it needed if that is later", () => {
    const decided = NOW - 2 * HOUR;
    const standing = standingOf(
      request(9, 0, decided - DAY, decided, { enoughYesAt: NOW - HOUR }),
      NEEDED,
      NOW,
    );
    expect(standing.since).toBe(NOW - HOUR);
    expect(standingOf(request(9, 0, decided - DAY, decided), NEEDED, NOW).since).toBe(decided);
  });
});

it("has words for every phase that the explorer does not state", () => {
  expect(PHASE_WORDS).toEqual({
    expired: "expired, not closed yet",
    rejected: "rejected by the votes, not closed yet",
    ready: "ready to close",
    overdue: "overdue",
  });
});
