import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { iso, JUMP_MS, type Judge, POLL_MS, secondOf } from "./evidence.js";
import { silencesOf } from "./validators.js";

/** Duration of the eight-hour snooze, in ms. */
const SNOOZE_MS = 8 * HOUR;

/**
 * A person who acknowledged an alert is not pinged again. A person who snoozed it gets no message until the
 * snooze is over, then one.
 */
export const judgeAnswers: Judge = function* (of, evidence) {
  const { answers, history } = of;
  for (const silence of silencesOf(of, evidence)) {
    const { watch, since, next, cards, within, where } = silence;
    const { channelId, validator, roleId } = watch;
    const own = answers.filter(
      (each) => each.channelId === channelId && each.validator === validator && each.since === since,
    );
    const [answer] = own;
    // With several answers, the last snooze and the first acknowledgement count. Only alerts with one answer
    // are judged.
    if (!answer || own.length > 1 || !answer.isSure || cards.length !== 1 || within.length > 0) continue;
    const later = evidence
      .in(channelId)
      .filter(
        ({ content, text }) =>
          content.includes(`Still silent: Node ${validator}, no report`) &&
          text.includes(`<t:${secondOf(since)}:`),
      );
    const { at, says } = answer;
    const said = `${says} at ${iso(at)}: ${where}`;
    // A message that was decided just before may still be in transit.
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
    // One more limit, a day, may be passed after the snooze is over.
    if (again > 1 + Number(next - since > DAY)) yield `Told ${again} times when it was over, after ${said}`;
    if (again === 0 && evidence.isClean(until + JUMP_MS, next, 40 * MINUTE))
      yield `Not told that it is silent still, after ${said}`;
  }
};
