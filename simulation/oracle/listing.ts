import { HOUR, MINUTE } from "../../src/util/units.js";
import { iso, JUMP_MS, type Judge, POLL_MS, RECOVERY_MS } from "./evidence.js";

/** Maximum age of the newest report, in ms. */
const LAG_MS = 20 * MINUTE;

/** True if a message shows that a validator's silence, or that of many, goes on. */
const isOpenCard = (shown: string, validator: number): boolean =>
  new RegExp(
    `^(?:<@&\\d+> )?🔴 (?:Node ${validator}: no report|\\d+ of \\d+ validators.*Node ${validator}(?!\\d))`,
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
    const about = (words: string) =>
      evidence.in(channelId).filter(({ content }) => content.endsWith(`${words}: ${name}`));
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

/** Checks that the time in the message about an explorer that is behind moves on with the explorer's. */
export const judgeHoldTimes: Judge = function* ({ history, holds, down }) {
  const { explorerFaults, discordFaults, jumps, standstills } = history;
  // Without the updates' times, the bot only knows when it saw a new round.
  if (history.evidence !== "updates") return;
  const faults = [...explorerFaults, ...discordFaults, ...jumps, ...standstills, ...down];
  for (const { at, channelId, text } of holds) {
    const shown = Number(/It's from <t:(\d+):f>/.exec(text)?.[1]) * 1_000;
    const isFaulty = faults.some(({ from, to }) => to + RECOVERY_MS > at - HOUR && from < at);
    if (Number.isNaN(shown) || isFaulty) continue;
    const [oldest, newest] = [history.shownAt(at - 3 * POLL_MS) - LAG_MS, history.shownAt(at)];
    if (shown < oldest || shown > newest + MINUTE)
      yield `The newest data is of ${iso(newest)}, and not of ${iso(shown)}: at ${iso(at)} in ${channelId}`;
  }
};
