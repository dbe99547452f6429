import type { SelfReport } from "../../delivery/feed.js";
import type { Trouble } from "../../storage/catalogue.js";
import { ageOf } from "../../util/clock.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";

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
  if (waitingMs > LATE_MS) found.set("late", []);
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

/** A trouble's id: a later one of its kind is another. */
const troubleId = ({ kind, since }: Pick<Trouble, "kind" | "since">): string => `${kind}/${since}`;

/** What is over once it was not found for so long, in ms; the others are at once. */
const LINGERS_MS: Partial<Record<TroubleKind, number>> = { unforeseen: DAY };
/** How often it is written down that a trouble is still there, in ms. */
const SEEN_MS = HOUR;

/** An open trouble as it is now; undefined where nothing of it has changed. @param lines undefined where it was not found */
function continued(trouble: Trouble, lines: readonly string[] | undefined, now: number): Trouble | undefined {
  const { kind, details, revision, seenAt } = trouble;
  if (lines === undefined) {
    const isOver = ageOf(seenAt, now) >= (LINGERS_MS[kind] ?? 0);
    return isOver ? { ...trouble, endedAt: now, revision: revision + 1 } : undefined;
  }
  // What was seen of it stays, until it is over.
  const all = [...new Set([...details, ...lines])].slice(0, MAX_DETAILS);
  const isMore = all.length > details.length;
  if (!isMore && ageOf(seenAt, now) < SEEN_MS) return undefined;
  return { ...trouble, details: all, seenAt: now, revision: revision + (isMore ? 1 : 0) };
}

/** What has changed since it was last looked at. @param now epoch ms */
export function compareTroubles(
  known: ReadonlyMap<string, Trouble>,
  found: Found,
  now: number,
): TroubleChanges {
  const begun = new Map<string, Trouble>();
  const changed = new Map<string, Trouble>();
  const forgotten: string[] = [];
  const open = new Set<TroubleKind>();
  for (const [id, trouble] of known) {
    const { kind, endedAt } = trouble;
    if (endedAt !== undefined) {
      if (ageOf(endedAt, now) > KEPT_MS) forgotten.push(id);
      continue;
    }
    open.add(kind);
    const isUnknown = found.has(kind) && found.get(kind) === undefined;
    const next = isUnknown ? undefined : continued(trouble, found.get(kind), now);
    if (next) changed.set(id, next);
  }
  for (const [kind, details] of found) {
    if (open.has(kind) || details === undefined) continue;
    const trouble = { kind, since: now, seenAt: now, details, revision: 0 };
    begun.set(troubleId(trouble), trouble);
  }
  return { begun, changed, forgotten };
}
