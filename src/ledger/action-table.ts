import { defined } from "../util/present.js";
import type { UnitName } from "./units.js";

/** A field of an action that is shown: its path, label and unit. */
export type FieldRule = readonly [path: string, label: string, unit: UnitName];

/** Rules for an action's constructor. */
export interface ActionRule {
  readonly words: string;
  /** Template of a request's name. If one of its fields is missing, the words are used instead. */
  readonly summary?: string;
  readonly fields: readonly FieldRule[];
  /** The configuration that the action replaces, if its value is a whole configuration. */
  readonly isConfiguration?: true;
  /** True if the action's value is a list of changes to validator licenses. */
  readonly changesLicences?: boolean;
  /** The two fields to compare, if the action's changes are the differences between them. */
  readonly differs?: readonly [before: string, after: string];
}

const action = (words: string, summary?: string, ...fields: readonly FieldRule[]): ActionRule => ({
  words,
  fields,
  ...defined({ summary }),
});

const NEW_SV: readonly FieldRule[] = [
  ["newSvName", "Name", "text"],
  ["newSvParty", "Party", "party"],
  ["newSvRewardWeight", "Reward weight", "weight"],
];
const RIGHT: FieldRule = ["rightCid", "Featured-app right (contract)", "id"];
const EXPIRY = "expiresAt";
const SYNCHRONIZER: FieldRule = ["synchronizerId", "Synchronizer", "id"];
const REGISTRATION: FieldRule = ["registeredSynchronizerCid", "Registration (contract)", "id"];
const PARTICIPANT: FieldRule = ["participantId", "Participant", "id"];
const NAME_PAYMENT: readonly FieldRule[] = [
  ["ansEntryContextCid", "Name (contract)", "id"],
  ["paymentCid", "Payment (contract)", "id"],
];
const SCHEDULED_FROM = "From";

/** Rules by constructor, including constructors from before MainNet and from branches (docs/ledger.md). */
export const ACTIONS: ReadonlyMap<string, ActionRule> = new Map([
  [
    "SRARC_OffboardSv",
    action("Offboard Super Validator", "Offboard {sv}", ["sv", "Super validator", "party"]),
  ],
  [
    "SRARC_AddSv",
    action(
      "Add Super Validator",
      "Add super validator {newSvName}",
      ...NEW_SV,
      ["newSvParticipantId", "Participant", "id"],
      ["joinedAsOfRound.number", "From round", "count"],
    ),
  ],
  [
    "SRARC_ConfirmSvOnboarding",
    action(
      "Confirm Super Validator Onboarding",
      "Confirm onboarding of {newSvName}",
      ...NEW_SV,
      ["newParticipantId", "Participant", "id"],
      ["reason", "Reason given", "text"],
    ),
  ],
  [
    "SRARC_GrantFeaturedAppRight",
    action(
      "Feature Application",
      "Feature {provider}",
      ["provider", "Application's party", "party"],
      ["activityWeight", "Activity weight", "count"],
    ),
  ],
  [
    "SRARC_UpdateFeaturedAppRight",
    action("Update Featured Application", "Update featured application {rightCid}", RIGHT, [
      "update.newActivityWeight",
      "New activity weight",
      "count",
    ]),
  ],
  [
    "SRARC_RevokeFeaturedAppRight",
    action("Unfeature Application", "Unfeature application {rightCid}", RIGHT),
  ],
  ["SRARC_SetConfig", { ...action("Set DSO Rules Configuration"), isConfiguration: true }],
  [
    "SRARC_UpdateSvRewardWeight",
    action(
      "Update Super Validator Reward Weight",
      "Reward weight of {svParty} → {newRewardWeight}",
      ["svParty", "Super validator", "party"],
      ["newRewardWeight", "New weight", "weight"],
    ),
  ],
  [
    "SRARC_CreateUnallocatedUnclaimedActivityRecord",
    action(
      "Create Unclaimed Activity Record",
      "Activity record for {beneficiary}: {amount}",
      ["beneficiary", "Beneficiary", "party"],
      ["amount", "Amount", "coins"],
      ["reason", "Reason given", "text"],
      [EXPIRY, "Mint before", "time"],
    ),
  ],
  [
    "SRARC_CreateUnclaimedRewardBurnInstruction",
    action(
      "Burn Unclaimed Rewards",
      "Burn {amount} of unclaimed rewards",
      ["amount", "Amount", "coins"],
      [EXPIRY, "Burn before", "time"],
    ),
  ],
  ["SRARC_CreateExternalPartyAmuletRules", action("Create External-Party Rules")],
  [
    "SRARC_CreateTransferCommandCounter",
    action("Create Transfer Counter", "Transfer counter of {sender}", ["sender", "Party", "party"]),
  ],
  [
    "SRARC_CreateBootstrapExternalPartyConfigStateInstruction",
    action("Bootstrap External-Party Configuration"),
  ],
  ["SRARC_ModifyValidatorLicenses", { ...action("Change Validator Licences"), changesLicences: true }],
  [
    "SRARC_SetConfigFieldClassification",
    action(
      "Set Configuration Field Classification",
      "Classification of {fieldPath} → {newClassification}",
      ["fieldPath", "Field", "text"],
      ["newClassification", "New classification", "constructorWord"],
    ),
  ],
  [
    "SRARC_GrantValidatorLicense",
    action(
      "Grant Validator Licence",
      "Grant a licence to {validator}",
      ["validator", "Validator", "party"],
      ["sponsor", "Sponsor", "party"],
    ),
  ],
  [
    "SRARC_RejectValidatorLicense",
    action(
      "Reject Validator Licence",
      "Reject a licence for {validator}",
      ["validator", "Validator", "party"],
      ["sponsor", "Sponsor", "party"],
    ),
  ],
  [
    "SRARC_UnpermissionValidator",
    action(
      "Suspend Validator",
      "Suspend validator {participantId}",
      PARTICIPANT,
      ["revoked", "Revoked", "text"],
      ["loginAfter", "May log in after", "time"],
    ),
  ],
  [
    "SRARC_RepermissionValidator",
    action("Readmit Validator", "Readmit validator {participantId}", PARTICIPANT),
  ],
  ["SRARC_StartResponseTrafficReimbursement", action("Start Response-Traffic Reimbursement")],
  ["SRARC_AddResponseTrafficReimbursementInterval", action("Extend Response-Traffic Reimbursement")],
  ["SRARC_ConfirmResponseTrafficReimbursement", action("Confirm Response-Traffic Reimbursement")],
  ["SRARC_MigrateToOnLedgerSvRightOwners", action("Move SV Right Owners On-Ledger")],
  [
    "SRARC_AddSvRightOwner",
    action(
      "Add SV Right Owner",
      "Add SV right owner {name}",
      ["name", "Name", "text"],
      ["info.rightOwnerParty", "Party", "party"],
      ["info.rewardWeight", "Reward weight", "weight"],
    ),
  ],
  [
    "SRARC_RemoveSvRightOwner",
    action("Remove SV Right Owner", "Remove SV right owner {name}", ["name", "Name", "text"]),
  ],
  [
    "SRARC_UpdateSvRightOwnerInfo",
    {
      ...action("Update SV Right Owner", "Update SV right owner {name}", ["name", "Name", "text"]),
      differs: ["baseInfo", "newInfo"],
    },
  ],
  [
    "SRARC_RotateGovernanceVoter",
    action(
      "Change Governance Voter",
      "Governance voter of {sv} → {governanceVoter}",
      ["sv", "Super validator", "party"],
      ["governanceVoter", "New voter", "party"],
    ),
  ],
  ["SRARC_RegisterSynchronizer", action("Register Synchronizer", "Register {synchronizerId}", SYNCHRONIZER)],
  [
    "SRARC_ArchiveSynchronizerRegistration",
    action("Unregister Synchronizer", "Unregister synchronizer {synchronizerId}", SYNCHRONIZER, REGISTRATION),
  ],
  [
    "SRARC_SetSynchronizerGovernanceParameters",
    action(
      "Set Synchronizer Parameters",
      "Parameters of synchronizer {synchronizerId}",
      SYNCHRONIZER,
      REGISTRATION,
    ),
  ],
  ["CRARC_SetConfig", { ...action("Set Amulet Rules Configuration"), isConfiguration: true }],
  [
    "CRARC_AddFutureAmuletConfigSchedule",
    action("Add Configuration Schedule", "Add a configuration from {newScheduleItem._1}", [
      "newScheduleItem._1",
      SCHEDULED_FROM,
      "time",
    ]),
  ],
  [
    "CRARC_RemoveFutureAmuletConfigSchedule",
    action("Remove Configuration Schedule", "Remove the configuration from {scheduleTime}", [
      "scheduleTime",
      SCHEDULED_FROM,
      "time",
    ]),
  ],
  [
    "CRARC_UpdateFutureAmuletConfigSchedule",
    action("Update Configuration Schedule", "Change the configuration from {scheduleItem._1}", [
      "scheduleItem._1",
      SCHEDULED_FROM,
      "time",
    ]),
  ],
  [
    "CRARC_MiningRound_StartIssuing",
    action("Start Issuing Round", undefined, ["miningRoundCid", "Round (contract)", "id"]),
  ],
  [
    "CRARC_MiningRound_Archive",
    action("Archive Round", undefined, ["closedRoundCid", "Round (contract)", "id"]),
  ],
  [
    "CRARC_StartProcessingRewardsV2",
    action(
      "Start Processing Rewards",
      undefined,
      ["calculateRewardsCid", "Calculation (contract)", "id"],
      ["rootHash", "Root hash", "id"],
    ),
  ],
  ["CRARC_StartProcessingExtensionRewardsV2", action("Start Processing Extension Rewards")],
  ["ANSRARC_CollectInitialEntryPayment", action("Collect Name Payment", undefined, ...NAME_PAYMENT)],
  ["ANSRARC_RejectEntryInitialPayment", action("Reject Name Payment", undefined, ...NAME_PAYMENT)],
  ["ExtActionRequiringConformation", action("Unknown action (extension)")],
]);

/**
 * Constructors by other words for them: those of earlier versions of the bot, which may be in its state, and of the ledger's own
 * pages.
 */
export const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ["Offboard Member", "SRARC_OffboardSv"],
  ["Update SV Reward Weight", "SRARC_UpdateSvRewardWeight"],
  ["Confirm SV Onboarding", "SRARC_ConfirmSvOnboarding"],
  ["Set Decentralized Synchronizer Operations (DSO) Rules Configuration", "SRARC_SetConfig"],
]);
