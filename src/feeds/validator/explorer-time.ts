import type { Explorer } from "../../explorer/service.js";
import type { NetworkRhythm } from "../../ledger/network-rhythm.js";
import { BEHIND_MS } from "../../ledger/rhythm.js";
import { createAsker, RESTARTED, type Rounds } from "../../ledger/rounds.js";
import { ageOf, CLOCK_ERROR_MS } from "../../util/clock.js";
import { MINUTE } from "../../util/units.js";

/** Maximum age of the newest report for which no other evidence is needed, in ms. */
const DOUBT_MS = 10 * MINUTE;
/** Maximum time between two reads of the round, in ms. After a longer pause, it is unknown when the round advanced. */
const PAUSE_MS = 16 * MINUTE;

/** Age of the explorer's data. */
export interface ExplorerTime {
  /** Time of the newest data, epoch ms. It is unknown what validators have done since then. */
  readonly asOf: number;
  /** True if the explorer is behind, so that a missing report does not mean that a validator is silent. */
  readonly isBehind: boolean;
  /** True if the validators' reports are the only evidence. */
  readonly isUnsure: boolean;
  readonly round: NetworkRhythm["round"];
}

/**
 * Creates a reader of the explorer's own time. Recent reports of validators need no further request. If they are old, it reads
 * the newest update. Only without one does it read the round, which advances about every ten minutes: it has no time, and an
 * explorer that catches up slowly shows an old round as if it were new. If neither is answered, the reports decide alone.
 * @param explorer must not answer from the cache
 */
export function createExplorerTime(explorer: Explorer, clock: () => number) {
  const ask = createAsker(clock);
  let lastTime: ExplorerTime | undefined;
  /** Time of the newest update or round that was seen, epoch ms. */
  let provenAt = 0;
  /** Time since which the rounds have been read without a pause, epoch ms. 0 if they were read before. */
  let followedSince = 0;

  /**
   * @param rounds as the poll of the rounds knows them. `undefined` if it has not read them for a while
   * @param wasBehind true if the explorer was behind before this process began to read it
   */
  const readOnce = async (
    newestReportAt: number,
    round: NetworkRhythm["round"],
    now: number,
    rounds?: Pick<Rounds, "since" | "isSeenToBegin">,
    wasBehind = false,
  ): Promise<ExplorerTime> => {
    const currentTime = (at: number) => ({
      asOf: at,
      isBehind: now - at > BEHIND_MS,
      isUnsure: false,
      round,
    });
    // An explorer that was behind stays so until something newer is seen.
    const isBehind = (lastTime?.isBehind ?? wasBehind) && now - newestReportAt > BEHIND_MS;
    const undecided = { asOf: newestReportAt, isBehind, isUnsure: true, round };
    if (now - newestReportAt <= DOUBT_MS) return currentTime(newestReportAt);

    const updates = await ask("updates", () => explorer.updates({ page: 0, size: 1, orderBy: "DESC" }));
    // Two withheld endpoints in a row look like a rejected API key. The next poll asks again.
    if (updates.isWithheld) return lastTime ? { ...lastTime, round } : undecided;
    const updateAt = newestOf(updates.reading?.data.content ?? [], now);
    if (updateAt > 0) {
      provenAt = updateAt;
      return currentTime(Math.max(updateAt, newestReportAt));
    }

    const { reading } = await ask("dashboard", () => explorer.dashboard({}));
    const latest = reading?.data.latestRound ?? null;
    if (latest === null) return undecided;
    if (ageOf(round?.seenAt ?? 0, now) > PAUSE_MS) followedSince = now;
    const seenRound = roundAfter(round, latest, now);
    // While reports are recent, only the poll of the rounds sees them advance.
    const advancedAt = Math.max(seenRound.advancedAt ?? 0, rounds?.isSeenToBegin ? rounds.since : 0);
    const asOf = Math.max(newestReportAt, advancedAt);
    // A round that the bot has not seen to advance is no evidence, and an explorer that was up to date minutes ago is not behind.
    provenAt = Math.max(provenAt, advancedAt);
    const isEarly = advancedAt < followedSince && now - followedSince <= BEHIND_MS;
    if (provenAt === 0 || isEarly) return { ...undecided, round: seenRound };
    const latestAt = Math.max(asOf, Math.min(provenAt, now));
    return { ...currentTime(asOf), isBehind: now - latestAt > BEHIND_MS, round: seenRound };
  };

  return async (...of: Parameters<typeof readOnce>): Promise<ExplorerTime> => {
    lastTime = await readOnce(...of);
    return lastTime;
  };
}

/** Returns the time of the newest of these updates, epoch ms. 0 if none has a time. */
const newestOf = (updates: readonly { readonly recordTime: number | null }[], now: number): number =>
  Math.max(
    0,
    ...updates.flatMap(({ recordTime }) =>
      recordTime !== null && recordTime <= now + CLOCK_ERROR_MS ? [Math.min(recordTime, now)] : [],
    ),
  );

/** Returns the newest round, and the time when the bot saw it advance. */
function roundAfter(
  known: NetworkRhythm["round"],
  latest: number,
  now: number,
): NonNullable<NetworkRhythm["round"]> {
  const { number = latest, seenAt = 0 } = known ?? {};
  // After a restart of the network, its rounds begin again.
  if (latest < number - RESTARTED) return { number: latest, seenAt: now };
  if (latest <= number) return { ...known, number, seenAt: now };
  // After a longer pause, it is unknown when it advanced.
  return ageOf(seenAt, now) <= PAUSE_MS
    ? { number: latest, seenAt: now, advancedAt: now }
    : { number: latest, seenAt: now };
}
