import { expect, it } from "vitest";
import { toAction } from "../../src/ledger/actions.js";
import { upgradeDecision, upgradeIn } from "../../src/ledger/upgrades.js";

const NOON = Date.UTC(2026, 11, 12, 12);
const HOUR = 3_600_000;
const iso = (hours: number) => new Date(NOON + hours * HOUR).toISOString();
const logical = (upgrade: number, freeze: number) => ({
  nextScheduledLogicalSynchronizerUpgrade: {
    topologyFreezeTime: iso(freeze),
    upgradeTime: iso(upgrade),
    newPhysicalSynchronizerSerial: 2,
    newPhysicalSynchronizerProtocolVersion: "34",
  },
});
const older = (hours: number) => ({
  nextScheduledSynchronizerUpgrade: { time: iso(hours), migrationId: "5" },
});
const changeBy = (baseConfig: object | null, newConfig: object) =>
  upgradeIn(toAction({ tag: "SRARC_SetConfig", value: { baseConfig, newConfig } }));
const at = (hours: number) => NOON + hours * HOUR;

it.each([
  ["sets it", {}, logical(3, 1), { upgradeAt: at(3), freezeAt: at(1) }],
  ["sets one of the older kind", {}, older(3), { olderUpgradeAt: at(3) }],
  ["moves its time", logical(3, 1), logical(5, 1), { upgradeAt: at(5) }],
  ["removes it", logical(3, 1), {}, { upgradeAt: null, freezeAt: null }],
  [
    "replaces the older kind",
    older(3),
    logical(5, 1),
    { upgradeAt: at(5), olderUpgradeAt: null, freezeAt: at(1) },
  ],
  ["states it without the current configuration", null, logical(3, 1), { upgradeAt: at(3), freezeAt: at(1) }],
  [
    "removes it, without the current configuration",
    null,
    { nextScheduledLogicalSynchronizerUpgrade: null },
    { upgradeAt: null, freezeAt: null },
  ],
  [
    "replaces the older kind, without the current configuration",
    null,
    { ...logical(3, 1), nextScheduledSynchronizerUpgrade: null },
    { upgradeAt: at(3), olderUpgradeAt: null, freezeAt: at(1) },
  ],
  ["states none, without the current configuration", null, { maxTextLength: "2" }, null],
  ["changes something else", { maxTextLength: "1" }, { maxTextLength: "2" }, null],
] as const)("knows how a vote request that %s changes the upgrade", (_, before, after, change) => {
  expect(changeBy(before, after)).toEqual(change);
});

const SET = { upgradeChange: { upgradeAt: at(3), freezeAt: at(1) }, acceptedFor: at(-90) };
it.each([
  [
    "two requests ended at the same moment, as far as the bot knows, and the one that was opened later has cancelled",
    [{ upgradeChange: { upgradeAt: null, freezeAt: null }, acceptedFor: at(-90), openedAt: at(-91) }, SET],
    undefined,
  ],
  [
    "nothing was accepted",
    [{ upgradeChange: SET.upgradeChange }, { upgradeChange: null, acceptedFor: at(-80) }],
    undefined,
  ],
  ["one was accepted", [SET], { upgradeAt: at(3), freezeAt: at(1) }],
  [
    "it was moved later",
    [{ upgradeChange: { upgradeAt: at(5) }, acceptedFor: at(-80) }, SET],
    { upgradeAt: at(5), freezeAt: at(1) },
  ],
  [
    "it was cancelled",
    [SET, { upgradeChange: { upgradeAt: null, freezeAt: null }, acceptedFor: at(-80) }],
    undefined,
  ],
  [
    "one of the older kind was set, and the newer kind is left over from the last upgrade",
    [SET, { upgradeChange: { olderUpgradeAt: at(90) }, acceptedFor: at(10) }],
    { upgradeAt: at(90), freezeAt: null },
  ],
  [
    "the older kind, left over from the last upgrade, was removed",
    [
      { upgradeChange: { olderUpgradeAt: at(-200) }, acceptedFor: at(-300) },
      SET,
      { upgradeChange: { olderUpgradeAt: null }, acceptedFor: at(-80) },
    ],
    { upgradeAt: at(3), freezeAt: at(1) },
  ],
  [
    "it was cancelled, and one of the older kind is left over from an earlier upgrade",
    [
      { upgradeChange: { olderUpgradeAt: at(-200) }, acceptedFor: at(-300) },
      SET,
      { upgradeChange: { upgradeAt: null, freezeAt: null }, acceptedFor: at(-80) },
    ],
    undefined,
  ],
  [
    "it was cancelled and set again",
    [
      { upgradeChange: { upgradeAt: at(9), freezeAt: at(8) }, acceptedFor: at(-70) },
      SET,
      { upgradeChange: { upgradeAt: null, freezeAt: null }, acceptedFor: at(-80) },
    ],
    { upgradeAt: at(9), freezeAt: at(8) },
  ],
  [
    "it is ahead, and a decision about the next one takes effect after it",
    [SET, { upgradeChange: { upgradeAt: at(90) }, acceptedFor: at(10) }],
    { upgradeAt: at(3), freezeAt: at(1) },
    at(3) - 1,
  ],
  [
    "it is over, and a decision about the next one takes effect after it",
    [SET, { upgradeChange: { upgradeAt: at(90), freezeAt: null }, acceptedFor: at(10) }],
    { upgradeAt: at(90), freezeAt: null },
    at(3),
  ],
  [
    "both kinds were set, and the older one comes first",
    [{ upgradeChange: { ...SET.upgradeChange, olderUpgradeAt: at(2) }, acceptedFor: at(-90) }],
    { upgradeAt: at(2), freezeAt: null },
    at(-80),
  ],
  [
    "both kinds were set, and the older one is over",
    [{ upgradeChange: { ...SET.upgradeChange, olderUpgradeAt: at(2) }, acceptedFor: at(-90) }],
    { upgradeAt: at(3), freezeAt: at(1) },
    at(2),
  ],
  [
    "it was moved behind a decision that takes effect after its first time",
    [
      SET,
      { upgradeChange: { upgradeAt: at(5) }, acceptedFor: at(2) },
      { upgradeChange: { upgradeAt: at(7) }, acceptedFor: at(4) },
    ],
    { upgradeAt: at(7), freezeAt: at(1) },
    at(1),
  ],
] as const)("returns the schedule if %s", (_, votes, schedule, now: number = at(100)) => {
  const named = votes.map((vote, index) => ({ id: String(index), ...vote }));
  expect(upgradeDecision(named, now)?.schedule).toEqual(schedule);
});
