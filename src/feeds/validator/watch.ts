import { isDeepStrictEqual } from "node:util";
import type { PollOutcome, Publisher } from "../../delivery/feed.js";
import type { Explorer } from "../../explorer/service.js";
import type { VersionSurvey } from "../../ledger/versions.js";
import {
  type Activity,
  type Alert,
  alertId,
  type Response,
  type Subscription,
  subscriptionId,
  type ValidatorWatch,
} from "../../storage/catalogue.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { ageOf } from "../../util/clock.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import { isSnoozed, MAX_GAPS } from "./alerts.js";
import {
  behindWhat,
  judge,
  judgeTraffic,
  judgeVersion,
  LAG_MS,
  manyAt,
  TOGETHER_MS,
  trafficLeft,
} from "./decide.js";
import { holdSubject, manySubject, silenceOf, type ValidatorEvent } from "./events.js";
import { type ActivityReading, readActivity } from "./reading.js";
import { afterOf } from "./topics.js";

/** A validator's traffic is read so often, in ms, as far as a poll's requests allow. */
const TRAFFIC_MS = 30 * MINUTE;
/** The explorer must say twice, so far apart, that there is no such validator, in ms. */
const GONE_MS = 30 * MINUTE;
/** A hold that begins so soon after the last is the same, in ms. */
const SAME_HOLD_MS = HOUR;
/** An alert is forgotten so long after it is over, in ms. */
const KEPT_MS = 30 * DAY;
/** A longer gap says that nobody read, not that nobody reported, in ms. */
const MAX_GAP_MS = 2 * HOUR;

/** The same value for all who want it, worked out for the first. */
function lazyValue<T>(make: () => T): () => T {
  let held: { readonly value: T } | undefined;
  return () => {
    held ??= { value: make() };
    return held.value;
  };
}

interface WatchDeps {
  readonly name: string;
  /** Takes nothing but new readings. */
  readonly explorer: Explorer;
  readonly state: State;
  /** What the network's active validators run. */
  readonly survey: () => VersionSurvey;
  readonly now: () => number;
}

/** One subscription with what is remembered for it. */
interface Watched {
  readonly id: string;
  readonly subscription: Subscription;
  readonly validator: string;
  readonly watch: ValidatorWatch;
  /** Whether it is read: not while nothing would be sent, nor once it is no longer listed. */
  readonly isLive: boolean;
}

type Silent = Extract<Alert, { kind: "silent" }>;

/** What a poll has found out, all of which is one commit. */
interface Findings {
  readonly events: ValidatorEvent[];
  readonly alerts: Map<string, Alert>;
  readonly watches: Map<string, ValidatorWatch>;
}

/**
 * Watches validators for the channels and people who asked: reads when each was last seen, and publishes what that means. No
 * data is no news: what could not be read, and what the explorer is behind with, changes nothing.
 */
export function createValidatorWatch({ name, explorer, state, survey, now }: WatchDeps) {
  /** Alerts whose messages show what people said. */
  const shown = new Map<string, number>();

  const load = async (publisher: Publisher) => {
    const [subscriptions, watches, alerts, responses, activity] = await Promise.all([
      publisher.subscriptions(),
      state.validatorWatches.list(),
      state.alerts.list(),
      state.responses.list(),
      state.activity.list(),
    ]);
    const watched = await Promise.all(
      subscriptions.map(async (subscription): Promise<Watched[]> => {
        const { channelId, subject, savedAt = 0 } = subscription;
        if (subject === null) return [];
        const id = subscriptionId(channelId, name, subject);
        const { goneAt, ...watch } = watches.get(id) ?? {};
        const isGone = goneAt !== undefined && goneAt >= savedAt;
        const isHeard = await publisher.isHeard(subscription);
        return [{ id, subscription, validator: subject, watch, isLive: isHeard && !isGone }];
      }),
    );
    return {
      watched: watched.flat(),
      watches,
      alerts,
      responses,
      activity,
      // Once a poll, however many are watched.
      survey: lazyValue(survey),
    };
  };
  type Loaded = Awaited<ReturnType<typeof load>>;

  /** What nobody watches any more, and what was over long ago. */
  const leftovers = ({ watched, watches, alerts, responses, activity }: Loaded): Write[] => {
    const ids = new Set(watched.map(({ id }) => id));
    const parties = new Set(watched.map(({ validator }) => validator));
    const isOld = ({ endedAt }: Alert) => endedAt !== undefined && ageOf(endedAt, now()) > KEPT_MS;
    const channels = new Set(watched.map(({ subscription }) => subscription.channelId));
    const isOrphan = (each: Alert) =>
      each.kind === "silent"
        ? !ids.has(subscriptionId(each.channelId, name, each.validator))
        : !channels.has(each.channelId);
    const gone = [...alerts].filter(([, each]) => isOld(each) || isOrphan(each)).map(([id]) => id);
    return [
      ...[...watches.keys()].filter((id) => !ids.has(id)).map((id) => state.validatorWatches.delete(id)),
      ...[...activity.keys()]
        .filter((party) => !parties.has(party))
        .map((party) => state.activity.delete(party)),
      ...gone.map((id) => state.alerts.delete(id)),
      ...[...responses.keys()]
        .filter((id) => gone.includes(id) || !alerts.has(id))
        .map((id) => state.responses.delete(id)),
    ];
  };

  /** The reports of each watched validator, with what this reading tells: only what is newer counts. */
  const learn = (reading: ActivityReading, { watched, activity }: Loaded): Map<string, Activity> => {
    const learnt = new Map<string, Activity>();
    for (const validator of new Set(watched.map((each) => each.validator))) {
      const before = activity.get(validator);
      const seen = reading.seen.get(validator);
      if (!seen) {
        if (before) learnt.set(validator, before);
        continue;
      }
      // A report that lies in the future was dated by a clock that was wrong.
      const last = before && before.seenAt <= now() + 5 * MINUTE ? before.seenAt : undefined;
      const gap = last === undefined ? 0 : seen.seenAt - last;
      const gaps = before?.gaps ?? [];
      learnt.set(validator, {
        ...seen,
        seenAt: Math.max(seen.seenAt, last ?? 0),
        readAt: now(),
        gaps: gap > 0 && gap < MAX_GAP_MS ? [...gaps, gap].slice(-MAX_GAPS) : [...gaps],
      });
    }
    return learnt;
  };

  /** While the explorer itself is behind, nobody is called silent: each channel hears of that once, and of its end. */
  const settleHold = (isBehind: boolean, newestAt: number, { watched, alerts }: Loaded, found: Findings) => {
    const holds = [...alerts.values()].flatMap((each) => (each.kind === "hold" ? [each] : []));
    if (!isBehind) {
      for (const each of holds.filter(({ endedAt }) => endedAt === undefined))
        found.alerts.set(alertId(each.channelId, each.subject), {
          ...each,
          endedAt: now(),
          revision: each.revision + 1,
        });
      return;
    }
    for (const channelId of new Set(watched.map(({ subscription }) => subscription.channelId))) {
      const own = holds.filter((each) => each.channelId === channelId);
      if (own.some(({ endedAt }) => endedAt === undefined)) continue;
      const last = own.find(({ endedAt }) => endedAt !== undefined && ageOf(endedAt, now()) < SAME_HOLD_MS);
      const since = last?.since ?? now();
      const subject = holdSubject(since);
      found.alerts.set(alertId(channelId, subject), {
        kind: "hold",
        channelId,
        subject,
        since,
        newestAt,
        revision: (last?.revision ?? 0) + 1,
      });
      if (!last) found.events.push({ kind: "hold", channelId, since });
    }
  };

  /** One silence that is called now: by itself, or as one of many. */
  const callSilent = async (
    each: Watched,
    { seenAt: since }: Activity,
    level: number,
    reading: ActivityReading,
    { alerts }: Loaded,
    found: Findings,
  ) => {
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
      ageOf(other.toldAt, now()) <= TOGETHER_MS &&
      Math.abs(other.since - since) <= TOGETHER_MS;
    const known = [...found.alerts.values(), ...alerts.values()].find(isTogether);
    const many = known ?? manyAt(since, await reading.times(since - TOGETHER_MS), now());
    if (!many) {
      found.events.push({ kind: "silent", channelId, validator, since });
      found.alerts.set(alertId(channelId, subject), alert);
      return;
    }
    const within = known?.subject ?? manySubject(now());
    const members = [...(known?.members ?? []), { validator }];
    found.alerts.set(alertId(channelId, subject), { ...alert, within });
    const { endedAt, ...open } = known ?? {
      kind: "many" as const,
      channelId,
      subject: within,
      since,
      silent: many.silent,
      total: many.total,
      toldAt: now(),
      revision: 0,
    };
    found.alerts.set(alertId(channelId, within), {
      ...open,
      silent: Math.max(open.silent, members.length),
      members,
      revision: open.revision + 1,
    });
  };

  /** It is over for a member of many: their one message says so. */
  const overWithin = (alert: Silent, at: number, { alerts }: Loaded, found: Findings) => {
    if (alert.within === undefined) return;
    const id = alertId(alert.channelId, alert.within);
    const many = found.alerts.get(id) ?? alerts.get(id);
    if (many?.kind !== "many") return;
    const members = many.members.map((member) =>
      member.validator === alert.validator ? { backAt: at, ...member } : member,
    );
    const isOver = members.every(({ backAt }) => backAt !== undefined);
    found.alerts.set(id, {
      ...many,
      members,
      revision: many.revision + 1,
      ...(isOver ? { endedAt: now() } : {}),
    });
  };

  /** What a reading means for an alert that is open. */
  const follow = (
    alert: Silent,
    verdict: ReturnType<typeof judge>,
    seenAt: number,
    onHold: boolean,
    loaded: Loaded,
    found: Findings,
  ) => {
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
      overWithin(alert, seenAt, loaded, found);
      if (!alert.within || alert.isOwn) found.events.push({ kind: "back", ...place, at: seenAt });
      return;
    }
    const snoozedUntil = response?.snoozed?.until ?? undefined;
    const isOver = snoozedUntil !== undefined && snoozedUntil <= now() && alert.toldAgain !== snoozedUntil;
    if (verdict.kind === "worse") {
      const isQuiet = isSnoozed(response, now());
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
  };

  /** Members of many that nobody in the channel watches any more keep none of them open. */
  const dropStrangers = ({ watched, alerts }: Loaded, found: Findings) => {
    const ids = new Set(watched.map(({ id }) => id));
    for (const [id, stored] of alerts) {
      const alert = found.alerts.get(id) ?? stored;
      if (alert.kind !== "many" || alert.endedAt !== undefined) continue;
      const members = alert.members.filter(({ validator }) =>
        ids.has(subscriptionId(alert.channelId, name, validator)),
      );
      if (members.length === alert.members.length) continue;
      const isOver = members.every(({ backAt }) => backAt !== undefined);
      found.alerts.set(id, {
        ...alert,
        members,
        revision: alert.revision + 1,
        ...(isOver ? { endedAt: now() } : {}),
      });
    }
  };

  /** The alert that is open for a subscription. */
  const openAlert = ({ subscription, validator, watch }: Watched, { alerts }: Loaded): Silent | undefined => {
    if (watch.alert === undefined) return undefined;
    const alert = alerts.get(alertId(subscription.channelId, silenceOf(validator, watch.alert)));
    return alert?.kind === "silent" ? alert : undefined;
  };

  /** Whether the explorer says for the second time that there is no such validator. */
  const judgeAbsence = (each: Watched, loaded: Loaded, found: Findings): ValidatorWatch => {
    const { validator, watch, subscription } = each;
    const { channelId } = subscription;
    const since = watch.missingSince ?? now();
    if (ageOf(since, now()) < GONE_MS || since > now())
      return { ...watch, missingSince: Math.min(since, now()) };
    const alert = openAlert(each, loaded);
    if (alert) overWithin(alert, now(), loaded, found);
    if (alert)
      found.alerts.set(alertId(channelId, alert.subject), {
        ...alert,
        endedAt: now(),
        isGone: true,
        revision: alert.revision + 1,
      });
    found.events.push({ kind: "gone", channelId, validator, since: watch.alert ?? since });
    return { goneAt: now() };
  };

  /** What a reading means for one subscription. @returns what to remember */
  const settle = async (
    each: Watched,
    reading: ActivityReading,
    activity: Activity | undefined,
    onHold: boolean,
    mayCall: boolean,
    loaded: Loaded,
    found: Findings,
  ): Promise<ValidatorWatch> => {
    const { validator, subscription, watch } = each;
    const { channelId } = subscription;
    if (reading.absent.has(validator)) return judgeAbsence(each, loaded, found);
    if (!reading.seen.has(validator) || !activity) {
      const { missingSince, ...listed } = watch;
      return reading.present.has(validator) ? listed : watch;
    }
    const open = openAlert(each, loaded);
    const { seenAt } = activity;
    const { unconfirmed, missingSince, alert, ...rest } = watch;
    const verdict = judge({
      seenAt,
      afterMs: afterOf(subscription),
      unconfirmed,
      open: open && { since: open.since, level: open.level },
      onHold: !mayCall,
      now: now(),
    });
    if (open) follow(open, verdict, seenAt, onHold, loaded, found);
    if (verdict.kind === "silent") await callSilent(each, activity, verdict.level, reading, loaded, found);
    const next: ValidatorWatch = {
      ...rest,
      ...(verdict.kind === "silent" ? { alert: seenAt } : {}),
      ...(open && verdict.kind !== "back" ? { alert: open.since } : {}),
      ...(verdict.kind === "unconfirmed" ? { unconfirmed: seenAt } : {}),
    };
    if (!subscription.topics.version) return next;
    const { behind, toldVersion, ...others } = next;
    const judged = judgeVersion(behindWhat(activity.version, loaded.survey()), next, now());
    if (judged.tell !== undefined)
      found.events.push({
        kind: "version",
        channelId,
        validator,
        target: judged.tell,
        running: activity.version,
      });
    return { ...others, ...judged.memory };
  };

  /** Traffic stands in a validator's details alone: it is read with what is left of a poll's requests. */
  const readTraffic = async (reading: ActivityReading, { watched }: Loaded, found: Findings) => {
    const memory = ({ id, watch }: Watched) => (found.watches.get(id) ?? watch).traffic;
    const due = watched
      .filter(({ subscription, isLive }) => subscription.topics.traffic && isLive)
      .filter(
        (each) => ageOf(memory(each)?.readAt ?? 0, now()) >= (memory(each)?.unconfirmed ? 0 : TRAFFIC_MS),
      )
      .sort((a, b) => (memory(a)?.readAt ?? 0) - (memory(b)?.readAt ?? 0));
    const read = new Map<string, ReturnType<ActivityReading["detail"]>>();
    for (const each of due) {
      const { id, validator, watch, subscription } = each;
      const detail = await (read.get(validator) ?? reading.detail(validator));
      read.set(validator, Promise.resolve(detail));
      if (!detail) {
        // Others come first at the next poll.
        const tried = { sequence: 0, ...memory(each), readAt: now() };
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
      const judged = judgeTraffic(left, memory(each), now());
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
  };

  return async (publisher: Publisher): Promise<PollOutcome> => {
    const loaded = await load(publisher);
    const old = leftovers(loaded);
    const live = loaded.watched.filter(({ isLive }) => isLive);
    const orphans = [...loaded.alerts].flatMap(([id, { subject }]) =>
      old.some((write) => write.id === id) ? [subject] : [],
    );
    if (live.length === 0) {
      if (old.length > 0) await state.commit(old);
      publisher.touch(orphans);
      return "done";
    }
    // Those whose last reading is the longest ago come first, where not all can be read one by one.
    const readAt = (validator: string) => loaded.activity.get(validator)?.readAt ?? 0;
    const parties = [...new Set(live.map(({ validator }) => validator))].sort(
      (a, b) => readAt(a) - readAt(b),
    );
    const reading = await readActivity(explorer, parties, now);
    const { newestAt } = reading;
    // An empty list is no news.
    if (newestAt === null) return "partial";
    const activity = learn(reading, loaded);
    const found: Findings = { events: [], alerts: new Map(), watches: new Map() };
    const onHold = now() - newestAt > LAG_MS;
    const wasOnHold = [...loaded.alerts.values()].some(
      (each) => each.kind === "hold" && each.endedAt === undefined,
    );
    settleHold(onHold, newestAt, { ...loaded, watched: live }, found);
    for (const each of live) {
      // The first reading after a hold may be of an explorer that is still catching up.
      const mayCall = !onHold && !wasOnHold;
      const next = await settle(each, reading, activity.get(each.validator), onHold, mayCall, loaded, found);
      if (!isDeepStrictEqual(next, each.watch)) found.watches.set(each.id, next);
    }
    await readTraffic(reading, loaded, found);
    dropStrangers(loaded, found);
    for (const [id, alert] of found.alerts)
      if (alert.kind === "many" && !loaded.alerts.has(id))
        found.events.push({
          kind: "many",
          channelId: alert.channelId,
          since: alert.toldAt,
          members: alert.members.map(({ validator }) => validator),
        });

    const { writes, release } = await publisher.prepare(found.events);
    await state.commit([
      ...old,
      ...writes,
      ...[...activity].map(([party, document]) => state.activity.put(party, document)),
      ...[...found.watches].map(([id, document]) => state.validatorWatches.put(id, document)),
      ...[...found.alerts].map(([id, document]) => state.alerts.put(id, document)),
    ]);
    release();
    publisher.touch([...[...found.alerts.values()].map(({ subject }) => subject), ...orphans]);
    touchAnswered(publisher, loaded);
    return [...parties].every((party) => reading.seen.has(party)) ? "done" : "partial";
  };

  /** What people said since the last poll, perhaps to another process, is shown. */
  function touchAnswered(publisher: Publisher, { responses, alerts }: Loaded): void {
    const news = [...responses].filter(([id, { revision }]) => shown.get(id) !== revision);
    for (const [id, { revision }] of news) shown.set(id, revision);
    for (const id of [...shown.keys()]) if (!responses.has(id)) shown.delete(id);
    publisher.touch(news.flatMap(([id]) => alerts.get(id)?.subject ?? []));
  }
}
