import { ExplorerError } from "../../explorer/errors.js";
import type { Explorer, Reading } from "../../explorer/service.js";
import type { NetworkRhythm } from "../../ledger/network-rhythm.js";
import { HOUR, MINUTE } from "../../util/units.js";

/** Age of the newest data at which the explorer counts as behind, in ms. */
export const BEHIND_MS = 20 * MINUTE;
/** Reports that are newer than this need no other evidence, in ms. */
const DOUBT_MS = 10 * MINUTE;
/** A time that lies further ahead than this was stamped by a wrong clock, in ms. */
const AHEAD_MS = 5 * MINUTE;
/** A round that is seen to advance after a longer pause may have done so at its beginning, in ms. */
const PAUSE_MS = 16 * MINUTE;
/** An endpoint that this key may not use is asked again after this time, in ms. */
const WITHHELD_MS = HOUR;

/** Up to when the explorer's data goes. */
export interface ExplorerTime {
  /** Its newest data, epoch ms: what a validator has not done is known up to then. */
  readonly asOf: number;
  /** True if the explorer is behind, so that a missing report says nothing about its validator. */
  readonly isBehind: boolean;
  /** True if the validators' reports are the only evidence. */
  readonly isUnsure: boolean;
  readonly round: NetworkRhythm["round"];
}

type TimeQuestion = "updates" | "dashboard";

/**
 * Creates a reader of the explorer's own time. Validators' reports answer for free. If they are old, the newest update is asked for,
 * and then the round, which advances about every ten minutes. Only if neither is answered do the validators decide alone.
 * @param explorer must not answer from the cache
 */
export function createExplorerTime(explorer: Explorer) {
  const withheldAt = new Map<TimeQuestion, number>();
  let lastTime: ExplorerTime | undefined;

  /** Returns an answer, or `undefined`. An endpoint that is withheld ends the questions of this poll. */
  const askEndpoint = async <T>(name: TimeQuestion, now: number, read: () => Promise<Reading<T>>) => {
    const withheldSince = withheldAt.get(name);
    if (withheldSince !== undefined && now - withheldSince < WITHHELD_MS) return undefined;
    try {
      const { data, problem } = await read();
      return problem ? undefined : data;
    } catch (error) {
      if (!(error instanceof ExplorerError)) throw error;
      if (error.problem !== "withheld") return undefined;
      withheldAt.set(name, now);
      return "withheld" as const;
    }
  };

  const readOnce = async (
    newestReportAt: number,
    round: NetworkRhythm["round"],
    now: number,
  ): Promise<ExplorerTime> => {
    const currentTime = (at: number) => ({ asOf: at, isBehind: false, isUnsure: false, round });
    const undecided = { asOf: newestReportAt, isBehind: false, isUnsure: true, round };
    if (now - newestReportAt <= DOUBT_MS) return currentTime(newestReportAt);

    const updates = await askEndpoint("updates", now, () =>
      explorer.updates({ page: 0, size: 1, orderBy: "DESC" }),
    );
    // Two withheld endpoints in a row look like a refused key: the next poll asks on.
    if (updates === "withheld") return lastTime ? { ...lastTime, round } : undecided;
    const updateAt = newestOf(updates?.content ?? [], now);
    if (now - updateAt <= DOUBT_MS) return currentTime(Math.max(updateAt, newestReportAt));

    const answer = await askEndpoint("dashboard", now, () => explorer.dashboard({}));
    const latest = answer === "withheld" ? null : (answer?.latestRound ?? null);
    if (updateAt === 0 && latest === null) return undecided;
    const seenRound = roundAfter(round, latest, now);
    const asOf = Math.max(newestReportAt, updateAt, seenRound?.advancedAt ?? 0);
    return { asOf, isBehind: now - asOf > BEHIND_MS, isUnsure: false, round: seenRound };
  };

  return async (...of: Parameters<typeof readOnce>): Promise<ExplorerTime> => {
    lastTime = await readOnce(...of);
    return lastTime;
  };
}

/** Returns when the newest of these updates was recorded, epoch ms; 0 if none says. */
const newestOf = (updates: readonly { readonly recordTime: number | null }[], now: number): number =>
  Math.max(
    0,
    ...updates.flatMap(({ recordTime }) =>
      recordTime !== null && recordTime <= now + AHEAD_MS ? [Math.min(recordTime, now)] : [],
    ),
  );

/** Returns the newest round that was seen, and when the bot saw it advance. */
function roundAfter(
  known: NetworkRhythm["round"],
  latest: number | null,
  now: number,
): NetworkRhythm["round"] {
  if (latest === null) return known;
  const { number = latest, advancedAt, seenAt = 0 } = known ?? {};
  if (latest <= number) return { ...known, number, seenAt: now };
  const isFresh = now - seenAt <= PAUSE_MS;
  const asOfTime = isFresh ? now : advancedAt;
  return { number: latest, seenAt: now, ...(asOfTime === undefined ? {} : { advancedAt: asOfTime }) };
}
