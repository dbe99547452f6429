import * as z from "zod";
import type { Party } from "./model.js";
import type { Random } from "./random.js";

/** A motion for super validators: a title, and the action in the ledger's format. */
export interface Motion {
  readonly title: string;
  readonly actionConfig: unknown;
  readonly reason: string;
}

const dso = (tag: string, value: unknown) => ({ tag: "ARC_DsoRules", value: { dsoAction: { tag, value } } });
const amulet = (tag: string, value: unknown) => ({
  tag: "ARC_AmuletRules",
  value: { amuletRulesAction: { tag, value } },
});

/** Display name of each motion. */
export const MOTION_WORDS: Readonly<Record<string, string>> = {
  feature: "Feature an application",
  offboard: "Remove a super validator",
  weight: "Change a reward weight",
  dsoConfig: "Change the network's rules",
  amuletConfig: "Change the coin's rules",
  activity: "Pay for unclaimed activity",
  upgrade: "Set or move the network's upgrade",
  cancelUpgrade: "Cancel the network's upgrade",
};

/** Motion of a vote request whose title is an action's constructor. */
const BY_TITLE: ReadonlyMap<string, string> = new Map([
  ["SRARC_GrantFeaturedAppRight", "feature"],
  ["SRARC_OffboardSv", "offboard"],
  ["SRARC_UpdateSvRewardWeight", "weight"],
  ["SRARC_SetConfig", "dsoConfig"],
  ["CRARC_SetConfig", "amuletConfig"],
  ["SRARC_CreateUnallocatedUnclaimedActivityRecord", "activity"],
]);

/** Returns a vote request's title in words. */
export const titleInWords = (title: string): string =>
  MOTION_WORDS[BY_TITLE.get(title.replace(/ \(revised\)$/, "")) ?? ""] ?? title;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const UPGRADE = "nextScheduledLogicalSynchronizerUpgrade";

/** The setting of the next upgrade, in the ledger's format. Empty if there is none. */
export interface UpgradeSetting {
  readonly nextScheduledLogicalSynchronizerUpgrade?: {
    readonly topologyFreezeTime: string;
    readonly upgradeTime: string;
    readonly newPhysicalSynchronizerSerial: number;
    readonly newPhysicalSynchronizerProtocolVersion: string;
  };
}

/** Returns the setting of an upgrade at a time (epoch ms), with a freeze two hours before it. */
export const upgradeSetting = (at: number): Required<UpgradeSetting> => ({
  nextScheduledLogicalSynchronizerUpgrade: {
    topologyFreezeTime: new Date(at - 2 * HOUR).toISOString(),
    upgradeTime: new Date(at).toISOString(),
    newPhysicalSynchronizerSerial: 2,
    newPhysicalSynchronizerProtocolVersion: "34",
  },
});

/** Returns the motion that replaces the setting of the next upgrade. */
export const upgradeMotion = (before: UpgradeSetting, after: UpgradeSetting): Motion => ({
  title: "SRARC_SetConfig",
  actionConfig: dso("SRARC_SetConfig", { baseConfig: before, newConfig: after }),
  reason: "See the release notes for the version that validators need.",
});

const upgradeAction = z.object({
  value: z.object({
    dsoAction: z.object({
      value: z.object({
        baseConfig: z.looseObject({}),
        newConfig: z.object({
          nextScheduledLogicalSynchronizerUpgrade: z
            .object({
              topologyFreezeTime: z.string(),
              upgradeTime: z.string(),
              newPhysicalSynchronizerSerial: z.number(),
              newPhysicalSynchronizerProtocolVersion: z.string(),
            })
            .exactOptional(),
        }),
      }),
    }),
  }),
});

/** Returns the setting of the next upgrade after an accepted action; `undefined` if the action is about something else. */
export function upgradeAfter(actionConfig: unknown): UpgradeSetting | undefined {
  const action = upgradeAction.safeParse(actionConfig).data?.value.dsoAction.value;
  const isAbout = action && UPGRADE in { ...action.baseConfig, ...action.newConfig };
  return isAbout ? action.newConfig : undefined;
}

/** Returns the time for the next upgrade: in two weeks, or a day later than it is scheduled. */
export function nextUpgradeAt(
  { nextScheduledLogicalSynchronizerUpgrade: next }: UpgradeSetting,
  now: number,
): number {
  const scheduledAt = Date.parse(next?.upgradeTime ?? "");
  return scheduledAt > now ? scheduledAt + DAY : Math.ceil((now + 14 * DAY) / HOUR) * HOUR;
}

/** Motions of the sandbox's super validators. */
export const MOTIONS: Readonly<Record<string, (random: Random, party: Party) => Motion>> = {
  feature: (_, party) => ({
    title: "SRARC_GrantFeaturedAppRight",
    actionConfig: dso("SRARC_GrantFeaturedAppRight", { provider: party.id }),
    reason: `${party.name ?? "This application"} settles more than a thousand transfers a day and asks for featured status.`,
  }),
  offboard: (_, party) => ({
    title: "SRARC_OffboardSv",
    actionConfig: dso("SRARC_OffboardSv", { sv: party.id }),
    reason: "It has not taken part in the last forty rounds, and its operator no longer answers.",
  }),
  weight: (random, party) => ({
    title: "SRARC_UpdateSvRewardWeight",
    actionConfig: dso("SRARC_UpdateSvRewardWeight", {
      svParty: party.id,
      newRewardWeight: String(random.int(5, 30) * 10_000),
    }),
    reason: "The milestone agreed on in the spring has been reached; the weight follows it.",
  }),
  dsoConfig: (random) => ({
    title: "SRARC_SetConfig",
    actionConfig: dso("SRARC_SetConfig", {
      baseConfig: {
        numUnclaimedRewardsThreshold: "10",
        voteRequestTimeout: { microseconds: "604800000000" },
      },
      newConfig: {
        numUnclaimedRewardsThreshold: String(random.int(20, 60)),
        voteRequestTimeout: { microseconds: "1209600000000" },
      },
    }),
    reason: "A week is too short over holidays: vote requests should stay open for two.",
  }),
  amuletConfig: (random) => ({
    title: "CRARC_SetConfig",
    actionConfig: amulet("CRARC_SetConfig", {
      baseConfig: {
        transferConfig: { createFee: { fee: "0.03" }, holdingFee: { rate: "0.0000190259" } },
        tickDuration: { microseconds: "600000000" },
      },
      newConfig: {
        transferConfig: {
          createFee: { fee: `0.0${random.int(4, 9)}` },
          holdingFee: { rate: "0.0000190259" },
        },
        tickDuration: { microseconds: "600000000" },
      },
    }),
    reason: "Fees should follow the price: see the working group's minutes for the numbers.",
  }),
  activity: (random, party) => ({
    title: "SRARC_CreateUnallocatedUnclaimedActivityRecord",
    actionConfig: dso("SRARC_CreateUnallocatedUnclaimedActivityRecord", {
      beneficiary: party.id,
      amount: `${random.int(1_000, 90_000)}.0000000000`,
    }),
    reason: "Compensation for the rounds missed during the migration.",
  }),
};
