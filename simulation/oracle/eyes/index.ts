import type { Judge } from "../evidence.js";
import { judgeListed } from "./lists.js";
import { judgeMajorities, judgeTotals, judgeValidators, judgeVersionCounts } from "./validators.js";
import { judgeBallots, judgeEndings, judgeKinds, judgeProposalChoices, judgeRecords } from "./votes.js";

/** Checks that a number has one sign. */
const judgeSigns: Judge = function* ({ visits, messages }) {
  const texts = [
    ...visits.map(({ text }) => text),
    ...[...messages.values()].flat().map((each) => JSON.stringify(each.embeds)),
  ];
  for (const text of texts) {
    const twice = /[▲▼] ?[+−-][\d.]+/u.exec(text)?.[0];
    if (twice !== undefined) yield `Two signs: ${twice}`;
  }
};

/** Checks what screens, lists and suggestions show, value by value. */
export const EYES: readonly Judge[] = [
  judgeValidators,
  judgeVersionCounts,
  judgeTotals,
  judgeProposalChoices,
  judgeListed,
  judgeBallots,
  judgeRecords,
  judgeKinds,
  judgeEndings,
  judgeMajorities,
  judgeSigns,
];
