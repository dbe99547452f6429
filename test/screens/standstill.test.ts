import { expect, it } from "vitest";
import type { Rounds } from "../../src/ledger/rounds.js";
import { movingView, standstillLine, standstillView } from "../../src/screens/standstill.js";
import { HOUR, MINUTE } from "../../src/util/units.js";

const NOW = Date.now();
const known: Rounds = {
  number: 7,
  since: NOW - HOUR,
  seenAt: NOW,
  gaps: [],
  isSeenToBegin: true,
  isStandingStill: false,
};
const moved = { ...known, movedAt: NOW - HOUR };

it.each<[string, Rounds | undefined, number | null, RegExp | undefined]>([
  ["stands still", { ...known, isStandingStill: true }, null, /The network stands still/],
  ["stands still, and has no reports", { ...known, isStandingStill: true }, NOW - 2 * HOUR, /stands still/],
  ["moves again", moved, null, /The network moves again:\*\* new rounds since .*have until/],
  ["moves again, and has no reports yet", moved, NOW - 2 * HOUR, /The network moves again/],
  ["moved, and was followed by an explorer that is behind", moved, NOW - 50 * MINUTE, undefined],
  ["moved long ago", { ...moved, movedAt: NOW - 2 * HOUR }, null, undefined],
  ["is well", known, null, undefined],
  ["is not followed", undefined, null, undefined],
])("screens say so if the network %s", async (_, rounds, behindSince, words) => {
  const interval = { ms: 65 * MINUTE, isOwn: false };
  const rhythms = { intervals: async () => () => interval, rounds: async () => rounds };
  const line = await standstillLine(rhythms, behindSince);
  if (words) expect(String(line)).toMatch(words);
  else expect(line).toBeUndefined();
});

it.each([
  [undefined, /after about 2 h$/, /stood still for about 2 h$/, /^No round began from/],
  [true, /after about 2 h or less$/, /stood still for about 2 h or less$/, /the rounds had advanced by/],
])("the end of a standstill is exact only if the bot saw it (late: %s)", (isLate, moving, still, words) => {
  const since = NOW - 2 * HOUR;
  expect(String(movingView({ round: 9, since, at: NOW, isLate }, "mark").notification)).toMatch(moving);
  const { notification, body = [] } = standstillView({ round: 7, since, endedAt: NOW, isLate }, "mark");
  expect(String(notification)).toMatch(still);
  expect(body.join("\n")).toMatch(words);
});
