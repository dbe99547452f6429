import { SUPER_VALIDATORS } from "../../directory/directory.js";
import type { Activity } from "../../ledger/network-rhythm.js";
import { ageOf } from "../../util/clock.js";
import { yieldIfBusy } from "../../util/event-loop.js";
import { addTo } from "../../util/groups.js";
import { defined } from "../../util/present.js";
import {
  type Alert,
  type AlertResponse,
  alertId,
  type GroupAlert,
  isSnoozed,
  type SilentAlert,
  watchId,
} from "./collections.js";
import { type judge, manyAt, togetherMs } from "./decide.js";
import { MANY, manySubject, silenceOf, type ValidatorEvent } from "./events.js";
import type { WatchedValidator } from "./memory.js";
import { alertIn, type Poll } from "./poll.js";
import { together } from "./together.js";

/** Returns the open alert of a subscription. */
export function openAlert(
  { loaded }: Poll,
  { subscription, validator, watch }: WatchedValidator,
): SilentAlert | undefined {
  if (watch.alert === undefined) return undefined;
  const alert = loaded.alerts.get(alertId(subscription.channelId, silenceOf(validator, watch.alert)));
  return alert?.kind === "silent" ? alert : undefined;
}

/** True if an alert, or the group's alert that contains it, has been taken or snoozed. */
export function isHandled({ loaded, now }: Poll, alert: SilentAlert | GroupAlert): boolean {
  const subject = (alert.kind === "silent" ? alert.within : undefined) ?? alert.subject;
  const response = loaded.responses.get(alertId(alert.channelId, subject));
  return response?.acknowledged !== undefined || isSnoozed(response, now);
}

/** Reports a new silence, alone or as part of a group. */
export async function callSilent(
  poll: Poll,
  each: WatchedValidator,
  { seenAt: since }: Activity,
  level: number,
  afterMs: number,
): Promise<void> {
  const { loaded, reading, found, intervalMs, listedUntil, now } = poll;
  const { validator, subscription } = each;
  const { channelId, roleId } = subscription;
  const subject = silenceOf(validator, since);
  const placeFields = { channelId, subject, since, revision: 1 };
  const alert: SilentAlert = { kind: "silent", ...placeFields, validator, after: afterMs, level };
  // Earlier versions did not store the roles of members.
  const roleOf = (member: GroupAlert["members"][number]) =>
    member.roleId ?? loaded.watched.get(watchId(channelId, member.validator))?.subscription.roleId;
  const isNewRole = ({ members }: GroupAlert) =>
    roleId !== null && members.every((member) => roleOf(member) !== roleId);
  const isTogether = (other: Alert): other is GroupAlert =>
    other.kind === "many" &&
    other.endedAt === undefined &&
    // The last reports of one outage spread over an interval, and each member has its own limit.
    ageOf(other.toldAt, now) <= 2 * togetherMs(intervalMs) &&
    Math.abs(other.since - since) <= togetherMs(intervalMs) &&
    // A member that was back, for example because a report was listed late, gets a new alert.
    other.members.every((member) => member.validator !== validator) &&
    // The person who has taken the alert did not take it for another team.
    !(isNewRole(other) && isHandled(poll, other));
  const ownGroups = (found.groups.get(channelId) ?? []).flatMap((id) => alertIn(poll, id) ?? []);
  const knownGroup = ownGroups.find(isTogether);
  const groupAlert =
    knownGroup ?? manyAt(since, await reading.times(since - togetherMs(intervalMs)), intervalMs, listedUntil);
  if (!groupAlert) {
    found.events.push({ kind: "silent", channelId, validator, since });
    found.alerts.set(alertId(channelId, subject), alert);
    return;
  }
  // The time distinguishes two groups of the same poll.
  let toldAt = now;
  while (!knownGroup && alertIn(poll, alertId(channelId, manySubject(toldAt)))) toldAt += 1;
  const within = knownGroup?.subject ?? manySubject(toldAt);
  if (!knownGroup) addTo(found.groups, channelId, alertId(channelId, within));
  if (knownGroup && loaded.alerts.has(alertId(channelId, within)) && isNewRole(knownGroup))
    found.events.push({ kind: "joined", channelId, validator, since: knownGroup.toldAt });
  const member = roleId === null ? { validator } : { validator, roleId };
  const members = [...(knownGroup?.members ?? []), member];
  found.alerts.set(alertId(channelId, subject), { ...alert, within });
  const { endedAt, ...open } = knownGroup ?? {
    kind: "many" as const,
    channelId,
    subject: within,
    since,
    silent: groupAlert.silent,
    total: groupAlert.total,
    toldAt,
    revision: 0,
  };
  const isOfAll = subscription.subject === SUPER_VALIDATORS;
  found.alerts.set(alertId(channelId, within), {
    ...open,
    ...defined({ isOfAll: isOfAll || undefined }),
    silent: Math.max(open.silent, members.length),
    members,
    revision: open.revision + 1,
  });
}

/** Replaces the members of a group. The group is over once all members are. */
function setMembers(poll: Poll, id: string, many: GroupAlert, members: GroupAlert["members"]): void {
  const nextGroup = { ...many, members, revision: many.revision + 1 };
  const isOver = members.every(({ backAt }) => backAt !== undefined);
  poll.found.alerts.set(id, isOver ? { ...nextGroup, endedAt: poll.now } : nextGroup);
}

/** Marks the silence of a group member as over, in the group's alert. */
export function overWithin(poll: Poll, alert: SilentAlert, at: number, isGone = false): void {
  if (alert.within === undefined) return;
  const id = alertId(alert.channelId, alert.within);
  const groupAlert = alertIn(poll, id);
  if (groupAlert?.kind !== "many") return;
  const members = groupAlert.members.map((member) =>
    member.validator === alert.validator ? { backAt: at, ...(isGone && { isGone }), ...member } : member,
  );
  setMembers(poll, id, groupAlert, members);
}

/**
 * Marks a member of open groups as back, because the explorer lists it again with a new report.
 * @param at time of that report, epoch ms
 */
export function backWithin(poll: Poll, channelId: string, validator: string, at: number): void {
  for (const id of poll.found.groups.get(channelId) ?? []) {
    const groupAlert = alertIn(poll, id);
    const isReturned = (member: GroupAlert["members"][number]) =>
      member.validator === validator && member.isGone;
    if (groupAlert?.kind !== "many" || !groupAlert.members.some(isReturned)) continue;
    const members = groupAlert.members.map((member) => {
      if (!isReturned(member)) return member;
      const { isGone, ...rest } = member;
      return { ...rest, backAt: at };
    });
    setMembers(poll, id, groupAlert, members);
  }
}

/** Returns the end of a snooze that has passed and was not announced yet, epoch ms. */
function endedSnooze(
  response: AlertResponse | undefined,
  toldAgain: number | undefined,
  now: number,
): number | undefined {
  const snoozedUntil = response?.snoozed?.until ?? undefined;
  return snoozedUntil !== undefined && snoozedUntil <= now && toldAgain !== snoozedUntil
    ? snoozedUntil
    : undefined;
}

/** Reports that an alert has become worse or that its snooze has ended. @param level its new level, if it has become worse */
function tellAgain(poll: Poll, alert: SilentAlert | GroupAlert, level: number | undefined): void {
  const { loaded, found, onHold, now } = poll;
  const id = alertId(alert.channelId, alert.subject);
  const response = loaded.responses.get(id);
  // The members of a group follow in `announceMany`, once the reports of all are known.
  const [validator, since] = alert.kind === "many" ? [MANY, alert.toldAt] : [alert.validator, alert.since];
  const isCalm = response?.acknowledged !== undefined;
  const toldFields = { channelId: alert.channelId, validator, since, isCalm };
  const snoozeEndedAt = endedSnooze(response, alert.toldAgain, now);
  const toldAgain = snoozeEndedAt === undefined ? {} : { toldAgain: snoozeEndedAt };
  const nextAlert = { ...alert, ...toldAgain, revision: alert.revision + 1 };
  if (level !== undefined) {
    found.alerts.set(id, { ...nextAlert, level });
    if (!isSnoozed(response, now)) found.events.push({ kind: "worse", ...toldFields, level });
  } else if (snoozeEndedAt !== undefined && !onHold) {
    found.alerts.set(id, nextAlert);
    found.events.push({ kind: "again", ...toldFields, until: snoozeEndedAt });
  }
}

/**
 * Applies a verdict to an open alert.
 * @param seenAt its newest report
 * @param isFirst true if that is its first report since the silence
 */
export function follow(
  poll: Poll,
  alert: SilentAlert,
  verdict: ReturnType<typeof judge>,
  { seenAt, isFirst }: { readonly seenAt: number; readonly isFirst: boolean },
): void {
  const { found } = poll;
  const { channelId, validator, since, subject, within } = alert;
  const id = alertId(channelId, subject);
  const nextAlert = { ...alert, revision: alert.revision + 1 };
  if (verdict.kind === "back") {
    const earlier = isFirst ? {} : { isBackEarlier: true };
    found.alerts.set(id, { ...nextAlert, endedAt: seenAt, ...earlier });
    overWithin(poll, alert, seenAt);
    if (within === undefined)
      found.events.push({ kind: "back", channelId, validator, since, at: seenAt, ...earlier });
    return;
  }
  const level = verdict.kind === "worse" ? verdict.level : undefined;
  const groupAlert = within === undefined ? undefined : alertIn(poll, alertId(channelId, within));
  if (groupAlert?.kind === "many") {
    // The group's message reports it once.
    if (level !== undefined) found.alerts.set(id, { ...nextAlert, level });
    tellAgain(poll, groupAlert, level !== undefined && level > (groupAlert.level ?? 1) ? level : undefined);
  } else tellAgain(poll, alert, level);
}

/** Removes members that the channel no longer watches, so that they do not keep the group open. */
export async function dropUnwatchedMembers(poll: Poll): Promise<void> {
  const { watchedBy } = poll.loaded;
  for (const [channelId, ids] of poll.found.groups) {
    await yieldIfBusy();
    const parties = watchedBy.get(channelId);
    // The alerts of a channel without subscriptions are deleted.
    if (!parties) continue;
    for (const id of ids) {
      const alert = alertIn(poll, id);
      if (alert?.kind !== "many" || alert.endedAt !== undefined) continue;
      const members = alert.members.filter(({ validator }) => parties.has(validator));
      if (members.length !== alert.members.length) setMembers(poll, id, alert, members);
    }
  }
}

/** Returns news about a group with the members that are still silent. `undefined` if all are back, or the rest is paused. */
function withMembers(poll: Poll, event: Extract<ValidatorEvent, { kind: "worse" | "again" }>) {
  const { channelId } = event;
  const group = alertIn(poll, alertId(channelId, manySubject(event.since)));
  // Paused subscriptions are not read.
  const isLive = (validator: string) => poll.loaded.watched.get(watchId(channelId, validator))?.isLive;
  if (group?.kind !== "many") return undefined;
  const silentMembers = group.members.filter(({ validator, backAt }) => !backAt && isLive(validator));
  if (silentMembers.length === 0) return undefined;
  return { ...event, members: silentMembers.map(({ validator }) => validator), isOfAll: group.isOfAll };
}

/**
 * Publishes one event for each new group, and later news about groups, once the reports of all their members are known. The same news
 * about several validators becomes one event.
 */
export function announceMany(poll: Poll): void {
  const { found, loaded } = poll;
  const singleEvents = found.events.splice(0).flatMap((event) => {
    const isLater = (event.kind === "worse" || event.kind === "again") && event.validator === MANY;
    return isLater ? (withMembers(poll, event) ?? []) : [event];
  });
  const isOfAll = (channelId: string, validator: string) =>
    loaded.watched.get(watchId(channelId, validator))?.subscription.subject === SUPER_VALIDATORS;
  const events = together(singleEvents, isOfAll, poll.now);
  // A push with thousands of arguments would overflow the stack.
  for (const event of events) found.events.push(event);
  for (const [id, alert] of found.alerts)
    if (alert.kind === "many" && !loaded.alerts.has(id))
      found.events.push({
        kind: "many",
        channelId: alert.channelId,
        since: alert.toldAt,
        members: alert.members.map(({ validator }) => validator),
        isOfAll: alert.isOfAll,
      });
}
