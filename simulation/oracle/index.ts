import { judgeAnswers } from "./answers.js";
import { judgeCalendar } from "./calendar.js";
import { judgeDigestFacts, judgeDigests } from "./digests.js";
import { type Case, createEvidence, type Judge } from "./evidence.js";
import { judgeGovernance } from "./governance.js";
import { judgeNewcomers } from "./newcomers.js";
import { judgePrices } from "./prices.js";
import { judgeScreens } from "./screens.js";
import { judgeTraffic } from "./traffic.js";
import { judgeCalm, judgeChanges, judgeFalseAlarms, judgeHolds, judgeSilences } from "./validators.js";
import { judgeVersions } from "./versions.js";
import { judgeMissingVotes, judgePings, judgeVotes } from "./votes.js";

/** Every message says which network it is about, if that is not the first one. */
const judgeLabels: Judge = function* ({ community, label }, evidence) {
  if (label === undefined) return;
  const channels = new Set([
    ...community.validators.map(({ channelId }) => channelId),
    ...community.prices.map(({ channelId }) => channelId),
    ...community.governance.map(({ channelId }) => channelId),
    ...community.digests.map(({ channelId }) => channelId),
    ...community.newcomers,
  ]);
  for (const channelId of channels)
    for (const { notified } of evidence.in(channelId))
      if (!notified.endsWith(` · ${label}`)) yield `Without the network's name: ${notified} in ${channelId}`;
};

const JUDGES: readonly Judge[] = [
  judgeLabels,
  judgeSilences,
  judgeFalseAlarms,
  judgeCalm,
  judgeChanges,
  judgeHolds,
  judgeAnswers,
  judgeVersions,
  judgeTraffic,
  judgeNewcomers,
  judgePrices,
  judgeGovernance,
  judgeVotes,
  judgePings,
  judgeMissingVotes,
  judgeCalendar,
  judgeDigests,
  judgeDigestFacts,
  judgeScreens,
];

/** What is wrong with what was told. It knows the history and the messages, and none of the bot's code. */
export function judge(of: Case): string[] {
  const evidence = createEvidence(of);
  return JUDGES.flatMap((each) => [...each(of, evidence)]);
}
