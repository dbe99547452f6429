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
import { MANY, manySubject, silenceOf } from "./events.js";
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

/** The end of a snooze that has passed and was not told yet, epoch ms. */
function endedSnooze(
  response: Response | undefined,
  toldAgain: number | undefined,
  now: number,
): number | undefined {
  const until = response?.snoozed?.until ?? undefined;
  return until !== undefined && until <= now && toldAgain !== until ? until : undefined;
}

/** What it means for an alert that has no message of its own: what must be told is told once, for all of the many. */
function followWithin(poll: Poll, alert: Silent, many: Many, verdict: ReturnType<typeof judge>): void {
  const { loaded, found, onHold, now } = poll;
  const { channelId, subject } = alert;
  const isWorse = verdict.kind === "worse";
  if (isWorse)
    found.alerts.set(alertId(channelId, subject), {
      ...alert,
      level: verdict.level,
      revision: alert.revision + 1,
    });
  const id = alertId(channelId, many.subject);
  const response = loaded.responses.get(id);
  const told = {
    channelId,
    validator: MANY,
    since: many.toldAt,
    isCalm: response?.acknowledged !== undefined,
    members: many.members.filter(({ backAt }) => backAt === undefined).map(({ validator }) => validator),
  };
  const until = endedSnooze(response, many.toldAgain, now);
  if (isWorse && verdict.level > (many.level ?? 1)) {
    const again = until === undefined ? {} : { toldAgain: until };
    found.alerts.set(id, { ...many, ...again, level: verdict.level });
    if (!isSnoozed(response, now)) found.events.push({ kind: "worse", ...told, level: verdict.level });
  } else if (until !== undefined && !onHold) {
    found.alerts.set(id, { ...many, toldAgain: until });
    found.events.push({ kind: "again", ...told, until });
  }
}

/** What a reading means for an alert that is open. */
export function follow(poll: Poll, alert: Silent, verdict: ReturnType<typeof judge>, seenAt: number): void {
  const { loaded, found, onHold, now } = poll;
  const { channelId, validator, since, subject } = alert;
  const id = alertId(channelId, subject);
  const place = { channelId, validator, since };
  const next = { ...alert, revision: alert.revision + 1 };
  if (verdict.kind === "back") {
    found.alerts.set(id, { ...next, endedAt: seenAt });
    overWithin(poll, alert, seenAt);
    if (alert.within === undefined) found.events.push({ kind: "back", ...place, at: seenAt });
    return;
  }
  const many = alert.within === undefined ? undefined : alertIn(poll, alertId(channelId, alert.within));
  if (many?.kind === "many") {
    followWithin(poll, alert, many, verdict);
    return;
  }
  const response = loaded.responses.get(id);
  const isCalm = response?.acknowledged !== undefined;
  const until = endedSnooze(response, alert.toldAgain, now);
  if (verdict.kind === "worse") {
    found.alerts.set(id, {
      ...next,
      level: verdict.level,
      ...(until === undefined ? {} : { toldAgain: until }),
    });
    if (!isSnoozed(response, now))
      found.events.push({ kind: "worse", ...place, level: verdict.level, isCalm });
  } else if (until !== undefined && !onHold) {
    found.alerts.set(id, { ...next, toldAgain: until });
    found.events.push({ kind: "again", ...place, until, isCalm });
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
