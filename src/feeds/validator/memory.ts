import { type Subscription, subscriptionId } from "../../delivery/collections.js";
import type { Findings, Subscribers } from "../../delivery/module.js";
import {
  type Activity,
  activities,
  type NetworkRhythm,
  RELEARN_MS,
  readNetworkRhythm,
} from "../../ledger/network-rhythm.js";
import { withGap } from "../../ledger/rhythm.js";
import type { VersionSurvey } from "../../ledger/versions.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { ageOf } from "../../util/clock.js";
import { DAY, MINUTE } from "../../util/units.js";
import { type Alert, alerts, responses, type ValidatorWatch, validatorWatches } from "./collections.js";
import type { ValidatorEvent } from "./events.js";
import type { ActivityReading } from "./reading.js";

/** An alert is forgotten so long after it is over, in ms. */
const KEPT_MS = 30 * DAY;
/** One subscription with what is remembered for it. */
export interface WatchedValidator {
  readonly id: string;
  readonly subscription: Subscription;
  readonly validator: string;
  readonly watch: ValidatorWatch;
  /** True if the validator is read: someone would be told, and it is still listed. */
  readonly isLive: boolean;
}

/** The result of a poll, written in one commit. */
export interface PollFindings {
  readonly events: ValidatorEvent[];
  readonly alerts: Map<string, Alert>;
  readonly watches: Map<string, ValidatorWatch>;
  /** Ids of the groups that are open, by channel. */
  readonly groups: Map<string, string[]>;
}

/** Returns empty findings of a poll. */
export function noFindings({ alerts: known }: Pick<Loaded, "alerts">): PollFindings {
  const groups = new Map<string, string[]>();
  for (const [id, { kind, channelId, endedAt }] of known)
    if (kind === "many" && endedAt === undefined)
      groups.set(channelId, [...(groups.get(channelId) ?? []), id]);
  return { events: [], alerts: new Map(), watches: new Map(), groups };
}

/** Channels whose findings are committed together: thousands at once would hold up everything else. */
const CHANNELS_PER_STEP = 50;

/** Divides what a poll has found into steps by channel. Each channel's findings are committed together. */
export function* stepsOf(
  state: State,
  { watched }: Pick<Loaded, "watched">,
  { events, alerts: changedAlerts, watches }: PollFindings,
): Generator<Required<Pick<Findings, "events" | "writes" | "changed">>> {
  interface Step {
    readonly events: ValidatorEvent[];
    readonly writes: Write[];
    readonly changed: string[];
  }
  const byChannel = new Map<string, Step>();
  const stepOf = (channelId: string): Step => {
    const step = byChannel.get(channelId) ?? { events: [], writes: [], changed: [] };
    byChannel.set(channelId, step);
    return step;
  };
  for (const { id, subscription } of watched) {
    const watch = watches.get(id);
    if (watch) stepOf(subscription.channelId).writes.push(state.open(validatorWatches).put(id, watch));
  }
  for (const [id, alert] of changedAlerts) {
    const step = stepOf(alert.channelId);
    step.writes.push(state.open(alerts).put(id, alert));
    step.changed.push(alert.subject);
  }
  for (const event of events) stepOf(event.channelId).events.push(event);
  const channelSteps = [...byChannel.values()];
  for (let from = 0; from < channelSteps.length; from += CHANNELS_PER_STEP) {
    const together = channelSteps.slice(from, from + CHANNELS_PER_STEP);
    yield {
      events: together.flatMap((each) => each.events),
      writes: together.flatMap((each) => each.writes),
      changed: together.flatMap((each) => each.changed),
    };
  }
}

export type Loaded = Awaited<ReturnType<typeof load>>;

/** A poll under way: what it knows, and what it has found. */
export interface Poll {
  /** The feed's name. */
  readonly name: string;
  readonly loaded: Loaded;
  readonly reading: ActivityReading;
  /** Versions of the network's active validators. */
  readonly survey: VersionSurvey;
  /** The network's rhythm, and the interval of validators whose own rhythm is unknown, in ms. */
  readonly rhythm: NetworkRhythm | undefined;
  readonly intervalMs: number;
  /** Up to when the explorer's data goes, epoch ms. */
  readonly asOf: number;
  /** True if the explorer is behind. */
  readonly isBehind: boolean;
  /** True if a missing report says nothing: the explorer is behind, or the network's rhythm has changed. */
  readonly onHold: boolean;
  /** True if a validator may be called silent. */
  readonly mayCall: boolean;
  readonly found: PollFindings;
  /** When it began, epoch ms. */
  readonly now: number;
}

/** Returns an alert with the changes of this poll. */
export const alertIn = ({ found, loaded }: Poll, id: string): Alert | undefined =>
  found.alerts.get(id) ?? loaded.alerts.get(id);

/** Loads the memories, alerts and subscriptions of a poll. */
export async function load(name: string, state: State, subscribers: Subscribers) {
  const [subscriptions, watches, openAlerts, answers, activity, rhythm] = await Promise.all([
    subscribers.subscriptions(),
    state.open(validatorWatches).list(),
    state.open(alerts).list(),
    state.open(responses).list(),
    state.open(activities).list(),
    readNetworkRhythm(state),
  ]);
  const watched = await Promise.all(
    subscriptions.map(async (subscription): Promise<WatchedValidator[]> => {
      const { channelId, subject, savedAt = 0 } = subscription;
      if (subject === null) return [];
      const id = subscriptionId(channelId, name, subject);
      const { goneAt, ...watch } = watches.get(id) ?? {};
      const isGone = goneAt !== undefined && goneAt >= savedAt;
      const isHeard = await subscribers.isHeard(subscription);
      return [{ id, subscription, validator: subject, watch, isLive: isHeard && !isGone }];
    }),
  );
  return {
    watched: watched.flat(),
    watches,
    alerts: openAlerts,
    responses: answers,
    activity,
    rhythm,
  };
}

/** Returns the ids of alerts that ended long ago, or whose subscription was removed, and of responses without an alert. */
export function finishedAlerts(name: string, { watched, alerts, responses }: Loaded, now: number): string[] {
  const ids = new Set(watched.map(({ id }) => id));
  const channels = new Set(watched.map(({ subscription }) => subscription.channelId));
  const isOld = ({ endedAt }: Alert) => endedAt !== undefined && ageOf(endedAt, now) > KEPT_MS;
  const isOrphan = (each: Alert) =>
    each.kind === "silent"
      ? !ids.has(subscriptionId(each.channelId, name, each.validator))
      : !channels.has(each.channelId);
  return [
    ...[...alerts].filter(([, each]) => isOld(each) || isOrphan(each)).map(([id]) => id),
    ...[...responses.keys()].filter((id) => !alerts.has(id)),
  ];
}

/** Returns the writes that delete the reports of validators that are no longer watched. */
export function unwatchedReports(state: State, { watched, activity }: Loaded): Write[] {
  const parties = new Set(watched.map(({ validator }) => validator));
  const reports = state.open(activities);
  return [...activity.keys()].filter((party) => !parties.has(party)).map((party) => reports.delete(party));
}

/**
 * Returns the reports of each watched validator with what this reading adds: only a newer report counts.
 * @param isUnclear true if reports may have come unseen: the explorer was behind, or still is
 */
export function learn(
  reading: ActivityReading,
  { watched, activity }: Loaded,
  isUnclear: boolean,
  now: number,
): Map<string, Activity> {
  const learntReports = new Map<string, Activity>();
  for (const validator of new Set(watched.map((each) => each.validator))) {
    const previousReports = activity.get(validator);
    const seenReport = reading.seen.get(validator);
    if (!seenReport) {
      if (previousReports) learntReports.set(validator, previousReports);
      continue;
    }
    // A report that lies in the future was dated by a clock that was wrong.
    const isKnown = previousReports !== undefined && previousReports.seenAt <= now + 5 * MINUTE;
    const gapMs = isKnown ? seenReport.seenAt - previousReports.seenAt : 0;
    const unreadMs = previousReports ? ageOf(previousReports.readAt, now) : 0;
    const knownGaps = previousReports && unreadMs < RELEARN_MS ? gapsOf(previousReports) : { gaps: [] };
    const gaps =
      gapMs > 0 && unreadMs < RELEARN_MS && !isUnclear ? withGap(knownGaps, gapMs, unreadMs) : knownGaps;
    const seenAt = isKnown ? Math.max(seenReport.seenAt, previousReports.seenAt) : seenReport.seenAt;
    learntReports.set(validator, { ...seenReport, seenAt, readAt: now, ...gaps });
  }
  return learntReports;
}

const gapsOf = ({ gaps, roughGaps }: Activity): Pick<Activity, "gaps" | "roughGaps"> =>
  roughGaps ? { gaps, roughGaps } : { gaps };
