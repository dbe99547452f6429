import { isDeepStrictEqual } from "node:util";
import { hasTopic } from "../../delivery/feed.js";
import type { FeedDeps, PollSteps, Subscribers } from "../../delivery/module.js";
import type { Explorer } from "../../explorer/service.js";
import {
  type Activity,
  activities,
  intervalFor,
  NETWORK_RHYTHM,
  rhythms,
} from "../../ledger/network-rhythm.js";
import { judgeReports, SHORT_PAUSE_MS } from "../../ledger/rhythm.js";
import { isStillOrSettling } from "../../ledger/rounds.js";
import { ageOf } from "../../util/clock.js";
import { filterInTurns, inPieces, yieldIfBusy } from "../../util/event-loop.js";
import { addTo } from "../../util/groups.js";
import { defined } from "../../util/present.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import { alertId, type SilentAlert, subjectIn, type ValidatorWatch } from "./collections.js";
import { behindWhat, isListedAgain, judge, judgeVersion } from "./decide.js";
import { noFindings, stepsOf } from "./findings.js";
import { settleHold } from "./holds.js";
import {
  type Loaded,
  load,
  oldAlerts,
  orphanedAlerts,
  unwatchedWrites,
  type WatchedValidator,
} from "./memory.js";
import { createNetworkReader } from "./network-reading.js";
import type { MissingValidator, Poll } from "./poll.js";
import { type ActivityReading, readActivity } from "./reading.js";
import {
  announceMany,
  backWithin,
  callSilent,
  dropUnwatchedMembers,
  follow,
  isHandled,
  openAlert,
  overWithin,
} from "./silences.js";
import { chosenAfter, topics } from "./topics.js";
import { readTraffic } from "./traffic.js";
import { warnOfUpgrade } from "./upgrade-warning.js";

/** Minimum time between two answers that there is no such validator before it counts as delisted, in ms. */
const GONE_MS = 30 * MINUTE;
/** Time until many that are missing together count as delisted, in ms. */
const MANY_GONE_MS = DAY;
/** Number of watched validators that, if missing together, the explorer has probably lost for a while. */
const MANY_MISSING = 5;
/** Time within which the explorer is asked about all of many missing validators, in ms: a poll asks about a few of them. */
const ASKED_MS = 6 * HOUR;

interface ValidatorWatchDeps extends Pick<FeedDeps, "state" | "directory" | "now"> {
  /** Returns fresh readings only. */
  readonly explorer: Explorer;
}

/** Number of documents per commit. */
const DOCUMENTS_PER_STEP = 100;

/** Returns each channel's missing validators. `undefined` if fewer than `MANY_MISSING` are missing. */
function manyMissing(live: readonly WatchedValidator[], { absent }: ActivityReading): Poll["missing"] {
  const missing = live.filter(
    ({ validator, watch }) => watch.missingSince !== undefined || absent.has(validator),
  );
  if (new Set(missing.map(({ validator }) => validator)).size < MANY_MISSING) return undefined;
  const byChannel = new Map<string, MissingValidator[]>();
  for (const { validator, subscription, watch } of missing)
    if (watch.missingSince !== undefined)
      addTo(byChannel, subscription.channelId, { validator, since: watch.missingSince });
  return byChannel;
}

/** True if the explorer was asked about a validator in the last hours, and did not know it. */
const wasMissed = ({ missedAt, now }: Poll, validator: string): boolean =>
  ageOf(missedAt.get(validator) ?? Number.NEGATIVE_INFINITY, now) <= ASKED_MS;

/**
 * True if the explorer does not know a validator. A poll has too few requests to ask about each of many, so that earlier answers count
 * until the validator is seen.
 */
function isMissing(poll: Poll, { validator, watch }: WatchedValidator): boolean {
  const { absent, seen, present } = poll.reading;
  if (absent.has(validator)) return true;
  const isKnown = seen.has(validator) || present.has(validator);
  return (
    poll.missing !== undefined && watch.missingSince !== undefined && !isKnown && wasMissed(poll, validator)
  );
}

/**
 * True if a missing validator counts as delisted. Many of a channel are told of together, once the explorer has been asked about all
 * of them, unless one of them gets no answer for hours.
 */
function isDelisted(poll: Poll, channelId: string, missingSince: number): boolean {
  const { missing, now } = poll;
  if (missing === undefined) return now >= missingSince + GONE_MS;
  const together = (missing.get(channelId) ?? []).filter(
    ({ since }) => Math.abs(since - missingSince) <= ASKED_MS,
  );
  const lastSince = Math.max(missingSince, ...together.map(({ since }) => since));
  const areAllAsked = together.every(({ validator }) => wasMissed(poll, validator));
  return now >= lastSince + MANY_GONE_MS + (areAllAsked ? 0 : ASKED_MS);
}

/** Handles a validator that the explorer does not know. It is delisted if it is missing twice. */
function judgeAbsence(poll: Poll, each: WatchedValidator): ValidatorWatch {
  const { directory, found, now } = poll;
  const { validator, watch, subscription } = each;
  const { channelId } = subscription;
  // An explorer that is behind may not know the validator yet.
  if (poll.isBehind) return watch;
  const { missingSince = now } = watch;
  // The explorer's answers about one validator may be wrong. The list counts.
  const listedAt = directory.entry("validator", validator) && directory.readAt("validator");
  if ((listedAt ?? 0) > missingSince) return { ...watch, missingSince: now };
  if (!isDelisted(poll, channelId, missingSince))
    return { ...watch, missingSince: Math.min(missingSince, now) };
  const alert = openAlert(poll, each);
  const isCalm = alert && isHandled(poll, alert);
  if (alert) {
    overWithin(poll, alert, now, true);
    const nextAlert = { ...alert, endedAt: now, isGone: true, revision: alert.revision + 1 };
    found.alerts.set(alertId(channelId, alert.subject), nextAlert);
  }
  const since = watch.alert ?? missingSince;
  found.events.push({ kind: "gone", channelId, validator, since, isCalm });
  // The rest prevents a second announcement of its version or traffic once it is listed again.
  const { alert: _, unconfirmed, missingSince: __, ...told } = watch;
  return { ...told, goneAt: now };
}

/** Continues the alerts about a validator that the explorer lists again. */
function noteReturn(poll: Poll, { id, validator, subscription, watch }: WatchedValidator): void {
  const { directory, reading, found, now } = poll;
  const { channelId } = subscription;
  const { goneAt = now, ...rest } = watch;
  // The explorer may show its old row again.
  const { seenAt = 0 } = reading.seen.get(validator) ?? {};
  const lastReport = directory.entry("validator", validator)?.seenAt ?? undefined;
  if (!isListedAgain(goneAt, seenAt > goneAt, lastReport, now)) return;
  found.watches.set(id, rest);
  found.events.push({ kind: "listed", channelId, validator, since: goneAt });
  const reportedAt = Math.max(seenAt, lastReport ?? 0);
  backWithin(poll, channelId, validator, reportedAt > goneAt ? Math.min(reportedAt, now) : now);
}

/** True if a new report of a silent validator must be its first one: no other can have come since the last reading. */
function isFirstReport(
  { loaded, now }: Poll,
  { validator, since }: SilentAlert,
  intervalMs: number,
): boolean {
  const before = loaded.activity.get(validator);
  return (
    before !== undefined &&
    before.seenAt <= since &&
    ageOf(before.readAt, now) <= Math.max(intervalMs, SHORT_PAUSE_MS)
  );
}

/** Applies a reading to one subscription. Returns its new state. */
async function settle(
  poll: Poll,
  each: WatchedValidator,
  activity: Activity | undefined,
): Promise<ValidatorWatch> {
  const { reading, survey, mayDoubt, mayCall, found, rhythm, rounds, listedUntil, now } = poll;
  const { validator, subscription, watch } = each;
  const { channelId } = subscription;
  if (isMissing(poll, each)) return judgeAbsence(poll, each);
  if (!reading.seen.has(validator) || !activity) {
    const { missingSince, ...listed } = watch;
    return reading.present.has(validator) ? listed : watch;
  }
  const openOne = openAlert(poll, each);
  const { seenAt } = activity;
  const { unconfirmed, missingSince, alert, ...rest } = watch;
  const ownMs = intervalFor(activity, rhythm).ms;
  const { afterMs } = judgeReports(seenAt, ownMs, listedUntil, chosenAfter(subscription));
  const verdict = judge({
    seenAt,
    // The levels of an open alert count from the limit that it was called with.
    afterMs: openOne?.after ?? afterMs,
    unconfirmed,
    open: openOne && { since: openOne.since, level: openOne.level },
    // A validator's own interval may be longer than the network's.
    onHold: !mayDoubt || isStillOrSettling(rounds, ownMs, now),
    isAfterHold: !mayCall,
    asOf: listedUntil,
  });
  // After a hold, reports arrive late.
  const isFirst = openOne !== undefined && mayCall && isFirstReport(poll, openOne, ownMs);
  if (openOne) follow(poll, openOne, verdict, { seenAt, isFirst });
  if (verdict.kind === "silent") await callSilent(poll, each, activity, verdict.level, afterMs);
  const newAlert = verdict.kind === "silent" ? seenAt : undefined;
  const nextWatch: ValidatorWatch = {
    ...rest,
    ...defined({
      alert: openOne && verdict.kind !== "back" ? openOne.since : newAlert,
      unconfirmed: verdict.kind === "unconfirmed" ? seenAt : undefined,
    }),
  };
  if (!hasTopic(subscription, { topics }, "version")) return nextWatch;
  const { behind, toldVersion, toldUpgrade: _, ...others } = nextWatch;
  const { memory, tell } = judgeVersion(behindWhat(activity.version, survey), nextWatch, now);
  if (tell !== undefined)
    found.events.push({ kind: "version", channelId, validator, target: tell, running: activity.version });
  return { ...others, ...memory, ...defined({ toldUpgrade: warnOfUpgrade(poll, each, activity.version) }) };
}

/** Time by which a list may be older than the one before without being an old copy, in ms: validators come and go. */
const OLD_COPY_MS = 5 * MINUTE;

/**
 * Creates the poll that reads all watched validators' reports and publishes alerts. Missing data is not news:
 * if data cannot be read, or if the explorer is behind, nothing changes.
 */
export function createValidatorWatch({ explorer, state, directory, now }: ValidatorWatchDeps) {
  /** Revisions of people's responses that alerts already show. */
  const shownRevisions = new Map<string, number>();
  let lastResponses: Loaded["responses"] | undefined;
  const readNetwork = createNetworkReader(explorer, state, now);
  /** Time of the last cleanup, epoch ms. The first one waits for an hour, because it reads every alert. */
  let cleanedAt = now() - DAY + HOUR;
  /** Times when the explorer last said that it does not know a validator, epoch ms. Unknown ones must not take up every poll's requests. */
  const missedAt = new Map<string, number>();
  /** The newest report in the last list, epoch ms, and true if a list with older ones has been ignored since. */
  let newest = { reportAt: 0, isDoubted: false };

  return async function* (subscribers: Subscribers): PollSteps {
    const loaded = await load(state, subscribers, directory);
    const oldWrites = await unwatchedWrites(state, loaded);
    const isCleanupDue = ageOf(cleanedAt, now()) >= DAY;
    if (isCleanupDue) cleanedAt = now();
    const finishedAlerts = [...(await orphanedAlerts(loaded))];
    if (isCleanupDue) finishedAlerts.push(...(await oldAlerts(state, loaded, now())));
    const live = await filterInTurns(loaded.watched.values(), ({ isLive }) => isLive);
    const unlisted = await filterInTurns(loaded.watched.values(), ({ isUnlisted }) => isUnlisted);
    // Thousands of alerts may be forgotten at the same time. Each step is one commit.
    for await (const ended of inPieces(finishedAlerts, DOCUMENTS_PER_STEP))
      yield { ended, changed: ended.map(subjectIn) };
    for await (const writes of inPieces(oldWrites, DOCUMENTS_PER_STEP)) yield { writes };
    if (live.length + unlisted.length === 0) {
      // Without subscriptions, no poll learns the new rhythm, and the digest would wait for it.
      if (loaded.watched.size === 0 && loaded.rhythm?.changing) {
        const { changing, ...known } = loaded.rhythm;
        yield { writes: [state.open(rhythms).put(NETWORK_RHYTHM, known)] };
      }
      return "done";
    }
    // Start with those that have not been read for the longest time, in case some cannot be read in this
    // poll.
    const readAt = (validator: string) =>
      Math.max(loaded.activity.get(validator)?.readAt ?? 0, missedAt.get(validator) ?? 0);
    const parties = [...new Set(live.map(({ validator }) => validator))].sort(
      (a, b) => readAt(a) - readAt(b),
    );
    // A reading is as old as its request. After the process was suspended, an old reading does not mean that
    // the explorer is behind.
    const readSince = now();
    const reading = await readActivity(explorer, parties, now);
    for (const party of missedAt.keys()) if (!loaded.parties.has(party)) missedAt.delete(party);
    for (const party of reading.absent) missedAt.set(party, readSince);
    const { newestAt } = reading;
    // A list without usable report times is not a reading.
    if (newestAt === null || reading.isAhead) return "failed";
    // An explorer that has just shown newer reports may answer from an old copy once.
    const isOlder = newestAt < newest.reportAt - OLD_COPY_MS;
    if (isOlder && !newest.isDoubted) {
      newest = { ...newest, isDoubted: true };
      return "failed";
    }
    newest = { reportAt: newestAt, isDoubted: false };
    const { network, activity } = await readNetwork(reading, newestAt, loaded, readSince);
    const found = noFindings(loaded);
    const poll: Poll = {
      ...network,
      loaded,
      reading,
      survey: directory.versions((party) =>
        intervalFor(party === null ? undefined : activity.get(party), network.rhythm),
      ),
      directory,
      upgradeDecision: directory.upgradeDecision(),
      missing: manyMissing(live, reading),
      missedAt,
      found,
      now: readSince,
    };
    settleHold(poll);
    for (const each of live) {
      await yieldIfBusy();
      const nextWatch = await settle(poll, each, activity.get(each.validator));
      if (!isDeepStrictEqual(nextWatch, each.watch)) found.watches.set(each.id, nextWatch);
    }
    for (const each of unlisted) noteReturn(poll, each);
    await readTraffic(poll);
    await dropUnwatchedMembers(poll);
    announceMany(poll);

    // A network has up to a thousand validators, and documents become text when their write is made.
    for await (const piece of inPieces(activity, DOCUMENTS_PER_STEP))
      yield { writes: piece.map(([party, document]) => state.open(activities).put(party, document)) };
    const { rhythm } = network;
    const isNewRhythm = rhythm !== undefined && rhythm !== loaded.rhythm;
    yield {
      writes: isNewRhythm ? [state.open(rhythms).put(NETWORK_RHYTHM, rhythm)] : [],
      changed: answered(loaded),
    };
    yield* stepsOf(state, loaded, found);
    return parties.every((party) => reading.seen.has(party)) ? "done" : "partial";
  };

  /** Returns the alerts that people have responded to since the last poll, perhaps through another process. */
  function answered({ responses }: Loaded): string[] {
    if (responses === lastResponses) return [];
    lastResponses = responses;
    const news = [...responses].filter(([id, { revision }]) => shownRevisions.get(id) !== revision);
    for (const [id, { revision }] of news) shownRevisions.set(id, revision);
    for (const id of [...shownRevisions.keys()]) if (!responses.has(id)) shownRevisions.delete(id);
    return news.map(([id]) => subjectIn(id));
  }
}
