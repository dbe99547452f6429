import type { SelfReport } from "../../delivery/feed.js";
import type { Trouble } from "../../storage/catalogue.js";
import { ageOf } from "../../util/clock.js";
import { DAY, MINUTE } from "../../util/units.js";

/** What may ail the bot. */
export type TroubleKind = Trouble["kind"];

/** What is looked at to find out what ails the bot. */
export interface Signs extends Omit<SelfReport, "waitingMs"> {
  readonly waitingMs: number;
  /** Documents of the state that were set aside, by collection. */
  readonly unreadable: readonly string[];
  /** The steady clock, ms. */
  readonly elapsed: number;
}

/** An explorer that is not answering is told of after so long, in ms. */
const AWAY_MS = 15 * MINUTE;
/** Announcements that wait for longer than this, in ms, are told of. */
const LATE_MS = 5 * MINUTE;
/** What is over is forgotten after so long, in ms. */
const KEPT_MS = 30 * DAY;
/** Lines about one trouble. */
const MAX_DETAILS = 15;

const countedIn = (names: readonly string[]): readonly string[] => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name}: ${count}`);
};

/** What ails the bot now, each with lines about it; undefined of what nobody knows right now. */
export type Found = ReadonlyMap<TroubleKind, readonly string[] | undefined>;

/** Whether an announcement that has waited for so long, in ms, is late. */
export const isLate = (waitingMs: number): boolean => waitingMs > LATE_MS;

/** Looks for what ails the bot. */
export function findTroubles({ troubles, unforeseen, waitingMs, unreadable, elapsed }: Signs): Found {
  const found = new Map<TroubleKind, readonly string[] | undefined>();
  const explorer = troubles();
  const awaySince = explorer?.get("failing");
  if (!explorer) {
    // The process has just begun: what was so may still be so.
    found.set("key", undefined);
    found.set("explorer", undefined);
  }
  if (explorer?.has("refused")) found.set("key", []);
  if (awaySince !== undefined) found.set("explorer", elapsed - awaySince >= AWAY_MS ? [] : undefined);
  if (isLate(waitingMs)) found.set("late", []);
  if (unreadable.length > 0) found.set("unreadable", countedIn(unreadable).slice(0, MAX_DETAILS));
  const differences = unforeseen().map(
    ({ endpoint, path, kind, found: word }) =>
      `${endpoint} ${path}: ${kind}${word === undefined ? "" : ` (${word})`}`,
  );
  if (differences.length > 0) found.set("unforeseen", differences.slice(0, MAX_DETAILS));
  return found;
}

/** What is known of troubles, by their ids, and what has changed of it: new ones begin, others end, change or are forgotten. */
export interface TroubleChanges {
  readonly begun: ReadonlyMap<string, Trouble>;
  readonly changed: ReadonlyMap<string, Trouble>;
  readonly forgotten: readonly string[];
}

/** A trouble's id: a later one of its kind is another, and so is one that another channel is told of. */
const troubleId = ({ channelId, kind, since }: Pick<Trouble, "channelId" | "kind" | "since">): string =>
  `${channelId}/${kind}/${since}`;

/** What is over once it was not found for so long, in ms: what comes and goes is one trouble. */
const LINGERS_MS: Readonly<Record<TroubleKind, number>> = {
  key: 10 * MINUTE,
  explorer: 10 * MINUTE,
  late: 10 * MINUTE,
  unreadable: 0,
  unforeseen: DAY,
};
/** How often it is written down that a trouble is still there, in ms. */
const SEEN_MS = MINUTE;

/** An open trouble as it is now; undefined where nothing of it has changed. @param lines undefined where it was not found */
function continued(trouble: Trouble, lines: readonly string[] | undefined, now: number): Trouble | undefined {
  const { kind, details, revision, seenAt } = trouble;
  if (lines === undefined) {
    const isOver = ageOf(seenAt, now) >= LINGERS_MS[kind];
    return isOver ? { ...trouble, endedAt: now, revision: revision + 1 } : undefined;
  }
  // Of answers, what was seen stays until it is over.
  const all = kind === "unforeseen" ? [...new Set([...details, ...lines])].slice(0, MAX_DETAILS) : lines;
  const isChanged = all.join("\n") !== details.join("\n");
  if (!isChanged && ageOf(seenAt, now) < SEEN_MS) return undefined;
  return { ...trouble, details: [...all], seenAt: now, revision: revision + (isChanged ? 1 : 0) };
}

/**
 * What has changed since it was last looked at. What another channel was told of is forgotten.
 * @param channelId whom it is told
 * @param now epoch ms
 */
export function compareTroubles(
  known: ReadonlyMap<string, Trouble>,
  found: Found,
  channelId: string,
  now: number,
): TroubleChanges {
  const begun = new Map<string, Trouble>();
  const changed = new Map<string, Trouble>();
  const forgotten: string[] = [];
  const open = new Set<TroubleKind>();
  for (const [id, trouble] of known) {
    const { kind, endedAt } = trouble;
    const isElsewhere = trouble.channelId !== channelId;
    if (endedAt !== undefined || isElsewhere) {
      if (isElsewhere || ageOf(endedAt ?? now, now) > KEPT_MS) forgotten.push(id);
      continue;
    }
    open.add(kind);
    const isUnknown = found.has(kind) && found.get(kind) === undefined;
    const next = isUnknown ? undefined : continued(trouble, found.get(kind), now);
    if (next) changed.set(id, next);
  }
  for (const [kind, details] of found) {
    if (open.has(kind) || details === undefined) continue;
    const trouble = { channelId, kind, since: now, seenAt: now, details: [...details], revision: 0 };
    begun.set(troubleId(trouble), trouble);
  }
  return { begun, changed, forgotten };
}
