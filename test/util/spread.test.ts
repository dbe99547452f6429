import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createSpread } from "../../src/util/spread.js";

it("lets a few calls through in each turn of the event loop, in their order", async () => {
  const spread = createSpread(2);
  const begun: number[] = [];
  const all = Array.from({ length: 7 }, async (_, at) => {
    await spread();
    begun.push(at);
  });
  const counts: number[] = [];
  while (begun.length < all.length) {
    await nextTurn();
    counts.push(begun.length);
  }
  await Promise.all(all);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  for (const [index, count] of counts.entries())
    expect(count - (counts[index - 1] ?? 0)).toBeLessThanOrEqual(4);
  expect(counts.length).toBeGreaterThanOrEqual(2);
});

it("does not delay a call that comes alone", async () => {
  const spread = createSpread(1);
  for (let call = 0; call < 3; call += 1) {
    let isBegun = false;
    const begins = spread().then(() => {
      isBegun = true;
    });
    await Promise.resolve();
    await Promise.resolve();
    expect(isBegun).toBe(true);
    await begins;
    await nextTurn();
    await nextTurn();
  }
});
