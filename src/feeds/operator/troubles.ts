import type { SelfReport } from "../../delivery/module.js";
import { ageOf } from "../../util/clock.js";
import { countedNames } from "../../util/groups.js";
import { DAY, MINUTE } from "../../util/units.js";
import type { Trouble } from "./collections.js";

export type TroubleKind = Trouble["kind"];

/** Measurements from which problems are detected. */
export interface Signs extends Omit<SelfReport, "waitingMs" | "unread"> {
  /** Waiting time of the oldest delivery, in ms. `undefined` if it has not been late for long, and may be sent soon. */
  readonly waitingMs: number | undefined;
  /** Names of the feeds that have not been read for a while. `undefined` if that is not known yet. */
  readonly unread: readonly string[] | undefined;
  /** Unreadable documents of the state, by collection. */
  readonly unreadable: readonly string[];
  /** Time of the monotonic clock, ms. */
  readonly elapsed: number;
}

/** Time without an answer after which the explorer is reported, in ms. */
const AWAY_MS = 15 * MINUTE;
/** Waiting time after which deliveries are reported as late, in ms. */
const LATE_MS = 5 * MINUTE;
/** Time after which a problem that is over is deleted, in ms. */
const KEPT_MS = 30 * DAY;
/** Maximum number of lines about a problem. */
const MAX_DETAILS = 15;

/** Current problems with details. `undefined` if a problem's state is unknown. */
export type FoundTroubles = ReadonlyMap<TroubleKind, readonly string[] | undefined>;

/**
 * True if a delivery is late.
 * @param waitingMs time since the delivery was due, in ms
 */
export const isLate = (waitingMs: number): boolean => waitingMs > LATE_MS;

/** Finds the bot's current problems. */
export function findTroubles(signs: Signs): FoundTroubles {
  const { troubles, unforeseen, commandsProblem, explorerVariables, waitingMs } = signs;
  const { unread, unreadable, elapsed } = signs;
  const foundProblems = new Map<TroubleKind, readonly string[] | undefined>();
  const unregistered = commandsProblem();
  if (unregistered !== null)
    foundProblems.set("commands", unregistered === undefined ? undefined : [unregistered]);
  const explorer = troubles();
  const awaySince = explorer?.get("failing");
  if (!explorer) {
    // The process has just started, so the state of these is not known yet.
    foundProblems.set("key", undefined);
    foundProblems.set("explorer", undefined);
  }
  if (explorer?.has("refused")) foundProblems.set("key", explorerVariables);
  if (awaySince !== undefined) foundProblems.set("explorer", elapsed - awaySince >= AWAY_MS ? [] : undefined);
  if (waitingMs === undefined) foundProblems.set("late", undefined);
  else if (isLate(waitingMs)) foundProblems.set("late", []);
  if (unread?.length !== 0) foundProblems.set("unread", unread);
  if (unreadable.length > 0) foundProblems.set("unreadable", countedNames(unreadable).slice(0, MAX_DETAILS));
  const differences = unforeseen().map(
    ({ endpoint, path, kind, found: word }) =>
      `${endpoint} ${path}: ${kind}${word === undefined ? "" : ` (${word})`}`,
  );
  if (differences.length > 0) foundProblems.set("unforeseen", differences.slice(0, MAX_DETAILS));
  return foundProblems;
}

/**
 * Creates a function that returns the feeds that have not been read for a while. It returns `undefined` while that is unknown: just
 * after the start or an outage, none has been read yet.
 */
export function createUnread() {
  const since = new Map<string, number>();
  return ({
    troubles,
    unread,
    elapsed,
  }: Pick<SelfReport, "troubles" | "unread"> & Pick<Signs, "elapsed">) => {
    // An explorer that does not answer, or rejects the key, is reported as such.
    const isExplained = troubles()?.size !== 0;
    const names = isExplained ? [] : unread();
    for (const name of since.keys()) if (!names.includes(name)) since.delete(name);
    for (const name of names) if (!since.has(name)) since.set(name, elapsed);
    const lateNames = names.filter((name) => elapsed - (since.get(name) ?? elapsed) >= AWAY_MS);
    const isTooEarly = names.length > 0 && lateNames.length === 0;
    return isExplained || isTooEarly ? undefined : lateNames;
  };
}

/** Returns a problem's id. It is unique for each channel and each occurrence. */
const troubleId = ({ channelId, kind, since }: Pick<Trouble, "channelId" | "kind" | "since">): string =>
  `${channelId}/${kind}/${since}`;

/** Time for which a problem must be absent before it is over, in ms. An intermittent problem counts as one. */
const LINGERS_MS: Readonly<Record<TroubleKind, number>> = {
  commands: 0,
  key: 10 * MINUTE,
  explorer: 10 * MINUTE,
  late: 10 * MINUTE,
  unread: 0,
  unreadable: 0,
  unforeseen: DAY,
};
/** Interval at which an ongoing problem's time is updated in the state, in ms. */
const SEEN_MS = MINUTE;

/**
 * Updates an ongoing problem. `undefined` if it has not changed.
 * @param lines `undefined` if the problem was not found
 */
function continued(trouble: Trouble, lines: readonly string[] | undefined, now: number): Trouble | undefined {
  const { kind, details, revision, seenAt } = trouble;
  if (lines === undefined) {
    // A time in the future comes from a clock that was wrong, and does not show that it is over.
    const isOver = Math.max(0, now - seenAt) >= LINGERS_MS[kind];
    return isOver ? { ...trouble, endedAt: now, revision: revision + 1 } : undefined;
  }
  // Unexpected answers are collected until the problem is over.
  const allDetails =
    kind === "unforeseen" ? [...new Set([...details, ...lines])].slice(0, MAX_DETAILS) : lines;
  const isChanged = allDetails.join("\n") !== details.join("\n");
  if (!isChanged && ageOf(seenAt, now) < SEEN_MS) return undefined;
  return { ...trouble, details: [...allDetails], seenAt: now, revision: revision + (isChanged ? 1 : 0) };
}

/**
 * Compares the known problems with the current ones. Problems of another channel are deleted.
 * @param channelId the operator's channel
 * @param now epoch ms
 * @returns the problems that have begun, those that have changed or ended, and the ids of those to delete
 */
export function compareTroubles(
  known: ReadonlyMap<string, Trouble>,
  found: FoundTroubles,
  channelId: string,
  now: number,
) {
  const begun = new Map<string, Trouble>();
  const changedTroubles = new Map<string, Trouble>();
  const forgotten: string[] = [];
  const openKinds = new Set<TroubleKind>();
  for (const [id, trouble] of known) {
    const { kind, endedAt } = trouble;
    const isElsewhere = trouble.channelId !== channelId;
    if (endedAt !== undefined || isElsewhere) {
      if (isElsewhere || (endedAt ?? now) < now - KEPT_MS) forgotten.push(id);
      continue;
    }
    openKinds.add(kind);
    const isUnknown = found.has(kind) && found.get(kind) === undefined;
    const nextTrouble = isUnknown ? undefined : continued(trouble, found.get(kind), now);
    if (nextTrouble) changedTroubles.set(id, nextTrouble);
  }
  for (const [kind, details] of found) {
    if (openKinds.has(kind) || details === undefined) continue;
    // These are reported only after a while.
    const since = kind === "explorer" || kind === "unread" ? now - AWAY_MS : now;
    const trouble = { channelId, kind, since, seenAt: now, details: [...details], revision: 0 };
    begun.set(troubleId(trouble), trouble);
  }
  return { begun, changed: changedTroubles, forgotten };
}
