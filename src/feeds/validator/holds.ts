import { ageOf } from "../../util/clock.js";
import { HOUR, MINUTE } from "../../util/units.js";
import { type Alert, alertId } from "./collections.js";
import { holdSubject } from "./events.js";
import type { Poll } from "./memory.js";

type HoldAlert = Extract<Alert, { kind: "hold" }>;

/** Time after a hold within which a new one counts as the same, in ms. */
const SAME_HOLD_MS = HOUR;

/** Ends the holds whose cause is over. */
function endHolds({ found, rhythm, now }: Poll, holds: readonly HoldAlert[]): void {
  for (const each of holds) {
    const nowMs = rhythm?.intervalMs;
    found.alerts.set(alertId(each.channelId, each.subject), {
      ...each,
      ...(each.rhythm && nowMs !== undefined ? { rhythm: { ...each.rhythm, nowMs } } : {}),
      endedAt: now,
      revision: each.revision + 1,
    });
  }
}

/**
 * Holds alerts while the explorer is behind, or after the network's rhythm has changed. Each channel receives
 * one message, which is edited when the hold is over.
 */
export function settleHold(poll: Poll): void {
  const { loaded, reading, isBehind, onHold, rhythm, found, now } = poll;
  const { watched, alerts } = loaded;
  const allHolds = [...alerts.values()].flatMap((each) => (each.kind === "hold" ? [each] : []));
  const openHolds = allHolds.filter(({ endedAt }) => endedAt === undefined);
  const changedRhythm = rhythm?.changing?.isUnsure === false ? rhythm.changing : undefined;
  const isDue = (each: HoldAlert) =>
    each.rhythm ? changedRhythm !== undefined : isBehind || rhythm?.changing?.isUnsure === true;
  endHolds(
    poll,
    openHolds.filter((each) => !isDue(each)),
  );
  if (!onHold) return;
  const byChannel = new Map<string, HoldAlert[]>();
  for (const each of allHolds)
    byChannel.set(each.channelId, [...(byChannel.get(each.channelId) ?? []), each]);
  const live = watched.filter(({ isLive }) => isLive).map(({ subscription }) => subscription.channelId);
  const isRhythm = changedRhythm !== undefined && !isBehind;
  for (const channelId of new Set(live)) {
    const ownHolds = byChannel.get(channelId) ?? [];
    const openHold = ownHolds.find((each) => each.endedAt === undefined && isDue(each));
    if (openHold) {
      const newestAt = Math.min(now, poll.asOf);
      // The explorer's data may advance a little and still be behind.
      if (!openHold.rhythm && newestAt - openHold.newestAt >= MINUTE)
        found.alerts.set(alertId(channelId, openHold.subject), {
          ...openHold,
          newestAt,
          revision: openHold.revision + 1,
        });
      continue;
    }
    const lastHold = ownHolds.find(
      (each) =>
        (each.rhythm !== undefined) === isRhythm &&
        each.endedAt !== undefined &&
        ageOf(each.endedAt, now) < SAME_HOLD_MS,
    );
    const holdSince = lastHold?.since ?? now;
    const subject = holdSubject(holdSince);
    found.alerts.set(alertId(channelId, subject), {
      kind: "hold",
      channelId,
      subject,
      since: holdSince,
      newestAt: (isRhythm ? reading.newestAt : Math.min(now, poll.asOf)) ?? now,
      ...(isRhythm ? { rhythm: { beforeMs: changedRhythm.beforeMs } } : {}),
      revision: (lastHold?.revision ?? 0) + 1,
    });
    if (!lastHold) found.events.push({ kind: "hold", channelId, since: holdSince });
  }
}
