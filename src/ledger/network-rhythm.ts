import * as z from "zod";
import type { Log } from "../log.js";
import { type DocumentOf, defineCollection } from "../storage/collection.js";
import type { State } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import { timestampSchema } from "../storage/timestamp.js";
import { ageOf, pastTime } from "../util/clock.js";
import { inMemory } from "../util/memory.js";
import { HOUR } from "../util/units.js";
import {
  hasSlowedTo,
  intervalFromReading,
  intervalOf,
  MAX_STORED_GAPS,
  type ReportGaps,
  USUAL_INTERVAL_MS,
} from "./rhythm.js";
import { type Rounds, readRounds, recentlyRead } from "./rounds.js";

/** The last reports of a watched validator. */
const activity = z.object({
  /** Time of its last report according to the newest reading that contained it, epoch ms. */
  seenAt: timestampSchema,
  active: z.boolean().nullable(),
  version: z.string().nullable(),
  readAt: timestampSchema,
  /** Time between successive reports in ms, the newest last. */
  gaps: z.array(z.number()).max(MAX_STORED_GAPS),
  /** Like `gaps`, but the bot may have missed another report in between. */
  roughGaps: z.array(z.number()).max(MAX_STORED_GAPS).exactOptional(),
});

/** The network's reporting rhythm and the newest round. */
const rhythmSchema = z.object({
  /** Interval in ms. Nine of ten validators report at least this often. */
  intervalMs: z.number(),
  learntAt: timestampSchema,
  /** True if the interval was learned from successive reports, false if it was estimated from one reading. */
  isLearnt: z.boolean(),
  /** Set while no validator reports. Their interval after that is unknown. */
  changing: z
    .object({
      since: timestampSchema,
      beforeMs: z.number(),
      /** True if there is no sign of progress on the ledger, so that the explorer may be behind instead. */
      isUnsure: z.boolean(),
    })
    .exactOptional(),
  /** The newest round, the time when the bot last requested it, and the time when the bot saw it advance. */
  round: z
    .object({ number: z.number(), seenAt: timestampSchema, advancedAt: timestampSchema.exactOptional() })
    .exactOptional(),
});

/** Last reports of watched validators, by party. */
export const activities = defineCollection({
  name: "activity",
  schema: activity,
  lifetime: "as long as somebody watches the validator",
});

/** The network's reporting rhythm. */
export const rhythms = defineCollection({
  name: "rhythm",
  schema: rhythmSchema,
  lifetime: "forever: one document",
});

/** The network's reporting rhythm. */
export type NetworkRhythm = DocumentOf<typeof rhythms>;

/** The last reports of a watched validator. */
export type Activity = DocumentOf<typeof activities>;
/** Id of the document with the network's rhythm. */
export const NETWORK_RHYTHM = "network";

/** Age at which a learned interval may be out of date, in ms. */
export const RELEARN_MS = 12 * HOUR;

/** A validator's reporting interval. */
export interface Interval {
  readonly ms: number;
  /** True if it comes from the validator's own reports, false if it is the network's interval. */
  readonly isOwn: boolean;
}

/**
 * Returns a validator's reporting interval, or the network's until its own is known. A quick validator whose last report came after the
 * network's or the usual interval has probably slowed down, as older nodes do that are upgraded. If not, its next report shows that.
 */
export function intervalFor(
  activity: ReportGaps | undefined,
  network: Pick<NetworkRhythm, "intervalMs"> | undefined,
): Interval {
  const networkMs = network?.intervalMs ?? USUAL_INTERVAL_MS;
  const ownInterval = activity && intervalOf(activity);
  if (!activity || ownInterval === undefined) return { ms: networkMs, isOwn: false };
  const slowerMs = [networkMs, USUAL_INTERVAL_MS].find((each) => hasSlowedTo(each, activity, ownInterval));
  return { ms: slowerMs ?? ownInterval, isOwn: true };
}

/** Returns the network's rhythm; `undefined` if it is unknown. @throws {StateError} */
export const readNetworkRhythm = (state: State): Promise<NetworkRhythm | undefined> =>
  state.open(rhythms).get(NETWORK_RHYTHM);

/** Reads a validator's reporting interval. @throws {StateError} */
export async function readInterval(state: State, party: string): Promise<Interval> {
  const [activity, network] = await Promise.all([
    state.open(activities).get(party),
    readNetworkRhythm(state),
  ]);
  return intervalFor(activity, network);
}

/** Reporting intervals and rounds for screens. */
export interface Rhythms {
  /** Returns a function that returns a validator's interval, or the network's if its own is unknown. */
  intervals(): Promise<(party: string | null) => Interval>;
  /** Returns the rounds as they were last read; `undefined` if no feed follows them, or if they have not been read for a while. */
  rounds(): Promise<Rounds | undefined>;
}

/** Reads the intervals of all validators whose reports are known. @throws {StateError} */
export async function readIntervals(state: State): Promise<(party: string | null) => Interval> {
  const [activity, network] = await Promise.all([state.open(activities).list(), readNetworkRhythm(state)]);
  return (party) => intervalFor(party === null ? undefined : activity.get(party), network);
}

/** Creates the intervals and rounds for screens. They are read from the state at most once a minute. */
export function createRhythms(state: State, log: Pick<Log, "warn">): Rhythms {
  const knownIntervals = inMemory(
    () => readIntervals(state),
    (err) => log.warn({ err }, "The validators' reporting intervals cannot be read"),
  );
  const knownRounds = inMemory(
    () => readRounds(state, Date.now()),
    (err) => log.warn({ err }, "The newest round cannot be read"),
  );
  return {
    intervals: async () => (await knownIntervals()) ?? (() => intervalFor(undefined, undefined)),
    // While the state cannot be read, the last known round grows old.
    rounds: async () => recentlyRead(await knownRounds(), Date.now()),
  };
}

/**
 * Estimates the network's interval from one reading, and returns the write that stores it. Returns no write if a recently learned
 * interval is known. @throws {StateError}
 */
export async function estimateRhythm(
  state: State,
  reportedAt: readonly number[],
  now: number,
): Promise<readonly Write[]> {
  const estimate = intervalFromReading(reportedAt.filter((at) => pastTime(at, now) !== null));
  const networkRhythm = await readNetworkRhythm(state);
  const isBetter =
    networkRhythm?.changing !== undefined ||
    (networkRhythm?.isLearnt && ageOf(networkRhythm.learntAt, now) < RELEARN_MS);
  if (estimate === undefined || isBetter) return [];
  return [
    state
      .open(rhythms)
      .put(NETWORK_RHYTHM, { ...networkRhythm, intervalMs: estimate, learntAt: now, isLearnt: false }),
  ];
}
