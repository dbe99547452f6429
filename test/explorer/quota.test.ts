import { describe, expect, it } from "vitest";
import { createQuota, createTokens, type Lane } from "../../src/explorer/quota.js";

/** Asks for tokens as fast as possible over some virtual minutes: how many each lane got. */
function drain(lanes: readonly Lane[], minutes: number, perMinute = 120) {
  let now = 0;
  const tokens = createTokens(perMinute, () => now);
  const got: Record<Lane, number> = { people: 0, background: 0 };
  for (; now < minutes * 60_000; now += 20) {
    for (const lane of lanes) if (tokens.take(lane) === 0) got[lane] += 1;
  }
  return got;
}

describe("the budget", () => {
  it("is shared three to one while both want it", () => {
    const { people, background } = drain(["people", "background"], 10);
    expect(people).toBeGreaterThan(895);
    expect(background).toBeGreaterThan(295);
    expect(people + background).toBeLessThanOrEqual(1_200 + 10);
  });

  it("is one lane's as a whole while the other wants nothing", () => {
    expect(drain(["people"], 10).people).toBeGreaterThan(1_190);
    expect(drain(["background"], 10).background).toBeGreaterThan(1_190);
  });

  it("allows a small burst and no more", () => {
    const { people } = drain(["people"], 1 / 60);
    expect(people).toBeGreaterThanOrEqual(7);
    expect(people).toBeLessThanOrEqual(10);
  });
});

describe("the queue", () => {
  const never = () => new AbortController().signal;
  const open = { take: () => 0 };

  it("runs so many at once, and leaves a place for a person", async () => {
    const quota = createQuota({ tokens: open, concurrency: 2 });
    let finish = () => {};
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const started: string[] = [];
    const task = (name: string) => async () => {
      started.push(name);
      await gate;
    };
    const all = [
      quota.run("background", task("b1"), never()),
      quota.run("background", task("b2"), never()),
      quota.run("people", task("p1"), never()),
    ];
    await expect.poll(() => started).toEqual(["b1", "p1"]);
    finish();
    await Promise.all(all);
    expect(started).toEqual(["b1", "p1", "b2"]);
  });

  it("lets what somebody waits for overtake the background", async () => {
    const quota = createQuota({
      tokens: { take: (lane) => (lane === "people" ? 0 : 60_000) },
      concurrency: 4,
    });
    const hurry = new AbortController();
    const work = quota.run("background", async () => "done", never(), hurry.signal);
    expect(quota.waiting("background")).toBe(1);
    hurry.abort();
    expect(await work).toBe("done");
  });

  it("fails what waits too long, and what is cleared", async () => {
    const quota = createQuota({ tokens: { take: () => 60_000 }, concurrency: 1 });
    const late = quota.run("people", async () => "done", AbortSignal.timeout(30));
    await expect(late).rejects.toMatchObject({ problem: "busy" });
    expect(quota.waiting("people")).toBe(0);
  });

  it("keeps both lanes going under a flood", async () => {
    const quota = createQuota({ tokens: createTokens(60_000), concurrency: 4 });
    const done: Lane[] = [];
    const flood = (lane: Lane) =>
      Array.from({ length: 200 }, () => quota.run(lane, async () => void done.push(lane), never()));
    await Promise.all([...flood("people"), ...flood("background")]);
    expect(done.slice(0, 200).filter((lane) => lane === "background").length).toBeGreaterThan(20);
  });
});
