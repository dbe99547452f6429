import { afterAll, describe, expect, it } from "vitest";
import { createBudget } from "../../src/explorer/budget.js";
import { ExplorerError } from "../../src/explorer/errors.js";
import { createQueue } from "../../src/explorer/queue.js";
import { createUpstream } from "../../src/explorer/upstream.js";
import { createWaiters } from "../../src/explorer/waiters.js";
import { defined } from "../../src/util/present.js";
import { type OpenService, openService, problemOf } from "./open-service.js";

const MINUTE = 60_000;
const ana = { person: "ana" };

const opened: OpenService[] = [];
/** Starts an explorer and a service for one test. */
async function start(): Promise<OpenService> {
  const own = await openService();
  opened.push(own);
  return own;
}
afterAll(() => Promise.all(opened.map(({ sandbox }) => sandbox.close())));

// Each waits for seconds, so they run at the same time.
describe.concurrent("an explorer that fails, or does not answer", () => {
  it("blames the explorer, and not the person, if retries have used up their requests", async () => {
    const { sandbox, service } = await start();
    sandbox.injectFault({ kind: "status", status: 500 });
    const problems: unknown[] = [];
    for (let page = 0; page < 12; page += 1)
      problems.push(await problemOf(service.for(ana).parties({ page, size: 100 })));
    expect(new Set(problems)).toEqual(new Set(["failing"]));
    expect(sandbox.requests.length).toBeLessThanOrEqual(20);
  });

  it("says that the explorer limits requests, if it still does so while a person waits", async () => {
    const { sandbox, service } = await start();
    sandbox.injectFault({ kind: "status", status: 429 });
    const asked = Array.from({ length: 12 }, (_, page) =>
      problemOf(service.for({ person: `p${page}` }).contracts({ page, size: 100 })),
    );
    const problems = new Set(await Promise.all(asked));
    expect(problems).toContain("limited");
    expect(problems).not.toContain("slow");
  });

  it("keeps a poll waiting that joined a person's request, although people give up sooner", async () => {
    const { serve } = await start();
    const turnAt = performance.now() + 8_500;
    const patient = serve({
      take: (priority) => (priority === "background" && performance.now() > turnAt ? 0 : 50),
    });
    const asked = problemOf(patient.for(ana).price({}));
    const polled = problemOf(patient.for("background", { maxAgeMs: 0 }).price({}));
    expect(await Promise.all([asked, polled])).toEqual(["busy", "no error"]);
  });

  it("keeps all polls waiting that joined a person's request, although people give up sooner", async () => {
    const { sandbox, serve } = await start();
    const turnAt = performance.now() + 8_500;
    const patient = serve({
      take: (priority) => (priority === "background" && performance.now() > turnAt ? 0 : 50),
    });
    const asked = problemOf(patient.for(ana).price({}));
    const polls = [1, 2, 3].map(() => problemOf(patient.for("background", { maxAgeMs: 0 }).price({})));
    expect(await Promise.all([asked, ...polls])).toEqual(["busy", "no error", "no error", "no error"]);
    expect(sandbox.requests.length).toBe(1);
  });

  it("limits how long a person waits, with different errors for a stalled body and a full queue", async () => {
    const { sandbox, service, serve } = await start();
    sandbox.injectFault({ kind: "stall" });
    const started = performance.now();
    const crowded = serve({ take: () => MINUTE });
    const problems = [service, crowded].map((each) => problemOf(each.for(ana).price({})));
    // More people than may ask at the same time. They wait for those that get no answer.
    const pages = [0, 1, 2, 3, 4, 5, 6, 7];
    const others = pages.map((page) =>
      problemOf(service.for({ person: `p${page}` }).parties({ page, size: 100 })),
    );
    expect(await Promise.all(problems)).toEqual(["slow", "busy"]);
    expect(await Promise.all(others)).toEqual(pages.map(() => "slow"));
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it("does not retry at once because of a Retry-After of zero", async () => {
    const { sandbox, service } = await start();
    sandbox.injectFault({ kind: "status", status: 429, retryAfter: "0" }, { times: 1 });
    const started = performance.now();
    await service.for(ana).dashboard({});
    expect(performance.now() - started).toBeGreaterThan(900);
  });

  it("does not treat the explorer as down while an endpoint answers", async () => {
    const { sandbox, service, news } = await start();
    await service.for(ana).price({});
    sandbox.injectFault({ kind: "status", status: 500 }, { path: /parties|contracts/ });
    for (let page = 0; page < 3; page += 1) {
      const background = service.for("background");
      const parties = background.parties({ page, size: 100, sortBy: "FIRST_SEEN_AT", orderBy: "ASC" });
      const both = [problemOf(parties), problemOf(background.contracts({ page, size: 100 }))];
      expect(await Promise.all(both)).toEqual(["failing", "failing"]);
    }
    expect(await problemOf(service.for(ana).events({ page: 0, size: 100 }))).toBe("no error");
    expect(news).toEqual([]);
  });

  it("does not take the explorer for down while the dashboard answers, and checks that within the budget", async () => {
    const { sandbox, service, news } = await start();
    for (const page of [0, 1, 2]) {
      await service.for("background").contracts({ page, size: 100 });
      await service.for("background").updates({ page, size: 100 });
      await service.for("background").events({ page, size: 100 });
    }
    sandbox.injectFault({ kind: "status", status: 500 }, { path: /contracts|updates|events/ });
    for (const page of [3, 4]) {
      const background = service.for("background");
      const failed = [
        background.contracts({ page, size: 100 }),
        background.updates({ page, size: 100 }),
        background.events({ page, size: 100 }),
      ].map(problemOf);
      expect(await Promise.all(failed)).toEqual(["failing", "failing", "failing"]);
    }
    expect(await problemOf(service.for(ana).price({}))).toBe("no error");
    expect(news).toEqual([]);
    const checks = sandbox.requests.filter(({ path }) => path === "/v1/dashboard");
    expect(checks.length).toBeLessThanOrEqual(3);
  });

  it("stops requests to an explorer that is down, notifies the operator once, and recovers by itself", async ({
    expect,
  }) => {
    const { sandbox, service, news } = await start();
    sandbox.injectFault({ kind: "reset" });
    for (let at = 0; at < 40; at += 1)
      await problemOf(service.for({ person: `p${at}` }).parties({ page: at, size: 100 }));
    expect(sandbox.requests.length).toBeLessThanOrEqual(6);
    expect(news).toEqual(["down"]);
    sandbox.clearFaults();
    await expect.poll(() => problemOf(service.for("background").price({}))).toBe("no error");
    expect(news).toEqual(["down", "back"]);
  });

  it("does not treat the explorer as down if one endpoint resets each connection", async () => {
    const { sandbox, service, news } = await start();
    await service.for("background").dashboard({});
    sandbox.injectFault({ kind: "reset" }, { path: /parties$/ });
    for (const page of [0, 1, 2])
      expect(await problemOf(service.for(ana).parties({ page, size: 100 }))).toBe("failing");
    expect(await problemOf(service.for(ana).price({}))).toBe("no error");
    expect(news).toEqual([]);
  });

  it.each([
    ["can't be reached", true, undefined, ["down"]],
    ["answers with errors, and has not answered before", false, 500, ["down"]],
    ["answers with errors, and has answered lately", true, 500, []],
  ])("if no request is left to ask another endpoint, and it %s", async (_, hasAnswered, status, expected) => {
    const told: string[] = [];
    let isDead = false;
    const upstream = createUpstream({
      get: async (path) => {
        if (isDead) throw new ExplorerError("failing", `GET ${path}: failed`, defined({ status }));
        return { json: {}, text: "{}", bytes: 2 };
      },
      queue: createQueue({ budget: createBudget(120), concurrency: 4 }),
      onDown: () => told.push("down"),
      onRefused: () => told.push("refused"),
      onBack: () => told.push("back"),
    });
    const ask = (endpoint: "price" | "updates" | "parties" | "votes") =>
      upstream({ waiters: createWaiters(undefined), endpoint, path: endpoint, query: {} }).catch(() => {});
    const all = ["price", "updates", "parties", "votes"] as const;
    for (const each of hasAnswered ? all : []) await ask(each);
    isDead = true;
    await Promise.all(all.map(ask));
    expect(told).toEqual(expected);
  });
});
