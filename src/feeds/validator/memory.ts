import type { Publisher } from "../../delivery/feed.js";
import type { VersionSurvey } from "../../ledger/versions.js";
import {
  type Activity,
  type Alert,
  type Subscription,
  subscriptionId,
  type ValidatorWatch,
} from "../../storage/catalogue.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { ageOf } from "../../util/clock.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import { MAX_GAPS } from "./alerts.js";
import type { ValidatorEvent } from "./events.js";
import type { ActivityReading } from "./reading.js";

/** An alert is forgotten so long after it is over, in ms. */
const KEPT_MS = 30 * DAY;
/** A longer gap says that nobody read, not that nobody reported, in ms. */
const MAX_GAP_MS = 2 * HOUR;

/** One subscription with what is remembered for it. */
export interface Watched {
  readonly id: string;
  readonly subscription: Subscription;
  readonly validator: string;
  readonly watch: ValidatorWatch;
  /** Whether it is read: not while nothing would be sent, nor once it is no longer listed. */
  readonly isLive: boolean;
}

/** What a poll has found out, all of which is one commit. */
export interface Findings {
  readonly events: ValidatorEvent[];
  readonly alerts: Map<string, Alert>;
  readonly watches: Map<string, ValidatorWatch>;
}

export type Loaded = Awaited<ReturnType<typeof load>>;

/** A poll under way: what it knows, and what it has found. */
export interface Poll {
  /** The feed's name. */
  readonly name: string;
  readonly loaded: Loaded;
  readonly reading: ActivityReading;
  /** What the network's active validators run. */
  readonly survey: VersionSurvey;
  /** Whether the explorer itself is behind. */
  readonly onHold: boolean;
  /** Whether anybody may be called silent. */
  readonly mayCall: boolean;
  readonly found: Findings;
  /** When it began, epoch ms. */
  readonly now: number;
}

/** An alert as it stands, with what this poll has found. */
export const alertIn = ({ found, loaded }: Poll, id: string): Alert | undefined =>
  found.alerts.get(id) ?? loaded.alerts.get(id);

/** What is remembered, and who watches what. */
export async function load(name: string, state: State, publisher: Publisher) {
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
  };
}

/** What nobody watches any more, and what was over long ago. */
export function leftovers(
  name: string,
  state: State,
  { watched, watches, alerts, responses, activity }: Loaded,
  now: number,
): Write[] {
  const ids = new Set(watched.map(({ id }) => id));
  const parties = new Set(watched.map(({ validator }) => validator));
  const isOld = ({ endedAt }: Alert) => endedAt !== undefined && ageOf(endedAt, now) > KEPT_MS;
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
}

/** The reports of each watched validator, with what this reading tells: only what is newer counts. */
export function learn(
  reading: ActivityReading,
  { watched, activity }: Loaded,
  now: number,
): Map<string, Activity> {
  const learnt = new Map<string, Activity>();
  for (const validator of new Set(watched.map((each) => each.validator))) {
    const before = activity.get(validator);
    const seen = reading.seen.get(validator);
    if (!seen) {
      if (before) learnt.set(validator, before);
      continue;
    }
    // A report that lies in the future was dated by a clock that was wrong.
    const last = before && before.seenAt <= now + 5 * MINUTE ? before.seenAt : undefined;
    const gap = last === undefined ? 0 : seen.seenAt - last;
    const gaps = before?.gaps ?? [];
    learnt.set(validator, {
      ...seen,
      seenAt: Math.max(seen.seenAt, last ?? 0),
      readAt: now,
      gaps: gap > 0 && gap < MAX_GAP_MS ? [...gaps, gap].slice(-MAX_GAPS) : [...gaps],
    });
  }
  return learnt;
}
