import { HOUR, MINUTE } from "../../src/util/units.js";
import { isOddWithin } from "../history/oddities.js";
import { isSuperValidator, type TrafficStep } from "../history/validators.js";
import { iso, type Judge } from "./evidence.js";

/**
 * Time without a fault within which a step is noticed, in ms. Traffic is read at an interval, and confirmed
 * by the next poll.
 */
const SEEN_MS = 75 * MINUTE;
const LIMITS = [20, 10] as const;
const ROSE = 5;

/** Returns the steps at which low traffic is announced, with their limits, if all steps are noticed. */
function tellings(steps: readonly TrafficStep[]): Map<TrafficStep, number> {
  const found = new Map<TrafficStep, number>();
  let told: number | undefined;
  for (const step of steps) {
    const { percent, isBuying } = step;
    if (isBuying) continue;
    if (told !== undefined && percent >= told + ROSE) told = LIMITS.find((limit) => percent < limit);
    const reached = LIMITS.findLast((limit) => percent < limit);
    if (reached === undefined || (told !== undefined && reached >= told)) continue;
    told = reached;
    found.set(step, reached);
  }
  return found;
}

/** Low traffic is told once at each limit, and again only after it rose; never of a super validator. */
export const judgeTraffic: Judge = function* ({ history, community, successions }, evidence) {
  for (const { channelId, validator, traffic } of community.validators) {
    const told = evidence
      .in(channelId)
      .filter(({ content }) => new RegExp(`Low traffic: Node ${validator}(?!\\d)`).test(content));
    const where = `the traffic of Node ${validator} in ${channelId}`;
    const hasChanged = successions.some(({ former }) => former === `Node ${validator}`);
    if (hasChanged) continue;
    if (!traffic || isSuperValidator(validator)) {
      if (told.length > 0) yield `Told of ${where}, which nobody is to hear of`;
      continue;
    }
    const steps = history.traffic.get(validator) ?? [];
    const due = tellings(steps);
    if (told.length > due.size) yield `Told ${told.length} times, and not ${due.size}: ${where}`;
    for (const [index, step] of steps.entries()) {
      const limit = due.get(step);
      const before = steps[index - 1];
      if (limit === undefined || !before || before.isBuying || before.percent < LIMITS[0] + ROSE) continue;
      const endsAt = steps[index + 1]?.at ?? history.endAt;
      const isSeen =
        !isOddWithin(history.oddities, `Node ${validator}`, before.at, endsAt) &&
        evidence.isClean(before.at, step.at, SEEN_MS) &&
        evidence.isClean(step.at, endsAt, SEEN_MS) &&
        step.at > history.startAt + 12 * HOUR;
      const own = told.filter(
        ({ at, text }) => at > step.at && at < endsAt + 20 * MINUTE && text.includes(`less than ${limit}%`),
      ).length;
      if (isSeen && own !== 1) yield `Told ${own} times of less than ${limit}% at ${iso(step.at)}: ${where}`;
    }
  }
};
