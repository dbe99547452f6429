import { describe, expect, it } from "vitest";
import { createBudget, type Priority } from "../../src/explorer/budget.js";
import { createQueue } from "../../src/explorer/queue.js";

/** Asks for tokens as fast as possible over some virtual minutes: how many each priority got. */
function drain(priorities: readonly Priority[], minutes: number, perMinute = 120) {
  let now = 0;
  const budget = createBudget(perMinute, () => now);
  const got: Record<Priority, number> = { people: 0, background: 0 };
  for (; now < minutes * 60_000; now += 20) {
    for (const priority of priorities) if (budget.take(priority) === 0) got[priority] += 1;
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

  it("is one priority's as a whole while the other wants nothing", () => {
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
    const queue = createQueue({ budget: open, concurrency: 2 });
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
      queue.run("background", task("b1"), never()),
      queue.run("background", task("b2"), never()),
      queue.run("people", task("p1"), never()),
    ];
    await expect.poll(() => started).toEqual(["b1", "p1"]);
    finish();
    await Promise.all(all);
    expect(started).toEqual(["b1", "p1", "b2"]);
  });

  it("lets what somebody waits for overtake the background", async () => {
    const queue = createQueue({
      budget: { take: (priority) => (priority === "people" ? 0 : 60_000) },
      concurrency: 4,
    });
    const promote = new AbortController();
    const work = queue.run("background", async () => "done", never(), promote.signal);
    expect(queue.waiting("background")).toBe(1);
    promote.abort();
    expect(await work).toBe("done");
  });

  it("fails what waits too long, and what is cleared", async () => {
    const queue = createQueue({ budget: { take: () => 60_000 }, concurrency: 1 });
    const late = queue.run("people", async () => "done", AbortSignal.timeout(30));
    await expect(late).rejects.toMatchObject({ problem: "busy" });
    expect(queue.waiting("people")).toBe(0);
  });

  it("keeps both priorities going under a flood", async () => {
    const queue = createQueue({ budget: createBudget(60_000), concurrency: 4 });
    const done: Priority[] = [];
    const flood = (priority: Priority) =>
      Array.from({ length: 200 }, () => queue.run(priority, async () => void done.push(priority), never()));
    await Promise.all([...flood("people"), ...flood("background")]);
    expect(done.slice(0, 200).filter((priority) => priority === "background").length).toBeGreaterThan(20);
  });
});
