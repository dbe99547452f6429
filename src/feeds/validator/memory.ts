import type { Subscription } from "../../delivery/collections.js";
import type { Findings, Subscribers } from "../../delivery/module.js";
import { type Directory, SUPER_VALIDATORS } from "../../directory/directory.js";
import { isGroup, membersOf } from "../../directory/groups.js";
import {
  type Activity,
  activities,
  type NetworkRhythm,
  RELEARN_MS,
  readNetworkRhythm,
} from "../../ledger/network-rhythm.js";
import { USUAL_INTERVAL_MS, withGap } from "../../ledger/rhythm.js";
import type { Rounds } from "../../ledger/rounds.js";
import type { VersionSurvey } from "../../ledger/versions.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { ageOf, CLOCK_ERROR_MS } from "../../util/clock.js";
import { filterInTurns, inPieces, yieldIfBusy } from "../../util/event-loop.js";
import { addTo } from "../../util/groups.js";
import { DAY } from "../../util/units.js";
import {
  type Alert,
  alerts,
  responses,
  type ValidatorWatch,
  validatorWatches,
  watchId,
} from "./collections.js";
import type { ValidatorEvent } from "./events.js";
import type { ActivityReading } from "./reading.js";

/** Time after its end at which an alert is deleted, in ms. */
const KEPT_MS = 30 * DAY;
/** A subscription and its stored state. */
export interface WatchedValidator {
  readonly id: string;
  readonly subscription: Subscription;
  readonly validator: string;
  readonly watch: ValidatorWatch;
  /** True if the validator needs to be read: its alerts can be delivered, and it is still listed. */
  readonly isLive: boolean;
  /** True if its alerts could be delivered, and the explorer no longer lists it. */
  readonly isUnlisted: boolean;
}

/** Result of a poll. */
export interface PollFindings {
  readonly events: ValidatorEvent[];
  readonly alerts: Map<string, Alert>;
  readonly watches: Map<string, ValidatorWatch>;
  /** Ids of open groups, by channel. */
  readonly groups: Map<string, string[]>;
}

/** Returns empty findings of a poll. */
export function noFindings({ alerts: known }: Loaded): PollFindings {
  const groups = new Map<string, string[]>();
  for (const [id, { kind, channelId, endedAt }] of known)
    if (kind === "many" && endedAt === undefined) addTo(groups, channelId, id);
  return { events: [], alerts: new Map(), watches: new Map(), groups };
}

/** Adds the subject of the subscription that watches an event's validator. */
function withSubject(event: ValidatorEvent, watched: Loaded["watched"]): ValidatorEvent {
  if (!("validator" in event)) return event;
  const subject = watched.get(watchId(event.channelId, event.validator))?.subscription.subject;
  return subject == null ? event : { ...event, subject };
}

/** Number of channels per commit. Committing thousands at once would block everything else. */
const CHANNELS_PER_STEP = 25;

/** Divides the findings of a poll into commits. All findings of a channel are in the same one. */
export async function* stepsOf(
  state: State,
  { watched }: Loaded,
  found: PollFindings,
): AsyncGenerator<Required<Pick<Findings, "events" | "writes" | "changed">>> {
  const [allWatches, allAlerts] = [state.open(validatorWatches), state.open(alerts)];
  type Step = Omit<PollFindings, "groups">;
  const byChannel = new Map<string, Step>();
  const stepOf = (channelId: string): Step => {
    const step = byChannel.get(channelId) ?? { events: [], alerts: new Map(), watches: new Map() };
    byChannel.set(channelId, step);
    return step;
  };
  for await (const piece of inPieces(found.watches))
    for (const [id, watch] of piece) {
      const channelId = watched.get(id)?.subscription.channelId;
      if (channelId !== undefined) stepOf(channelId).watches.set(id, watch);
    }
  for await (const piece of inPieces(found.alerts))
    for (const [id, alert] of piece) stepOf(alert.channelId).alerts.set(id, alert);
  for await (const piece of inPieces(found.events))
    for (const event of piece) stepOf(event.channelId).events.push(withSubject(event, watched));
  // Documents become text when their write is made, so that is done step by step.
  for await (const together of inPieces(byChannel.values(), CHANNELS_PER_STEP)) {
    const watches = together.flatMap((each) => [...each.watches]);
    const changed = together.flatMap((each) => [...each.alerts]);
    yield {
      events: together.flatMap(({ events }) => events),
      writes: [
        ...watches.map(([id, watch]) => allWatches.put(id, watch)),
        ...changed.map(([id, alert]) => allAlerts.put(id, alert)),
      ],
      changed: changed.map(([, { subject }]) => subject),
    };
  }
}

export type Loaded = Awaited<ReturnType<typeof load>>;

/** Data of the whole network in one reading of the validators. */
export interface NetworkReading {
  /** The network's rhythm, and the default interval for validators whose own rhythm is unknown, in ms. */
  readonly rhythm: NetworkRhythm | undefined;
  readonly intervalMs: number;
  /** Time of the explorer's newest data, epoch ms. */
  readonly asOf: number;
  /** Time up to which the list of validators shows who is silent, epoch ms. Not later than `asOf`. */
  readonly listedUntil: number;
  /** True if the explorer is behind. */
  readonly isBehind: boolean;
  /** The rounds; `undefined` if they are not known at the moment. */
  readonly rounds: Rounds | undefined;
  /** True if alerts are held: the explorer is behind, the network stands still, or its rhythm has changed. */
  readonly onHold: boolean;
  /** True if this reading may show a silence, which the next one confirms. */
  readonly mayDoubt: boolean;
  /** True if this reading may also confirm a silence. */
  readonly mayCall: boolean;
}

/** State of a running poll. */
export interface Poll extends NetworkReading {
  readonly loaded: Loaded;
  readonly reading: ActivityReading;
  /** Versions of the active validators of the network. */
  readonly survey: VersionSurvey;
  readonly directory: Directory;
  /** Time of the network's next upgrade, epoch ms. `undefined` if none is scheduled. */
  readonly upgradeAt: number | undefined;
  /** True if the explorer has probably lost validators from its list: the missing ones then count as delisted only after a day. */
  readonly isListDoubtful: boolean;
  readonly found: PollFindings;
  /** Start of the poll, epoch ms. */
  readonly now: number;
}

/** Returns an alert, including changes from this poll. */
export const alertIn = ({ found, loaded }: Poll, id: string): Alert | undefined =>
  found.alerts.get(id) ?? loaded.alerts.get(id);

/** Returns the validators in the ids of stored states, by channel. */
function partiesByChannel(ids: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const byChannel = new Map<string, string[]>();
  for (const id of ids) {
    const [, channelId = ""] = id.split("/");
    const party = id.slice(watchId(channelId, "").length);
    // Version 0.2.0 takes a group for a validator.
    if (!isGroup(party)) addTo(byChannel, channelId, party);
  }
  return byChannel;
}

/** Loads the stored state, alerts and subscriptions for a poll. */
export async function load(state: State, subscribers: Subscribers, directory: Directory) {
  const [subscriptions, watches, openAlerts, answers, activity, rhythm] = await Promise.all([
    subscribers.subscriptions(),
    state.open(validatorWatches).list(),
    state.open(alerts).list(),
    state.open(responses).list(),
    state.open(activities).list(),
    readNetworkRhythm(state),
  ]);
  const watched = new Map<string, WatchedValidator>();
  const add = (each: WatchedValidator) => {
    const known = watched.get(each.id);
    // A validator's own subscription comes before that of a group.
    const isBetter = !known || (each.isLive && !known.isLive) || each.subscription.subject === each.validator;
    if (isBetter && !(known?.isLive && !each.isLive)) watched.set(each.id, each);
  };
  const members = new Map<string, readonly string[] | undefined>();
  for (const { subject } of subscriptions)
    if (subject !== null && !members.has(subject)) members.set(subject, membersOf(subject, directory));
  /** The validators that each channel has watched so far. Only groups ask for them. */
  let watchedBefore: ReadonlyMap<string, readonly string[]> | undefined;
  const watchedIn = (channelId: string): readonly string[] => {
    watchedBefore ??= partiesByChannel(watches.keys());
    return watchedBefore.get(channelId) ?? [];
  };
  /** Returns a subject's members. A group that is not known yet keeps the validators that its channel has watched so far. */
  const partiesOf = (subject: string, channelId: string): readonly string[] => {
    const known = members.get(subject);
    if (known === undefined) return watchedIn(channelId);
    // Validators that have left the list leave their group once that is certain.
    const vanished =
      subject === SUPER_VALIDATORS
        ? watchedIn(channelId).filter((party) => !directory.entry("validator", party))
        : [];
    return [...known, ...vanished];
  };
  for (const subscription of subscriptions) {
    await yieldIfBusy();
    const { channelId, subject, savedAt = 0 } = subscription;
    if (subject === null) continue;
    const isHeard = await subscribers.isHeard(subscription);
    for (const validator of partiesOf(subject, channelId)) {
      const id = watchId(channelId, validator);
      const stored = watches.get(id) ?? {};
      const { goneAt, ...watch } = stored;
      const isGone = goneAt !== undefined && goneAt >= savedAt;
      add({
        id,
        subscription,
        validator,
        watch: isGone ? stored : watch,
        isLive: isHeard && !isGone,
        isUnlisted: isHeard && isGone,
      });
    }
  }
  const watchedBy = new Map<string, Set<string>>();
  const parties = new Set<string>();
  for (const { subscription, validator } of watched.values()) {
    const ownWatched = watchedBy.get(subscription.channelId) ?? new Set();
    watchedBy.set(subscription.channelId, ownWatched.add(validator));
    parties.add(validator);
  }
  return {
    /** Watched validators of all channels, by the ids of their stored states. */
    watched,
    /** The watched validators of each channel. */
    watchedBy,
    /** All watched validators. */
    parties,
    watches,
    alerts: openAlerts,
    responses: answers,
    activity,
    rhythm,
  };
}

/** Returns the ids of alerts that no subscription watches any more. Alerts that ended a while ago stay. */
export async function orphanedAlerts({ watchedBy, alerts }: Loaded): Promise<readonly string[]> {
  const isOrphan = (each: Alert) => {
    const parties = watchedBy.get(each.channelId);
    return each.kind === "silent" ? !parties?.has(each.validator) : !parties;
  };
  const orphans = await filterInTurns(alerts, ([, each]) => isOrphan(each));
  return orphans.map(([id]) => id);
}

/** Returns the ids of alerts that ended long ago, and of responses without an alert. It reads every alert. */
export async function oldAlerts(
  state: State,
  { responses }: Pick<Loaded, "responses">,
  now: number,
): Promise<readonly string[]> {
  const all = state.open(alerts);
  const ids: string[] = [];
  for await (const [id, { endedAt }] of all.entries())
    if (endedAt !== undefined && endedAt < now - KEPT_MS) ids.push(id);
  for (const id of responses.keys()) if ((await all.get(id)) === undefined) ids.push(id);
  return ids;
}

/** Returns the writes that delete what is stored about validators that are no longer watched. */
export async function unwatchedWrites(
  state: State,
  { watched, parties, watches, activity }: Loaded,
): Promise<readonly Write[]> {
  const [reports, memories] = [state.open(activities), state.open(validatorWatches)];
  const unwatched = await filterInTurns(activity.keys(), (party) => !parties.has(party));
  const forgotten = await filterInTurns(watches.keys(), (id) => !watched.has(id));
  return [...unwatched.map((party) => reports.delete(party)), ...forgotten.map((id) => memories.delete(id))];
}

/**
 * Maximum gap between two reports from which a validator's own rhythm is learnt, as a multiple of the network's interval, or of
 * the usual one if that is longer.
 */
const MAX_GAP = 4;

/**
 * Returns the known reports of each watched validator, updated with this reading. Only newer reports count.
 * @param isUnclear true if reports may have been missed because the explorer was behind
 */
export function learn(
  reading: ActivityReading,
  { parties, activity, rhythm }: Pick<Loaded, "parties" | "activity" | "rhythm">,
  isUnclear: boolean,
  now: number,
): Map<string, Activity> {
  const learntReports = new Map<string, Activity>();
  for (const validator of parties) {
    const previousReports = activity.get(validator);
    const seenReport = reading.seen.get(validator);
    if (!seenReport) {
      if (previousReports) learntReports.set(validator, previousReports);
      continue;
    }
    // A report in the future comes from a wrong clock.
    const isKnown = previousReports !== undefined && previousReports.seenAt <= now + CLOCK_ERROR_MS;
    const gapMs = isKnown ? seenReport.seenAt - previousReports.seenAt : 0;
    // A longer gap is an outage, and no rhythm.
    const isUsual = gapMs <= MAX_GAP * Math.max(rhythm?.intervalMs ?? 0, USUAL_INTERVAL_MS);
    const unreadMs = previousReports ? ageOf(previousReports.readAt, now) : 0;
    const knownGaps = previousReports && unreadMs < RELEARN_MS ? gapsOf(previousReports) : { gaps: [] };
    const gaps =
      gapMs > 0 && isUsual && unreadMs < RELEARN_MS && !isUnclear
        ? withGap(knownGaps, gapMs, unreadMs)
        : knownGaps;
    const seenAt = isKnown ? Math.max(seenReport.seenAt, previousReports.seenAt) : seenReport.seenAt;
    learntReports.set(validator, { ...seenReport, seenAt, readAt: now, ...gaps });
  }
  return learntReports;
}

const gapsOf = ({ gaps, roughGaps }: Activity): Pick<Activity, "gaps" | "roughGaps"> =>
  roughGaps ? { gaps, roughGaps } : { gaps };
