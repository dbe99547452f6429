import { ageOf } from "../../util/clock.js";
import { MINUTE } from "../../util/units.js";
import { judgeTraffic, trafficLeft } from "./decide.js";
import type { Poll, Watched } from "./memory.js";
import type { ActivityReading } from "./reading.js";

/** A validator's traffic is read so often, in ms, as far as a poll's requests allow. */
const TRAFFIC_MS = 30 * MINUTE;

/** Traffic stands in a validator's details alone: it is read with what is left of a poll's requests. */
export async function readTraffic({ reading, loaded: { watched }, found, now }: Poll): Promise<void> {
  const memory = ({ id, watch }: Watched) => (found.watches.get(id) ?? watch).traffic;
  const due = watched
    .filter(({ subscription, isLive }) => subscription.topics.traffic && isLive)
    .filter((each) => ageOf(memory(each)?.readAt ?? 0, now) >= (memory(each)?.unconfirmed ? 0 : TRAFFIC_MS))
    .sort((a, b) => (memory(a)?.readAt ?? 0) - (memory(b)?.readAt ?? 0));
  const read = new Map<string, ReturnType<ActivityReading["detail"]>>();
  for (const each of due) {
    const { id, validator, watch, subscription } = each;
    // Those that this poll has no request left for stay due, and come first at the next one.
    if (!read.has(validator) && !reading.mayAsk()) continue;
    const detail = await (read.get(validator) ?? reading.detail(validator));
    read.set(validator, Promise.resolve(detail));
    if (!detail) {
      // It is tried again at the next poll, after those that have waited longer.
      const tried = { sequence: 0, ...memory(each), readAt: now - TRAFFIC_MS };
      found.watches.set(id, { ...(found.watches.get(id) ?? watch), traffic: tried });
      continue;
    }
    const { isSv, trafficStatus } = detail;
    const left = trafficLeft({
      isSv,
      consumed: trafficStatus.actual.total_consumed,
      limit: trafficStatus.actual.total_limit,
      purchased: trafficStatus.target.total_purchased,
    });
    const judged = judgeTraffic(left, memory(each), now);
    found.watches.set(id, { ...(found.watches.get(id) ?? watch), traffic: judged.memory });
    if (judged.tell !== undefined)
      found.events.push({
        kind: "traffic",
        channelId: subscription.channelId,
        validator,
        percent: judged.tell,
        sequence: judged.memory.sequence,
      });
  }
}
