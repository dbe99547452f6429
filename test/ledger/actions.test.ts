import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ACTIONS } from "../../src/ledger/action-table.js";
import { isGeneric, summaryText, toAction, toTitle } from "../../src/ledger/actions.js";
import { valueText } from "../../src/ledger/units.js";
import { actionIn, identityOf } from "../../src/ledger/vote-requests.js";
import { statusGroup, votesNeeded } from "../../src/ledger/vote-rules.js";
import { DEFAULT_COIN, withCoin } from "../../src/text/coin.js";

const DELTA = `delta::1220${"ab".repeat(32)}`;
const IRIS = `iris::1220${"cd".repeat(32)}`;
const CONTRACT = `00${"ef".repeat(68)}`;
const NAMES: Readonly<Record<string, string>> = { [DELTA]: "Delta Labs", [IRIS]: "Iris Custody" };
const nameOf = (party: string) => NAMES[party] ?? party;

const dso = (tag: string, value: unknown) => ({ tag: "ARC_DsoRules", value: { dsoAction: { tag, value } } });

/** Returns an action's name, summary and fields as text. */
function read(config: unknown) {
  const { words, summary, facts } = toAction(config);
  return {
    words,
    summary: summary && withCoin(summaryText(summary, nameOf), DEFAULT_COIN),
    facts: facts.map(({ label, value }) => withCoin(`${label}: ${valueText(value, nameOf)}`, DEFAULT_COIN)),
  };
}

describe("an action", () => {
  it.each([
    [
      dso("SRARC_OffboardSv", { sv: IRIS }),
      "Offboard Super Validator",
      "Offboard Iris Custody",
      ["Super validator: Iris Custody"],
    ],
    [
      dso("SRARC_GrantFeaturedAppRight", { provider: DELTA, activityWeight: null }),
      "Feature Application",
      "Feature Delta Labs",
      ["Application's party: Delta Labs"],
    ],
    [
      dso("SRARC_UpdateSvRewardWeight", { svParty: IRIS, newRewardWeight: "300000" }),
      "Update Super Validator Reward Weight",
      "Reward weight of Iris Custody → 30",
      ["Super validator: Iris Custody", "New weight: 30"],
    ],
    [
      dso("SRARC_UpdateSvRewardWeight", { svParty: IRIS, newRewardWeight: 12_500 }),
      "Update Super Validator Reward Weight",
      "Reward weight of Iris Custody → 1.25",
      ["Super validator: Iris Custody", "New weight: 1.25"],
    ],
    [
      dso("SRARC_AddSv", {
        newSvName: "Iris",
        newSvParty: IRIS,
        newSvRewardWeight: "20000",
        joinedAsOfRound: { number: "1234" },
      }),
      "Add Super Validator",
      "Add super validator Iris",
      ["Name: Iris", "Party: Iris Custody", "Reward weight: 2", "From round: 1,234"],
    ],
    [
      dso("SRARC_CreateUnallocatedUnclaimedActivityRecord", {
        beneficiary: DELTA,
        amount: "12000.0000000000",
        reason: "Rounds missed",
        expiresAt: "2026-12-01T00:00:00Z",
      }),
      "Create Unclaimed Activity Record",
      "Activity record for Delta Labs: 12,000 CC",
      [
        "Beneficiary: Delta Labs",
        "Amount: 12,000 CC",
        "Reason given: Rounds missed",
        "Mint before: 2026-12-01 00:00 UTC",
      ],
    ],
    [
      dso("SRARC_RevokeFeaturedAppRight", { rightCid: CONTRACT }),
      "Unfeature Application",
      "Unfeature application 00efefefef…efefef",
      ["Featured-app right (contract): 00efefefef…efefef"],
    ],
    [
      {
        tag: "ARC_AmuletRules",
        value: { amuletRulesAction: { tag: "CRARC_MiningRound_StartIssuing", value: {} } },
      },
      "Start Issuing Round",
      null,
      [],
    ],
    [
      { tag: "ARC_SvcRules", value: { svcAction: { tag: "SRARC_RemoveMember", value: { member: IRIS } } } },
      "Remove Member",
      "Remove Member: Iris Custody",
      ["Member: Iris Custody"],
    ],
    [
      dso("SRARC_DoSomethingNew", { forWhom: DELTA, howMuch: { deep: "3" } }),
      "Do Something New",
      "Do Something New: Delta Labs",
      ["For whom: Delta Labs", "How much deep: 3"],
    ],
    [
      dso("SRARC_DoSomethingNew", { activityWeight: "1.5", newRewardWeight: "15000" }),
      "Do Something New",
      null,
      ["Activity weight: 1.5", "New reward weight: 1.5"],
    ],
    [
      {
        tag: "ARC_AnsEntryContext",
        value: {
          ansEntryContextCid: "00ab",
          ansEntryContextAction: { tag: "ANSRARC_RejectEntryInitialPayment", value: { paymentCid: "00cd" } },
        },
      },
      "Reject Name Payment",
      null,
      ["Name (contract): 00ab", "Payment (contract): 00cd"],
    ],
    [
      dso("SRARC_ModifyValidatorLicenses", {
        changes: [
          { tag: "VLC_ChangeWeight", value: { validator: DELTA, newWeight: "20000" } },
          { tag: "VLC_ChangeWeight", value: { validator: IRIS, newWeight: "30000" } },
        ],
      }),
      "Change Validator Licences",
      "Change 2 validator licences",
      ["Licence weight × 20,000: Delta Labs", "Licence weight × 30,000: Iris Custody"],
    ],
    [
      dso("SRARC_ModifyValidatorLicenses", {
        changes: [{ tag: "VLC_ChangeWeight", value: { validator: DELTA, newWeight: "15000.0" } }],
      }),
      "Change Validator Licences",
      "Licence weight of Delta Labs → 15,000",
      ["Licence weight × 15,000: Delta Labs"],
    ],
    [
      dso("SRARC_ModifyValidatorLicenses", {
        changes: [{ tag: "VLC_Withdraw", value: { validator: DELTA } }],
      }),
      "Change Validator Licences",
      "Withdraw the licence of Delta Labs",
      ["Licence withdrawn: Delta Labs"],
    ],
    [
      dso("SRARC_ModifyValidatorLicenses", {
        changes: [
          { tag: "VLC_Withdraw", value: { validator: IRIS } },
          { tag: "VLC_Unheard", value: {} },
        ],
      }),
      "Change Validator Licences",
      "Change 2 validator licences",
      ["Licence withdrawn: Iris Custody", "More: and 1 more"],
    ],
    [
      dso("SRARC_ModifyValidatorLicenses", {
        changes: Array.from({ length: 10 }, () => ({ tag: "VLC_Withdraw", value: { validator: IRIS } })),
      }),
      "Change Validator Licences",
      "Change 10 validator licences",
      [...Array.from({ length: 8 }, () => "Licence withdrawn: Iris Custody"), "More: and 2 more"],
    ],
    [
      dso("SRARC_SetConfigFieldClassification", {
        fieldPath: ["transferConfig", "maxNumInputs"],
        newClassification: "FC_Critical",
      }),
      "Set Configuration Field Classification",
      "Classification of transferConfig.maxNumInputs → critical",
      ["Field: transferConfig.maxNumInputs", "New classification: critical"],
    ],
    [dso("SRARC_OffboardSv", {}), "Offboard Super Validator", null, []],
    [null, null, null, []],
  ])("%# has a name, a summary and fields", (config, words, summary, facts) => {
    expect(read(config)).toEqual({ words, summary, facts });
    expect(read(JSON.stringify(config))).toEqual({ words, summary, facts });
  });

  it("has a name for every known constructor, and recognizes generic titles", () => {
    for (const [tag, { words }] of ACTIONS) {
      expect(toTitle(tag)).toBe(words);
      expect(isGeneric(tag) && isGeneric(words), tag).toBe(true);
    }
    expect(isGeneric("SRARC_NobodyKnows")).toBe(true);
    expect(isGeneric("Offboard Member")).toBe(true);
    expect(isGeneric(null)).toBe(true);
    expect(isGeneric("Feature Delta Labs, please")).toBe(false);
    expect(toTitle("Offboard Member")).toBe("Offboard Super Validator");
    expect(toTitle("A proposal in plain words")).toBe("A proposal in plain words");
    expect(toTitle("SRARC_DoSomethingNew")).toBe("Do Something New");
  });

  it("is summarized by its configuration changes", () => {
    const set = (
      newConfig: object,
      baseConfig: object | null = { voteCooldownTime: span("60000000"), maxTextLength: "1" },
    ) => read(dso("SRARC_SetConfig", { baseConfig, newConfig })).summary;
    expect(set({ voteCooldownTime: span("120000000"), maxTextLength: "1" })).toBe(
      "Minimum time between two votes of one SV 1 → 2 min",
    );
    expect(set({ voteCooldownTime: span("120000000"), maxTextLength: "2" })).toBe(
      "Minimum time between two votes of one SV 1 → 2 min, maximum text length 1 → 2 characters",
    );
    const long = { voteCooldownTime: span("5400000000"), maxTextLength: "1" };
    expect(set({ voteCooldownTime: span("9000000000"), maxTextLength: "1" }, long)).toBe(
      "Minimum time between two votes of one SV 1 h 30 min → 2 h 30 min",
    );
    expect(set({ maxTextLength: "1" })).toBe("Minimum time between two votes of one SV removed");
    expect(set({ maxTextLength: "1" }, null)).toBeNull();
  });

  const LOGICAL = "nextScheduledLogicalSynchronizerUpgrade";
  const OLDER = "nextScheduledSynchronizerUpgrade";
  const at = (upgradeTime: string) => ({
    topologyFreezeTime: "2026-12-12T14:00:00Z",
    upgradeTime,
    newPhysicalSynchronizerSerial: 2,
    newPhysicalSynchronizerProtocolVersion: "34",
  });
  it.each([
    [
      "sets",
      {},
      { [LOGICAL]: at("2026-12-12T15:00:00Z") },
      "Network upgrade: transactions pause on 12 December at 15:00 UTC",
    ],
    [
      "moves",
      { [LOGICAL]: at("2026-12-12T15:00:00Z") },
      { [LOGICAL]: at("2026-12-14T09:30:00Z") },
      "Move the network upgrade: transactions pause on 14 December at 09:30 UTC",
    ],
    [
      "removes",
      { [LOGICAL]: at("2026-12-12T15:00:00Z") },
      { [LOGICAL]: null },
      "Cancel the network upgrade of 12 December",
    ],
    [
      "moves the freeze of",
      { [LOGICAL]: { ...at("2026-12-12T15:00:00Z"), topologyFreezeTime: "2026-12-12T11:00:00Z" } },
      { [LOGICAL]: at("2026-12-12T15:00:00Z") },
      "Move the freeze before the network upgrade: from 12 December at 14:00 UTC",
    ],
    [
      "sets, of the older kind, with another change,",
      { voteCooldownTime: span("60000000") },
      { [OLDER]: { time: "2026-12-01T08:00:00Z", migrationId: 4 }, voteCooldownTime: span("120000000") },
      "Network upgrade: transactions pause on 1 December at 08:00 UTC + 1 more",
    ],
    [
      "replaces the older kind of",
      { [OLDER]: { time: "2026-12-01T08:00:00Z", migrationId: 4 } },
      { [LOGICAL]: at("2026-12-12T15:00:00Z") },
      "Network upgrade: transactions pause on 12 December at 15:00 UTC",
    ],
    [
      "leaves the time of",
      { [LOGICAL]: at("2026-12-12T15:00:00Z") },
      { [LOGICAL]: { ...at("2026-12-12T15:00:00Z"), newPhysicalSynchronizerSerial: 3 } },
      "Next logical upgrade: serial 2 → 3",
    ],
  ])("names a request that %s a network upgrade", (_, baseConfig, newConfig, summary) => {
    expect(read(dso("SRARC_SetConfig", { baseConfig, newConfig })).summary).toBe(summary);
  });

  it("takes an upgrade that was over when the request was opened for none", () => {
    const [past, next] = [at("2026-10-12T15:00:00Z"), at("2026-12-12T15:00:00Z")];
    const openedAt = Date.UTC(2026, 10, 26);
    const summaryOf = (newConfig: object) =>
      toAction(
        dso("SRARC_SetConfig", { baseConfig: { [LOGICAL]: past }, newConfig }),
        openedAt,
      ).summary?.join("");
    expect(summaryOf({ [LOGICAL]: next })).toBe(
      "Network upgrade: transactions pause on 12 December at 15:00 UTC",
    );
    expect(summaryOf({ [LOGICAL]: null })).toBe("Remove the past network upgrade from the settings");
  });

  it("never throws, whatever the input", () => {
    fc.assert(fc.property(fc.anything(), (value) => void toAction(value)));
    for (const tag of ["SRARC_SetConfig", "SRARC_AddSv", "SRARC_Unheard"]) {
      fc.assert(
        fc.property(
          fc.jsonValue(),
          fc.jsonValue(),
          (newConfig, baseConfig) => void toAction({ tag, value: { newConfig, baseConfig } }),
        ),
      );
    }
    expect(toAction({ tag: "constructor" }).words).toBe("constructor");
  });
});

const span = (microseconds: string) => ({ microseconds });

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
  ])("estimates that %i super validators need %i votes", (n, votes) => {
    expect(votesNeeded(n)).toBe(votes);
  });
});

it("shows the times, spans and amounts of an unknown action as it shows others", () => {
  const value = {
    at: "2026-12-01T00:00:00Z",
    within: { microseconds: "3600000000" },
    amount: "5.0000000000",
    version: "1.10",
  };
  expect(toAction({ tag: "SRARC_PayBounty", value }).facts).toEqual([
    { label: "At", value: { time: Date.UTC(2026, 11, 1) } },
    { label: "Within", value: { words: "1 h" } },
    { label: "Amount", value: { words: "5" } },
    { label: "Version", value: { words: "1.10" } },
  ]);
});

describe("the action in a request's details", () => {
  const [offboard, grant] = ["SRARC_OffboardSv", "SRARC_GrantFeaturedAppRight"].map((tag) => ({
    tag,
    value: {},
  }));
  it.each([
    ["the action field", offboard, { action: grant }, "SRARC_OffboardSv"],
    ["the contract, if the field is empty", null, { action: grant }, "SRARC_GrantFeaturedAppRight"],
    [
      "the contract, if the field names no action",
      { note: "none" },
      { action: grant },
      "SRARC_GrantFeaturedAppRight",
    ],
    ["nothing, if neither names one", null, { votes: [] }, null],
    ["nothing, without a contract", null, null, null],
  ])("comes from %s", (_, actionConfig, rawPayload, tag) => {
    expect(actionIn({ actionConfig, rawPayload }).tag).toBe(tag);
  });
});
