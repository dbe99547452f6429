import { describe, expect, it } from "vitest";
import { startSandboxExplorer } from "../../sandbox/explorer/server.js";
import {
  afterReading,
  createRoundsReader,
  isOverdue,
  type Rounds,
  readRounds,
  roundInterval,
  rounds,
} from "../../src/ledger/rounds.js";
import { HOUR, MINUTE, SECOND } from "../../src/util/units.js";
import { newExplorer, newState, SMALL } from "../harness.js";

const NOON = Date.UTC(2026, 11, 12, 12);

/** Replays readings: minutes after noon, the newest round, and whether the explorer is up to date. */
function replay(readings: readonly (readonly [minute: number, round: number, isCurrent?: boolean])[]) {
  let known: Rounds | undefined;
  for (const [minute, round, isCurrent = true] of readings)
    known = afterReading(known, round, isCurrent, NOON + minute * MINUTE);
  return known;
}

describe("the interval of the rounds", () => {
  it.each([
    ["too few are known", [30 * MINUTE, 30 * MINUTE], 10 * MINUTE],
    ["three are known", [9 * MINUTE, 11 * MINUTE, 12 * MINUTE], 11 * MINUTE],
    [
      "an explorer that catches up showed them seconds apart",
      [8, 8, 8, 9, 8].map((s) => s * SECOND),
      10 * MINUTE,
    ],
    ["one is an outlier", [10 * MINUTE, 9 * MINUTE, 5 * HOUR, 10 * MINUTE, 11 * MINUTE], 10 * MINUTE],
  ])("is right if %s", (_, gaps, interval) => {
    expect(roundInterval(gaps)).toBe(interval);
  });

  it("is learned from rounds that were seen to begin, even if one was missed", () => {
    const known = replay([
      [0, 7],
      [5, 8],
      [15, 9],
      [20, 9],
      [31, 11],
      [39, 12],
    ]);
    // The first round may have begun at any time before.
    expect(known?.gaps.map((ms) => ms / MINUTE)).toEqual([10, 8, 8]);
  });

  it("ignores a round that began while the bot was not reading", () => {
    expect(
      replay([
        [0, 7],
        [10, 8],
        [90, 16],
        [100, 17],
      ])?.gaps,
    ).toEqual([]);
  });
});

describe("the network", () => {
  it.each([
    [
      "rounds advance",
      [
        [0, 7],
        [10, 8],
        [20, 9],
        [49, 9],
      ],
      false,
    ],
    [
      "no round begins for over three intervals",
      [
        [0, 7],
        [10, 8],
        [20, 9],
        [51, 9],
      ],
      true,
    ],
    [
      "the explorer is behind",
      [
        [0, 7],
        [10, 8],
        [20, 9],
        [51, 9, false],
      ],
      false,
    ],
    [
      "the explorer falls behind later",
      [
        [0, 7],
        [10, 8],
        [41, 8],
        [51, 8, false],
      ],
      true,
    ],
    [
      "a round begins after that",
      [
        [0, 7],
        [10, 8],
        [41, 8],
        [60, 9],
      ],
      false,
    ],
    [
      "an older answer arrives",
      [
        [0, 7],
        [10, 8],
        [41, 8],
        [50, 7],
      ],
      true,
    ],
    [
      "the network is reset",
      [
        [0, 700],
        [10, 701],
        [41, 701],
        [50, 3],
      ],
      false,
    ],
    [
      "the network is reset soon after it began",
      [
        [0, 70],
        [10, 71],
        [20, 1],
        [31, 2],
        [42, 3],
        [51, 4],
        [61, 5],
      ],
      false,
    ],
    [
      "the bot was away, and the round is the same",
      [
        [0, 7],
        [90, 7],
      ],
      true,
    ],
  ] as const)("is judged rightly if %s", (_, readings, isStandingStill) => {
    expect(replay(readings)?.isStandingStill).toBe(isStandingStill);
  });

  it("is said to move when the next round begins, and keeps that time", () => {
    const moved = replay([
      [0, 7],
      [41, 7],
      [50, 7],
      [60, 8],
      [70, 9],
    ]);
    expect(moved).toMatchObject({ isStandingStill: false, movedAt: NOON + 60 * MINUTE, number: 9 });
    // The standstill is not an interval.
    expect(moved?.gaps).toEqual([10 * MINUTE]);
  });

  it("is said to move also if the explorer had nothing newer meanwhile, but not if it catches up", () => {
    const readings = [
      [0, 7],
      [10, 8],
      [20, 8, false],
      [35, 8, false],
      [50, 8, false],
      [65, 8, false],
    ] as const;
    expect(replay([...readings, [75, 9]])).toMatchObject({ movedAt: NOON + 75 * MINUTE, gaps: [] });
    expect(replay([...readings, [75, 14]])).not.toHaveProperty("movedAt");
    // While the bot does not read, rounds may begin unseen.
    expect(
      replay([
        [0, 7],
        [10, 8],
        [75, 9],
      ]),
    ).not.toHaveProperty("movedAt");
  });

  it("is said to move if the network stood still while the bot did not read, and the interval is known", () => {
    const readings = [0, 10, 20, 30, 40, 50].map((at, index) => [at, 7 + index] as const);
    // Five hours have room for thirty rounds.
    expect(replay([...readings, [350, 24]])).toMatchObject({ movedAt: NOON + 350 * MINUTE });
    expect(replay([...readings, [350, 42]])).not.toHaveProperty("movedAt");
    // The explorer may just be behind.
    expect(replay([...readings, [350, 24, false]])).not.toHaveProperty("movedAt");
    // Slightly slower rounds are no standstill.
    expect(replay([...readings, [350, 34]])).not.toHaveProperty("movedAt");
    expect(replay([...readings, [80, 13]])).not.toHaveProperty("movedAt");
  });

  it("does not stand still each time a round ends, after the explorer has caught up with three hours in twenty minutes", () => {
    const usual = Array.from({ length: 12 }, (_, at) => [at * 10, 100 + at] as const);
    const behind = Array.from({ length: 36 }, (_, at) => [112 + at * 5, 111, false] as const);
    const catchingUp = Array.from({ length: 8 }, (_, at) => [292 + at * 2.5, 112 + at * 2.5, false] as const);
    const later = [0, 2.5, 5, 7.5, 10].map((minutes) => [315 + minutes, 131] as const);
    expect(replay([...usual, ...behind, ...catchingUp, ...later])).toMatchObject({ isStandingStill: false });
  });

  it.each([
    ["from the start", 0],
    ["after the usual ones", 12],
  ])("does not stand still each time if rounds take 40 minutes %s", (_, usualCount) => {
    const usual = Array.from({ length: usualCount }, (_, at) => [at * 10, 100 + at] as const);
    const from = usualCount * 10;
    const slow = Array.from({ length: 60 }, (_, at) => [from + at * 5, 200 + Math.floor(at / 8)] as const);
    const known = replay([...usual, ...slow]);
    expect(known).toMatchObject({ isStandingStill: false });
    expect(roundInterval(known?.gaps ?? [])).toBe(40 * MINUTE);
    const standstill = [35, 80, 125].map((minute) => [from + 295 + minute, 207] as const);
    expect(replay([...usual, ...slow, ...standstill])).toMatchObject({ isStandingStill: true });
  });

  it("does not learn an interval from standstills of different lengths", () => {
    const readings = [0, 40, 140, 180, 300, 340].map((at, index) => [at, 7 + index] as const);
    const between = readings.flatMap(([at, round]) =>
      Array.from({ length: 10 }, (_, step) => [at + step, round] as const),
    );
    const known = replay([...readings, ...between].toSorted(([a], [b]) => a - b));
    expect(roundInterval(known?.gaps ?? [])).toBe(10 * MINUTE);
  });

  it("is not overdue while a round is younger than three intervals", () => {
    expect(isOverdue({ since: NOON, gaps: [] }, NOON + 30 * MINUTE)).toBe(false);
    expect(isOverdue({ since: NOON, gaps: [] }, NOON + 31 * MINUTE)).toBe(true);
    // The clock was corrected by nine minutes.
    expect(isOverdue({ since: NOON, gaps: [] }, NOON - 9 * MINUTE)).toBe(false);
  });

  it("is unknown if its document cannot be the bot's", async () => {
    const state = newState();
    const gaps = Array.from({ length: 150_000 }, () => MINUTE);
    const known = afterReading(undefined, 7, true, NOON);
    await state.commit([state.open(rounds).put("network", { ...known, gaps })]);
    expect(await readRounds(state, NOON)).toBeUndefined();
    await state.close();
  });

  it.each([
    ["the bot starts with a clock that is an hour behind", [-HOUR, -HOUR, 0]],
    ["the clock goes back an hour, and is corrected", [0, -HOUR, 0]],
  ])("does not stand still because %s", async (_, offsets) => {
    let time = NOON;
    let offset = 0;
    const sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now: () => time });
    sandbox.mood = (answer, path) => {
      const row = answer as { readonly content?: readonly object[] };
      return path.endsWith("/dashboard")
        ? { ...row, latestRound: Math.floor(time / (10 * MINUTE)) }
        : { ...row, content: row.content?.map((each) => ({ ...each, recordTime: time - SECOND })) };
    };
    const now = () => time + offset;
    const state = newState();
    const explorer = newExplorer(sandbox, now);
    const read = createRoundsReader(explorer.for("background", { maxAgeMs: 0 }), state, now);
    for (const each of offsets) {
      offset = each;
      for (let count = 0; count < 3; count += 1) {
        await read(true);
        expect((await readRounds(state, now()))?.isStandingStill ?? false).toBe(false);
        time += SECOND;
      }
    }
    const number = Math.floor(time / (10 * MINUTE));
    expect(await readRounds(state, now())).toMatchObject({ number, isStandingStill: false });
    time += 10 * MINUTE;
    await read(true);
    expect(await readRounds(state, now())).toMatchObject({ number: number + 1 });
    expect(await readRounds(state, now())).not.toHaveProperty("movedAt");
    await sandbox.close();
  });

  it("does not stand still because the bot was suspended while the round was read", async () => {
    let time = NOON;
    const now = () => time;
    const sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now });
    let suspendedMs = 0;
    sandbox.mood = (answer, path) => {
      time += suspendedMs;
      suspendedMs = 0;
      const row = answer as { readonly content?: readonly object[] };
      return path.endsWith("/dashboard")
        ? { ...row, latestRound: Math.floor(time / (10 * MINUTE)) }
        : { ...row, content: row.content?.map((each) => ({ ...each, recordTime: time - SECOND })) };
    };
    const explorer = newExplorer(sandbox, now);
    const state = newState();
    const read = createRoundsReader(explorer.for("background", { maxAgeMs: 0 }), state, now);
    await read(true);
    time += 5 * MINUTE;
    suspendedMs = 50 * MINUTE;
    await read(true);
    time += SECOND;
    await read(true);
    expect(await readRounds(state, time)).toMatchObject({
      number: Math.floor(time / (10 * MINUTE)),
      isStandingStill: false,
    });
    await sandbox.close();
  });
});
