import type { Rounds } from "../../ledger/rounds.js";
import { ageOf } from "../../util/clock.js";
import { addTo } from "../../util/groups.js";
import { defined } from "../../util/present.js";
import { HOUR, MINUTE } from "../../util/units.js";
import { alertId, type HoldAlert, heldMs } from "./collections.js";
import { holdSubject } from "./events.js";
import type { Poll } from "./poll.js";

/** Time after a hold within which a new one counts as the same, in ms. */
const SAME_HOLD_MS = HOUR;
/**
 * Distance by which the explorer's data must advance before the message shows it, in ms: in the first hour, and later. Discord
 * allows few edits of messages over an hour old.
 */
const STEP_MS = { early: MINUTE, late: 30 * MINUTE };

/** Returns the news that the rounds advance after a standstill, and its end for the hold's document. */
function movingAfter(
  { channelId, since }: HoldAlert,
  { round }: NonNullable<HoldAlert["standstill"]>,
  rounds: Rounds,
) {
  const late = defined({ isLate: !rounds.isSeenToBegin || undefined });
  const { seenAt: at, number } = rounds;
  return {
    event: { kind: "moving", channelId, since, at, round: number, ...late } as const,
    standstill: { round, ...late },
  };
}

/** Ends the holds whose cause is over. */
function endHolds({ found, rhythm, rounds, onHold, now }: Poll, holds: readonly HoldAlert[]): void {
  for (const each of holds) {
    const nowMs = rhythm?.intervalMs;
    const { standstill } = each;
    const moving = standstill && rounds && movingAfter(each, standstill, rounds);
    if (moving) found.events.push(moving.event);
    found.alerts.set(alertId(each.channelId, each.subject), {
      ...each,
      ...defined({
        standstill: moving?.standstill ?? (standstill && { ...standstill, isUnsure: true }),
        isStillHeld: onHold || undefined,
        rhythm: each.rhythm && nowMs !== undefined ? { ...each.rhythm, nowMs } : undefined,
      }),
      endedAt: now,
      revision: each.revision + 1,
    });
  }
}

/** Tells that the rounds advance where a standstill's hold has ended without that, because the rounds could not be read. */
function tellMoving({ found, rounds }: Poll, holds: readonly HoldAlert[]): void {
  for (const each of holds) {
    const { channelId, subject, standstill, endedAt } = each;
    if (!rounds || endedAt === undefined || !standstill?.isUnsure || rounds.number <= standstill.round)
      continue;
    const moving = movingAfter(each, standstill, rounds);
    found.events.push(moving.event);
    found.alerts.set(alertId(channelId, subject), {
      ...each,
      standstill: moving.standstill,
      revision: each.revision + 1,
    });
  }
}

/** Returns the hold that begins in a channel now, or the last one with the same cause if it has just ended. */
function holdFor(poll: Poll, channelId: string, ownHolds: readonly HoldAlert[]): HoldAlert {
  const { loaded, reading, rounds, rhythm, isBehind, now } = poll;
  if (rounds?.isStandingStill) {
    const { since, number: round } = rounds;
    const subject = holdSubject(since);
    const known = loaded.alerts.get(alertId(channelId, subject));
    return known?.kind === "hold"
      ? reopened(known)
      : { kind: "hold", channelId, subject, since, newestAt: since, standstill: { round }, revision: 0 };
  }
  const changed = isBehind || rhythm?.changing?.isUnsure !== false ? undefined : rhythm.changing;
  const lastHold = ownHolds.find(
    (each) =>
      !each.standstill &&
      (each.rhythm !== undefined) === (changed !== undefined) &&
      each.endedAt !== undefined &&
      ageOf(each.endedAt, now) < SAME_HOLD_MS,
  );
  const since = lastHold?.since ?? now;
  return {
    kind: "hold",
    channelId,
    subject: holdSubject(since),
    since,
    newestAt: (changed ? reading.newestAt : Math.min(now, poll.asOf)) ?? now,
    ...defined({
      rhythm: changed && { beforeMs: changed.beforeMs },
      resumedAt: lastHold && now,
      earlierMs: lastHold && heldMs(lastHold, now),
    }),
    revision: lastHold?.revision ?? 0,
  };
}

/** Returns a hold that is open again. The rounds can be read again, too. */
function reopened({ endedAt, standstill, ...hold }: HoldAlert): HoldAlert {
  return standstill ? { ...hold, standstill: { round: standstill.round } } : hold;
}

/**
 * Holds alerts while the explorer is behind, while the network stands still, or after its rhythm has changed. Each channel receives
 * one message, which is edited when the hold is over.
 */
export function settleHold(poll: Poll): void {
  const { loaded, isBehind, onHold, rhythm, rounds, found, now } = poll;
  const { watched, alerts } = loaded;
  const allHolds = [...alerts.values()].flatMap((each) => (each.kind === "hold" ? [each] : []));
  const openHolds = allHolds.filter(({ endedAt }) => endedAt === undefined);
  const changedRhythm = rhythm?.changing?.isUnsure === false ? rhythm.changing : undefined;
  const isStill = rounds?.isStandingStill === true;
  const isDue = (each: HoldAlert) => {
    if (each.standstill) return isStill;
    return each.rhythm ? changedRhythm !== undefined : isBehind || rhythm?.changing?.isUnsure === true;
  };
  endHolds(
    poll,
    openHolds.filter((each) => !isDue(each)),
  );
  tellMoving(poll, allHolds);
  if (!onHold) return;
  const byChannel = new Map<string, HoldAlert[]>();
  for (const each of allHolds) addTo(byChannel, each.channelId, each);
  const liveChannels = new Set<string>();
  for (const { isLive, subscription } of watched.values())
    if (isLive) liveChannels.add(subscription.channelId);
  for (const channelId of liveChannels) {
    const ownHolds = byChannel.get(channelId) ?? [];
    // A standstill is told even if the rhythm seemed to have changed when the reports stopped.
    const openHold = ownHolds.find(
      (each) => each.endedAt === undefined && isDue(each) && (!isStill || each.standstill),
    );
    if (openHold) {
      const newestAt = Math.min(now, poll.asOf);
      const stepMs = ageOf(openHold.since, now) < HOUR ? STEP_MS.early : STEP_MS.late;
      // The explorer's data may advance a little and still be behind.
      if (!openHold.rhythm && !openHold.standstill && newestAt - openHold.newestAt >= stepMs)
        found.alerts.set(alertId(channelId, openHold.subject), {
          ...openHold,
          newestAt,
          revision: openHold.revision + 1,
        });
      continue;
    }
    const hold = holdFor(poll, channelId, ownHolds);
    const isNew = !loaded.alerts.has(alertId(channelId, hold.subject));
    found.alerts.set(alertId(channelId, hold.subject), { ...hold, revision: hold.revision + 1 });
    if (isNew)
      found.events.push({
        kind: "hold",
        channelId,
        since: hold.since,
        isStandstill: hold.standstill ? true : undefined,
      });
  }
}
