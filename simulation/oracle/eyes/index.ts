import type { Judge } from "../evidence.js";
import { judgeListed } from "./lists.js";
import { judgeTotals, judgeValidators, judgeVersionCounts } from "./validators.js";
import { judgeBallots, judgeProposalChoices, judgeRecords } from "./votes.js";

/** Checks what screens, lists and suggestions show, value by value. */
export const EYES: readonly Judge[] = [
  judgeValidators,
  judgeVersionCounts,
  judgeTotals,
  judgeProposalChoices,
  judgeListed,
  judgeBallots,
  judgeRecords,
];
