import { judgeAnswers } from "./answers.js";
import { judgeCalendar } from "./calendar.js";
import { judgeDigests } from "./digests.js";
import { type Case, createEvidence, type Judge } from "./evidence.js";
import { judgeGovernance } from "./governance.js";
import { judgeNewcomers } from "./newcomers.js";
import { judgePrices } from "./prices.js";
import { judgeTraffic } from "./traffic.js";
import { judgeHolds, judgeSilences } from "./validators.js";
import { judgeVersions } from "./versions.js";
import { judgeMissingVotes, judgePings, judgeVotes } from "./votes.js";

const JUDGES: readonly Judge[] = [
  judgeSilences,
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
];

/** What is wrong with what was told. It knows the history and the messages, and none of the bot's code. */
export function judge(of: Case): string[] {
  const evidence = createEvidence(of);
  return JUDGES.flatMap((each) => [...each(of, evidence)]);
}
