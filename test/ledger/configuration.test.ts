import { describe, expect, it } from "vitest";
import { toAction } from "../../src/ledger/actions.js";
import { configChanges } from "../../src/ledger/configuration.js";
import { valueText } from "../../src/ledger/units.js";
import { DEFAULT_COIN, withCoin } from "../../src/text/coin.js";

const span = (microseconds: string) => ({ microseconds });
const SYNCHRONIZER = `global-domain::1220${"ab".repeat(32)}`;
const MANAGER = `manager::1220${"cd".repeat(32)}`;

/** Returns the changes as lines of text. */
const lines = (base: unknown, next: unknown) =>
  configChanges(base, next).map(({ label, from, to }) => {
    const text = (value: typeof from) => (value === null ? "—" : valueText(value, () => "Manager"));
    return withCoin(`${label}: ${text(from)} → ${text(to)}`, DEFAULT_COIN);
  });

describe("a configuration's changes", () => {
  it.each([
    [
      { tickDuration: span("600000000") },
      { tickDuration: span("300000000") },
      "Tick (half a round): 10 min → 5 min",
    ],
    [
      { governanceLockConfig: { minimumLockAmount: "1000000.0", searchTimeGranularity: span("3600000000") } },
      { governanceLockConfig: { minimumLockAmount: "2000000.0", searchTimeGranularity: span("600000000") } },
      "Smallest governance lock: 1,000,000 CC → 2,000,000 CC",
      "Governance lock: search time granularity: 1 h → 10 min",
    ],
    [
      { amuletSwitchOverTimes: {} },
      { amuletSwitchOverTimes: { noFees: "2026-12-01T00:00:00Z" } },
      "Switch-over: noFees: — → 2026-12-01 00:00 UTC",
    ],
    [
      { transferPreapprovalFee: "0.0027" },
      { transferPreapprovalFee: 0.003 },
      "Transfer pre-approval fee: 0.0027 USD per day → 0.003 USD per day",
    ],
    [
      { transferPreapprovalFee: null },
      { transferPreapprovalFee: "1.0" },
      "Transfer pre-approval fee: — → 1 USD per day",
    ],
    [
      { decentralizedSynchronizer: { fees: { extraTrafficPrice: "16.67", minTopupAmount: "200000" } } },
      { decentralizedSynchronizer: { fees: { extraTrafficPrice: "60.0", minTopupAmount: "500" } } },
      "Extra traffic: 16.67 USD per MB → 60 USD per MB",
      "Smallest traffic purchase: 200 kB → 500 bytes",
    ],
    [
      { rewardConfig: { mintingVersion: "RewardVersion_FeaturedAppMarkers" } },
      { rewardConfig: { mintingVersion: "RewardVersion_TrafficBasedAppRewards" } },
      "App reward scheme: featured app markers → traffic based app rewards",
    ],
    [
      { optDevelopmentFundManager: null },
      { optDevelopmentFundManager: MANAGER },
      "Development fund manager: — → Manager",
    ],
    [
      { nextScheduledSynchronizerUpgrade: { time: "2026-12-01T08:00:00Z", migrationId: "4" } },
      {},
      "Next upgrade: time: 2026-12-01 08:00 UTC → —",
      "Next upgrade: migration: 4 → —",
    ],
    [{ heardOf: { numThings: "3" } }, { heardOf: { numThings: "4" } }, "Heard of · num things: 3 → 4"],
    [{ unheardOf: span("60000000") }, { unheardOf: span("90000000") }, "Unheard of: 1 min → 1 min 30 s"],
  ] as const)("%# are in words with units", (base, next, ...expected) => {
    expect(lines(base, next)).toEqual(expected);
  });

  it("leave out unchanged values, whatever their number format", () => {
    const base = { transferConfig: { createFee: { fee: "0.030" } }, maxTextLength: 1024 };
    expect(lines(base, { transferConfig: { createFee: { fee: "0.03" } }, maxTextLength: "1024" })).toEqual(
      [],
    );
  });

  it("compare a stepped rate by the start of its steps, so that a removed step is one change", () => {
    const fee = (...steps: readonly (readonly [string, string])[]) => ({
      transferConfig: {
        transferFee: { initialRate: "0.01", steps: steps.map(([_1, _2]) => ({ _1, _2 })) },
      },
    });
    const base = fee(["100.0", "0.001"], ["1000.0", "0.0001"], ["1000000.0", "0.00001"]);
    expect(lines(base, fee(["1000.00", "0.0001"], ["1000000.0", "0.00001"]))).toEqual([
      "Transfer fee from 100 USD: 0.1% → —",
    ]);
    expect(lines(base, fee(["100.0", "0.002"], ["1000.0", "0.0001"], ["1000000.0", "0.00001"]))).toEqual([
      "Transfer fee from 100 USD: 0.1% → 0.2%",
    ]);
  });

  it("compare a schedule by its times", () => {
    const year = "31536000000000";
    const curve = (...steps: readonly (readonly [string, string])[]) => ({
      issuanceCurve: {
        initialValue: { amuletToIssuePerYear: "40000000000.0" },
        futureValues: steps.map(([_1, amuletToIssuePerYear]) => ({
          _1: span(_1),
          _2: { amuletToIssuePerYear },
        })),
      },
    });
    expect(lines(curve(["15768000000000", "20000000000.0"], [year, "1.0"]), curve([year, "2.0"]))).toEqual([
      "Minting curve after 365 d: coins minted per year: 1 CC → 2 CC",
      "Minting curve after 182 d 12 h: coins minted per year: 20,000,000,000 CC → —",
    ]);
  });

  it("compare maps and sets by their keys", () => {
    const of = (state: string, ...required: readonly string[]) => ({
      decentralizedSynchronizer: {
        synchronizers: [[SYNCHRONIZER, { state }]],
        requiredSynchronizers: { map: required.map((id) => [id, {}]) },
      },
    });
    expect(lines(of("DS_Bootstrapping", "b", "a"), of("DS_Operational", "a", "c"))).toEqual([
      "State of synchronizer global-domain::1220ab…abab: bootstrapping → operational",
      "Required synchronizer c: — → yes",
      "Required synchronizer b: yes → —",
    ]);
    const blocked = (...list: readonly string[]) => ({ developmentFundManagerBlacklist: list });
    expect(lines(blocked("x", "y", "z"), blocked("y", "z"))).toEqual([
      "Blocked development fund manager x: yes → —",
    ]);
  });

  it.each([
    [{ baseConfig: null, newConfig: { a: "1" } }, "base"],
    [{ baseConfig: { a: "1" }, newConfig: null }, "new"],
    [{ baseConfig: { a: "1" } }, "new"],
    [{ baseConfig: { a: "1" }, newConfig: { a: "1.0" } }, "difference"],
  ])("are empty for %j", (value, gap) => {
    expect(toAction({ tag: "SRARC_SetConfig", value })).toMatchObject({ changes: [], gap, summary: null });
  });

  it("distinguish similar limits and similar versions", () => {
    const fees = (minTopupAmount: string) => ({ decentralizedSynchronizer: { fees: { minTopupAmount } } });
    expect(lines(fees("200000"), fees("200040"))).toEqual(["Smallest traffic purchase: 200 kB → 200.04 kB"]);
    const model = (amulet: string) => ({ packageConfig: { amulet } });
    expect(lines(model("0.1.10"), model("0.1.1"))).toHaveLength(1);
    expect(lines(model("1.10"), model("1.1"))).toEqual(["Daml model version: coin: 1.10 → 1.1"]);
  });

  it("include changes of a right owner's information", () => {
    const info = (rightOwnerParty: string, rewardWeight: string) => ({ rightOwnerParty, rewardWeight });
    const value = { name: "Iris", baseInfo: info(MANAGER, "10000"), newInfo: info(MANAGER, "20000") };
    const { changes, summary } = toAction({ tag: "SRARC_UpdateSvRightOwnerInfo", value });
    expect(summary).toEqual(["Update SV right owner ", "Iris"]);
    expect(changes.map(({ label, from, to }) => [label, from, to])).toEqual([
      ["Reward weight", { words: "1" }, { words: "2" }],
    ]);
  });

  it.each([
    ["a version of an unknown field", "1.1", "1.10", 1],
    ["an amount of an unknown field", "1.1", "1.1000000000", 0],
    ["a whole number of an unknown field", "5", "5.0", 0],
    ["a time that is only written otherwise", "2026-12-01T00:00:00Z", "2026-12-01T00:00:00.000000Z", 0],
    ["a time", "2026-12-01T00:00:00Z", "2026-12-01T00:00:01Z", 1],
    ["a time that is too far ahead for a date", "2150-01-01T00:00:00Z", "9999-12-31T00:00:00Z", 1],
    ["microseconds", "2026-12-01T00:00:00.000001Z", "2026-12-01T00:00:00.000002Z", 1],
    ["text that begins like a time", "2026-01-01T-rc1", "2026-01-01T-rc2", 1],
    // Removing the zeros took minutes when each of them started a new search.
    ["a time with endless zeros", `2026-01-01T00:00:00.${"0".repeat(200_000)}1`, "2026-01-01T00:00:00Z", 1],
  ])("compare %s", (_, before, after, count) => {
    expect(configChanges({ unknown: { field: before } }, { unknown: { field: after } })).toHaveLength(count);
  });

  it("are not called equal if only a part was compared", () => {
    const wide = Object.fromEntries(Array.from({ length: 2_100 }, (_, place) => [`key${place}`, place]));
    const gapOf = (baseConfig: object, newConfig: object) =>
      toAction({ tag: "SRARC_SetConfig", value: { baseConfig, newConfig } }).gap;
    expect(gapOf(wide, { ...wide, key2099: 0 })).toBe("size");
    expect(gapOf({ key: 1 }, { key: 1 })).toBe("difference");
  });

  it("shorten very long field names", () => {
    const long = "k".repeat(1_000_000);
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, place) => [`f${place}`, place]));
    const changes = configChanges({}, { [long]: { [long]: wide } });
    expect(changes).toHaveLength(500);
    for (const { path, label } of changes) expect(path.length + label.length).toBeLessThan(2_000);
  });

  it("are limited for very deep or wide configurations", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 2_000; level += 1) deep = { deep };
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, place) => [`key${place}`, place]));
    expect(configChanges(null, { deep, wide }).length).toBeLessThanOrEqual(2_000);
  });
});
