import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readableChange, toAction, toTitle } from "../../src/ledger/actions.js";
import { identityOf } from "../../src/ledger/vote-requests.js";
import { statusGroup, votesNeeded } from "../../src/ledger/vote-rules.js";

describe("an action", () => {
  it("is put into words, with its subject", () => {
    const config = {
      tag: "ARC_DsoRules",
      value: { dsoAction: { tag: "SRARC_OffboardSv", value: { sv: "bob::1220ab" } } },
    };
    const expected = {
      words: "Offboard Member",
      subject: [{ label: "Sv", value: "bob::1220ab" }],
      changes: [],
    };
    expect(toAction(config)).toEqual(expected);
    expect(toAction(JSON.stringify(config))).toEqual(expected);
  });

  it.each([
    ["604800000000", "1209600000000", { key: "timeout", from: "7 d", to: "14 d" }],
    [null, "5400000001", { key: "timeout", from: null, to: "1 h 30 min 1 µs" }],
    ["0", null, { key: "timeout", from: "0 s", to: null }],
    ["soon", "1000000", { key: "timeout.microseconds", from: "soon", to: "1000000" }],
    ["1000000", "-1", { key: "timeout.microseconds", from: "1000000", to: "-1" }],
  ])("tells spans of time in words where both are such: %s → %s", (from, to, words) => {
    expect(readableChange({ key: "timeout.microseconds", from, to })).toEqual(words);
  });

  it("lists what a configuration changes, old → new, and nothing that stays", () => {
    const value = {
      baseConfig: { fee: { rate: "0.030" }, same: "1.0", gone: "x" },
      newConfig: { fee: { rate: "0.04" }, same: "1.00", fresh: [1, 2] },
    };
    const { words, changes } = toAction({
      tag: "ARC_AmuletRules",
      value: { amuletRulesAction: { tag: "CRARC_SetConfig", value } },
    });
    expect(words).toBe("Set Amulet Rules Configuration");
    expect(changes).toEqual([
      { key: "fee.rate", from: "0.030", to: "0.04" },
      { key: "fresh.0", from: null, to: "1" },
      { key: "fresh.1", from: null, to: "2" },
      { key: "gone", from: "x", to: null },
    ]);
  });

  it("lists every new key where the base is not known", () => {
    const { changes } = toAction({
      tag: "SRARC_SetConfig",
      value: { baseConfig: null, newConfig: { a: "1" } },
    });
    expect(changes).toEqual([{ key: "a", from: null, to: "1" }]);
  });

  it("makes a tag readable that nobody has seen", () => {
    expect(toAction({ tag: "SRARC_DoSomethingNew", value: {} }).words).toBe("Do Something New");
    expect(toAction("CRARC_MiningRound_StartIssuing").words).toBe("Start Issuing Round");
    expect(toTitle("SRARC_SetConfig")).toBe("Set DSO Rules Configuration");
    expect(toTitle("A proposal in plain words")).toBe("A proposal in plain words");
  });

  it("never fails, whatever it is given", () => {
    fc.assert(fc.property(fc.anything(), (value) => void toAction(value)));
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (value) => void toAction({ tag: "SRARC_SetConfig", value: { newConfig: value } }),
      ),
    );
    expect(toAction({ tag: "constructor" }).words).toBe("constructor");
  });
});

describe("governance", () => {
  it("groups known statuses without regard to case or punctuation", () => {
    expect(
      [
        "In Progress",
        "in_progress",
        "OPEN",
        "Accepted",
        "executed",
        "REJECTED",
        "Expired",
        "Pondering",
        null,
      ].map(statusGroup),
    ).toEqual(["open", "open", "open", "accepted", "implemented", "rejected", "expired", "other", "other"]);
  });

  it("keeps a request's identity while votes recreate it", () => {
    expect(identityOf({ trackingCid: null, contractId: "c1" })).toBe("c1");
    expect(identityOf({ trackingCid: "c1", contractId: "c7" })).toBe("c1");
  });

  it.each([
    [13, 9],
    [14, 10],
    [15, 10],
    [16, 11],
    [20, 14],
  ])("estimates for %i super validators %i votes", (n, votes) => {
    expect(votesNeeded(n)).toBe(votes);
  });
});
