import { describe, expect, it } from "vitest";
import { dueWarning, isRescheduled } from "../../../src/feeds/validator/upgrade-warning.js";
import { DAY } from "../../../src/util/units.js";

describe("a warning before an upgrade of the network", () => {
  const AT = 1_000 * DAY;
  it.each([
    ["three days before", AT, true, undefined, 3 * DAY, undefined],
    ["two days before", AT, true, undefined, 2 * DAY, 2],
    ["two days before, again", AT, true, { at: AT, days: 2 }, 1.5 * DAY, undefined],
    ["a day before", AT, true, { at: AT, days: 2 }, DAY, 1],
    ["a day before, again", AT, true, { at: AT, days: 1 }, DAY / 2, undefined],
    ["a day before, for the first time", AT, true, undefined, DAY / 2, 1],
    ["two days before, after one of a clock that was ahead", AT, true, { at: AT, days: 1 }, 2 * DAY, 2],
    ["if it was moved", AT, true, { at: AT - DAY, days: 1 }, 2 * DAY, 2],
    ["if it is ready", AT, false, undefined, DAY, undefined],
    ["after the upgrade", AT, true, undefined, 0, undefined],
    ["without an upgrade", undefined, true, undefined, DAY, undefined],
  ] as const)("%s", (_, upgradeAt, isBehind, told, beforeMs, days) => {
    expect(dueWarning(upgradeAt, isBehind, told, AT - beforeMs)).toBe(days);
  });
});

describe("an upgrade that a person was warned of", () => {
  const AT = 1_000 * DAY;
  const NOW = AT - DAY;
  const warning = { at: AT, days: 2, decidedAt: AT - 9 * DAY };
  const to = (upgradeAt: number) => ({ schedule: { upgradeAt, freezeAt: null } });
  it.each([
    ["is cancelled by a later vote", warning, { at: NOW, schedule: undefined }, NOW, true],
    ["is moved by a later vote", warning, { at: NOW, ...to(AT + DAY) }, NOW, true],
    ["is confirmed by a later vote", warning, { at: NOW, ...to(AT) }, NOW, false],
    ["stays if the vote about it is missing", warning, { at: AT - 20 * DAY, ...to(AT - DAY) }, NOW, false],
    ["stays with the same vote", warning, { at: warning.decidedAt, schedule: undefined }, NOW, false],
    ["is over", warning, { at: NOW, schedule: undefined }, AT + 1, false],
    ["was told by an earlier version", { at: AT, days: 2 }, { at: NOW, schedule: undefined }, NOW, false],
  ])("%s", (_, told, decision, now, expected) => {
    expect(isRescheduled(told, decision, now)).toBe(expected);
  });
});
