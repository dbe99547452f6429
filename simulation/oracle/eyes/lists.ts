import { HOUR, MINUTE, SECOND } from "../../../src/util/units.js";
import { iso, type Judge, secondOf } from "../evidence.js";
import { visitsOf, whereOf } from "./visits.js";
import { isWrongOutcome } from "./votes.js";

/** Checks what lists say of digests, price alerts and watched vote requests. */
export const judgeListed: Judge = function* (of, evidence) {
  const { community, history } = of;
  for (const visit of visitsOf(of, evidence)) {
    const where = whereOf(visit);
    for (const [, channelId = "", seconds] of visit.text.matchAll(
      /<#(\d+)> · digest\\n(?:(?!<#).)*?covered up to <t:(\d+):f>/gu,
    )) {
      const isTrue = evidence
        .in(channelId)
        .some(({ at, text }) => at <= visit.to && text.match(`(?:to|and) <t:${seconds}:f>`) !== null);
      if (!isTrue) yield `A digest up to ${iso(Number(seconds) * SECOND)} that was never sent: ${where}`;
    }
    for (const [, seconds, usd] of visit.text.matchAll(/last alert <t:(\d+):\w> at ([\d.]+) USD/gu)) {
      const at = Number(seconds) * SECOND;
      const prices = history.prices.filter((each) => each.at <= at + MINUTE && each.at > at - 2 * HOUR);
      const isNear = prices.some((each) => Math.abs(each.usd - Number(usd)) <= 0.000_051);
      const isFaulty = history.priceFaults.some(
        (fault) => fault.from < at + MINUTE && fault.to > at - 2 * HOUR,
      );
      if (!isNear && !isFaulty && prices.length > 0) yield `An alert at ${usd} USD at ${iso(at)}: ${where}`;
    }
    if (visit.screen !== "watches") continue;
    // With several networks, the network's name follows.
    for (const [, name = ""] of visit.text.matchAll(/proposal: (.*?)\*\*/g))
      if (
        ![...history.motions, ...history.oddMotions].some(
          ({ title }) => name === title || name.startsWith(`${title} · `),
        )
      )
        yield `A vote request called "${name}": ${where}`;
    for (const watch of community.governance) {
      const motion = watch.only && history.motions.find(({ title }) => title === watch.only?.title);
      const row =
        motion && new RegExp(`proposal: ${motion.title}\\*\\*\\\\n(.*?)(?:\\\\n|")`).exec(visit.text)?.[1];
      if (!motion || row === undefined) continue;
      if (/ended:|outcome unknown/.test(row) && visit.to < motion.closesAt)
        yield `"${row}" of ${motion.title} before its end: ${where}`;
      if (/· open/.test(row) && visit.from > motion.closesAt + HOUR)
        yield `"${row}" of ${motion.title} after its end: ${where}`;
      if (isWrongOutcome(motion, row)) yield `"${row}" of ${motion.title}: ${where}`;
      const [, name, day] = /(quorum by|decided on) <t:(\d+)/i.exec(row) ?? [];
      const real = name?.toLowerCase() === "quorum by" ? motion.voteBefore : motion.effectiveAt;
      if (day !== undefined && real !== null && Number(day) !== secondOf(real))
        yield `"${row}" of ${motion.title}, not ${iso(real)}: ${where}`;
    }
  }
};
