import { isDeepStrictEqual } from "node:util";
import type { PollOutcome, Publisher } from "../../delivery/feed.js";
import type { Explorer } from "../../explorer/service.js";
import type { VersionSurvey } from "../../ledger/versions.js";
import { type Activity, alertId, type ValidatorWatch } from "../../storage/catalogue.js";
import type { State } from "../../storage/state.js";
import { ageOf } from "../../util/clock.js";
import { MINUTE } from "../../util/units.js";
import { behindWhat, judge, judgeVersion, LAG_MS } from "./decide.js";
import { settleHold } from "./holds.js";
import { type Findings, type Loaded, learn, leftovers, load, type Poll, type Watched } from "./memory.js";
import { readActivity } from "./reading.js";
import { announceMany, callSilent, dropStrangers, follow, openAlert, overWithin } from "./silences.js";
import { afterOf } from "./topics.js";
import { readTraffic } from "./traffic.js";

/** The explorer must say twice, so far apart, that there is no such validator, in ms. */
const GONE_MS = 30 * MINUTE;

interface WatchDeps {
  readonly name: string;
  /** Takes nothing but new readings. */
  readonly explorer: Explorer;
  readonly state: State;
  /** What the network's active validators run. */
  readonly survey: () => VersionSurvey;
  readonly now: () => number;
}

/** Whether the explorer says for the second time that there is no such validator. */
function judgeAbsence(poll: Poll, each: Watched): ValidatorWatch {
  const { found, now } = poll;
  const { validator, watch, subscription } = each;
  const { channelId } = subscription;
  const since = watch.missingSince ?? now;
  if (ageOf(since, now) < GONE_MS || since > now) return { ...watch, missingSince: Math.min(since, now) };
  const alert = openAlert(poll, each);
  if (alert) {
    overWithin(poll, alert, now);
    found.alerts.set(alertId(channelId, alert.subject), {
      ...alert,
      endedAt: now,
      isGone: true,
      revision: alert.revision + 1,
    });
  }
  found.events.push({ kind: "gone", channelId, validator, since: watch.alert ?? since });
  return { goneAt: now };
}

/** What a reading means for one subscription. @returns what to remember */
async function settle(poll: Poll, each: Watched, activity: Activity | undefined): Promise<ValidatorWatch> {
  const { reading, survey, mayCall, found, now } = poll;
  const { validator, subscription, watch } = each;
  const { channelId } = subscription;
  if (reading.absent.has(validator)) return judgeAbsence(poll, each);
  if (!reading.seen.has(validator) || !activity) {
    const { missingSince, ...listed } = watch;
    return reading.present.has(validator) ? listed : watch;
  }
  const open = openAlert(poll, each);
  const { seenAt } = activity;
  const { unconfirmed, missingSince, alert, ...rest } = watch;
  const verdict = judge({
    seenAt,
    afterMs: afterOf(subscription),
    unconfirmed,
    open: open && { since: open.since, level: open.level },
    onHold: !mayCall,
    now,
  });
  if (open) follow(poll, open, verdict, seenAt);
  if (verdict.kind === "silent") await callSilent(poll, each, activity, verdict.level);
  const next: ValidatorWatch = {
    ...rest,
    ...(verdict.kind === "silent" ? { alert: seenAt } : {}),
    ...(open && verdict.kind !== "back" ? { alert: open.since } : {}),
    ...(verdict.kind === "unconfirmed" ? { unconfirmed: seenAt } : {}),
  };
  if (!subscription.topics.version) return next;
  const { behind, toldVersion, ...others } = next;
  const judged = judgeVersion(behindWhat(activity.version, survey), next, now);
  if (judged.tell !== undefined)
    found.events.push({
      kind: "version",
      channelId,
      validator,
      target: judged.tell,
      running: activity.version,
    });
  return { ...others, ...judged.memory };
}

/**
 * Watches validators for the channels and people who asked: reads when each was last seen, and publishes what that means. No
 * data is no news: what could not be read, and what the explorer is behind with, changes nothing.
 */
export function createValidatorWatch({ name, explorer, state, survey, now }: WatchDeps) {
  /** Alerts whose messages show what people said. */
  const shown = new Map<string, number>();

  return async (publisher: Publisher): Promise<PollOutcome> => {
    const loaded = await load(name, state, publisher);
    const old = leftovers(name, state, loaded, now());
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
    // What was read is as old as its request: a process that is frozen meanwhile must not take it for the explorer's age.
    const readSince = now();
    const reading = await readActivity(explorer, parties, now);
    const { newestAt } = reading;
    // A list that says of nobody when they were last seen is no reading.
    if (newestAt === null) return "failed";
    const activity = learn(reading, loaded, readSince);
    const onHold = readSince - newestAt > LAG_MS;
    const wasOnHold = [...loaded.alerts.values()].some(
      (each) => each.kind === "hold" && each.endedAt === undefined,
    );
    const found: Findings = { events: [], alerts: new Map(), watches: new Map() };
    // The first reading after a hold may be of an explorer that is still catching up.
    const mayCall = !onHold && !wasOnHold;
    const poll: Poll = { name, loaded, reading, survey: survey(), onHold, mayCall, found, now: readSince };
    settleHold(poll);
    for (const each of live) {
      const next = await settle(poll, each, activity.get(each.validator));
      if (!isDeepStrictEqual(next, each.watch)) found.watches.set(each.id, next);
    }
    await readTraffic(poll);
    dropStrangers(poll);
    announceMany(poll);

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
    return parties.every((party) => reading.seen.has(party)) ? "done" : "partial";
  };

  /** What people said since the last poll, perhaps to another process, is shown. */
  function touchAnswered(publisher: Publisher, { responses, alerts }: Loaded): void {
    const news = [...responses].filter(([id, { revision }]) => shown.get(id) !== revision);
    for (const [id, { revision }] of news) shown.set(id, revision);
    for (const id of [...shown.keys()]) if (!responses.has(id)) shown.delete(id);
    publisher.touch(news.flatMap(([id]) => alerts.get(id)?.subject ?? []));
  }
}
