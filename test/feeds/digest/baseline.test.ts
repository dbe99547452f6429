import { afterAll, beforeAll, expect, it } from "vitest";
import { type SandboxExplorer, startSandboxExplorer } from "../../../sandbox/explorer/server.js";
import { createRecorder, RECORD_MS } from "../../../src/feeds/digest/chronicle.js";
import { happenings } from "../../../src/feeds/digest/collections.js";
import { NETWORK_RHYTHM, type NetworkRhythm, rhythms } from "../../../src/ledger/network-rhythm.js";
import { rounds } from "../../../src/ledger/rounds.js";
import { DAY, HOUR, MINUTE } from "../../../src/util/units.js";
import { newExplorer, newState, SMALL } from "../../harness.js";

let time = Date.UTC(2026, 10, 26, 12);
const now = () => time;
let sandbox: SandboxExplorer;
beforeAll(async () => {
  sandbox = await startSandboxExplorer({ size: SMALL, lively: false, now });
});
afterAll(() => sandbox.close());

it("a validator that the first reading of the shifting list misses has not joined", async () => {
  const service = newExplorer(sandbox, now);
  const state = newState();
  const cached = service.for("background", { maxAgeMs: RECORD_MS });
  const recorder = createRecorder(cached, service.for("background", { maxAgeMs: 0 }), state, now);
  const record = async () => {
    for (const each of [...sandbox.ledger.validators]) sandbox.ledger.setValidatorActive(each, true);
    await state.commit([...(await recorder.record())]);
    return [...(await state.open(happenings).list()).values()].map(({ kind }) => kind);
  };
  let answers = 0;
  sandbox.mood = (answer, path) => {
    if (!path.endsWith("/validators")) return answer;
    answers += 1;
    time += 10;
    const page = answer as { readonly content: readonly object[] };
    return answers === 1 ? { ...page, content: page.content.slice(1) } : answer;
  };
  expect(await record()).toEqual([]);
  time += 2 * RECORD_MS;
  expect(await record()).toEqual([]);
  expect(answers).toBeGreaterThan(2);
});

it("no validator counts as silent while the network stands still, or just after it", async () => {
  const service = newExplorer(sandbox, now);
  const state = newState();
  sandbox.mood = undefined;
  const fresh = service.for("background", { maxAgeMs: 0 });
  const recorder = createRecorder(service.for("background", { maxAgeMs: RECORD_MS }), fresh, state, now);
  const record = async () => {
    await state.commit([...(await recorder.record())]);
    return [...(await state.open(happenings).list()).values()].map(({ kind }) => kind);
  };
  const report = (late: number) => {
    for (const [place, each] of sandbox.ledger.validators.entries())
      each.lastActiveAt = place < late ? time - 5 * HOUR : time - MINUTE;
  };
  const stand = (isStandingStill: boolean) =>
    state.commit([
      state.open(rounds).put("network", {
        number: 1,
        since: time,
        seenAt: time,
        gaps: [],
        isSeenToBegin: true,
        isStandingStill,
        ...(isStandingStill ? {} : { movedAt: time }),
      }),
    ]);
  report(0);
  expect(await record()).toEqual([]);
  for (const isStandingStill of [true, false]) {
    time += 2 * RECORD_MS;
    report(10);
    // Somebody has just asked for the list, which is older than the rounds then.
    await fresh.validators({ page: 0, size: 100 });
    time += MINUTE / 2;
    await stand(isStandingStill);
    expect(await record()).toEqual([]);
  }
  time += 3 * HOUR;
  report(1);
  expect(await record()).toContain("silent");
});

it("no validator counts as silent because one reading finds the first reports after a pause", async () => {
  const service = newExplorer(sandbox, now);
  const state = newState();
  const fresh = service.for("background", { maxAgeMs: 0 });
  const recorder = createRecorder(service.for("background", { maxAgeMs: RECORD_MS }), fresh, state, now);
  /** Records a reading in which some validators have been silent for a time, and returns the number of silences. */
  const record = async (late: number, silence: number) => {
    for (const [place, each] of sandbox.ledger.validators.entries())
      each.lastActiveAt = place < late ? time - silence : time - MINUTE;
    await state.commit([...(await recorder.record())]);
    time += RECORD_MS + MINUTE;
    return [...(await state.open(happenings).list()).values()].filter(({ kind }) => kind === "silent").length;
  };
  const all = sandbox.ledger.validators.length;
  expect(await record(0, 0)).toBe(0);
  expect(await record(all, 100 * MINUTE)).toBe(0);
  expect(await record(30, 5 * HOUR)).toBe(0);
  expect(await record(3, 5 * HOUR)).toBe(3);
});

it("a row that can never be read does not hide that another validator goes silent", async () => {
  const service = newExplorer(sandbox, now);
  const state = newState();
  const fresh = service.for("background", { maxAgeMs: 0 });
  const recorder = createRecorder(service.for("background", { maxAgeMs: RECORD_MS }), fresh, state, now);
  sandbox.mood = (answer, path) => {
    if (!path.endsWith("/validators")) return answer;
    const page = answer as { readonly content: readonly object[] };
    return { ...page, content: [...page.content, null] };
  };
  const record = async (late: number) => {
    for (const [place, each] of sandbox.ledger.validators.entries())
      each.lastActiveAt = place < late ? time - 5 * HOUR : time - MINUTE;
    await state.commit([...(await recorder.record())]);
    time += 2 * RECORD_MS;
    return [...(await state.open(happenings).list()).values()].map(({ kind }) => kind);
  };
  expect(await record(0)).toEqual([]);
  expect(await record(1)).toEqual(["silent"]);
  sandbox.mood = undefined;
});

it("no validator counts as silent while the explorer is behind or the rhythm changes, and events are kept for 31 days", async () => {
  const service = newExplorer(sandbox, now);
  const state = newState();
  const fresh = service.for("background", { maxAgeMs: 0 });
  const recorder = createRecorder(service.for("background", { maxAgeMs: RECORD_MS }), fresh, state, now);
  const record = async (late: number, newest: number) => {
    for (const [place, each] of sandbox.ledger.validators.entries())
      each.lastActiveAt = time - newest - (place < late ? 5 * HOUR : 0);
    await state.commit([...(await recorder.record())]);
    time += RECORD_MS + MINUTE;
    return [...(await state.open(happenings).list()).keys()].map((id) => id.replace(/.*:(\w+):.*/, "$1"));
  };
  const events = state.open(happenings);
  const event = (days: number) => ({ kind: "version", at: time - days * DAY, from: "0.1" }) as const;
  await state.commit([events.put("new", event(30)), events.put("old", event(32))]);
  expect(await record(0, MINUTE)).toEqual(["new"]);
  expect(await record(1, 4 * HOUR)).toEqual(["new"]);
  const rhythm = { intervalMs: HOUR, learntAt: time, isLearnt: true };
  const change = (changing: Partial<NetworkRhythm>) =>
    state.commit([state.open(rhythms).put(NETWORK_RHYTHM, { ...rhythm, ...changing })]);
  await change({ changing: { since: time, beforeMs: HOUR, isUnsure: false } });
  expect(await record(1, MINUTE)).toEqual(["new"]);
  await change({});
  expect((await record(1, MINUTE)).toSorted()).toEqual(["new", "silent"]);
  await state.close();
});
