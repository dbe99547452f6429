import type { Subscription } from "../../delivery/collections.js";
import type { Subscribers } from "../../delivery/module.js";
import { type Directory, SUPER_VALIDATORS } from "../../directory/directory.js";
import { isGroup, membersOf } from "../../directory/groups.js";
import { activities, readNetworkRhythm } from "../../ledger/network-rhythm.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { filterInTurns, yieldIfBusy } from "../../util/event-loop.js";
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

/** The stored state, alerts and subscriptions of a poll. */
export type Loaded = Awaited<ReturnType<typeof load>>;

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
