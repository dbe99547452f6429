import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { filterInTurns, inPieces, yieldIfBusy } from "../../src/util/event-loop.js";

/** Blocks the event loop for this time, in ms. */
function work(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

/** Returns a function that counts turns of the event loop until it is called. */
function countTurns(): () => number {
  let turns = 0;
  let isOver = false;
  const count = async () => {
    while (!isOver) {
      await nextTurn();
      turns += 1;
    }
  };
  void count();
  return () => {
    isOver = true;
    return turns;
  };
}

it("spreads work that arrives together over turns of the event loop, in its order", async () => {
  const begun: number[] = [];
  const turns = countTurns();
  await Promise.all(
    Array.from({ length: 12 }, async (_, at) => {
      await yieldIfBusy();
      begun.push(at);
      work(6);
    }),
  );
  expect(begun).toEqual(Array.from({ length: 12 }, (_, at) => at));
  // Two pieces of 6 ms exceed the 10 ms of a turn.
  expect(turns()).toBeGreaterThanOrEqual(5);
});

it("continues in the same turn while there is time", async () => {
  await nextTurn();
  await nextTurn();
  const turns = countTurns();
  for (let piece = 0; piece < 1_000; piece += 1) await yieldIfBusy();
  expect(turns()).toBeLessThan(5);
});

it("does not count the time in which nothing was asked for", async () => {
  await yieldIfBusy();
  await nextTurn();
  work(15);
  const turns = countTurns();
  await yieldIfBusy();
  expect(turns()).toBe(0);
});

it("divides items into pieces, in their order and with nothing left out", async () => {
  for (const count of [0, 1, 499, 500, 501, 1_700]) {
    const items = Array.from({ length: count }, (_, at) => at);
    const divided: number[] = [];
    for await (const piece of inPieces(items)) divided.push(...piece);
    expect(divided).toEqual(items);
  }
});

it("filters thousands of items over turns of the event loop", async () => {
  const turns = countTurns();
  const even = await filterInTurns(Array(3_000).keys(), (at) => {
    if (at % 500 === 0) work(6);
    return at % 2 === 0;
  });
  expect(even).toHaveLength(1_500);
  // Two pieces of 6 ms exceed the 10 ms of a turn.
  expect(turns()).toBeGreaterThanOrEqual(2);
});
