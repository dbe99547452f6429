import { hasTopic } from "../../delivery/feed.js";
import { ageOf } from "../../util/clock.js";
import { MINUTE } from "../../util/units.js";
import { judgeTraffic, trafficLeft } from "./decide.js";
import type { WatchedValidator } from "./memory.js";
import type { Poll } from "./poll.js";
import type { ActivityReading } from "./reading.js";
import { topics } from "./topics.js";

/** Interval at which a validator's traffic is read, in ms, if enough requests remain. */
const TRAFFIC_MS = 30 * MINUTE;

/** Reads traffic with the remaining requests of the poll, because only a validator's details contain it. */
export async function readTraffic({ reading, loaded: { watched }, found, now }: Poll): Promise<void> {
  const memory = ({ id, watch }: WatchedValidator) => (found.watches.get(id) ?? watch).traffic;
  const dueSubscriptions = [...watched.values()]
    .filter(({ subscription, isLive }) => isLive && hasTopic(subscription, { topics }, "traffic"))
    .filter((each) => ageOf(memory(each)?.readAt ?? 0, now) >= (memory(each)?.unconfirmed ? 0 : TRAFFIC_MS))
    .sort((a, b) => (memory(a)?.readAt ?? 0) - (memory(b)?.readAt ?? 0));
  const readDetails = new Map<string, ReturnType<ActivityReading["detail"]>>();
  for (const each of dueSubscriptions) {
    const { id, validator, watch, subscription } = each;
    // Validators without a request in this poll come first in the next one.
    if (!readDetails.has(validator) && !reading.mayAsk()) continue;
    const detail = await (readDetails.get(validator) ?? reading.detail(validator));
    readDetails.set(validator, Promise.resolve(detail));
    if (!detail) {
      // The next poll tries again, after validators that have waited longer.
      const tried = { sequence: 0, ...memory(each), readAt: now - TRAFFIC_MS };
      found.watches.set(id, { ...(found.watches.get(id) ?? watch), traffic: tried });
      continue;
    }
    const { isSv, trafficStatus } = detail;
    const percentLeft = trafficLeft({
      isSv,
      consumed: trafficStatus.actual.total_consumed,
      limit: trafficStatus.actual.total_limit,
      purchased: trafficStatus.target.total_purchased,
    });
    const judgement = judgeTraffic(percentLeft, memory(each), now);
    found.watches.set(id, { ...(found.watches.get(id) ?? watch), traffic: judgement.memory });
    if (judgement.tell !== undefined)
      found.events.push({
        kind: "traffic",
        channelId: subscription.channelId,
        validator,
        percent: judgement.tell,
        sequence: judgement.memory.sequence,
        used: trafficStatus.actual.total_consumed ?? undefined,
        bought: trafficStatus.target.total_purchased ?? undefined,
      });
  }
}
