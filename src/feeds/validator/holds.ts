import { alertId } from "../../storage/catalogue.js";
import { ageOf } from "../../util/clock.js";
import { HOUR } from "../../util/units.js";
import { holdSubject } from "./events.js";
import type { Poll } from "./memory.js";

/** A hold that begins so soon after the last is the same, in ms. */
const SAME_HOLD_MS = HOUR;

/** While the explorer itself is behind, nobody is called silent: each channel hears of that once, and of its end. */
export function settleHold({ loaded, reading: { newestAt }, onHold, found, now }: Poll): void {
  const { watched, alerts } = loaded;
  const holds = [...alerts.values()].flatMap((each) => (each.kind === "hold" ? [each] : []));
  if (!onHold) {
    for (const each of holds.filter(({ endedAt }) => endedAt === undefined))
      found.alerts.set(alertId(each.channelId, each.subject), {
        ...each,
        endedAt: now,
        revision: each.revision + 1,
      });
    return;
  }
  for (const channelId of new Set(
    watched.filter(({ isLive }) => isLive).map(({ subscription }) => subscription.channelId),
  )) {
    const own = holds.filter((each) => each.channelId === channelId);
    if (own.some(({ endedAt }) => endedAt === undefined)) continue;
    const last = own.find(({ endedAt }) => endedAt !== undefined && ageOf(endedAt, now) < SAME_HOLD_MS);
    const since = last?.since ?? now;
    const subject = holdSubject(since);
    found.alerts.set(alertId(channelId, subject), {
      kind: "hold",
      channelId,
      subject,
      since,
      newestAt: newestAt ?? now,
      revision: (last?.revision ?? 0) + 1,
    });
    if (!last) found.events.push({ kind: "hold", channelId, since });
  }
}
