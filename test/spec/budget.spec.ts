import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RedisProcess, startRedis } from "../../sandbox/redis-process.js";
import { bucketOf, createBudget, type Priority } from "../../src/explorer/budget.js";
import { takeFromRedis } from "../../src/explorer/shared-budget.js";
import { connectRedis, type Redis } from "../../src/storage/redis.js";
import { quiet } from "../harness.js";
import { describeWithRedis } from "../needs.js";

/** Step of a sequence: time that passes (ms), priority that takes a token, and expected wait (ms) */
type Step = readonly [passes: number, priority: Priority, waits: number];

const times = (count: number, step: Step): Step[] => Array.from({ length: count }, () => step);

/** With 120 tokens a minute, people have a burst of 7.5 and 1.5 tokens/s, the background 2.5 and 0.5 tokens/s. */
const SEQUENCES: readonly (readonly [what: string, perMinute: number, steps: readonly Step[]])[] = [
  ["allows a burst for people", 120, [...times(7, [0, "people", 0]), [0, "people", 250], [250, "people", 0]]],
  ["allows a burst for the background", 120, [...times(2, [0, "background", 0]), [0, "background", 250]]],
  [
    "keeps each priority's share, whatever the other takes",
    120,
    [
      ...times(7, [0, "people", 0]),
      ...times(2, [0, "background", 0]),
      [0, "people", 250],
      [0, "background", 250],
    ],
  ],
  [
    "refills both shares while both are empty",
    120,
    [
      ...times(7, [0, "people", 0]),
      ...times(2, [0, "background", 0]),
      [400, "people", 0],
      [0, "people", 450],
      [600, "background", 0],
      [0, "background", 500],
      [0, "people", 0],
    ],
  ],
  [
    "gives the overflow of a full bucket to the other",
    120,
    [
      ...times(7, [0, "people", 0]),
      [250, "people", 0],
      [0, "people", 500],
      [500, "people", 0],
      [0, "people", 500],
    ],
  ],
  [
    "discards tokens if both buckets are full",
    120,
    [[60_000, "people", 0], ...times(6, [0, "people", 0]), [0, "people", 250]],
  ],
  [
    "adds no tokens if the clock goes back",
    120,
    [...times(7, [0, "people", 0]), [-5_000, "people", 250], [250, "people", 0]],
  ],
  [
    "holds one token per priority with a small budget",
    6,
    [
      [0, "people", 0],
      [0, "people", 10_000],
      [0, "background", 0],
      [0, "background", 10_000],
    ],
  ],
  [
    "rounds a wait up to whole ms",
    7,
    [
      [0, "people", 0],
      [1, "people", 8_571],
      [8_571, "people", 0],
    ],
  ],
];

describe("bucketOf", () => {
  it("gives people three quarters of the rate, and allows a burst of a twelfth of a minute", () => {
    expect(bucketOf(120)).toEqual({
      people: { rate: 0.0015, max: 7.5 },
      background: { rate: 0.0005, max: 2.5 },
    });
    expect(bucketOf(6)).toMatchObject({ people: { max: 1 }, background: { max: 1 } });
  });
});

describe("the budget of one process", () => {
  it.each(SEQUENCES)("%s", (_, perMinute, steps) => {
    let now = 1_000_000;
    const budget = createBudget(perMinute, () => now);
    for (const [index, [passes, priority, waits]] of steps.entries()) {
      now += passes;
      expect(budget.take(priority), `step ${index}`).toBe(waits);
    }
  });

  it("uses the real clock by default", () => {
    expect(createBudget(120).take("people")).toBe(0);
  });
});

describeWithRedis("the budget shared by processes", () => {
  let server: RedisProcess;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = connectRedis(server.url, quiet);
    await redis.connected(5_000);
  });
  afterAll(async () => {
    await redis.close();
    await server.close();
  });

  it.each(SEQUENCES)("%s", async (what, perMinute, steps) => {
    let now = 1_000_000;
    for (const [index, [passes, priority, waits]] of steps.entries()) {
      now += passes;
      const waited = await takeFromRedis(redis.client, `crier:test:${what}`, priority, perMinute, now);
      expect(waited, `step ${index}`).toBe(waits);
    }
  });

  it("uses Redis' clock by default, and expires if unused", async () => {
    expect(await takeFromRedis(redis.client, "crier:test:own", "people", 120)).toBe(0);
    expect(await redis.client.pTTL("crier:test:own")).toBeGreaterThan(590_000);
  });
});
