import * as z from "zod";
import { ExplorerError } from "../explorer/errors.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { type DocumentOf, defineCollection } from "../storage/collection.js";
import type { State } from "../storage/state.js";
import { timestampSchema } from "../storage/timestamp.js";
import { ageOf, isTimely } from "../util/clock.js";
import { defined } from "../util/present.js";
import { lazy } from "../util/single-flight.js";
import { DAY, HOUR, MINUTE } from "../util/units.js";
import { lateAfter, MAX_STORED_GAPS, median } from "./rhythm.js";

/** The newest round and how it advances. */
export const rounds = defineCollection({
  name: "rounds",
  schema: z.object({
    /** Number of the newest round, and the times when the bot first and last read it, epoch ms. */
    number: z.number(),
    since: timestampSchema,
    seenAt: timestampSchema,
    /** Times between advances that the bot saw, in ms, the newest last. */
    gaps: z.array(z.number()).max(MAX_STORED_GAPS),
    /** Times between the last advances in ms, if all of them looked like standstills. They may be a slower rhythm. */
    slowGaps: z.array(z.number()).max(MAX_STORED_GAPS).exactOptional(),
    /** True if the bot saw the round begin. If not, it may have begun before `since`. */
    isSeenToBegin: z.boolean(),
    /** True while the rounds stand still. */
    isStandingStill: z.boolean(),
    /** Time when the rounds last advanced after a standstill or a pause as long as one, epoch ms. */
    movedAt: timestampSchema.exactOptional(),
  }),
  lifetime: "as long as a channel subscribes to a feed that follows the rounds: one document",
});

/** The newest round and how it advances. */
export type Rounds = DocumentOf<typeof rounds>;

const ID = "network";

/** Interval of the rounds until it is known, and the shortest one that is believed, in ms. */
const USUAL_MS = 10 * MINUTE;
/** Number of known gaps, and the number that it takes to learn the interval. */
const MAX_GAPS = 9;
const MIN_GAPS = 3;
/** Number of intervals without a new round after which the network stands still. */
const STILL_INTERVALS = 3;
/** Maximum duration of rounds without a standstill, as a multiple of the usual one. */
const MAX_DRIFT = 1.5;
/** Number of intervals by which the clock must be behind the explorer's newest update, so that no round is recorded. */
const FAR_BEHIND_INTERVALS = 1.5;
/** Maximum time between two readings, in ms. After a longer pause, it is unknown when the round advanced. */
const PAUSE_MS = 16 * MINUTE;
/** Maximum age of the newest update of an explorer that is up to date, in ms. */
const CURRENT_MS = 10 * MINUTE;
/** A lower number comes from a lagging answer. If it is lower by more than this, the network was reset. */
export const RESTARTED = 100;

/**
 * Returns the interval of the rounds in ms: the median of the gaps. An explorer that catches up shows rounds seconds apart. If that
 * counted as their interval, every later round would look like a standstill.
 */
export function roundInterval(gaps: readonly number[]): number {
  return gaps.length < MIN_GAPS ? USUAL_MS : Math.max(median(gaps) ?? 0, USUAL_MS);
}

/** Number of intervals without a new round after which it is late. The bot sees a round up to a quarter of an interval late. */
const LATE_INTERVALS = 1.3;

/** True if the next round is late, which may be the beginning of a standstill. False if the rounds are unknown. */
export const isRoundLate = (known: Pick<Rounds, "since" | "gaps"> | undefined, now: number): boolean =>
  known !== undefined && now - known.since > LATE_INTERVALS * roundInterval(known.gaps);

/**
 * True if no round has begun for so long that the network may stand still. A beginning in the future comes from a clock that was
 * wrong, and proves nothing.
 */
export const isOverdue = ({ since, gaps }: Pick<Rounds, "since" | "gaps">, now: number): boolean =>
  now - since > STILL_INTERVALS * roundInterval(gaps);

/**
 * True if the rounds stood still while the bot did not read them: the time has room for more rounds than have begun. Only shown by an
 * interval that is known.
 */
function hasStoppedUnseen({ number, since, gaps }: Rounds, newNumber: number, now: number): boolean {
  const roomForRounds = (now - since) / roundInterval(gaps);
  const begunRounds = newNumber - number;
  return (
    gaps.length >= MIN_GAPS &&
    roomForRounds - begunRounds > STILL_INTERVALS &&
    roomForRounds > MAX_DRIFT * begunRounds
  );
}

/**
 * Returns the gaps after an advance that looked like the end of a standstill. Several in a row of about the same length are the
 * interval of slower rounds.
 */
function afterSlowGap(
  { gaps, slowGaps = [] }: Pick<Rounds, "gaps" | "slowGaps">,
  gapMs: number,
): Pick<Rounds, "gaps" | "slowGaps"> {
  const nextSlowGaps = [...slowGaps, gapMs].slice(-MIN_GAPS);
  const isRhythm =
    nextSlowGaps.length === MIN_GAPS && Math.max(...nextSlowGaps) <= MAX_DRIFT * Math.min(...nextSlowGaps);
  return isRhythm ? { gaps: nextSlowGaps } : { gaps, slowGaps: nextSlowGaps };
}

/**
 * Returns the rounds after a reading.
 * @param isCurrent true if the explorer is known to be up to date. Only asked while the next round is overdue, or after a pause
 */
export function afterReading(
  known: Rounds | undefined,
  number: number,
  isCurrent: boolean,
  now: number,
): Rounds {
  const isLower = known !== undefined && number < known.number;
  // If the network is reset soon after it began, its rounds are only a little lower, also when a new one is long overdue.
  const isSoonReset = isLower && isCurrent && !known.isStandingStill && isOverdue(known, now);
  if (!known || isSoonReset || number < known.number - RESTARTED)
    return { number, since: now, seenAt: now, gaps: [], isSeenToBegin: false, isStandingStill: false };
  if (number <= known.number)
    return {
      ...known,
      since: Math.min(known.since, now),
      seenAt: now,
      isStandingStill: known.isStandingStill || (isCurrent && isOverdue(known, now)),
    };
  const isSeenToBegin = ageOf(known.seenAt, now) <= PAUSE_MS;
  const gapMs = (now - known.since) / (number - known.number);
  // If updates stopped too, the explorer looked behind. One that catches up shows as many rounds as the time needs.
  const hasStopped = isSeenToBegin
    ? gapMs > STILL_INTERVALS * roundInterval(known.gaps)
    : isCurrent && hasStoppedUnseen(known, number, now);
  const isStill = known.isStandingStill || hasStopped;
  const isGap = isSeenToBegin && known.isSeenToBegin && gapMs > 0;
  const { slowGaps: _, ...others } = known;
  const usualGaps = { gaps: isGap ? [...known.gaps, gapMs].slice(-MAX_GAPS) : known.gaps };
  return {
    ...others,
    number,
    since: now,
    seenAt: now,
    ...(isGap && isStill ? afterSlowGap(known, gapMs) : usualGaps),
    isSeenToBegin,
    isStandingStill: false,
    ...defined({ movedAt: isStill ? now : undefined }),
  };
}

/** Returns these rounds; `undefined` if they have not been read for a while. */
export const recentlyRead = (known: Rounds | undefined, now: number): Rounds | undefined =>
  known && ageOf(known.seenAt, now) <= PAUSE_MS ? known : undefined;

/** Returns the rounds as they were last read; `undefined` if they have not been read for a while. @throws {StateError} */
export async function readRounds(state: State, now: number): Promise<Rounds | undefined> {
  return recentlyRead(await state.open(rounds).get(ID), now);
}

/**
 * True if the network stands still, or moves again so recently that not every validator has had the time to report.
 * @param intervalMs interval of the reports
 */
export const isStillOrSettling = (
  known: Pick<Rounds, "isStandingStill" | "movedAt"> | undefined,
  intervalMs: number,
  now: number,
): boolean =>
  known?.isStandingStill === true ||
  (known?.movedAt !== undefined && ageOf(known.movedAt, now) < lateAfter(intervalMs));

/** Number of readings per interval. More would not be noticed by people. */
const READINGS = 4;

/** Time after which an endpoint that the API key may not use is asked again, in ms. */
const WITHHELD_MS = HOUR;

/**
 * Creates a function that asks an endpoint. It returns a reading only if the explorer gives a new one, and `isWithheld` if the API key
 * may not use the endpoint, which is then left alone for an hour.
 */
export function createAsker(now: () => number) {
  const withheldAt = new Map<string, number>();
  return async <T>(
    name: string,
    read: () => Promise<Reading<T>>,
  ): Promise<{ readonly reading?: Reading<T>; readonly isWithheld?: boolean }> => {
    if (ageOf(withheldAt.get(name) ?? 0, now()) < WITHHELD_MS) return {};
    try {
      const reading = await read();
      return reading.problem || !isTimely(reading.fetchedAt, now()) ? {} : { reading };
    } catch (error) {
      if (!(error instanceof ExplorerError)) throw error;
      const isWithheld = error.problem === "withheld";
      if (isWithheld) withheldAt.set(name, now());
      return { isWithheld };
    }
  };
}

/**
 * Creates a function that reads the newest round, and stores it. It reads nothing if the round was read lately.
 * @param explorer must not answer from the cache
 * @returns a function with the parameter `isWanted`: false if no one follows the rounds, so that they are forgotten. It throws
 * StateError and ExplorerError
 */
export function createRoundsReader(explorer: Explorer, state: State, now: () => number) {
  const collection = state.open(rounds);
  const ask = createAsker(now);

  /** Returns the time of the explorer's newest update, epoch ms; `undefined` if it is unknown. */
  const readNewestUpdate = async (): Promise<number | undefined> => {
    const { reading } = await ask("updates", () => explorer.updates({ page: 0, size: 1, orderBy: "DESC" }));
    return reading?.data.content.flatMap(({ recordTime }) => recordTime ?? []).at(0);
  };

  return async (isWanted: boolean): Promise<void> => {
    const known = await collection.get(ID);
    if (!isWanted) {
      if (known) await state.commit([collection.delete(ID)]);
      return;
    }
    const everyMs = roundInterval(known?.gaps ?? []) / READINGS;
    if (known && ageOf(known.seenAt, now()) < everyMs && !isOverdue(known, now())) return;
    const { reading: dashboard } = await ask("dashboard", () => explorer.dashboard({}));
    const latest = dashboard?.data.latestRound ?? null;
    if (!dashboard || latest === null) return;
    const fetchedAt = dashboard.fetchedAt;
    const newestUpdateAt = lazy(readNewestUpdate);
    // A time from a clock that is far behind would look like a standstill once the clock is right.
    const isTimed = !known || latest > known.number || known.since > fetchedAt;
    if (isTimed) {
      const aheadMs = ((await newestUpdateAt()) ?? 0) - fetchedAt;
      // An update that is more than a day ahead is wrong itself.
      if (aheadMs > FAR_BEHIND_INTERVALS * roundInterval(known?.gaps ?? []) && aheadMs < DAY) return;
    }
    const isDoubtful =
      known !== undefined &&
      !known.isStandingStill &&
      isOverdue(known, fetchedAt) &&
      (latest <= known.number || ageOf(known.seenAt, fetchedAt) > PAUSE_MS);
    // If the explorer has an update that is minutes old, missing rounds are not its fault.
    const isCurrent = isDoubtful && Math.abs(fetchedAt - ((await newestUpdateAt()) ?? 0)) <= CURRENT_MS;
    await state.commit([collection.put(ID, afterReading(known, latest, isCurrent, fetchedAt))]);
  };
}
