import { afterAll, beforeAll, expect, it } from "vitest";
import { type SandboxExplorer, startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import { createExplorerTime } from "../../../src/feeds/validator/explorer-time.js";
import { HOUR, MINUTE } from "../../../src/util/units.js";
import { newExplorer, SMALL } from "../../harness.js";

const NOW = Date.now();
let sandbox: SandboxExplorer;
beforeAll(async () => {
  sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now: () => NOW });
});
afterAll(() => sandbox.close());

interface Given {
  /** Ages of the newest report and of the newest update, in ms. Updates without an age are withheld. */
  readonly reportMs: number;
  readonly updateMs?: number;
  /** The round that the explorer shows, the known one being 100. Rounds without a number are withheld. */
  readonly round?: number;
  /** Time that passes while the explorer answers, in ms. */
  readonly passedMs?: number;
}

/** Reads the explorer's time. Returns its age in ms, and what is unsure about it. */
async function read({ reportMs, updateMs, round, passedMs = 0 }: Given) {
  sandbox.clearFaults();
  if (updateMs === undefined) sandbox.injectFault({ kind: "status", status: 403 }, { path: /updates$/ });
  if (round === undefined) sandbox.injectFault({ kind: "status", status: 403 }, { path: /dashboard$/ });
  sandbox.mood = (answer, path) => {
    const row = answer as { readonly content: readonly object[] };
    if (path.endsWith("/dashboard")) return { ...row, latestRound: round };
    if (!path.endsWith("/updates")) return answer;
    return { ...row, content: row.content.map((each) => ({ ...each, recordTime: NOW - (updateMs ?? 0) })) };
  };
  const explorer = newExplorer(sandbox, () => NOW);
  const readTime = createExplorerTime(explorer.for("background", { maxAgeMs: 0 }), () => NOW + passedMs);
  const known = { number: 100, seenAt: NOW - 5 * MINUTE, advancedAt: NOW - 40 * MINUTE };
  // If the updates are withheld, the next poll reads the round.
  await readTime(NOW - reportMs, known, NOW);
  const { asOf, isBehind, isUnsure } = await readTime(NOW - reportMs, known, NOW);
  return { ageMs: NOW - asOf, isBehind, isUnsure };
}

const up = { isBehind: false, isUnsure: false };
const behind = { isBehind: true, isUnsure: false };
const cases: readonly [string, Given, Awaited<ReturnType<typeof read>>][] = [
  ["a recent report", { reportMs: 9 * MINUTE, updateMs: 50 * MINUTE }, { ageMs: 9 * MINUTE, ...up }],
  ["a recent update", { reportMs: 50 * MINUTE, updateMs: MINUTE }, { ageMs: MINUTE, ...up }],
  [
    "an update that is not recent",
    { reportMs: 50 * MINUTE, updateMs: 19 * MINUTE },
    { ageMs: 19 * MINUTE, ...up },
  ],
  ["an old update", { reportMs: 50 * MINUTE, updateMs: 21 * MINUTE }, { ageMs: 21 * MINUTE, ...behind }],
  [
    "an old update, although a round has begun, as while an explorer catches up",
    { reportMs: 90 * MINUTE, updateMs: 60 * MINUTE, round: 101 },
    { ageMs: 60 * MINUTE, ...behind },
  ],
  [
    "a round that has just begun, without updates",
    { reportMs: 50 * MINUTE, round: 101 },
    { ageMs: 0, ...up },
  ],
  ["an old round, without updates", { reportMs: 50 * MINUTE, round: 100 }, { ageMs: 40 * MINUTE, ...behind }],
  [
    "reports only, if the process was suspended while it read the others",
    { reportMs: 50 * MINUTE, updateMs: MINUTE, round: 101, passedMs: 50 * MINUTE },
    { ageMs: 50 * MINUTE, isBehind: false, isUnsure: true },
  ],
  ["reports only", { reportMs: 50 * MINUTE }, { ageMs: 50 * MINUTE, isBehind: false, isUnsure: true }],
];
it("is undecided, and not behind, if the updates cannot be read once", async () => {
  sandbox.clearFaults();
  sandbox.mood = (answer, path) => {
    const row = answer as { readonly content: readonly object[] };
    if (!path.endsWith("/updates")) return answer;
    return { ...row, content: row.content.map((each) => ({ ...each, recordTime: NOW - MINUTE })) };
  };
  const explorer = newExplorer(sandbox, () => NOW).for("background", { maxAgeMs: 0 });
  const first = createExplorerTime(explorer, () => NOW);
  sandbox.injectFault({ kind: "html" }, { path: /updates$/ });
  expect(await first(NOW - 27 * MINUTE, undefined, NOW)).toMatchObject({ isBehind: false, isUnsure: true });
  sandbox.clearFaults();
  const later = createExplorerTime(explorer, () => NOW);
  expect(await later(NOW - 27 * MINUTE, undefined, NOW)).toMatchObject({
    asOf: NOW - MINUTE,
    isBehind: false,
  });
  sandbox.injectFault({ kind: "html" }, { path: /updates$/ });
  for (const pastMs of [0, 5 * MINUTE])
    expect(await later(NOW - 27 * MINUTE, undefined, NOW + pastMs)).toMatchObject({ isBehind: false });
  expect(await later(NOW - 27 * MINUTE, undefined, NOW + 20 * MINUTE)).toMatchObject({ isBehind: true });
});

it("stays behind while nothing can be read that is newer", async () => {
  sandbox.clearFaults();
  sandbox.mood = (answer, path) => {
    const row = answer as { readonly content: readonly object[] };
    if (!path.endsWith("/updates")) return answer;
    return { ...row, content: row.content.map((each) => ({ ...each, recordTime: NOW - HOUR })) };
  };
  let passed = 0;
  // An answer of the same millisecond would be a cache hit.
  const explorer = newExplorer(sandbox, () => NOW + passed++).for("background", { maxAgeMs: 0 });
  const readTime = createExplorerTime(explorer, () => NOW);
  const read = (ageMs: number) => readTime(NOW - ageMs, undefined, NOW);
  expect(await read(HOUR)).toMatchObject({ isBehind: true, isUnsure: false });
  sandbox.injectFault({ kind: "status", status: 503 }, { path: /updates$|dashboard$/ });
  expect(await read(HOUR)).toMatchObject({ isBehind: true, isUnsure: true });
  expect(await read(19 * MINUTE)).toMatchObject({ isBehind: false, isUnsure: true });
  expect(await read(MINUTE)).toMatchObject({ isBehind: false, isUnsure: false });
});

it.each(cases)("is judged by %s", async (_, given, expected) => {
  expect(await read(given)).toEqual(expected);
});

/** Reads the explorer's time while only the rounds tell it. */
function followRounds(clock: { readonly now: number; readonly latestRound: number }) {
  sandbox.clearFaults();
  sandbox.injectFault({ kind: "html" }, { path: /updates$/ });
  sandbox.mood = (answer, path) =>
    path.endsWith("/dashboard") ? { ...(answer as object), latestRound: clock.latestRound } : answer;
  const now = () => clock.now;
  return createExplorerTime(newExplorer(sandbox, now).for("background", { maxAgeMs: 0 }), now);
}

it("is undecided for a while if the round was not read for longer than it lasts", async () => {
  const clock = { now: NOW, latestRound: 101 };
  const readTime = followRounds(clock);
  const first = await readTime(
    clock.now - 22 * MINUTE,
    { number: 100, seenAt: clock.now - 5 * MINUTE },
    clock.now,
  );
  expect(first).toMatchObject({ isBehind: false, isUnsure: false, asOf: NOW });
  clock.now += HOUR;
  clock.latestRound = 107;
  const later = await readTime(clock.now - 22 * MINUTE, first.round, clock.now);
  expect(later).toMatchObject({ isBehind: false, isUnsure: true });
  clock.now += 15 * MINUTE;
  const unread = await readTime(clock.now - 37 * MINUTE, later.round, clock.now);
  expect(unread).toMatchObject({ isBehind: false, isUnsure: true });
  clock.now += 6 * MINUTE;
  expect(await readTime(clock.now - 43 * MINUTE, unread.round, clock.now)).toMatchObject({ isBehind: true });
});

it("follows the rounds of a network that was restarted, which begin again", async () => {
  const clock = { now: NOW, latestRound: 132_071 };
  const readTime = followRounds(clock);
  let { round } = await readTime(
    clock.now - MINUTE,
    { number: 132_070, seenAt: clock.now - 5 * MINUTE },
    clock.now,
  );
  clock.latestRound = 0;
  for (let polls = 0; polls < 12; polls += 1) {
    clock.now += 5 * MINUTE;
    clock.latestRound += polls % 2;
    ({ round } = await readTime(clock.now - 22 * MINUTE, round, clock.now));
  }
  expect(round?.number).toBe(clock.latestRound);
  expect(await readTime(clock.now - 22 * MINUTE, round, clock.now)).toMatchObject({
    isBehind: false,
    isUnsure: false,
  });
});
