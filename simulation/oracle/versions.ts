import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { isOddWithin } from "../history/oddities.js";
import { iso, JUMP_MS, type Judge } from "./evidence.js";

/** Time after which most validators run a new version and the bot has read it, in ms. */
const ADOPTED_MS = 2 * HOUR + 40 * MINUTE;

/** Checks that an outdated validator is reported once for each version, after a day. */
export const judgeVersions: Judge = function* ({ history, community }, evidence) {
  const { spreads, endAt, validatorCount } = history;
  for (const { channelId, validator } of community.validators)
    for (const [index, { at, version, upgrades }] of spreads.entries()) {
      const told = evidence.in(channelId).filter(
        ({ content, text }) =>
          // The same news about several validators is one message.
          /Old versions?: /.test(content) &&
          new RegExp(`Node ${validator}(?!\\d)`).test(text) &&
          new RegExp(`[Mm]ost run \`?${version.replaceAll(".", "\\.")}(?!\\d)`).test(text),
      );
      const where = `Node ${validator} behind ${version} of ${iso(at)} in ${channelId}`;
      const own = [upgrades, ...spreads.slice(index + 1).map((later) => later.upgrades)];
      const upgradedAt = Math.min(...own.map((each) => each.get(validator) ?? Number.POSITIVE_INFINITY));
      if (told.length > 1) yield `Told ${told.length} times: ${where}`;
      if (told.some((each) => each.at < at + DAY - JUMP_MS)) yield `Told too early: ${where}`;
      if (told.length > 0 && evidence.toldAt(upgradedAt) < at + DAY - JUMP_MS)
        yield `Told of one that is not: ${where}`;
      const nextAt = spreads[index + 1]?.at ?? endAt;
      const until = Math.min(upgradedAt, nextAt, endAt);
      const adoptedAt = at + ADOPTED_MS;
      // In a small network, it is random whether most have upgraded.
      const movedCount = [...upgrades.values()].filter((each) => each <= adoptedAt).length;
      if (movedCount < 0.7 * validatorCount) continue;
      if (
        told.length === 0 &&
        !isOddWithin(history.oddities, `Node ${validator}`, at, until) &&
        evidence.isClean(adoptedAt, adoptedAt + 2 * HOUR, HOUR) &&
        evidence.isClean(adoptedAt + DAY + 2 * HOUR, until, HOUR)
      )
        yield `Not told: ${where}`;
    }
};
