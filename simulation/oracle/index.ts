import { judgeAnswers } from "./answers.js";
import { judgeCalendar } from "./calendar.js";
import { judgeDigestFacts, judgeDigests } from "./digests.js";
import { type Case, createEvidence, type Judge } from "./evidence.js";
import { EYES } from "./eyes/index.js";
import { judgeGovernance } from "./governance.js";
import { judgeHolds, judgeHoldTimes } from "./holds.js";
import { judgeRemovals, judgeReturns } from "./listing.js";
import { judgeNewcomers } from "./newcomers.js";
import { judgeOddMotions } from "./odd-motions.js";
import { judgeDigestPrices, judgePrices } from "./prices.js";
import { judgeScreens } from "./screens.js";
import { judgeTraffic } from "./traffic.js";
import { judgeStandstills, judgeUpgrades } from "./upgrades.js";
import { judgeCalm, judgeChanges, judgeFalseAlarms, judgeGroups, judgeSilences } from "./validators.js";
import { judgeVersions } from "./versions.js";
import { judgeMissingVotes, judgePings, judgeVotes } from "./votes.js";

/** Checks that every message names its network, except for the first one. */
const judgeLabels: Judge = function* ({ community, label }, evidence) {
  if (label === undefined) return;
  const channels = new Set([
    ...community.validators.map(({ channelId }) => channelId),
    ...community.prices.map(({ channelId }) => channelId),
    ...community.governance.map(({ channelId }) => channelId),
    ...community.digests.map(({ channelId }) => channelId),
    ...community.newcomers,
    community.group.channelId,
  ]);
  for (const channelId of channels)
    for (const { notified } of evidence.in(channelId))
      if (!notified.endsWith(` · ${label}`)) yield `Without the network's name: ${notified} in ${channelId}`;
};

/** Checks that what moderators changed in dialogs is stored once. */
const judgeDialogs: Judge = ({ wrong }) => wrong;

const JUDGES: readonly Judge[] = [
  judgeDialogs,
  judgeLabels,
  judgeSilences,
  judgeFalseAlarms,
  judgeGroups,
  judgeRemovals,
  judgeReturns,
  judgeCalm,
  judgeChanges,
  judgeHolds,
  judgeHoldTimes,
  judgeAnswers,
  judgeVersions,
  judgeTraffic,
  judgeNewcomers,
  judgeUpgrades,
  judgeStandstills,
  judgePrices,
  judgeDigestPrices,
  judgeGovernance,
  judgeOddMotions,
  judgeVotes,
  judgePings,
  judgeMissingVotes,
  judgeCalendar,
  judgeDigests,
  judgeDigestFacts,
  judgeScreens,
  ...EYES,
];

/**
 * Returns all errors in the messages. It knows the history and the messages, and shares no code with the bot.
 */
export function judge(of: Case): string[] {
  const evidence = createEvidence(of);
  return JUDGES.flatMap((each) => [...each(of, evidence)]);
}
