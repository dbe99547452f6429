import type { UnitName } from "./units.js";

/**
 * Words and unit of a field. `*` in a path matches a key of a map or a step of a schedule. That key replaces `{}` in the words,
 * in the unit of the third element.
 */
export type ConfigField = readonly [words: string, unit: UnitName, keyUnit?: UnitName];

const CURVE_FIELDS: readonly (readonly [name: string, words: string, unit: UnitName])[] = [
  ["amuletToIssuePerYear", "coins minted per year", "coins"],
  ["validatorRewardPercentage", "validators' share", "fraction"],
  ["appRewardPercentage", "apps' share", "fraction"],
  ["optDevelopmentFundPercentage", "development fund's share", "fraction"],
  ["validatorRewardCap", "cap per validator coupon", "coinsPerCoupon"],
  ["featuredAppRewardCap", "cap per featured-app coupon", "coinsPerCoupon"],
  ["unfeaturedAppRewardCap", "cap per other app coupon", "coinsPerCoupon"],
  ["optValidatorFaucetCap", "validator liveness reward cap", "usd"],
];

const curve: readonly (readonly [string, ConfigField])[] = CURVE_FIELDS.flatMap(([name, words, unit]) => [
  [`issuanceCurve.initialValue.${name}`, [`Minting curve from the start: ${words}`, unit]] as const,
  [`issuanceCurve.futureValues.*.${name}`, [`Minting curve after {}: ${words}`, unit, "duration"]] as const,
]);

const MODELS: readonly (readonly [name: string, words: string])[] = [
  ["amulet", "coin"],
  ["amuletNameService", "name service"],
  ["dsoGovernance", "governance"],
  ["validatorLifecycle", "validator lifecycle"],
  ["wallet", "wallet"],
  ["walletPayments", "wallet payments"],
];

const models = MODELS.map(
  ([name, words]) => [`packageConfig.${name}`, [`Daml model version: ${words}`, "text"]] as const,
);

const REWARDS = "rewardConfig";
const VALIDATOR_REWARDS = "validatorRewardConfig";
const TRAFFIC = "decentralizedSynchronizer.fees";
const NODE = "synchronizerNodeConfigLimits.cometBft";
const SYNCHRONIZER = "decentralizedSynchronizer.synchronizers.*";
const LOCK = "governanceLockConfig";
const UPGRADE = "nextScheduledLogicalSynchronizerUpgrade";

/** Fields of both configurations (Amulet rules and DSO rules) by path (docs/ledger.md). */
export const CONFIG_FIELDS: ReadonlyMap<string, ConfigField> = new Map<string, ConfigField>([
  ["tickDuration", ["Tick (half a round)", "duration"]],
  ["transferConfig.createFee.fee", ["Fee per output created", "usd"]],
  ["transferConfig.holdingFee.rate", ["Holding fee", "usdPerRound"]],
  ["transferConfig.transferFee.initialRate", ["Transfer fee", "fraction"]],
  ["transferConfig.transferFee.steps.*", ["Transfer fee from {}", "fraction", "usd"]],
  ["transferConfig.lockHolderFee.fee", ["Fee per lock holder", "usd"]],
  ["transferConfig.extraFeaturedAppRewardAmount", ["Extra reward per featured-app transfer", "usd"]],
  ["transferConfig.maxNumInputs", ["Maximum inputs", "count"]],
  ["transferConfig.maxNumOutputs", ["Maximum outputs", "count"]],
  ["transferConfig.maxNumLockHolders", ["Maximum lock holders", "count"]],
  ["transferConfig.tokenStandardMaxTTL", ["Maximum lifetime of allocations and transfer offers", "duration"]],
  ...curve,
  ["decentralizedSynchronizer.requiredSynchronizers.*", ["Required synchronizer {}", "text", "id"]],
  ["decentralizedSynchronizer.activeSynchronizer", ["Active synchronizer", "id"]],
  [`${TRAFFIC}.baseRateTrafficLimits.burstAmount`, ["Free traffic", "bytes"]],
  [`${TRAFFIC}.baseRateTrafficLimits.burstWindow`, ["Free traffic is per", "duration"]],
  [`${TRAFFIC}.extraTrafficPrice`, ["Extra traffic", "usdPerMegabyte"]],
  [`${TRAFFIC}.readVsWriteScalingFactor`, ["Read/write cost", "perTenThousand"]],
  [`${TRAFFIC}.minTopupAmount`, ["Smallest traffic purchase", "bytes"]],
  ...models,
  ["transferPreapprovalFee", ["Transfer pre-approval fee", "usdADay"]],
  ["transferPreapprovalBaseDuration", ["Free pre-approval time", "duration"]],
  ["featuredAppActivityMarkerAmount", ["Reward per featured-app activity marker", "usd"]],
  ["optDevelopmentFundManager", ["Development fund manager", "party"]],
  ["developmentFundManagerBlacklist.*", ["Blocked development fund manager {}", "text", "party"]],
  ["minDevelopmentFundMintingDelay", ["Development fund minting delay", "duration"]],
  ["externalPartyConfigStateTickDuration", ["External-party configuration tick", "duration"]],
  [`${REWARDS}.mintingVersion`, ["App reward scheme", "constructorWord"]],
  [`${REWARDS}.dryRunVersion`, ["App reward trial scheme", "constructorWord"]],
  [`${REWARDS}.batchSize`, ["App reward batch size", "count"]],
  [`${REWARDS}.rewardCouponTimeToLive`, ["Lifetime of an app reward coupon", "duration"]],
  [`${REWARDS}.appRewardCouponThreshold`, ["Smallest app reward coupon", "usd"]],
  [`${VALIDATOR_REWARDS}.mintingVersion`, ["Validator reward scheme", "constructorWord"]],
  [`${VALIDATOR_REWARDS}.dryRunVersion`, ["Validator reward trial scheme", "constructorWord"]],
  [`${VALIDATOR_REWARDS}.batchSize`, ["Validator reward batch size", "count"]],
  [`${VALIDATOR_REWARDS}.rewardCouponTimeToLive`, ["Lifetime of a validator reward coupon", "duration"]],
  [`${VALIDATOR_REWARDS}.confirmingValidatorRewardPercentage`, ["Confirming validators' share", "fraction"]],
  [`${VALIDATOR_REWARDS}.maximumDecentralizationValue`, ["Decentralization cap", "count"]],
  ["amuletSwitchOverTimes.*", ["Switch-over: {}", "time", "text"]],

  ["numUnclaimedRewardsThreshold", ["Unclaimed rewards merged from", "count"]],
  ["numMemberTrafficContractsThreshold", ["Traffic contracts merged from", "count"]],
  ["actionConfirmationTimeout", ["Lifetime of an action's confirmation", "duration"]],
  ["svOnboardingRequestTimeout", ["Lifetime of an SV onboarding", "duration"]],
  ["svOnboardingConfirmedTimeout", ["Lifetime of an SV onboarding's confirmation", "duration"]],
  ["voteRequestTimeout", ["Default voting period", "duration"]],
  ["voteCooldownTime", ["Minimum time between two votes of one SV", "duration"]],
  ["voteExecutionInstructionTimeout", ["Lifetime of a vote's execution", "duration"]],
  ["dsoDelegateInactiveTimeout", ["DSO delegate's time to act", "duration"]],
  ["maxTextLength", ["Maximum text length", "characters"]],
  [`${NODE}.maxNumCometBftNodes`, ["SV node limit: nodes", "count"]],
  [`${NODE}.maxNumGovernanceKeys`, ["SV node limit: governance keys", "count"]],
  [`${NODE}.maxNumSequencingKeys`, ["SV node limit: sequencing keys", "count"]],
  [`${NODE}.maxNodeIdLength`, ["SV node limit: node id length", "characters"]],
  [`${NODE}.maxPubKeyLength`, ["SV node limit: public key length", "characters"]],
  [`${SYNCHRONIZER}.state`, ["State of synchronizer {}", "constructorWord", "id"]],
  [`${SYNCHRONIZER}.cometBftGenesisJson`, ["CometBFT genesis of {}", "text", "id"]],
  [`${SYNCHRONIZER}.acsCommitmentReconciliationInterval`, ["Commitment interval of {}", "seconds", "id"]],
  [
    `${SYNCHRONIZER}.minMemberTrafficToOnboardValidator`,
    ["Traffic to onboard a validator on {}", "bytes", "id"],
  ],
  [`${SYNCHRONIZER}.devNetPublicSetupTrafficAmount`, ["DevNet setup traffic on {}", "bytes", "id"]],
  ["decentralizedSynchronizer.lastSynchronizerId", ["Last synchronizer", "id"]],
  ["decentralizedSynchronizer.activeSynchronizerId", ["Active synchronizer", "id"]],
  ["nextScheduledSynchronizerUpgrade.time", ["Next upgrade: time", "time"]],
  ["nextScheduledSynchronizerUpgrade.migrationId", ["Next upgrade: migration", "count"]],
  [`${UPGRADE}.topologyFreezeTime`, ["Next logical upgrade: freeze", "time"]],
  [`${UPGRADE}.upgradeTime`, ["Next logical upgrade: time", "time"]],
  [`${UPGRADE}.newPhysicalSynchronizerSerial`, ["Next logical upgrade: serial", "count"]],
  [`${UPGRADE}.newPhysicalSynchronizerProtocolVersion`, ["Next logical upgrade: protocol", "text"]],
  [`${LOCK}.minimumLockAmount`, ["Smallest governance lock", "coins"]],
  [`${LOCK}.featuredAppLockThreshold`, ["Locked amount for a featured application", "coins"]],
  [`${LOCK}.superValidatorLockVestingDuration`, ["Vesting of a super validator's lock", "duration"]],
  [`${LOCK}.featuredAppLockVestingDuration`, ["Vesting of a featured application's lock", "duration"]],
  [`${LOCK}.searchTimeGranularity`, ["Governance lock: search time granularity", "duration"]],
  [`${LOCK}.featuredAppUnderlockGracePeriod`, ["Time to restore a featured application's lock", "duration"]],
  ["rightOwnerParty", ["Party", "party"]],
  ["rewardWeight", ["Reward weight", "weight"]],
  ["svOperationsSwitchOverTimes.*", ["SV switch-over: {}", "time", "text"]],
]);
