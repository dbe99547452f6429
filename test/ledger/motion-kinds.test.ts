import { describe, expect, it } from "vitest";
import { ACTIONS } from "../../src/ledger/action-table.js";
import { toTag } from "../../src/ledger/actions.js";
import { motionKindOf } from "../../src/ledger/motion-kinds.js";

describe("the kind of a vote request", () => {
  it.each([
    ["SRARC_GrantFeaturedAppRight", "apps"],
    ["Feature Application", "apps"],
    ["SRARC_RevokeFeaturedAppRight", "apps"],
    ["SRARC_SetConfig", "configuration"],
    ["Set Amulet Rules Configuration", "configuration"],
    ["CRARC_AddFutureAmuletConfigSchedule", "configuration"],
    ["SRARC_RegisterSynchronizer", "configuration"],
    ["SRARC_CreateUnallocatedUnclaimedActivityRecord", "rewards"],
    ["CRARC_StartProcessingRewardsV2", "rewards"],
    ["SRARC_AddSv", "validators"],
    ["SRARC_UpdateSvRewardWeight", "validators"],
    ["Offboard Member", "validators"],
    ["SRARC_GrantValidatorLicense", "validators"],
    ["CRARC_MiningRound_Archive", "other"],
    ["A title of its own", "other"],
    ["constructor", "other"],
    [null, "other"],
  ])("%s is %s", (title, kind) => {
    expect(motionKindOf(toTag(title))).toBe(kind);
  });

  it("is known for most actions", () => {
    const others = [...ACTIONS.keys()].filter((tag) => motionKindOf(tag) === "other");
    expect(others.length).toBeLessThan(10);
  });
});
