import { ifAnswered } from "../../explorer/errors.js";
import { readPagesOf } from "../../explorer/paging.js";
import type { ValidatorSummary } from "../../explorer/schema/validators.js";
import type { Explorer } from "../../explorer/service.js";
import { readIntervals, readNetworkRhythm } from "../../ledger/network-rhythm.js";
import {
  BEHIND_MS,
  isRunning,
  judgeReports,
  type ReportStanding,
  USUAL_INTERVAL_MS,
} from "../../ledger/rhythm.js";
import { isStillOrSettling, readRounds } from "../../ledger/rounds.js";
import { surveyVersions } from "../../ledger/versions.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { percentOf } from "../../text/numbers.js";
import { cut } from "../../text/plain.js";
import { ageOf, pastTime } from "../../util/clock.js";
import { digest } from "../../util/digest.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import { type Chronicle, chronicles, type Happening, happenings } from "./collections.js";

/** Interval at which the validators are read for the digest, in ms. */
export const RECORD_MS = 10 * MINUTE;
/** Time without a reading after which a complete outage may have been missed, in ms. Shorter than any silence. */
export const UNREAD_MS = HOUR;
/** Time after which an event is deleted, in ms. */
export const KEPT_MS = 31 * DAY;
/** Id of the chronicle. */
const NETWORK = "network";

/** A complete reading of the validators. */
export interface ValidatorReading {
  readonly rows: readonly ValidatorSummary[];
  readonly standingOf: (row: ValidatorSummary) => ReportStanding["standing"];
  /** Epoch ms. */
  readonly at: number;
}

const keyOf = ({ validator }: ValidatorSummary): string => digest(validator ?? "");

const ACTIVITY_OF = { reporting: "alive", late: "alive", silent: "silent", unknown: undefined } as const;

/** Returns the most common version and its share. null if no row has a version. */
function commonVersion({ rows, standingOf }: ValidatorReading): Chronicle["version"] {
  const { mostCommon, counts, active } = surveyVersions(
    rows.map((each) => ({ ...each, active: isRunning(standingOf(each), each.active) })),
  );
  if (mostCommon === null) return null;
  return { name: cut(mostCommon, 40), percent: percentOf(counts.get(mostCommon) ?? 0, active) };
}

/**
 * Compares a reading with the chronicle. The first reading is the baseline and yields no events. A validator
 * whose last report is unknown keeps its previous activity, because missing data is not an outage.
 */
export function compareReading(
  known: Chronicle | undefined,
  { rows, standingOf, at }: ValidatorReading,
): { readonly next: Chronicle; readonly happened: readonly Happening[] } {
  const happened: Happening[] = [];
  const activity: Record<string, Chronicle["activity"][string]> = { ...known?.activity };
  for (const row of rows) {
    if (row.validator === null) continue;
    const before = known?.activity[keyOf(row)];
    const after = ACTIVITY_OF[standingOf(row)] ?? before ?? "unknown";
    activity[keyOf(row)] = after;
    if (!known) continue;
    const event = { at, party: row.validator, name: row.validatorName };
    if (before === undefined) happened.push({ kind: "joined", ...event });
    else if (before === "alive" && after === "silent") happened.push({ kind: "silent", ...event });
    else if (before === "silent" && after === "alive") happened.push({ kind: "back", ...event });
  }
  const version = commonVersion({ rows, standingOf, at }) ?? known?.version ?? null;
  const versionBefore = known?.version?.name;
  if (versionBefore !== undefined && version?.name !== versionBefore)
    happened.push({ kind: "version", at, from: versionBefore });
  if (known && at - known.readAt > UNREAD_MS) happened.push({ kind: "unread", at, from: known.readAt });
  return { next: { startedAt: known?.startedAt ?? at, readAt: at, activity, version }, happened };
}

/** The validators as the explorer lists them, read to the end. */
interface ListedValidators {
  /** `undefined` if the explorer is too far behind to tell who is silent. */
  readonly reading: ValidatorReading | undefined;
  /** True if no validator had reported for an interval. */
  readonly isPaused: boolean;
}

/**
 * Returns a reading in which validators that go silent have an unknown standing. Right after a pause of the whole network, a reading
 * finds the first reports and misses the others.
 */
function withoutNewSilences(known: Chronicle, reading: ValidatorReading): ValidatorReading {
  return {
    ...reading,
    standingOf(row) {
      const standing = reading.standingOf(row);
      return known.activity[keyOf(row)] === "alive" && standing === "silent" ? "unknown" : standing;
    },
  };
}

/** Reads all validators. `undefined` if they cannot be read. */
async function readValidators(
  explorer: Explorer,
  state: State,
  now: () => number,
): Promise<ListedValidators | undefined> {
  const pages = await ifAnswered(readPagesOf(explorer, "validators"));
  // A row that can never be read must not hide what happens to the others.
  if (!pages || pages.isCut || pages.problem) return undefined;
  const rows = pages.data
    .filter(({ validator }) => validator !== null)
    .map((row) => ({ ...row, lastActiveAt: pastTime(row.lastActiveAt, pages.fetchedAt) }));
  const newestReport = rows.reduce((latest, { lastActiveAt }) => Math.max(latest, lastActiveAt ?? 0), 0);
  const intervalOf = await readIntervals(state);
  const isPaused = pages.fetchedAt - newestReport > intervalOf(null).ms;
  const isBehind = pages.fetchedAt - newestReport > BEHIND_MS + intervalOf(null).ms;
  const rhythm = await readNetworkRhythm(state);
  // The list may come from the cache, and the rounds are newer.
  const rounds = await readRounds(state, now());
  const isUnclear =
    isBehind || rhythm?.changing !== undefined || isStillOrSettling(rounds, intervalOf(null).ms, now());
  if (rows.length === 0 || isUnclear) return { reading: undefined, isPaused };
  const reading: ValidatorReading = {
    rows,
    // The answer may come from the cache, and be older than a digest that has just been collected.
    at: now(),
    // An interval that was estimated from one reading is a guess, and a digest can wait.
    standingOf({ validator, lastActiveAt }) {
      const { ms, isOwn } = intervalOf(validator);
      const isSure = isOwn || rhythm?.isLearnt === true;
      // A validator that reports less often than most needs more time after a standstill.
      if (isStillOrSettling(rounds, ms, now())) return "unknown";
      return judgeReports(lastActiveAt, isSure ? ms : Math.max(ms, USUAL_INTERVAL_MS), newestReport).standing;
    },
  };
  return { reading, isPaused };
}

/** Maximum number of readings for the baseline. The list shifts while it is read, so that one reading misses some validators. */
const BASELINE_READINGS = 3;

/** Reads all validators until a reading finds no further one. `undefined` as for `readValidators`. */
async function readBaseline(
  fresh: Explorer,
  state: State,
  now: () => number,
): Promise<ListedValidators | undefined> {
  const found = new Map<string, ValidatorSummary>();
  for (let count = 1; ; count += 1) {
    const listed = await readValidators(fresh, state, now);
    if (!listed?.reading) return listed;
    const { reading } = listed;
    const foundBefore = found.size;
    for (const row of reading.rows) found.set(keyOf(row), row);
    const isWhole = count > 1 && found.size === foundBefore;
    if (isWhole || count === BASELINE_READINGS)
      return { ...listed, reading: { ...reading, rows: [...found.values()] } };
  }
}

/** Returns the chronicle; `undefined` before the first reading. */
export const readChronicle = (state: State): Promise<Chronicle | undefined> =>
  state.open(chronicles).get(NETWORK);

/**
 * Creates the recorder of validator events, which are the source of digests.
 * @param explorer may answer from the cache
 * @param fresh must not answer from the cache
 */
export function createRecorder(explorer: Explorer, fresh: Explorer, state: State, now: () => number) {
  const chronicle = state.open(chronicles);
  const events = state.open(happenings);
  /** True if the last reading found a pause of the whole network, or if there was none yet. */
  let wasPaused = true;
  let prunedAt = Number.NEGATIVE_INFINITY;

  /** Returns the writes that delete old events, once a day. */
  const prune = async (): Promise<Write[]> => {
    if (ageOf(prunedAt, now()) < DAY) return [];
    const allEvents = [...(await events.list())];
    prunedAt = now();
    return allEvents.flatMap(([id, { at }]) => (at < now() - KEPT_MS ? [events.delete(id)] : []));
  };

  return {
    /**
     * Returns the writes of a reading. Empty if it is too early, or if the validators cannot be read.
     * @throws {StateError}
     */
    async record(): Promise<readonly Write[]> {
      const known = await readChronicle(state);
      if (known && ageOf(known.readAt, now()) < RECORD_MS) return [];
      const listed = await (known ? readValidators(explorer, state, now) : readBaseline(fresh, state, now));
      if (!listed) return [];
      const { reading, isPaused } = listed;
      const isFirstAfterPause = wasPaused;
      wasPaused = isPaused;
      // A time in the future comes from a wrong clock.
      if (!reading || reading.at <= (pastTime(known?.readAt ?? null, now()) ?? 0)) return [];
      const { next, happened } = compareReading(
        known,
        known && isFirstAfterPause ? withoutNewSilences(known, reading) : reading,
      );
      const eventIdOf = (each: Happening) =>
        `${each.at}:${each.kind}:${"party" in each ? digest(each.party) : ""}`;
      return [
        ...(await prune()),
        chronicle.put(NETWORK, next),
        ...happened.map((each) => events.put(eventIdOf(each), each)),
      ];
    },

    /** Returns the writes that delete the record. Empty if there is no record. */
    async forget(): Promise<readonly Write[]> {
      if (!(await readChronicle(state))) return [];
      const ids = [...(await events.list()).keys()];
      return [chronicle.delete(NETWORK), ...ids.map((id) => events.delete(id))];
    },
  };
}
