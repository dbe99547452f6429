import { expect, it } from "vitest";
import { startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import type { Subscription } from "../../../src/delivery/collections.js";
import { draftOf } from "../../../src/delivery/feed.js";
import { createPoll, price } from "../../../src/feeds/price/index.js";
import { samplePrice } from "../../../src/ledger/price-history.js";
import { HOUR, MINUTE } from "../../../src/util/units.js";
import { newExplorer, newState, SMALL } from "../../harness.js";

it("a limit that was passed while nobody subscribed does not count for a later subscription", async () => {
  let time = Date.UTC(2026, 10, 26, 12);
  const now = () => time;
  const sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now });
  const explorer = newExplorer(sandbox, now).for("background", { maxAgeMs: 0 });
  const state = newState();
  const poll = createPoll(explorer, state, now);
  const settings = { when: "above", value: "0.16" };
  const alert: Subscription = { ...draftOf(price.definition, "1"), ...settings, subject: "above-0.16" };
  /** Polls once at a price, and returns the number of alerts. */
  const pollAt = async (usd: number, subscriptions: readonly Subscription[]) => {
    time += 5 * MINUTE;
    sandbox.ledger.setPrice(usd);
    await samplePrice(explorer, state, now);
    let count = 0;
    const subscribers = { subscriptions: async () => subscriptions, isHeard: async () => true };
    for await (const { events = [], writes = [] } of poll(subscribers)) {
      await state.commit(writes);
      count += events.length;
    }
    return count;
  };

  expect(await pollAt(0.15, [alert])).toBe(0);
  for (let left = 20; left > 0; left -= 1) expect(await pollAt(0.17, [])).toBe(0);
  const later = { ...alert, savedAt: time };
  expect(await pollAt(0.17, [later])).toBe(0);
  expect(await pollAt(0.15, [later])).toBe(0);
  time += HOUR;
  expect(await pollAt(0.17, [later])).toBe(1);
  await sandbox.close();
});

it("a limit that is passed after a subscription and before its first poll is told, although a sample came first", async () => {
  let time = Date.UTC(2026, 10, 26, 12);
  const now = () => time;
  const sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now });
  const explorer = newExplorer(sandbox, now).for("background", { maxAgeMs: 0 });
  const state = newState();
  const poll = createPoll(explorer, state, now);
  const sampleAt = async (usd: number) => {
    sandbox.ledger.setPrice(usd);
    await samplePrice(explorer, state, now);
  };
  await sampleAt(0.15);
  time += MINUTE;
  const settings = { when: "above", value: "0.16", savedAt: time };
  const alert: Subscription = { ...draftOf(price.definition, "1"), ...settings, subject: "above-0.16" };
  time += 5 * MINUTE;
  await sampleAt(0.17);
  time += MINUTE;
  const told: unknown[] = [];
  for await (const { events = [] } of poll({ subscriptions: async () => [alert], isHeard: async () => true }))
    told.push(...events);
  expect(told).toMatchObject([{ subject: "above-0.16", from: "0.15", to: "0.17" }]);
  await sandbox.close();
});

it("a limit that is already passed when a subscription is saved during a poll is not told", async () => {
  let time = Date.UTC(2026, 10, 26, 12);
  const now = () => time;
  const sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now });
  const explorer = newExplorer(sandbox, now).for("background", { maxAgeMs: 0 });
  const state = newState();
  const poll = createPoll(explorer, state, now);
  const alertAbove = (value: string): Subscription => ({
    ...draftOf(price.definition, "1"),
    ...{ when: "above", value, savedAt: time },
    subject: `above-${value}`,
  });
  const old = alertAbove("0.9");
  const pollWith = async (list: () => readonly Subscription[], whileCommitting = () => {}) => {
    const told: unknown[] = [];
    for await (const { events = [], writes = [] } of poll({
      subscriptions: async () => list(),
      isHeard: async () => true,
    })) {
      whileCommitting();
      await state.commit(writes);
      told.push(...events);
    }
    return told;
  };
  sandbox.ledger.setPrice(0.15);
  await samplePrice(explorer, state, now);
  time += MINUTE;
  await pollWith(() => [old]);
  // The price passes the limit, and a poll reads it.
  sandbox.ledger.setPrice(0.17);
  time += MINUTE;
  await pollWith(() => [old]);
  // The next poll has read its subscriptions when a person saves an alert, and is told that the price is already above.
  const saved: Subscription[] = [];
  await pollWith(() => {
    time += MINUTE;
    saved.push(alertAbove("0.16"));
    time += MINUTE;
    return [old];
  });
  time += MINUTE;
  expect(await pollWith(() => [old, ...saved])).toEqual([]);
  // Another is saved while a poll that has read a higher price commits what it found.
  sandbox.ledger.setPrice(0.95);
  time += MINUTE;
  const late: Subscription[] = [];
  expect(
    await pollWith(
      () => [old, ...saved],
      () => {
        time += MINUTE;
        late.push(alertAbove("0.93"));
        time += MINUTE;
      },
    ),
  ).toHaveLength(1);
  time += MINUTE;
  expect(late).toHaveLength(1);
  expect(await pollWith(() => [old, ...saved, ...late])).toEqual([]);
  await sandbox.close();
});
