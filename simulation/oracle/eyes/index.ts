import { MINUTE, SECOND } from "../../../src/util/units.js";
import { iso, type Judge } from "../evidence.js";
import { judgeDrills } from "./drills.js";
import { judgeListed } from "./lists.js";
import { judgeMajorities, judgeTotals, judgeValidators, judgeVersionCounts } from "./validators.js";
import {
  judgeBallots,
  judgeEndings,
  judgeKinds,
  judgeProposalChoices,
  judgeRecords,
  judgeSuccession,
} from "./votes.js";

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

/** Words of the API or of the program, which nobody should see. Every simulated request has a title or an action. */
const RAW_WORDS =
  /\b(IN_PROGRESS|ACCEPTED|REJECTED|EXPIRED|undefined|NaN|Infinity)\b|\[object|without a title/;

/** Checks that no text contains words of the API, or of the program, and that an unknown tally is not drawn. */
const judgeWords: Judge = function* ({ visits, messages }) {
  const texts = [
    ...visits.map(({ text, from, screen }) => ({ text, where: `${screen} at ${iso(from)}` })),
    ...[...messages].flatMap(([channelId, own]) =>
      own.map((each) => ({
        text: `${each.notified} ${JSON.stringify(each.embeds)}`,
        where: `the message of ${each.timestamp} in ${channelId}`,
      })),
    ),
  ];
  for (const { text, where } of texts) {
    const raw = RAW_WORDS.exec(text)?.[0];
    if (raw !== undefined) yield `"${raw}" in ${where}`;
    // The requester votes yes with the request.
    const zero = /\(0 yes,|\*\*0\*\* yes|Nobody has voted/.exec(text)?.[0];
    if (zero !== undefined) yield `No yes votes, "${zero}" in ${where}`;
    const drawn = /\*\*\?\*\* (?:yes|no)(?:(?!\\n\\n).)*?[🟩🟥⬛]/u.exec(text)?.[0];
    if (drawn !== undefined) yield `An unknown tally is drawn, "${drawn}" in ${where}`;
  }
};

/** Checks that the price is not of a time in the future. */
const judgePriceTimes: Judge = function* ({ visits }) {
  for (const { screen, text, from, to } of visits) {
    const pricedAt = Number(/Price as of <t:(\d+):/.exec(text)?.[1]) * SECOND;
    if (screen === "price" && pricedAt > to + MINUTE) yield `A price of ${iso(pricedAt)} at ${iso(from)}`;
  }
};

/** Checks what screens, lists and suggestions show, value by value. */
export const EYES: readonly Judge[] = [
  judgeValidators,
  judgeVersionCounts,
  judgeTotals,
  judgeProposalChoices,
  judgeListed,
  judgeDrills,
  judgeBallots,
  judgeRecords,
  judgeSuccession,
  judgeKinds,
  judgeEndings,
  judgeMajorities,
  judgeSigns,
  judgePriceTimes,
  judgeWords,
];
