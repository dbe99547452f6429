import { beforeEach, expect, it } from "vitest";
import { startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { createDirectory, type Directory } from "../../src/directory/directory.js";
import { directoryStandings, disagreement, judgeRows } from "../../src/screens/standings.js";
import { HOUR, MINUTE } from "../../src/util/units.js";
import { newExplorer } from "../harness.js";

const NOON = Date.UTC(2026, 10, 26, 12);
let now: number;
let directory: Directory;
const entry = (id: string, seenAt: number) => ({ id, name: id, active: true, version: "0.5.1", seenAt });
const standingOf = (id: string) =>
  directoryStandings(directory, () => ({ ms: 10 * MINUTE }))({
    validator: id,
    lastActiveAt: directory.entry("validator", id)?.seenAt ?? null,
  }).standing;

beforeEach(async () => {
  now = NOON;
  directory = createDirectory(() => now);
  await directory.replace("validator", [entry("a", NOON - MINUTE), entry("b", NOON - MINUTE)], NOON);
});

it("a validator is judged as of the time when it was last read, and not as of the whole list", () => {
  now = NOON + 25 * MINUTE;
  directory.add("validator", entry("a", now - 5 * MINUTE));
  expect(standingOf("a")).toBe("reporting");
  expect(standingOf("b")).toBe("reporting");
  now = NOON + HOUR;
  directory.add("validator", entry("a", NOON + 20 * MINUTE));
  expect(standingOf("a")).toBe("silent");
});

it("a stored validator may be newer than the list with which it was stored", async () => {
  now = NOON + 25 * MINUTE;
  await directory.replace("validator", [entry("a", NOON + 20 * MINUTE), entry("b", now + HOUR)], NOON);
  expect(standingOf("a")).toBe("reporting");
  // Its time comes from a wrong clock.
  expect(standingOf("b")).toBe("unknown");
});

it.each([
  ["up to date", 1, "silent", 0],
  ["behind", 50, "reporting", 1],
])(
  "a validator is judged up to the newest report while the explorer is %s",
  async (_, minutes, standing, lines) => {
    const sandbox = await startSandboxExplorer({
      lively: false,
      size: { validators: 6, parties: 6, updates: 2 },
    });
    for (const each of sandbox.ledger.validators) each.lastActiveAt = NOON - minutes * MINUTE;
    const explorer = newExplorer(sandbox, () => NOON).for({ person: "ana" });
    const rowOfA = { validator: "a", lastActiveAt: NOON - 52 * MINUTE };
    const intervals = () => ({ ms: 10 * MINUTE, isOwn: true });
    const { standings, lagLines } = await judgeRows(explorer, intervals, [rowOfA], NOON);
    expect([standings(rowOfA).standing, lagLines.length]).toEqual([standing, lines]);
    await sandbox.close();
  },
);

it.each([
  ["reporting", true, ""],
  ["reporting", false, "the explorer calls it inactive"],
  ["late", true, ""],
  ["late", false, "the explorer calls it inactive"],
  ["silent", true, "the explorer calls it active"],
  ["silent", false, ""],
  ["silent", null, ""],
  ["unknown", true, "the explorer calls it active"],
  ["unknown", false, "the explorer calls it inactive"],
  ["unknown", null, ""],
] as const)("a validator that is %s, which the explorer calls active: %s", (standing, active, words) => {
  expect(disagreement(standing, active)).toBe(words);
});
