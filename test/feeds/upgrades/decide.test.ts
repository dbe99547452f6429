import { describe, expect, it } from "vitest";
import type { Upgrade } from "../../../src/feeds/upgrades/collections.js";
import { judgeStandstill, judgeUpgrade } from "../../../src/feeds/upgrades/decide.js";
import { eventId, type UpgradeEvent } from "../../../src/feeds/upgrades/events.js";
import type { UpgradeDecision } from "../../../src/ledger/upgrades.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";

const UPGRADE = Date.UTC(2026, 11, 12, 15);
const FREEZE = UPGRADE - 2 * HOUR;

/** A decision. If it does not say when it took effect, that is when it was first read. */
type Decision = Omit<UpgradeDecision, "at"> & { readonly at?: number };

const set = (by: string, upgradeAt = UPGRADE, freezeAt: number | null = FREEZE): Decision => ({
  by,
  schedule: { upgradeAt, freezeAt },
});
const REMOVED = (by: string): Decision => ({ by, schedule: undefined });
const made = (hours: number, decision: Decision): Decision => ({ ...decision, at: UPGRADE + hours * HOUR });

/** A reading of the ledger: hours before (-) or after the upgrade, the decision, the newest round, and the round's age in hours. */
type Step = readonly [hours: number, decision: Decision | undefined, round?: number, age?: number];

function wordsOf(event: UpgradeEvent): string {
  if (event.kind === "reminder") return `${event.step} before ${(event.upgradeAt - UPGRADE) / HOUR} h`;
  if (event.kind === "advancing" && event.isLate) return "late advancing";
  return event.kind === "moved" ? `moved to ${(event.upgradeAt - UPGRADE) / HOUR} h` : event.kind;
}

/** Replays readings of a bot that knows no upgrade yet, as a restarted process would: all memory is in the documents. */
function replay(steps: readonly Step[], isBaselineFirst = false) {
  const documents = new Map<string, Upgrade>();
  const told: string[] = [];
  const ids = new Set<string>();
  const madeAt = new Map<string, number>();
  for (const [index, [hours, read, round, age = 0]] of steps.entries()) {
    const now = UPGRADE + hours * HOUR;
    if (read && !madeAt.has(read.by)) madeAt.set(read.by, read.at ?? now);
    const decision = read && { ...read, at: madeAt.get(read.by) ?? now };
    const rounds = round === undefined ? undefined : { number: round, seenAt: now - age * HOUR };
    const isBaseline = isBaselineFirst && index === 0;
    const { changed, events } = judgeUpgrade(documents, { decision, rounds, isBaseline, now });
    for (const [subject, document] of changed) {
      const { endedAt, revision = 0 } = documents.get(subject) ?? {};
      // Without a new revision, the upgrade's message would not be edited.
      if (document.endedAt !== endedAt) expect(document.revision).toBeGreaterThan(revision);
      documents.set(subject, document);
    }
    told.push(...events.map((event) => `${hours}: ${wordsOf(event)}`));
    for (const event of events) ids.add(eventId(event));
  }
  // Events with the same id would be told once.
  expect(ids.size).toBe(told.length);
  return { told, documents: [...documents.values()] };
}

const A = set("a");
const LATER = set("b", UPGRADE + 40 * DAY, null);
describe("an upgrade", () => {
  it.each<[string, readonly Step[], readonly string[]]>([
    [
      "is not ended by a vote that takes effect after it",
      [
        [-120, A, 1],
        [-100, made(48, LATER), 2],
        [-26, made(48, LATER), 3],
        [0, made(48, LATER), 4],
        [0.5, made(48, LATER), 4],
        [1, made(48, LATER), 5],
        [48, made(48, LATER), 6],
        [49, made(48, LATER), 7],
      ],
      ["-120: scheduled", "-26: day before 0 h", "0: upgrade before 0 h", "1: advancing", "48: scheduled"],
    ],
    [
      "is told from its schedule to the next round, each step once",
      [
        [-200, undefined, 1],
        [-100, A, 2],
        [-99, A, 3],
        [-26.1, A, 4],
        [-26, A, 5],
        [-25, A, 6],
        [-3, A, 7],
        [-2, A, 8],
        [0, A, 9],
        [0.1, A, 9],
        [0.2, A, 9],
        [0.3, A, 10],
        [0.5, A, 11],
      ],
      [
        "-100: scheduled",
        "-26: day before 0 h",
        "-3: hour before 0 h",
        "0: upgrade before 0 h",
        "0.3: advancing",
      ],
    ],
    [
      "does not advance with the first round after it if the last reading was before it",
      [
        [-1, A, 9],
        [0, A, 9, 0.1],
        [0.1, A, 10],
        [0.2, A, 11],
      ],
      ["-1: scheduled", "0: upgrade before 0 h", "0.2: advancing"],
    ],
    [
      "that is moved back and forth is told each time",
      [
        [-100, A],
        [-95, set("b", UPGRADE + 50 * HOUR)],
        [-90, set("c")],
        [-85, set("d", UPGRADE + 50 * HOUR)],
      ],
      ["-100: scheduled", "-95: moved to 50 h", "-90: moved to 0 h", "-85: moved to 50 h"],
    ],
    [
      "is over with the next round also if the bot was away, and rounds may have begun before",
      [
        [-1, A, 9],
        [5, A, 30],
        [5.2, A, 31],
        [5.4, A, 32],
      ],
      ["-1: scheduled", "5: upgrade before 0 h", "5.2: late advancing"],
    ],
    [
      "is not said to be over while no round begins",
      [
        [-1, A, 9],
        [0, A, 9],
        [3, A, 9],
        [23, A, 9],
      ],
      ["-1: scheduled", "0: upgrade before 0 h"],
    ],
    [
      "that was decided shortly before has no reminder that is out of date",
      [
        [-2.5, A],
        [-2.4, A],
      ],
      ["-2.5: scheduled"],
    ],
    [
      "has only the last reminder after the bot was away",
      [
        [-100, A],
        [-2.5, A],
        [-1, A],
      ],
      ["-100: scheduled", "-2.5: hour before 0 h"],
    ],
    [
      "is not told long after its time",
      [
        [-100, A],
        [7, A],
      ],
      ["-100: scheduled"],
    ],
    [
      "has its reminders although a clock was ahead for a moment",
      [
        [-100, A],
        [9, A],
        [-99, A],
        [-26, A],
        [-3, A],
        [0, A],
      ],
      ["-100: scheduled", "-26: day before 0 h", "-3: hour before 0 h", "0: upgrade before 0 h"],
    ],
    [
      "that is moved between two reminders has both of them again",
      [
        [-100, A],
        [-26, A],
        [-20, set("b", UPGRADE + 100 * HOUR, FREEZE + 100 * HOUR)],
        [-3, set("b", UPGRADE + 100 * HOUR, FREEZE + 100 * HOUR)],
        [74, set("b", UPGRADE + 100 * HOUR, FREEZE + 100 * HOUR)],
        [97, set("b", UPGRADE + 100 * HOUR, FREEZE + 100 * HOUR)],
      ],
      [
        "-100: scheduled",
        "-26: day before 0 h",
        "-20: moved to 100 h",
        "74: day before 100 h",
        "97: hour before 100 h",
      ],
    ],
    [
      "that is moved close has no reminder that the news contains",
      [
        [-100, A],
        [-90, set("b", UPGRADE - 88 * HOUR, null)],
        [-89.9, set("b", UPGRADE - 88 * HOUR, null)],
        [-89, set("b", UPGRADE - 88 * HOUR, null)],
      ],
      ["-100: scheduled", "-90: moved to -88 h", "-89: hour before -88 h"],
    ],
    [
      "whose freeze alone moves is moved",
      [
        [-100, A],
        [-90, set("b", UPGRADE, FREEZE - HOUR)],
      ],
      ["-100: scheduled", "-90: moved to 0 h"],
    ],
    [
      "that is decided again as it was is no news",
      [
        [-100, A],
        [-90, set("b")],
        [-80, A],
      ],
      ["-100: scheduled"],
    ],
    [
      "that is cancelled and scheduled again",
      [
        [-100, A],
        [-90, REMOVED("b")],
        [-80, REMOVED("b")],
        [-70, set("c")],
      ],
      ["-100: scheduled", "-90: cancelled", "-70: scheduled"],
    ],
    [
      "whose schedule is removed after its time was not cancelled",
      [
        [-100, A, 1],
        [0, A, 2],
        [0.1, REMOVED("b"), 2],
        [0.3, REMOVED("b"), 3],
      ],
      ["-100: scheduled", "0: upgrade before 0 h", "0.3: advancing"],
    ],
    [
      "after which another one is scheduled at once",
      [
        [-100, A, 1],
        [0, A, 2],
        [0.1, set("b", UPGRADE + 500 * HOUR), 2],
      ],
      ["-100: scheduled", "0: upgrade before 0 h", "0.1: scheduled"],
    ],
    [
      "whose vote is missing in a reading is no news",
      [
        [-100, A],
        [-90, undefined],
        [-80, A],
      ],
      ["-100: scheduled"],
    ],
    [
      "that was cancelled before its time is cancelled, however late the bot reads it",
      [
        [-100, A, 1],
        [0.2, made(-3, REMOVED("b")), 2],
        [0.4, made(-3, REMOVED("b")), 3],
      ],
      ["-100: scheduled", "0.2: cancelled"],
    ],
    [
      "that was moved before its time is moved, however late the bot reads it",
      [
        [-100, A, 1],
        [0.2, made(-3, set("b", UPGRADE + 100 * HOUR)), 2],
        [0.4, made(-3, set("b", UPGRADE + 100 * HOUR)), 3],
      ],
      ["-100: scheduled", "0.2: moved to 100 h"],
    ],
    [
      "that was moved to a time that has passed, too, when the bot reads it, is told to have passed",
      [
        [-100, A, 1],
        [-3, A, 2],
        [5, made(-2.5, set("b", UPGRADE + 2 * HOUR)), 30],
        [5.2, made(-2.5, set("b", UPGRADE + 2 * HOUR)), 31],
      ],
      ["-100: scheduled", "-3: hour before 0 h", "5: upgrade before 2 h", "5.2: late advancing"],
    ],
    [
      "whose cancellation turns out to be a mistake is told again, and reminded of",
      [
        [-100, A],
        [-90, REMOVED("b")],
        [-80, A],
        [-79, A],
        [-26, A],
      ],
      ["-100: scheduled", "-90: cancelled", "-80: scheduled", "-26: day before 0 h"],
    ],
    [
      "that was postponed before its time, which the bot reads after it has read a round, does not advance at its new time",
      [
        [-100, A, 1],
        [0, A, 2],
        [0.1, A, 2],
        [0.2, made(-0.2, set("b", UPGRADE + 100 * HOUR, null)), 2],
        [76.1, made(-0.2, set("b", UPGRADE + 100 * HOUR, null)), 400],
        [99.1, made(-0.2, set("b", UPGRADE + 100 * HOUR, null)), 500],
        [100, made(-0.2, set("b", UPGRADE + 100 * HOUR, null)), 600],
        [100.1, made(-0.2, set("b", UPGRADE + 100 * HOUR, null)), 600],
        [100.3, made(-0.2, set("b", UPGRADE + 100 * HOUR, null)), 601],
      ],
      [
        "-100: scheduled",
        "0: upgrade before 0 h",
        "0.2: moved to 100 h",
        "76.1: day before 100 h",
        "99.1: hour before 100 h",
        "100: upgrade before 100 h",
        "100.3: advancing",
      ],
    ],
    [
      "does not advance at its time because a clock was ahead for a moment",
      [
        [-100, A, 1],
        [9, A, 2],
        [-99, A, 3],
        [-26, A, 300],
        [-3, A, 500],
        [0, A, 600],
        [0.1, A, 600],
        [0.3, A, 601],
      ],
      [
        "-100: scheduled",
        "-26: day before 0 h",
        "-3: hour before 0 h",
        "0: upgrade before 0 h",
        "0.3: advancing",
      ],
    ],
    [
      "whose decision also scheduled a later one is not moved by it",
      [
        [-100, A, 1],
        [0, set("a", UPGRADE + 100 * HOUR, null), 2],
        [0.1, set("a", UPGRADE + 100 * HOUR, null), 2],
        [0.3, set("a", UPGRADE + 100 * HOUR, null), 3],
        [0.4, set("a", UPGRADE + 100 * HOUR, null), 3],
      ],
      ["-100: scheduled", "0: upgrade before 0 h", "0.3: advancing", "0.4: scheduled"],
    ],
    ["in the past is no news", [[5, A]], []],
  ])("%s", (_, steps, expected) => {
    expect(replay(steps).told).toEqual(expected);
  });

  it("that exists at the first reading is no news, but its reminders are", () => {
    expect(
      replay(
        [
          [-100, A],
          [-26, A],
        ],
        true,
      ).told,
    ).toEqual(["-26: day before 0 h"]);
  });

  it("ends a day after its time if no round was read, and its message changes with it", () => {
    const { documents } = replay([
      [-100, A],
      [0, A],
      [25, A],
    ]);
    expect(documents).toMatchObject([{ endedAt: UPGRADE + 25 * HOUR, revision: 3 }]);
  });

  it("ignores a freeze that is not before it", () => {
    const { documents } = replay([[-100, set("a", UPGRADE, UPGRADE + DAY)]]);
    expect(documents).toMatchObject([{ freezeAt: null }]);
  });
});

describe("a standstill", () => {
  const seenAt = UPGRADE + 40 * MINUTE;
  const rounds = { number: 7, since: UPGRADE, seenAt, gaps: [], isSeenToBegin: true };
  const known = { round: 6, since: UPGRADE - HOUR, revision: 1 };
  const open = ["still/1", known] as const;
  it.each([
    ["begins", undefined, { ...rounds, isStandingStill: true }, false, ["still"]],
    ["is known", open, { ...rounds, isStandingStill: true }, false, []],
    ["is over", open, { ...rounds, number: 8, isStandingStill: false }, false, ["moving"]],
    ["has not begun", undefined, { ...rounds, isStandingStill: false }, false, []],
    ["exists at the first reading", undefined, { ...rounds, isStandingStill: true }, true, []],
    ["is unknown", open, undefined, false, []],
  ] as const)("that %s is told once", (_, stored, read, isBaseline, kinds) => {
    expect(judgeStandstill(stored, read, isBaseline).events.map(({ kind }) => kind)).toEqual(kinds);
  });

  it("lasts from its own beginning, and its message is edited at its end", () => {
    const { changed, events } = judgeStandstill(open, { ...rounds, isStandingStill: false }, false);
    expect(events).toEqual([
      { kind: "moving", subject: "still/1", round: 7, since: known.since, at: seenAt },
    ]);
    expect([...changed]).toEqual([["still/1", { ...known, endedAt: seenAt, revision: 2 }]]);
  });

  it("may have ended earlier if the bot did not read the rounds before", () => {
    const read = { ...rounds, isSeenToBegin: false, isStandingStill: false };
    const { changed, events } = judgeStandstill(open, read, false);
    expect(events).toMatchObject([{ kind: "moving", isLate: true }]);
    expect(changed.get("still/1")).toMatchObject({ endedAt: seenAt, isLate: true });
  });
});
