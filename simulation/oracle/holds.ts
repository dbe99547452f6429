import { HOUR, MINUTE } from "../../src/util/units.js";
import { iso, type Judge, POLL_MS, RECOVERY_MS } from "./evidence.js";

/** Age of the newest data from which the explorer is behind, in ms. */
const LAG_MS = 20 * MINUTE;
/** Maximum age of a hold's message whose time moves on with each poll, in ms. Discord allows few edits of older messages. */
const YOUNG_MS = HOUR - 3 * POLL_MS;
/** Distance by which the newest data must move before its message is edited, in ms: of a young message, and of an old one. */
const STEP_MS = { young: 2 * MINUTE, old: 31 * MINUTE };

/** Checks that each channel is told once while the explorer is behind. */
export const judgeHolds: Judge = function* ({ history, community, down }, evidence) {
  const { lags, explorerFaults, discordFaults, jumps, standstills } = history;
  // Without other evidence, the bot waits for a report within the network's interval.
  const unsureMs = history.evidence === "none" ? history.bounds(2, history.endAt).most : 10 * MINUTE;
  for (const channelId of new Set(community.validators.map((each) => each.channelId))) {
    const holds = evidence
      .in(channelId)
      // A change of the network's rhythm also holds alerts (judgeChanges).
      .filter(({ content }) => /(?<!No validator has reported.*)silence alerts are on hold/.test(content));
    for (const lag of lags) {
      const own = holds.filter(({ at }) => at >= lag.from && at <= lag.to + 30 * MINUTE).length;
      const where = `the lag from ${iso(lag.from)} in ${channelId}`;
      if (own > 1) yield `On hold ${own} times: ${where}`;
      const others = [...explorerFaults, ...discordFaults, ...jumps, ...standstills, ...down].filter(
        ({ from, to }) => to + RECOVERY_MS > lag.from && from < lag.to,
      );
      if (
        lag.kind === "frozen" &&
        own === 0 &&
        others.length === 0 &&
        lag.to - lag.from > LAG_MS + unsureMs + 4 * POLL_MS
      )
        yield `Not told to be on hold: ${where}`;
    }
    if (jumps.length === 0 && holds.length > lags.length)
      yield `${holds.length} holds, ${lags.length} lags: ${channelId}`;
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
    const isYoung = history.lags.some(({ from }) => from <= at && at < from + LAG_MS + YOUNG_MS);
    const stepMs = isYoung ? STEP_MS.young : STEP_MS.old;
    const [oldest, newest] = [history.shownAt(at - 3 * POLL_MS) - stepMs, history.shownAt(at)];
    if (shown < oldest || shown > newest + MINUTE)
      yield `The newest data is of ${iso(newest)}, and not of ${iso(shown)}: at ${iso(at)} in ${channelId}`;
  }
};
