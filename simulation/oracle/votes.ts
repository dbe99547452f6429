import { HOUR, MINUTE } from "../../src/util/units.js";
import { VOTER_REMINDERS } from "../community.js";
import { iso, type Judge, prematureCount, RECOVERY_MS } from "./evidence.js";
import { dueRemindersOf, REMINDED_MS } from "./governance.js";

/** Maximum time between reading votes and a ping, in ms, including the time for sending. */
const FRESH_MS = 90_000;

/** Checks that each vote is announced once, except for the requester's own. */
export const judgeVotes: Judge = function* ({ history, community, ballots }, evidence) {
  for (const { channelId, votes } of community.governance) {
    const told = evidence
      .in(channelId)
      .filter(({ content }) => /^🗳️ (.+ voted (yes|no)|\d+ votes?) on /u.test(content));
    if (!votes) {
      if (told.length > 0) yield `Told of ${told.length} votes that nobody is to hear of: ${channelId}`;
      continue;
    }
    for (const { title, closesAt, at: openedAt } of history.motions) {
      const about = told.filter(({ content }) => `${content} (`.includes(` on ${title} (`));
      const isCut = about.some(({ description }) => / more\n/.test(description));
      for (const { at, voter, accept, isOwn } of ballots.filter((each) => each.title === title)) {
        const sign = accept ? "✅" : "❌";
        const own = about.filter(({ description }) => description.includes(`**${voter}** ${sign}`));
        const where = `${voter}'s vote of ${iso(at)} on ${title} in ${channelId}`;
        if (own.length > (isOwn ? 0 : 1)) yield `Told ${own.length} times: ${where}`;
        if (own.some((each) => each.at < at)) yield `Told too early: ${where}`;
        const isDue =
          !isOwn &&
          !isCut &&
          evidence.isClean(openedAt, at) &&
          evidence.isClean(at, Math.min(closesAt, at + 3 * HOUR), 40 * MINUTE);
        if (own.length === 0 && isDue) yield `Not told: ${where}`;
      }
    }
  }
};

/**
 * Checks that a reminder pings exactly the representatives of super validators that have not voted, and no role that the person
 * who mapped it may not ping there.
 */
export const judgePings: Judge = function* ({ history, community, ballots }, evidence) {
  const everybody = [...community.mapped];
  for (const { channelId, votes } of community.governance)
    for (const { title } of history.motions) {
      const cast = new Map(
        ballots.filter((each) => each.title === title).map(({ voter, at }) => [voter, at]),
      );
      const reminders = evidence
        .in(channelId)
        .filter(({ content }) => `${content} (`.includes(`left to vote: ${title} (`));
      for (const { at, content, description } of reminders) {
        const where = `the reminder of ${title} at ${iso(at)} in ${channelId}`;
        const pinged = everybody.filter(([, mention]) => content.includes(mention));
        if (content.includes(community.unpingable)) yield `A role is pinged by one who may not: ${where}`;
        if (!votes && pinged.length > 0) yield `A ping that nobody wants: ${where}`;
        for (const [voter] of pinged)
          if ((cast.get(voter) ?? Number.POSITIVE_INFINITY) < at - FRESH_MS)
            yield `${voter} is pinged, and has voted: ${where}`;
        const isSure =
          votes &&
          !description.includes("couldn't read") &&
          evidence.isClean(at - RECOVERY_MS, at + MINUTE, RECOVERY_MS);
        const isMissing = (voter: string) => (cast.get(voter) ?? Number.POSITIVE_INFINITY) > at;
        const forgotten = everybody.filter(
          ([voter, mention]) => isMissing(voter) && !content.includes(mention),
        );
        // The message may have been edited since, and no longer say that the missing votes were unknown.
        if (isSure && pinged.length > 0 && forgotten.length > 0)
          yield `${forgotten.length} are not pinged: ${where}`;
      }
    }
};

/** Checks that the person is reminded of missing votes of one super validator only. */
export const judgeMissingVotes: Judge = function* ({ history, community, ballots }, evidence) {
  const { voterName, directId } = community;
  const told = evidence
    .in(directId)
    .filter(({ content }) => content.includes(`left: ${voterName} hasn't voted on `));
  for (const motion of history.motions) {
    const { title, at: openedAt, closesAt, isWatched } = motion;
    const own = told.filter(({ content }) => content.endsWith(` voted on ${title}`));
    const castAt = ballots.find((each) => each.title === title && each.voter === voterName)?.at;
    const votedAt = castAt ?? Number.POSITIVE_INFINITY;
    for (const { at } of own)
      if (votedAt < at - FRESH_MS)
        yield `Reminded at ${iso(at)} of ${title}, which ${voterName} has voted on`;
    // If the person also watches the request, its own reminder covers this. An incomplete tally does not show if votes are missing.
    const isUncounted = history.oddMotions.some((each) => each.title === title);
    if (isWatched || isUncounted) continue;
    const due = dueRemindersOf(history, motion, VOTER_REMINDERS);
    const repeatCount = prematureCount(
      own.map(({ at }) => at),
      due,
    );
    if (own.length > due.length + repeatCount)
      yield `Reminded ${own.length} times of ${voterName}'s vote on ${title}`;
    for (const { dueAt, deadline } of due) {
      const isAlone = due.every(
        (each) => each.dueAt === dueAt || Math.abs(each.dueAt - dueAt) > 2 * REMINDED_MS,
      );
      const isInTime = dueAt > openedAt + HOUR && dueAt + HOUR < Math.min(closesAt, deadline);
      const isSettled =
        evidence.isClean(openedAt, closesAt) &&
        evidence.isClean(dueAt - REMINDED_MS, dueAt + REMINDED_MS, 2 * REMINDED_MS);
      if (!isAlone || !isInTime || !isSettled || Math.abs(votedAt - dueAt) < REMINDED_MS) continue;
      const count = own.filter(({ at }) => at >= dueAt - MINUTE && at <= dueAt + REMINDED_MS).length;
      const expected = votedAt > dueAt ? 1 : 0;
      if (count !== expected)
        yield `Reminded ${count} times, and not ${expected}, of ${voterName}'s vote on ${title} at ${iso(dueAt)}`;
    }
  }
};
