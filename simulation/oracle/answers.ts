import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { iso, JUMP_MS, type Judge, POLL_MS, secondOf } from "./evidence.js";
import { silencesOf } from "./validators.js";

/** How long a snooze of eight hours lasts, in ms. */
const SNOOZE_MS = 8 * HOUR;

/** Whoever is on it is not pinged again; who snoozed it hears nothing until that is over, and then once. */
export const judgeAnswers: Judge = function* (of, evidence) {
  const { answers, history } = of;
  for (const silence of silencesOf(of, evidence)) {
    const { watch, since, next, cards, within, where } = silence;
    const { channelId, validator, roleId } = watch;
    const own = answers.filter(
      (each) => each.channelId === channelId && each.validator === validator && each.since === since,
    );
    const [answer] = own;
    // Of several, the last one counts for a snooze, and the first one for who is on it: each is tried alone.
    if (!answer || own.length > 1 || !answer.isSure || cards.length !== 1 || within.length > 0) continue;
    const later = evidence
      .in(channelId)
      .filter(
        ({ content, text }) =>
          content.includes(`Still silent: Node ${validator},`) && text.includes(`<t:${secondOf(since)}:`),
      );
    const { at, says } = answer;
    const said = `${says} at ${iso(at)}: ${where}`;
    // What was decided just before it may still be on its way.
    const isSettled = evidence.isClean(at - POLL_MS, at + 2 * POLL_MS, 3 * POLL_MS);
    if (!isSettled) continue;
    const after = later.filter((each) => each.at > at + POLL_MS);
    if (says === "acknowledge") {
      if (roleId !== null && after.some(({ content }) => content.includes(`<@&${roleId}>`)))
        yield `Pinged all the same after ${said}`;
      continue;
    }
    const until = says === "8h" ? at + SNOOZE_MS : history.endAt;
    if (after.some((each) => each.at < until - JUMP_MS && each.at < next))
      yield `Told all the same after ${said}`;
    if (says === "back" || next < until + HOUR) continue;
    const again = after.filter((each) => each.at >= until - JUMP_MS).length;
    // A limit may be passed after the snooze is over: the one at a day.
    if (again > 1 + Number(next - since > DAY)) yield `Told ${again} times when it was over, after ${said}`;
    if (again === 0 && evidence.isClean(until + JUMP_MS, next, 40 * MINUTE))
      yield `Not told that it is silent still, after ${said}`;
  }
};
