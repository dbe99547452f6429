import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SandboxExplorer, startSandboxExplorer } from "../../sandbox/explorer/server.js";
import { fetchAnswer } from "../../src/explorer/client.js";
import { createHttp } from "../../src/explorer/http.js";
import { createUnforeseen, oncePerMinute } from "../../src/ledger/unforeseen.js";
import { createMetrics } from "../../src/ops/metrics.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { quiet, SMALL } from "../harness.js";

let explorer: SandboxExplorer;
beforeAll(async () => {
  explorer = await startSandboxExplorer({ size: SMALL, lively: false });
});
afterAll(() => explorer.close());

/** Counts and logs undocumented answers, with a clock that the test controls. */
async function watch() {
  const clock = { ms: 0 };
  const logged: object[] = [];
  const metrics = await createMetrics(true, [], [undefined], () => ({ ready: 1, all: 1 }));
  const unforeseen = createUnforeseen({
    log: { ...quiet, warn: (details) => void logged.push(details) },
    onUnforeseen: metrics.of(undefined).unforeseen,
    elapsed: () => clock.ms,
  });
  const get = createHttp({ apiUrl: `${explorer.url}/v1`, apiKey: explorer.key });
  const send = (path: string, query: object) => get(path, { ...query }, AbortSignal.timeout(5_000));
  return {
    clock,
    logged,
    unforeseen,
    readTransfers: () => fetchAnswer(send, "transfers", { page: 0, size: 100 }, unforeseen.note),
    counted: async () =>
      [
        ...((await metrics.registry?.metrics()) ?? "").matchAll(
          /^crier_unforeseen_total\{endpoint="(.*)",field="(.*)"\} (\d+)$/gm,
        ),
      ].map(([, endpoint, field, count]) => `${endpoint} ${field} ${count}`),
  };
}

describe("undocumented answers", () => {
  it("are counted each time, and logged once a day", async () => {
    const { clock, logged, unforeseen, readTransfers, counted } = await watch();
    await readTransfers();
    expect(await counted()).toEqual([]);
    explorer.mood = (answer) => {
      const page = answer as { content: object[] };
      return {
        ...page,
        content: page.content.map((row) => ({ ...row, transferType: "Teleport", memo: "x" })),
      };
    };
    await readTransfers();
    await readTransfers();
    expect(await counted()).toEqual([
      "transfers $.content[*].memo 2",
      "transfers $.content[*].transferType 2",
    ]);
    expect(logged).toEqual([
      expect.objectContaining({ endpoint: "transfers", field: "$.content[*].memo", difference: "new" }),
      expect.objectContaining({ field: "$.content[*].transferType", difference: "word", found: "Teleport" }),
    ]);
    clock.ms = DAY;
    await readTransfers();
    expect(logged).toHaveLength(4);
    explorer.mood = undefined;
    clock.ms = 2 * DAY - HOUR;
    expect(unforeseen.recent()).toHaveLength(2);
    clock.ms = 2 * DAY;
    expect(unforeseen.recent()).toEqual([]);
  });

  it.each([
    ["party", { partyId: "a" }, 0],
    ["price", { price: 1 }, 2],
    ["transfers", { content: [{ eventId: "a" }] }, 0],
  ] as const)("of %s do not include fields that may be left out if empty", async (endpoint, json, count) => {
    const { logged, unforeseen } = await watch();
    unforeseen.note(endpoint, { ...json });
    expect(logged).toHaveLength(count);
  });

  it("are checked for in one answer per endpoint and minute", () => {
    const noted: string[] = [];
    const clock = { ms: 0 };
    const note = oncePerMinute(
      (endpoint) => void noted.push(`${endpoint} ${clock.ms}`),
      () => clock.ms,
    );
    for (clock.ms = 0; clock.ms < 2 * MINUTE; clock.ms += MINUTE / 4) {
      note("price", {});
      if (clock.ms > 0) note("dashboard", {});
    }
    expect(noted).toEqual(["price 0", "dashboard 15000", "price 60000", "dashboard 75000"]);
    // A minute after the last check, the next answer is checked.
    note("price", { burned: 1 });
    note("price", { burned: 2 });
    expect(noted.slice(4)).toEqual(["price 120000"]);
    // An explorer that leaves out different fields each time is compared a few times.
    for (let answer = 0; answer < 100; answer += 1) note("price", { [`field${answer % 50}`]: 1 });
    expect(noted.slice(5)).toEqual(Array.from({ length: 4 }, () => "price 120000"));
  });

  it("are limited in number, whatever the explorer sends", async () => {
    const { logged, unforeseen, counted } = await watch();
    for (let round = 0; round < 20; round += 1) {
      const fields = Array.from({ length: 20 }, (_, index) => [`f${round}_${index}`, 1]);
      unforeseen.note("price", {
        price: 1,
        change24h: 1,
        updateTimestamp: null,
        ...Object.fromEntries(fields),
      });
    }
    expect(logged).toHaveLength(100);
    expect(await counted()).toHaveLength(101);
    expect(await counted()).toContain("price other 300");
  });
});
