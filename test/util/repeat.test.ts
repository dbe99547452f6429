import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { repeat } from "../../src/util/repeat.js";
import { quiet } from "../harness.js";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

describe("a repeated job", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Returns the times, in s, at which a job runs whose first `failures` runs fail. */
  const runsOf = async (failures: number, forMs: number, retryMs?: number) => {
    const runs: number[] = [];
    const startedAt = Date.now();
    const job = repeat(
      async () => {
        runs.push((Date.now() - startedAt) / SECOND);
        if (runs.length <= failures) throw new Error("not yet");
      },
      HOUR,
      quiet,
      { onError: () => {}, ...(retryMs === undefined ? {} : { retryMs }) },
    );
    await vi.advanceTimersByTimeAsync(forMs);
    await job.stop();
    return runs;
  };

  it("runs at each interval, even after a failed run", async () => {
    expect(await runsOf(0, 2 * HOUR)).toEqual([0, 3_600, 7_200]);
    expect(await runsOf(1, 2 * HOUR)).toEqual([0, 3_600, 7_200]);
  });

  it("retries sooner after a failure, until it succeeds", async () => {
    expect(await runsOf(3, HOUR, SECOND)).toEqual([0, 1, 2, 3]);
  });
});
