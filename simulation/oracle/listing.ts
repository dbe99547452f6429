import { HOUR } from "../../src/util/units.js";
import { iso, JUMP_MS, type Judge } from "./evidence.js";

/** True if a message shows that a validator is silent, alone or with others. */
const isOpenCard = (shown: string, validator: number): boolean =>
  new RegExp(
    `^🔴 (?:Node ${validator}: no report|\\d+ of \\d+ validators.*Node ${validator}(?!\\d))`,
    "u",
  ).test(shown);

/** Checks that the alerts about a group are closed when it is removed. */
export const judgeRemovals: Judge = function* ({ community }, evidence) {
  const { channelId, watches } = community.group;
  for (const { validator, to } of watches) {
    if (to === undefined || !evidence.isClean(to, to + 2 * HOUR, HOUR)) continue;
    const isWatchedAgain = watches.some(
      (each) => each.validator === validator && each.from >= to && each.from < to + 2 * HOUR,
    );
    if (isWatchedAgain) continue;
    for (const { shown, at } of evidence.in(channelId))
      if (at < to && isOpenCard(shown, validator))
        yield `Still open after its removal at ${iso(to)}: ${shown.split("\n")[0]} of ${iso(at)}`;
  }
};

/** Checks that a validator that is listed again is told of once, and not before. */
export const judgeReturns: Judge = function* ({ history, community }, evidence) {
  for (const { channelId, validator } of community.validators) {
    const name = `Node ${validator}`;
    // The same news about several validators is one message.
    const about = (words: string) =>
      evidence
        .in(channelId)
        .filter(
          ({ content, text }) => content.includes(`${words}: `) && new RegExp(`${name}(?!\\d)`).test(text),
        );
    for (const { at: goneAt } of about("No longer listed")) {
      const absence = history.oddities
        .get(name)
        ?.find(({ from, to, kind }) => kind === "unlisted" && from < goneAt && to > goneAt - HOUR);
      const where = `${name}, no longer listed at ${iso(goneAt)}, in ${channelId}`;
      if (!absence) {
        yield `Listed all the time: ${where}`;
        continue;
      }
      const reportedAt = history.arrivalAfter(validator, absence.to);
      const untilAt = reportedAt + 3 * HOUR;
      const told = about("Listed again").filter(({ at }) => at > goneAt && at < untilAt);
      if (told.some(({ at }) => at < absence.to - JUMP_MS)) yield `Listed again too early: ${where}`;
      if (told.length > 1) yield `Listed again ${told.length} times: ${where}`;
      if (told.length === 0 && evidence.isClean(reportedAt, untilAt, HOUR))
        yield `Not told that it is listed again: ${where}`;
    }
  }
};
