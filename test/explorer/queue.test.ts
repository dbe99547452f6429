import { describe, expect, it } from "vitest";
import { createBudget, type Priority } from "../../src/explorer/budget.js";
import { createQueue } from "../../src/explorer/queue.js";
import { createWaiters } from "../../src/explorer/waiters.js";

/** Takes tokens as fast as possible for some virtual minutes. Returns the number of tokens per priority. */
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
  it("is shared 3:1 between people and background work while both use it", () => {
    const { people, background } = drain(["people", "background"], 10);
    expect(people).toBeGreaterThan(895);
    expect(background).toBeGreaterThan(295);
    expect(people + background).toBeLessThanOrEqual(1_200 + 10);
  });

  it("goes to one priority completely while the other is idle", () => {
    expect(drain(["people"], 10).people).toBeGreaterThan(1_190);
    expect(drain(["background"], 10).background).toBeGreaterThan(1_190);
  });

  it("allows only a small burst", () => {
    const { people } = drain(["people"], 1 / 60);
    expect(people).toBeGreaterThanOrEqual(7);
    expect(people).toBeLessThanOrEqual(10);
  });
});

describe("the queue", () => {
  const never = () => new AbortController().signal;
  const open = { take: () => 0 };

  it("limits concurrency, and reserves a slot for people", async () => {
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
      queue.run(createWaiters(undefined), task("b1"), never()),
      queue.run(createWaiters(undefined), task("b2"), never()),
      queue.run(createWaiters("ana"), task("p1"), never()),
    ];
    await expect.poll(() => started).toEqual(["b1", "p1"]);
    finish();
    await Promise.all(all);
    expect(started).toEqual(["b1", "p1", "b2"]);
  });

  it("gives a background request a person's priority if a person joins it", async () => {
    const queue = createQueue({
      budget: { take: (priority) => (priority === "people" ? 0 : 60_000) },
      concurrency: 4,
    });
    const waiters = createWaiters(undefined);
    const work = queue.run(waiters, async () => "done", never());
    expect(queue.waiting("background")).toBe(1);
    waiters.join("ana");
    expect(await work).toBe("done");
  });

  it("fails requests that wait too long", async () => {
    const queue = createQueue({ budget: { take: () => 60_000 }, concurrency: 1 });
    const late = queue.run(createWaiters("ana"), async () => "done", AbortSignal.timeout(30));
    await expect(late).rejects.toMatchObject({ problem: "busy" });
    expect(queue.waiting("people")).toBe(0);
  });

  it("serves both priorities under a flood of requests", async () => {
    const queue = createQueue({ budget: createBudget(60_000), concurrency: 4 });
    const done: Priority[] = [];
    const flood = (priority: Priority) =>
      Array.from({ length: 200 }, () =>
        queue.run(
          createWaiters(priority === "people" ? "ana" : undefined),
          async () => void done.push(priority),
          never(),
        ),
      );
    await Promise.all([...flood("people"), ...flood("background")]);
    expect(done.slice(0, 200).filter((priority) => priority === "background").length).toBeGreaterThan(20);
  });

  it("lets people take turns, even if one of them sends many requests", async () => {
    const queue = createQueue({ budget: open, concurrency: 1 });
    const done: string[] = [];
    const ask = (person: string) =>
      queue.run(createWaiters(person), async () => void done.push(person), never());
    const flood = Array.from({ length: 24 }, () => ask("flood"));
    const others = ["ana", "ben", "eve"].map(ask);
    await Promise.all([...flood, ...others]);
    expect(done.slice(0, 5)).toEqual(["flood", "ana", "ben", "eve", "flood"]);
    expect(done).toHaveLength(27);
  });

  it("reserves a slot for a second person", async () => {
    const queue = createQueue({ budget: open, concurrency: 3 });
    const started: string[] = [];
    const stuck = (person: string) =>
      void queue.run(
        createWaiters(person),
        () => {
          started.push(person);
          return new Promise(() => {});
        },
        never(),
      );
    for (let at = 0; at < 5; at += 1) stuck("flood");
    await expect.poll(() => started).toEqual(["flood", "flood"]);
    stuck("ana");
    await expect.poll(() => started).toEqual(["flood", "flood", "ana"]);
  });

  it("moves a request forward if another person joins it", async () => {
    const queue = createQueue({ budget: open, concurrency: 1 });
    const done: string[] = [];
    const run = (name: string, waiters = createWaiters("flood")) =>
      queue.run(waiters, async () => void done.push(name), never());
    const flood = Array.from({ length: 9 }, (_, at) => run(`${at}`));
    const shared = createWaiters("flood");
    const last = run("shared", shared);
    shared.join("ana");
    await Promise.all([...flood, last]);
    expect(done.indexOf("shared")).toBe(1);
    expect(done).toHaveLength(10);
  });

  it("starts a request shared with the background at the background's turn", async () => {
    for (const first of ["flood", undefined]) {
      const queue = createQueue({ budget: open, concurrency: 2 });
      let finish = () => {};
      const gate = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const started: string[] = [];
      const run = (name: string, waiters = createWaiters("flood")) =>
        queue.run(
          waiters,
          async () => {
            started.push(name);
            await gate;
          },
          never(),
        );
      const flood = Array.from({ length: 20 }, (_, at) => run(`${at}`));
      const shared = createWaiters(first);
      flood.push(run("shared", shared));
      shared.join(first === undefined ? "flood" : undefined);
      await expect.poll(() => started).toContain("shared");
      expect(started.length).toBeLessThanOrEqual(2);
      finish();
      await Promise.all(flood);
    }
  });

  it("does not spend budget on requests that may not be sent", async () => {
    let taken = 0;
    const budget = {
      take: () => {
        taken += 1;
        return 0;
      },
    };
    const queue = createQueue({ budget, concurrency: 1 });
    const spent = Array.from({ length: 50 }, () =>
      queue.run(
        createWaiters("flood", () => false),
        async () => "sent",
        never(),
      ),
    );
    const other = queue.run(createWaiters("ana"), async () => "sent", never());
    expect(await other).toBe("sent");
    const ends = await Promise.allSettled(spent);
    expect(ends.every(({ status }) => status === "rejected")).toBe(true);
    expect(taken).toBe(1);
  });
});
