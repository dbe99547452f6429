import * as z from "zod";
import type { Log } from "../log.js";
import { type DocumentOf, defineCollection } from "../storage/collection.js";
import type { State } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import { ageOf } from "../util/clock.js";
import { inMemory } from "../util/memory.js";
import { HOUR } from "../util/units.js";
import { intervalFromReading, intervalOf, type ReportGaps, USUAL_INTERVAL_MS } from "./rhythm.js";

const timestampSchema = z.number();

/** The last reports of a watched validator. */
const activity = z.object({
  /** When it was last seen, epoch ms, as the newest reading said that told of it. */
  seenAt: timestampSchema,
  active: z.boolean().nullable(),
  version: z.string().nullable(),
  readAt: timestampSchema,
  /** Between its reports, as far as readings saw them, in ms; the newest last. */
  gaps: z.array(z.number()),
  /** The same, where another report may have come in between unseen. */
  roughGaps: z.array(z.number()).exactOptional(),
});

/** The network's reporting rhythm and the newest round. */
const rhythmSchema = z.object({
  /** Nine of ten report at least this often, in ms. */
  intervalMs: z.number(),
  learntAt: timestampSchema,
  /** True if it was learned from successive reports, false if it was estimated from one reading. */
  isLearnt: z.boolean(),
  /** Set while no validator reports: how often they report when they do again is not known yet. */
  changing: z
    .object({
      since: timestampSchema,
      beforeMs: z.number(),
      /** True if there is no sign that the ledger moves on, so that the explorer may be behind instead. */
      isUnsure: z.boolean(),
    })
    .exactOptional(),
  /** The newest round, when the bot last asked for it, and when it saw it advance. */
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
/** The document that holds the network's interval. */
export const NETWORK_RHYTHM = "network";

/** After a pause of this length, what was learned before may no longer hold, in ms. */
export const RELEARN_MS = 12 * HOUR;

/** A validator's reporting interval. */
export interface Interval {
  readonly ms: number;
  /** True if its own reports say so, false if it is the network's interval. */
  readonly isOwn: boolean;
}

/** Returns how often a validator reports, or the network's interval until that is known. */
export function intervalFor(
  activity: ReportGaps | undefined,
  network: Pick<NetworkRhythm, "intervalMs"> | undefined,
): Interval {
  const ownInterval = activity && intervalOf(activity);
  return ownInterval === undefined
    ? { ms: network?.intervalMs ?? USUAL_INTERVAL_MS, isOwn: false }
    : { ms: ownInterval, isOwn: true };
}

/** Returns the network's rhythm; `undefined` if it is unknown. @throws {StateError} */
export const readNetworkRhythm = (state: State): Promise<NetworkRhythm | undefined> =>
  state.open(rhythms).get(NETWORK_RHYTHM);

/** Reads how often a validator reports. @throws {StateError} */
export async function readInterval(state: State, party: string): Promise<Interval> {
  const [activity, network] = await Promise.all([
    state.open(activities).get(party),
    readNetworkRhythm(state),
  ]);
  return intervalFor(activity, network);
}

/** Reporting intervals for screens. */
export interface Rhythms {
  /** Returns a function that gives a validator's interval, or the network's if its own is not known. */
  intervals(): Promise<(party: string | null) => Interval>;
}

/** Reads the intervals of all validators whose reports are known. @throws {StateError} */
export async function readIntervals(state: State): Promise<(party: string | null) => Interval> {
  const [activity, network] = await Promise.all([state.open(activities).list(), readNetworkRhythm(state)]);
  return (party) => intervalFor(party === null ? undefined : activity.get(party), network);
}

/** Returns the intervals as the state holds them, read once a minute at most. */
export function createRhythms(state: State, log: Pick<Log, "warn">): Rhythms {
  const knownRhythm = inMemory(
    () => readIntervals(state),
    (err) => log.warn({ err }, "The validators' reporting intervals cannot be read"),
  );
  return { intervals: async () => (await knownRhythm()) ?? (() => intervalFor(undefined, undefined)) };
}

/** Returns the write that keeps an estimate from one reading, unless better is known. @throws {StateError} */
export async function estimateRhythm(
  state: State,
  reportedAt: readonly number[],
  now: number,
): Promise<readonly Write[]> {
  const estimate = intervalFromReading(reportedAt);
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
