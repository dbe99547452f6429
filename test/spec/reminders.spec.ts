import { describe, expect, it } from "vitest";
import type { Subscription } from "../../src/delivery/collections.js";
import { beforeOf, deadlineOf, reminderId } from "../../src/feeds/governance/events.js";
import { isFor, isOvertaken, isSuperseded } from "../../src/feeds/governance/recipients.js";
import {
  dueReminders,
  openingFor,
  openingOfReminder,
  remindersFor,
  reminderTimes,
  seenOf,
} from "../../src/feeds/governance/reminders.js";
import {
  beforeWords,
  formatBefore,
  missingIn,
  options,
  parseBefore,
  pingsMissing,
  remindersOf,
  topics,
} from "../../src/feeds/governance/topics.js";
import type { VotePhase } from "../../src/ledger/vote-phase.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { NOW, subscribed, tracked } from "./vote-requests.js";

const DEADLINE = NOW + DAY;
const id = (before: number) => `${DEADLINE}:${before}`;

describe("dueReminders", () => {
  const cases: readonly [
    what: string,
    before: readonly number[],
    since: number,
    now: number,
    expected: readonly number[],
  ][] = [
    ["returns none before its time", [6 * HOUR], 0, DEADLINE - 6 * HOUR - 1, []],
    ["returns one at its time", [6 * HOUR], 0, DEADLINE - 6 * HOUR, [6 * HOUR]],
    ["returns one until the deadline", [6 * HOUR], 0, DEADLINE - 1, [6 * HOUR]],
    [
      "sorts reminders by time, whatever their order",
      [6 * HOUR, DAY],
      0,
      DEADLINE - 2 * HOUR,
      [DAY, 6 * HOUR],
    ],
    ["returns none at the deadline", [6 * HOUR], 0, DEADLINE, []],
    [
      "returns all that are due, the latest last",
      [HOUR, DAY, 6 * HOUR],
      0,
      DEADLINE - 2 * HOUR,
      [DAY, 6 * HOUR],
    ],
    [
      "skips reminders from before the subscription",
      [DAY, HOUR],
      DEADLINE - 2 * HOUR,
      DEADLINE - HOUR,
      [HOUR],
    ],
    ["includes a reminder at the time of the subscription", [DAY], DEADLINE - DAY, DEADLINE - HOUR, [DAY]],
    ["skips a reminder just before the subscription", [DAY], DEADLINE - DAY + 1, DEADLINE - HOUR, []],
  ];
  it.each(cases)("%s", (_, before, since, now, expected) => {
    expect(dueReminders(tracked(), before, since, now)).toEqual(expected.map(id));
  });

  it.each([
    ["a vote of four hours", 4 * HOUR, [2 * HOUR, 30 * MINUTE]],
    ["a vote of a day", DAY, [12 * HOUR, 3 * HOUR]],
    ["a vote of thirty hours", 30 * HOUR, [DAY, 6 * HOUR]],
    ["a vote of two days", 2 * DAY, [DAY, 6 * HOUR]],
    ["a vote of seven days", 7 * DAY, [2 * DAY, DAY, 6 * HOUR]],
    ["a vote of three minutes", 3 * MINUTE, [1.5 * MINUTE, MINUTE]],
  ])("fits reminders into the window of %s", (_, window, expected) => {
    const openedAt = DEADLINE - window;
    const chosen = [2 * DAY, DAY, 6 * HOUR];
    expect(reminderTimes(chosen, DEADLINE, openedAt)).toEqual(expected);
    const known = tracked({ openedAt, seenAt: openedAt });
    expect(dueReminders(known, chosen, 0, openedAt)).toEqual([]);
    expect(dueReminders(known, chosen, 0, DEADLINE - 1)).toEqual(expected.map(id));
  });

  it.each([
    ["as long as the longest of its times", 7 * DAY, [HOUR]],
    ["shorter than all of its times but one", 6 * DAY, [HOUR]],
    ["longer than all of its times", 8 * DAY, [7 * DAY, HOUR]],
    ["short", DAY, [12 * HOUR, 3 * HOUR]],
  ])("keeps the chosen times for a vote that is %s", (_, window, expected) => {
    expect(reminderTimes([7 * DAY, HOUR], DEADLINE, DEADLINE - window)).toEqual(expected);
  });

  it("skips reminders whose time had passed when the request was first seen", () => {
    const openedAt = DEADLINE - 4 * HOUR;
    const known = tracked({ openedAt, seenAt: DEADLINE - HOUR });
    expect(dueReminders(known, [DAY], 0, DEADLINE - HOUR)).toEqual([]);
    expect(dueReminders(known, [DAY], 0, DEADLINE - 1)).toEqual([id(30 * MINUTE)]);
  });

  it("comes at parts of the time since a request was seen if its opening is unknown and all chosen times have passed", () => {
    const known = tracked({ openedAt: null, seenAt: DEADLINE - 4 * HOUR });
    const usual = [2 * DAY, DAY, 6 * HOUR];
    expect(dueReminders(known, usual, 0, DEADLINE - 1)).toEqual([id(2 * HOUR), id(30 * MINUTE)]);
    expect(dueReminders(known, [...usual, HOUR], 0, DEADLINE - 1)).toEqual([id(HOUR)]);
  });

  it("returns none for an expired request", () => {
    const expired = { phase: "expired", since: NOW, next: null } as const;
    const due = remindersFor(tracked(), [subscribed({ before: [HOUR] })], DEADLINE - 1, expired);
    expect(due).toEqual({ done: [], announced: [] });
  });

  it("returns none for a request that is over, has no deadline, or had its reminder", () => {
    const due = (given: Parameters<typeof tracked>[0], terms = {}) =>
      dueReminders(tracked(given, terms), [HOUR], 0, DEADLINE - HOUR);
    expect(due({})).toEqual([id(HOUR)]);
    expect(due({ phase: "closed" })).toEqual([]);
    expect(due({ phase: "ignored" })).toEqual([]);
    expect(due({}, { voteBefore: null })).toEqual([]);
    expect(due({ reminded: [id(HOUR)] })).toEqual([]);
    expect(due({ reminded: [id(DAY), `${DEADLINE + 1}:${HOUR}`] })).toEqual([id(HOUR)]);
  });

  it("returns reminders before the effective date too", () => {
    const effective = DEADLINE + DAY;
    const dated = tracked({}, { targetEffectiveAt: effective });
    const due = (now: number, since = 0) => dueReminders(dated, [HOUR, DAY], since, now);
    expect(due(DEADLINE - HOUR)).toEqual([id(DAY), id(HOUR)]);
    expect(due(DEADLINE)).toEqual([reminderId(effective, DAY)]);
    expect(due(effective - HOUR, DEADLINE + 1)).toEqual([reminderId(effective, HOUR)]);
    expect(due(effective)).toEqual([]);
    expect(
      dueReminders(tracked({}, { voteBefore: null, targetEffectiveAt: effective }), [HOUR], 0, effective - 1),
    ).toEqual([reminderId(effective, HOUR)]);
    const same = tracked({}, { targetEffectiveAt: DEADLINE });
    expect(dueReminders(same, [HOUR], 0, DEADLINE - 1)).toEqual([id(HOUR)]);
  });

  it("does not reorder the times that it is given", () => {
    const before = [HOUR, DAY];
    dueReminders(tracked(), before, 0, NOW);
    expect(before).toEqual([HOUR, DAY]);
  });
});

describe("the reminders for all subscriptions", () => {
  const now = DEADLINE - HOUR;

  it.each<[VotePhase, number]>([
    ["voting", 1],
    ["rejected", 0],
    ["ready", 0],
    ["overdue", 0],
    ["expired", 0],
    ["ended", 0],
  ])("of a request whose phase is %s are %d", (phase, count) => {
    const { announced } = remindersFor(tracked(), [subscribed({ before: [HOUR] })], now, {
      phase,
      since: null,
      next: null,
    });
    expect(announced).toHaveLength(count);
  });

  it("do not include those that were due before the times were changed", () => {
    const changed = [subscribed({ before: [DAY, 2 * MINUTE], savedAt: now - MINUTE })];
    expect(remindersFor(tracked(), changed, now).announced).toEqual([]);
    expect(remindersFor(tracked(), changed, DEADLINE - MINUTE).announced).toEqual([id(2 * MINUTE)]);
  });

  it("are sent although the request was first seen by a clock that was ahead", () => {
    const ahead = tracked({ seenAt: now + 3 * DAY });
    expect(remindersFor(ahead, [subscribed({ before: [HOUR] })], now).announced).toEqual([id(HOUR)]);
  });

  it("are the latest due one of each subscription, and all due ones count as done", () => {
    const all = [subscribed({ before: [DAY, HOUR] }), subscribed({ before: [6 * HOUR] })];
    const { done, announced } = remindersFor(tracked(), all, now);
    expect(announced).toEqual([id(HOUR), id(6 * HOUR)]);
    expect(done).toEqual([id(DAY), id(HOUR), id(6 * HOUR)]);
  });

  it("are those of the nearer deadline if both have one, as with the dates of Splice's forms", () => {
    const effective = DEADLINE + DAY;
    const known = tracked({}, { targetEffectiveAt: effective });
    const usual = [subscribed({ before: [2 * DAY, DAY] })];
    const both = { done: [reminderId(effective, 2 * DAY), id(2 * DAY), id(DAY)], announced: [id(DAY)] };
    expect(remindersFor(known, usual, DEADLINE - DAY)).toEqual(both);
    // A poll may find the later one some seconds after it was due.
    expect(
      remindersFor(tracked({}, { targetEffectiveAt: effective + 5 }), usual, DEADLINE - DAY + 10).announced,
    ).toEqual([id(DAY)]);
  });

  it("are sent once to several subscriptions", () => {
    const all = [subscribed({ before: [HOUR] }), subscribed({ before: [HOUR] })];
    expect(remindersFor(tracked(), all, now)).toEqual({ done: [id(HOUR)], announced: [id(HOUR)] });
  });

  it("are sent if the first of the subscriptions with the same times is old enough, whichever is listed first", () => {
    const [early, late] = [subscribed({ before: [HOUR] }), subscribed({ before: [HOUR], since: now + 1 })];
    const due = { done: [id(HOUR)], announced: [id(HOUR)] };
    expect(remindersFor(tracked(), [early, late], now)).toEqual(due);
    expect(remindersFor(tracked(), [late, early], now)).toEqual(due);
    expect(remindersFor(tracked(), [late, late], now)).toEqual({ done: [], announced: [] });
  });

  it("are sent although the clock was days ahead when a subscription was saved", () => {
    const since = now + 2 * DAY;
    const due = remindersFor(tracked(), [subscribed({ before: [HOUR], since })], now);
    expect(due.announced).toEqual([id(HOUR)]);
  });

  it("skip subscriptions without reminders", () => {
    const all = [subscribed({ topics: { reminders: false } }), subscribed({ topics: {} })];
    expect(remindersFor(tracked(), all, now)).toEqual({ done: [], announced: [] });
    expect(remindersFor(tracked(), [subscribed({ since: DEADLINE })], now)).toEqual({
      done: [],
      announced: [],
    });
  });

  it("are sent two days, a day and six hours before by default", () => {
    const byDefault = [2 * DAY, DAY, 6 * HOUR];
    expect(remindersOf(subscribed())).toEqual(byDefault);
    expect(remindersOf(subscribed({ before: "soon" }))).toEqual(byDefault);
    // Earlier versions stored their default even if it was not chosen.
    expect(remindersOf(subscribed({ before: [DAY, 6 * HOUR] }))).toEqual(byDefault);
    expect(remindersOf(subscribed({ before: [DAY, 6 * HOUR], chosen: ["before"] }))).toEqual([DAY, 6 * HOUR]);
    expect(remindersOf(subscribed({ before: [HOUR] }))).toEqual([HOUR]);
  });

  it("have an id with the deadline and the time before it", () => {
    expect(reminderId(5, 3)).toBe("5:3");
    expect(beforeOf(id(HOUR))).toBe(HOUR);
    expect(deadlineOf(id(HOUR))).toBe(DEADLINE);
  });
});

describe("parseBefore", () => {
  it.each<[string, readonly number[] | undefined]>([
    ["24h", [DAY]],
    ["24h 6h", [DAY, 6 * HOUR]],
    ["6h, 24h", [DAY, 6 * HOUR]],
    ["2d;90m", [2 * DAY, 90 * MINUTE]],
    ["  6H  ", [6 * HOUR]],
    ["6h 6h 360m", [6 * HOUR]],
    ["5m", [5 * MINUTE]],
    ["30d", [30 * DAY]],
    ["1h 2h 3h 4h 5h", [5 * HOUR, 4 * HOUR, 3 * HOUR, 2 * HOUR, HOUR]],
    ["1h 2h 3h 4h 5h 6h", undefined],
    ["4m", undefined],
    ["31d", undefined],
    ["43201m", undefined],
    ["", undefined],
    [" , ", undefined],
    ["soon", undefined],
    ["6", undefined],
    ["h", undefined],
    ["6s", undefined],
    ["x6h", undefined],
    ["6hx", undefined],
    ["-6h", undefined],
    ["12345h", undefined],
    ["6h soon", undefined],
  ])("reads %j", (text, expected) => {
    expect(parseBefore(text)).toEqual(expected);
  });

  it.each<[readonly number[], string]>([
    [[2 * DAY], "2d"],
    [[DAY], "24h"],
    [[36 * HOUR], "36h"],
    [[HOUR], "1h"],
    [[90 * MINUTE], "90m"],
    [[2 * DAY, 6 * HOUR, 5 * MINUTE], "2d 6h 5m"],
  ])("is the inverse of formatBefore for %j", (before, text) => {
    expect(formatBefore(before)).toBe(text);
    expect(parseBefore(text)).toEqual(before);
  });
});

describe("reminder times", () => {
  it.each<[readonly number[], string]>([
    [[2 * DAY, DAY, 6 * HOUR], "48 h, 24 h and 6 h"],
    [[12 * HOUR, 90 * MINUTE], "12 h and 90 min"],
    [[45 * MINUTE], "45 min"],
  ])("in a sentence: %j", (before, words) => {
    expect(beforeWords(before)).toBe(words);
  });

  it.each([
    ["5m 1h 2h 3h 30d", undefined],
    ["1h 2h 3h 4h 5h 6h", "That's 6 times. The maximum is 5."],
    ["6h 4m", "4m is too short. The minimum is 5m."],
    ["31d", "31d is too long. The maximum is 30d."],
  ])("out of range have an error of their own: %s", (text, problem) => {
    expect(options.before.limit?.(text)).toBe(problem);
  });
});

describe("the topics", () => {
  it("are on or off by default, with a description", () => {
    const rows = Object.entries(topics).map(([name, { byDefault, words }]) => [
      name,
      byDefault,
      words(subscribed()),
    ]);
    expect(rows).toEqual([
      ["new", true, "new vote requests"],
      ["outcome", true, "outcomes"],
      ["reminders", true, "reminders (48 h, 24 h and 6 h before each deadline)"],
      ["decided", true, "decisions"],
      ["overdue", true, "overdue requests"],
      ["changes", false, "changes"],
      ["votes", false, "votes"],
      ["calendar", false, "server events"],
    ]);
    for (const { description } of Object.values(topics)) expect(description).toMatch(/^[A-Z][\w ,']{5,80}$/);
  });
});

it.each<[Partial<Subscription>, boolean]>([
  [{ missing: "ping" }, true],
  [{ missing: "list" }, false],
  [{ missing: "ping", topics: { reminders: false } }, false],
  [{ topics: { reminders: true } }, false],
])("a subscription with %j pings those who have not voted: %s", (given, expected) => {
  expect(pingsMissing(subscribed(given))).toBe(expected);
});

describe("missing votes in reminders", () => {
  it.each(["list", "ping", "off"] as const)("are shown as `missing` says: %s", (way) => {
    expect(options.missing.parse(way)).toBe(way);
    expect(missingIn(subscribed({ missing: way }))).toBe(way);
    expect(Object.keys(options.missing.choices ?? {})).toContain(way);
  });

  it("are listed by default, and for an invalid value", () => {
    expect(missingIn(subscribed({}))).toBe("list");
    expect(missingIn(subscribed({ missing: "shout" }))).toBe("list");
    expect(options.missing.parse("shout")).toBeUndefined();
  });
});

it("one chosen time that fits into a short vote stays", () => {
  expect(reminderTimes([HOUR], NOW, NOW - 4 * HOUR)).toEqual([HOUR]);
});

it("a request counts as seen from its time, unless a clock was ahead then", () => {
  expect(seenOf(tracked({ seenAt: NOW }), NOW).seenAt).toBe(NOW);
  expect(seenOf(tracked({ seenAt: NOW + 1 }), NOW).seenAt).toBeUndefined();
  const hourBefore = { openedAt: null, seenAt: DEADLINE - HOUR };
  expect(openingFor([HOUR], DEADLINE, hourBefore)).toBeNull();
  expect(openingFor([HOUR], DEADLINE, { ...hourBefore, seenAt: DEADLINE - HOUR + 1 })).toBe(
    DEADLINE - HOUR + 1,
  );
});

describe("a reminder", () => {
  const quorum = NOW + DAY;
  const decision = quorum + DAY;
  const request = tracked(
    { openedAt: NOW - 6 * DAY, reminded: [reminderId(quorum, 2 * DAY)] },
    { voteBefore: quorum, targetEffectiveAt: decision },
  );
  const usual = subscribed({});
  const early = subscribed({ before: [2 * DAY, 6 * HOUR] });
  /** Returns the reminders that each of these subscriptions gets now. */
  const gotBy = (all: readonly Subscription[]) => {
    const { done, announced } = remindersFor(request, all, NOW);
    return all.map((subscription) =>
      announced.filter((reminder) =>
        isFor(subscription, {
          kind: "reminder",
          key: "k",
          reminder,
          due: [...done],
          openedAt: NOW - 6 * DAY,
        }),
      ),
    );
  };

  it("of a short vote whose opening is unknown goes to the subscriptions whose times have all passed", () => {
    const short = tracked({ openedAt: null, seenAt: quorum - 4 * HOUR }, { voteBefore: quorum });
    const last = subscribed({ before: [HOUR] });
    const got = (now: number) => {
      const { done, announced } = remindersFor(short, [usual, last], now);
      const event = { kind: "reminder" as const, key: "k", due: [...done], ...seenOf(short, now) };
      return [usual, last].map((each) =>
        announced.filter((reminder) => isFor(each, { ...event, reminder })).map(beforeOf),
      );
    };
    expect(got(quorum - 2 * HOUR)).toEqual([[2 * HOUR], []]);
    expect(got(quorum - 30 * MINUTE)).toEqual([[30 * MINUTE], [HOUR]]);
    expect(openingOfReminder(reminderId(quorum, 2 * HOUR), seenOf(short, quorum))).toBe(quorum - 4 * HOUR);
    expect(openingOfReminder(reminderId(quorum, HOUR), seenOf(short, quorum))).toBe(null);
  });

  it("that waited is covered by a later one of its deadline that waits for the same channel", () => {
    const eventOf = (reminder: string, key = "k") => ({
      kind: "reminder" as const,
      key,
      reminder,
      due: [reminder],
      openedAt: NOW - 6 * DAY,
    });
    const [first, second] = [eventOf(reminderId(quorum, 2 * DAY)), eventOf(reminderId(quorum, DAY))];
    expect(isSuperseded(first, [second], [usual])).toBe(true);
    expect(isSuperseded(first, [], [usual])).toBe(false);
    expect(isSuperseded(first, [eventOf(reminderId(decision, DAY))], [usual])).toBe(false);
    expect(isSuperseded(first, [eventOf(reminderId(quorum, DAY), "other")], [usual])).toBe(false);
    expect(isSuperseded(second, [first], [usual])).toBe(false);
    // The other one has chosen two days and six hours.
    expect(isSuperseded(first, [second], [usual, early])).toBe(false);
    expect(isSuperseded(first, [second], [])).toBe(false);
  });

  it("goes only to the subscriptions whose last one it is, whatever the times of others", () => {
    const [quorumIsNear, decisionIsNear] = [reminderId(quorum, DAY), reminderId(decision, 2 * DAY)];
    expect(gotBy([usual])).toEqual([[quorumIsNear]]);
    expect(gotBy([usual, early])).toEqual([[quorumIsNear], [decisionIsNear]]);
  });
});

it("news about a decision or an end is overtaken by later news about the same", () => {
  const votes = { key: "k", way: "yes", votes: 9, needed: 9 } as const;
  const first = { kind: "decided", ...votes } as const;
  const lost = { kind: "undecided", ...votes, sequence: 1 } as const;
  const again = { kind: "decided", ...votes, sequence: 1 } as const;
  expect(isOvertaken(first, [lost])).toBe(true);
  expect(isOvertaken(lost, [again])).toBe(true);
  expect(isOvertaken(again, [first, lost, again])).toBe(false);
  expect(isOvertaken(first, [{ ...again, key: "other" }])).toBe(false);
  const ended = { kind: "closed", key: "k", status: "Rejected" } as const;
  const reopened = { kind: "reopened", key: "k", at: NOW } as const;
  const corrected = { kind: "closed", key: "k", status: "Accepted", correctedAt: NOW } as const;
  expect(isOvertaken(ended, [reopened])).toBe(true);
  expect(isOvertaken(ended, [corrected])).toBe(true);
  expect(isOvertaken(corrected, [ended, reopened])).toBe(false);
  expect(isOvertaken(first, [ended])).toBe(false);
  expect(isOvertaken({ kind: "overdue", key: "k", since: null }, [ended, again])).toBe(false);
});
