import { HOUR, MINUTE, SECOND } from "../../../src/util/units.js";
import { isAccepted, type Motion } from "../../history/motions.js";
import { isOddWithin } from "../../history/oddities.js";
import { type Ballot, iso, JUMP_MS, type Judge } from "../evidence.js";
import { LISTED } from "../screens.js";
import { AGES, visitsOf, whereOf } from "./visits.js";

/** True if a text says that a motion was accepted or not, and it is not so. */
export const isWrongOutcome = (motion: Motion, text: string): boolean =>
  isAccepted(motion) ? /Rejected|Expired/.test(text) : /Accepted|Implemented/.test(text);

const dayOf = (at: number): string => iso(at).slice(0, 10);

/** Checks the sign, the words and the date of each suggested vote request. */
export const judgeProposalChoices: Judge = function* (of, evidence) {
  for (const visit of visitsOf(of, evidence)) {
    if (visit.screen !== "proposal choices") continue;
    for (const motion of of.history.motions) {
      const line = visit.text.split("\n").find((each) => each.includes(`${motion.title} · `));
      if (line === undefined) continue;
      const where = `"${line}" ${whereOf(visit)}`;
      const isSaidOpen = line.startsWith("🗳️");
      if (isSaidOpen && motion.closesAt < visit.from - AGES.choices)
        yield `Suggested as open after its end: ${where}`;
      const isSaidEnded = /· (Accepted|Implemented|Rejected|Expired)/.test(line);
      if (isSaidEnded && visit.to < motion.closesAt) yield `Suggested as ended before its end: ${where}`;
      if (isWrongOutcome(motion, line)) yield `Suggested with another outcome: ${where}`;
      if (isSaidEnded && / (quorum by|decided on) /.test(line))
        yield `Suggested as ended, with a date: ${where}`;
      const [, name, day] = /(quorum by|decided on) (\d{4}-\d\d-\d\d)/.exec(line) ?? [];
      const real = name === "quorum by" ? motion.voteBefore : (motion.effectiveAt ?? motion.voteBefore);
      if (day !== undefined && day !== dayOf(real)) yield `${name} is ${dayOf(real)}: ${where}`;
    }
  }
};

/** Checks the tallies, and who has not voted. */
export const judgeBallots: Judge = function* (of, evidence) {
  for (const visit of visitsOf(of, evidence)) {
    const motion = of.history.motions.find(({ title }) => title === visit.about);
    if (visit.screen !== "votes" || !motion) continue;
    const where = `${motion.title} ${whereOf(visit)}`;
    const missing = /Not voted yet:\*\* ([^"\\]*)/.exec(visit.text)?.[1] ?? "";
    const voted = of.ballots.filter(
      (each) => each.title === motion.title && each.at < visit.from - AGES.screen,
    );
    for (const { voter } of voted)
      if (new RegExp(`\\b${voter}(?!\\d)`).test(missing))
        yield `${voter} has voted, and is listed as missing: ${where}`;
    const [yes, no, rest] = [
      /\*\*(\d+)\*\* yes/,
      /\*\*(\d+)\*\* no/,
      /\*\*(\d+)\*\* (?:not voted|did not vote)/,
    ].map((each) => Number(each.exec(visit.text)?.[1]));
    const sum = (yes ?? 0) + (no ?? 0) + (rest ?? 0);
    if (!Number.isNaN(sum) && sum !== of.superValidators.length)
      yield `${yes} + ${no} + ${rest} votes of ${of.superValidators.length}: ${where}`;
  }
};

/** Time after which no screen counts a former super validator as one, in ms. */
const SUCCEEDED_MS = 2 * HOUR;

/** Checks that nobody misses the vote of a former super validator, and that its successor's is missed. */
export const judgeSuccession: Judge = function* (of, evidence) {
  const { successions, ballots, history, community } = of;
  for (const { at, former, successor } of successions) {
    const isFormer = new RegExp(`\\b${former}(?!\\d)`);
    const isSuccessor = new RegExp(`\\b${successor}(?!\\d)`);
    for (const visit of visitsOf(of, evidence)) {
      if (visit.from < at + SUCCEEDED_MS) continue;
      const where = whereOf(visit);
      const missing = /Not voted yet:\*\* ([^"\\]*)/.exec(visit.text)?.[1] ?? "";
      if (isFormer.test(missing)) yield `${former} is missed, and is no super validator: ${where}`;
      const motion = history.motions.find(({ title }) => title === visit.about);
      const hasVoted = ballots.some(
        (each) => each.title === motion?.title && each.voter === successor && each.at < visit.to,
      );
      // The explorer shows no votes on a request that it does not list yet.
      const shownAt = ({ at: castAt, title }: Ballot) =>
        Math.max(castAt, history.oddMotions.find((each) => each.title === title)?.listedAt ?? 0);
      const isKnown = ballots.some((each) => each.voter === successor && shownAt(each) < visit.from - HOUR);
      if (visit.screen === "votes" && motion && missing && isKnown && !hasVoted && !isSuccessor.test(missing))
        yield `${successor} is not missed, and is a super validator: ${motion.title} ${where}`;
      // Only the list of validators shows if it is still a super validator.
      if (isOddWithin(history.oddities, former, visit.from - HOUR, visit.to)) continue;
      const row = new RegExp(`\\*\\*${former}\\*\\* · voted on[^"]*?(?=\\\\n|")`).exec(visit.text)?.[0];
      if (visit.screen === "voters" && row !== undefined && !row.includes("no longer a super validator"))
        yield `"${row}": ${where}`;
    }
    // The same node may still be a super validator of another network.
    for (const { at: sentAt, content } of evidence.in(community.directId))
      if (sentAt > at + SUCCEEDED_MS && isFormer.test(/ left: (.*) voted on /.exec(content)?.[1] ?? ""))
        yield `A reminder for ${former}, which is no super validator, at ${iso(sentAt)}`;
  }
};

/** Checks that a voting record adds up. */
export const judgeRecords: Judge = function* (of, evidence) {
  for (const visit of visitsOf(of, evidence)) {
    if (visit.screen !== "voters") continue;
    const records = visit.text.matchAll(
      /voted on \*\*(\d+)\*\* of \*\*(\d+)\*\* · (\d+) yes · (\d+) no · (\d+) missed/gu,
    );
    for (const record of records) {
      const [voted = 0, all = 0, yes = 0, no = 0, missed = 0] = record.slice(1).map(Number);
      if (voted !== yes + no || voted + missed > all)
        yield `A record that doesn't add up: ${record[0]} ${whereOf(visit)}`;
    }
  }
};

/** Checks that a list of one kind shows the open requests of that kind, and no others. */
export const judgeKinds: Judge = function* (of, evidence) {
  for (const visit of visitsOf(of, evidence)) {
    if (visit.screen !== "proposals" || visit.about === "") continue;
    for (const motion of of.history.motions) {
      const kind = motion.upgradeAt === undefined ? "apps" : "configuration";
      const isListed = visit.text.includes(`**${motion.title}**`);
      const isDue =
        visit.open <= LISTED && motion.at < visit.from - 20 * MINUTE && motion.closesAt > visit.to;
      if (isListed && kind !== visit.about)
        yield `${motion.title} is not about ${visit.about}: ${whereOf(visit)}`;
      if (!isListed && kind === visit.about && isDue)
        yield `${motion.title} is missing under ${kind}: ${whereOf(visit)}`;
    }
  }
};

/** Checks the time at which a vote ended. */
export const judgeEndings: Judge = function* (of, evidence) {
  for (const visit of visitsOf(of, evidence)) {
    const motion = of.history.motions.find(({ title }) => title === visit.about);
    const shown = /\\nVoting ended (.*?)(?:\\n|")/.exec(visit.text)?.[1];
    if (!motion || shown === undefined) continue;
    const where = `"${shown}" for ${motion.title} ${whereOf(visit)}`;
    const times = [...shown.matchAll(/<t:(\d+):/g)].map(([, seconds]) => Number(seconds) * SECOND);
    const [from, to = from] = times;
    const isEarly = motion.effectiveAt !== null && motion.closesAt < motion.effectiveAt - HOUR;
    if (isEarly && shown.includes("too few yes votes"))
      yield `Rejected ${iso(motion.closesAt)}, before its date: ${where}`;
    const isSeen = evidence.isClean(motion.closesAt - HOUR, motion.closesAt + HOUR, 2 * HOUR);
    const slack = evidence.overlapsJump(motion.closesAt - HOUR, motion.closesAt + HOUR) ? JUMP_MS : SECOND;
    if (from === undefined || to === undefined) {
      if (isSeen) yield `Without the time of its end: ${where}`;
    } else if (
      shown.includes("between") &&
      (motion.closesAt < from - slack || motion.closesAt > to + (isSeen ? slack : 10 * MINUTE))
    )
      yield `It ended at ${iso(motion.closesAt)}: ${where}`;
  }
};
