import { afterEach, beforeEach, expect, it } from "vitest";
import { type SandboxExplorer, startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import type { Subscription } from "../../../src/delivery/collections.js";
import { draftOf } from "../../../src/delivery/feed.js";
import type { Explorer } from "../../../src/explorer/service.js";
import { price } from "../../../src/feeds/price/index.js";
import { createPoll } from "../../../src/feeds/price/watch.js";
import { samplePrice } from "../../../src/ledger/price-history.js";
import type { State } from "../../../src/storage/state.js";
import { HOUR, MINUTE } from "../../../src/util/units.js";
import { newExplorer, newState, SMALL } from "../../harness.js";

let time: number;
const now = () => time;
let sandbox: SandboxExplorer;
let state: State;
let explorer: Explorer;
let poll: ReturnType<typeof createPoll>;

beforeEach(async () => {
  time = Date.UTC(2026, 10, 26, 12);
  sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now });
  explorer = newExplorer(sandbox, now).for("background", { maxAgeMs: 0 });
  state = newState();
  poll = createPoll(explorer, state, now);
});
afterEach(() => sandbox.close());

const alertAbove = (value: string, more: Partial<Subscription> = {}): Subscription => ({
  ...draftOf(price.definition, "1"),
  ...{ when: "above", value, subject: `above-${value}` },
  ...more,
});

/** Sets the price, of which the bot stores a sample. */
const sampleAt = async (usd: number) => {
  sandbox.ledger.setPrice(usd);
  await samplePrice(explorer, state, now);
};

/** Polls once, and returns the alerts. @param list returns the subscriptions when the poll reads them */
async function pollWith(list: () => readonly Subscription[], whileCommitting = () => {}): Promise<unknown[]> {
  const told: unknown[] = [];
  const subscribers = { subscriptions: async () => list(), isHeard: async () => true };
  for await (const { events = [], writes = [] } of poll(subscribers)) {
    whileCommitting();
    await state.commit(writes);
    told.push(...events);
  }
  return told;
}

it("a limit that was passed while nobody subscribed does not count for a later subscription", async () => {
  /** Polls once at a price, and returns the number of alerts. */
  const pollAt = async (usd: number, subscriptions: readonly Subscription[]) => {
    time += 5 * MINUTE;
    await sampleAt(usd);
    return (await pollWith(() => subscriptions)).length;
  };

  expect(await pollAt(0.15, [alertAbove("0.16")])).toBe(0);
  for (let left = 20; left > 0; left -= 1) expect(await pollAt(0.17, [])).toBe(0);
  const later = alertAbove("0.16", { savedAt: time });
  expect(await pollAt(0.17, [later])).toBe(0);
  expect(await pollAt(0.15, [later])).toBe(0);
  time += HOUR;
  expect(await pollAt(0.17, [later])).toBe(1);
});

it("a limit that is passed after a subscription and before its first poll is told, although a sample came first", async () => {
  await sampleAt(0.15);
  time += MINUTE;
  const alert = alertAbove("0.16", { savedAt: time });
  time += 5 * MINUTE;
  await sampleAt(0.17);
  time += MINUTE;
  const told = await pollWith(() => [alert]);
  expect(told).toMatchObject([{ subject: "above-0.16", from: "0.15", to: "0.17" }]);
});

it("a limit that is already passed when a subscription is saved during a poll is not told", async () => {
  const old = alertAbove("0.9", { savedAt: time });
  await sampleAt(0.15);
  time += MINUTE;
  await pollWith(() => [old]);
  // The price passes the limit, and a poll reads it.
  sandbox.ledger.setPrice(0.17);
  time += MINUTE;
  await pollWith(() => [old]);
  const saved: Subscription[] = [];
  const save = (value: string) => {
    time += MINUTE;
    saved.push(alertAbove(value, { savedAt: time }));
    time += MINUTE;
  };
  // The next poll has read its subscriptions when a person saves an alert, and is told that the price is already above.
  await pollWith(() => {
    save("0.16");
    return [old];
  });
  time += MINUTE;
  expect(await pollWith(() => [old, ...saved])).toEqual([]);
  // Another is saved while a poll that has read a higher price commits what it found.
  sandbox.ledger.setPrice(0.95);
  time += MINUTE;
  const subscribed = [old, ...saved];
  const told = await pollWith(
    () => subscribed,
    () => save("0.93"),
  );
  expect([told.length, saved.length]).toEqual([1, 2]);
  time += MINUTE;
  expect(await pollWith(() => [old, ...saved])).toEqual([]);
});
