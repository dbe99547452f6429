import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { createPriceHistory, readSamples, samplePrice } from "../../src/ledger/price-history.js";
import type { State } from "../../src/storage/state.js";
import { HOUR, MINUTE } from "../../src/util/units.js";
import { newExplorer, newState, quiet, SMALL } from "../harness.js";

const NOON = Date.UTC(2026, 10, 26, 12);
let sandbox: SandboxExplorer;
let state: State;
/** The explorer's time, and how much the machine's clock is ahead of it, in ms. */
let time = NOON;
let aheadMs = 0;
const now = () => time + aheadMs;
beforeAll(async () => {
  sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now: () => time });
});
afterAll(() => sandbox.close());
beforeEach(() => {
  [time, aheadMs] = [NOON, 0];
  state = newState();
  sandbox.mood = undefined;
});
const sample = () => {
  sandbox.ledger.setPrice(sandbox.ledger.price);
  return samplePrice(newExplorer(sandbox, now).for("background", { maxAgeMs: 0 }), state, now);
};
const minutes = async () => (await readSamples(state)).map(([at]) => (at - NOON) / MINUTE);

it("a price that arrives hours after it was asked for is not stored", async () => {
  await sample();
  time += 10 * MINUTE;
  sandbox.mood = (answer) => {
    time += 8 * HOUR;
    return answer;
  };
  await sample();
  expect(await minutes()).toEqual([0]);
});

it("stored prices survive a clock that is behind for a while", async () => {
  await sample();
  time += 10 * MINUTE;
  await sample();
  aheadMs = -2 * HOUR;
  await sample();
  aheadMs = 0;
  time += 10 * MINUTE;
  await sample();
  expect(await minutes()).toEqual([0, 10, 20]);
});

it("prices stored by a clock that was ahead are replaced", async () => {
  aheadMs = 5 * HOUR;
  await sample();
  aheadMs = 0;
  time += 10 * MINUTE;
  await sample();
  expect(await minutes()).toEqual([10]);
});

it("one wrong price is stored, and not shown", async () => {
  const { price } = sandbox.ledger;
  for (let each = 0; each < 5; each += 1) {
    sandbox.ledger.setPrice(each === 2 ? price * 200 : price);
    await samplePrice(newExplorer(sandbox, now).for("background", { maxAgeMs: 0 }), state, now);
    time += 10 * MINUTE;
  }
  sandbox.ledger.setPrice(price);
  expect(await minutes()).toHaveLength(5);
  const shown = await createPriceHistory(state, quiet, now).samples();
  expect(shown?.map(([at]) => (at - NOON) / MINUTE)).toEqual([0, 10, 30, 40]);
});
