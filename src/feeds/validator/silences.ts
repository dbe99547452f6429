import {
  type Activity,
  type Alert,
  alertId,
  type Response,
  subscriptionId,
} from "../../storage/catalogue.js";
import { ageOf } from "../../util/clock.js";
import { isSnoozed } from "./alerts.js";
import { type judge, manyAt, TOGETHER_MS } from "./decide.js";
import { manySubject, silenceOf } from "./events.js";
import { alertIn, type Poll, type Watched } from "./memory.js";
import { afterOf } from "./topics.js";

type Silent = Extract<Alert, { kind: "silent" }>;
type Many = Extract<Alert, { kind: "many" }>;

/** The alert that is open for a subscription. */
export function openAlert({ loaded }: Poll, { subscription, validator, watch }: Watched): Silent | undefined {
  if (watch.alert === undefined) return undefined;
  const alert = loaded.alerts.get(alertId(subscription.channelId, silenceOf(validator, watch.alert)));
  return alert?.kind === "silent" ? alert : undefined;
}

/** One silence that is called now: by itself, or as one of many. */
export async function callSilent(
  poll: Poll,
  each: Watched,
  { seenAt: since }: Activity,
  level: number,
): Promise<void> {
  const { reading, loaded, found, now } = poll;
  const { validator, subscription } = each;
  const { channelId } = subscription;
  const subject = silenceOf(validator, since);
  const alert: Silent = {
    kind: "silent",
    channelId,
    subject,
    since,
    validator,
    after: afterOf(subscription),
    level,
    revision: 1,
  };
  const isTogether = (other: Alert): other is Extract<Alert, { kind: "many" }> =>
    other.kind === "many" &&
    other.channelId === channelId &&
    other.endedAt === undefined &&
    ageOf(other.toldAt, now) <= TOGETHER_MS &&
    Math.abs(other.since - since) <= TOGETHER_MS;
  const known = [...found.alerts.values(), ...loaded.alerts.values()].find(isTogether);
  const many = known ?? manyAt(since, await reading.times(since - TOGETHER_MS), now);
  if (!many) {
    found.events.push({ kind: "silent", channelId, validator, since });
    found.alerts.set(alertId(channelId, subject), alert);
    return;
  }
  // Two groups of one poll are told apart by it.
  let toldAt = now;
  while (!known && alertIn(poll, alertId(channelId, manySubject(toldAt)))) toldAt += 1;
  const within = known?.subject ?? manySubject(toldAt);
  const members = [...(known?.members ?? []), { validator }];
  found.alerts.set(alertId(channelId, subject), { ...alert, within });
  const { endedAt, ...open } = known ?? {
    kind: "many" as const,
    channelId,
    subject: within,
    since,
    silent: many.silent,
    total: many.total,
    toldAt,
    revision: 0,
  };
  found.alerts.set(alertId(channelId, within), {
    ...open,
    silent: Math.max(open.silent, members.length),
    members,
    revision: open.revision + 1,
  });
}

/** Many with other members; they are over once every one of them is. */
function setMembers({ found, now }: Poll, id: string, many: Many, members: Many["members"]): void {
  const isOver = members.every(({ backAt }) => backAt !== undefined);
  found.alerts.set(id, {
    ...many,
    members,
    revision: many.revision + 1,
    ...(isOver ? { endedAt: now } : {}),
  });
}

/** It is over for a member of many: their one message says so. */
export function overWithin(poll: Poll, alert: Silent, at: number): void {
  if (alert.within === undefined) return;
  const id = alertId(alert.channelId, alert.within);
  const many = alertIn(poll, id);
  if (many?.kind !== "many") return;
  const members = many.members.map((member) =>
    member.validator === alert.validator ? { backAt: at, ...member } : member,
  );
  setMembers(poll, id, many, members);
}

/** What a reading means for an alert that is open. */
export function follow(poll: Poll, alert: Silent, verdict: ReturnType<typeof judge>, seenAt: number): void {
  const { loaded, found, onHold, now } = poll;
  const { channelId, validator, since, subject } = alert;
  const id = alertId(channelId, subject);
  // Whoever answers for many answers for each of them.
  const response: Response | undefined =
    loaded.responses.get(id) ??
    (alert.within === undefined ? undefined : loaded.responses.get(alertId(channelId, alert.within)));
  const place = { channelId, validator, since };
  const next = { ...alert, revision: alert.revision + 1 };
  const isCalm = response?.acknowledged !== undefined;
  if (verdict.kind === "back") {
    found.alerts.set(id, { ...next, endedAt: seenAt });
    overWithin(poll, alert, seenAt);
    if (!alert.within || alert.isOwn) found.events.push({ kind: "back", ...place, at: seenAt });
    return;
  }
  const snoozedUntil = response?.snoozed?.until ?? undefined;
  const isOver = snoozedUntil !== undefined && snoozedUntil <= now && alert.toldAgain !== snoozedUntil;
  if (verdict.kind === "worse") {
    const isQuiet = isSnoozed(response, now);
    // One that was told of among many has no message of its own yet.
    const isFirst = alert.within !== undefined && !alert.isOwn;
    found.alerts.set(id, {
      ...next,
      level: verdict.level,
      ...(isOver ? { toldAgain: snoozedUntil } : {}),
      ...(isFirst && !isQuiet ? { isOwn: true } : {}),
    });
    if (isQuiet) return;
    if (isFirst) found.events.push({ kind: "silent", ...place, isCalm });
    else found.events.push({ kind: "worse", ...place, level: verdict.level, isCalm });
  } else if (isOver && !onHold) {
    found.alerts.set(id, { ...next, toldAgain: snoozedUntil });
    found.events.push({ kind: "again", ...place, until: snoozedUntil, isCalm });
  }
}

/** Members of many that nobody in the channel watches any more keep none of them open. */
export function dropStrangers(poll: Poll): void {
  const { name, loaded } = poll;
  const { watched, alerts } = loaded;
  const ids = new Set(watched.map(({ id }) => id));
  for (const [id, stored] of alerts) {
    const alert = alertIn(poll, id) ?? stored;
    if (alert.kind !== "many" || alert.endedAt !== undefined) continue;
    const members = alert.members.filter(({ validator }) =>
      ids.has(subscriptionId(alert.channelId, name, validator)),
    );
    if (members.length !== alert.members.length) setMembers(poll, id, alert, members);
  }
}

/** What begins now for many together, once all who belong to it are known. */
export function announceMany({ found, loaded }: Poll): void {
  for (const [id, alert] of found.alerts)
    if (alert.kind === "many" && !loaded.alerts.has(id))
      found.events.push({
        kind: "many",
        channelId: alert.channelId,
        since: alert.toldAt,
        members: alert.members.map(({ validator }) => validator),
      });
}
