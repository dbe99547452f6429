import { expect, it } from "vitest";
import { sharedRun } from "../../src/util/single-flight.js";

it("shares one new run among all callers that arrive during another run", async () => {
  let written = 0;
  let runs = 0;
  const finish: (() => void)[] = [];
  const read = sharedRun(async () => {
    runs += 1;
    const seen = written;
    await new Promise<void>((resolve) => finish.push(resolve));
    return seen;
  });
  const first = read();
  await Promise.resolve();
  await Promise.resolve();
  written = 1;
  const others = Array.from({ length: 50 }, read);
  finish.shift()?.();
  expect(await first).toBe(0);
  await expect.poll(() => finish.length).toBe(1);
  finish.shift()?.();
  expect(await Promise.all(others)).toEqual(Array.from({ length: 50 }, () => 1));
  expect(runs).toBe(2);
});

it("does not hand a failed run to later callers", async () => {
  let runs = 0;
  const read = sharedRun(async () => {
    runs += 1;
    if (runs === 1) throw new Error("The state cannot be read");
    return runs;
  });
  await expect(read()).rejects.toThrow("The state cannot be read");
  expect(await read()).toBe(2);
});
