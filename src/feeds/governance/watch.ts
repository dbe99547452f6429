import type { PollOutcome, Publisher } from "../../delivery/feed.js";
import type { Names } from "../../directory/names.js";
import { readPages } from "../../explorer/paging.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import type { Explorer } from "../../explorer/service.js";
import { identityOf } from "../../ledger/vote-requests.js";
import type { TrackedVoteRequest } from "../../storage/catalogue.js";
import type { LeasedState } from "../../storage/lease.js";
import type { Write } from "../../storage/store.js";
import { ageOf } from "../../util/clock.js";
import { HOUR, MINUTE } from "../../util/units.js";
import { createClosings } from "./closings.js";
import { eventId, type GovernanceEvent } from "./events.js";
import { createPendingChecks } from "./pending.js";
import type { Findings, TrackedVoteRequests } from "./requests.js";
import { compare, decide, firstSeen, keyOf } from "./tracking.js";

/** Where it is kept when the list was last read as far as it can bring news. */
export const PROGRESS = "governance";

/**
 * All pages are read this often, in ms, and whenever the explorer counts another number of requests. In between, a poll
 * ends once every open request has been seen: what is behind is over, and only grows.
 */
const WHOLE_MS = 10 * MINUTE;
/** More than this many new in one read are announced in one message. */
const MAX_SINGLE = 3;
/** A request that ended unseen was missed where it is from no longer than this, in ms, before the last complete read. */
const MISSED_MS = HOUR;

interface WatchDeps {
  /** Takes nothing but new readings. */
  readonly explorer: Explorer;
  readonly state: LeasedState;
  readonly requests: TrackedVoteRequests;
  readonly names: Names;
  /** Called with what is newly known of a request, once it is kept. */
  readonly onLearnt: (request: TrackedVoteRequest) => void;
  readonly pollMs: number;
  readonly now: () => number;
}

/** The messages of a request's reminders. */
const remindersOf = (key: string, { reminded }: TrackedVoteRequest): string[] =>
  reminded.map((reminder) => eventId({ kind: "reminder", key, reminder }));

const isNew = (event: GovernanceEvent) => event.kind === "opened" || event.kind === "missed";

/**
 * Several that are new, as one event.
 * @param since when the list was last read completely
 * @param told how many of this read have been announced one by one already
 */
function toDigest(events: readonly GovernanceEvent[], since: number | null, told: number): GovernanceEvent[] {
  const fresh = events.filter(isNew);
  if (fresh.length === 0 || fresh.length + told <= MAX_SINGLE) return [...events];
  const digest: GovernanceEvent = {
    kind: "digest",
    keys: fresh.map(({ key }) => key),
    rows: fresh.map(({ row }) => row),
    since,
  };
  return [digest, ...events.filter((event) => !isNew(event))];
}

/** Compares each read of the vote requests with what is known, and publishes what happened. */
export function createGovernanceWatch({
  explorer,
  state,
  requests,
  names,
  onLearnt,
  pollMs,
  now,
}: WatchDeps) {
  const { progress } = state;
  const { checkPending, checkReminders } = createPendingChecks({ explorer, requests, names, now });
  const { findVanished, findOld } = createClosings({ explorer, requests, now });

  /** Commits what was found, the deliveries it makes due, and whatever else belongs to it, at once. */
  const settle = async (publisher: Publisher, { learnt, events }: Findings, more: readonly Write[] = []) => {
    const known = await requests.all();
    const deliveries = await publisher.prepare(events);
    const writes = [
      ...more,
      ...deliveries.writes,
      ...[...learnt].map(([key, each]) => requests.put(key, each)),
    ];
    if (writes.length === 0) return;
    await state.commit(writes);
    const moved: string[] = [];
    for (const [key, each] of learnt) {
      if (each.revision !== known.get(key)?.revision) moved.push(key, ...remindersOf(key, each));
      known.set(key, each);
      onLearnt(each);
    }
    if (moved.length > 0) publisher.touch(moved);
    deliveries.release();
  };

  /** When all pages were last read, and how many requests the explorer counted then. */
  let wholeAt = Number.NEGATIVE_INFINITY;
  let counted: number | null = null;

  /** Whether every request that is known to be open is among rows. */
  const everyOpenIn = (
    known: ReadonlyMap<string, TrackedVoteRequest>,
    rows: readonly VoteRequestListItem[],
  ) => {
    const seen = new Set(rows.map((row) => keyOf(known, row, identityOf(row) ?? "")));
    return [...known].every(([key, { phase }]) => phase !== "open" || seen.has(key));
  };

  /**
   * What rows say that is not known yet.
   * @param lastAt when the list was last read completely; undefined where it never was
   * @param told how many new ones of this read have been announced one by one already
   */
  const compareAll = async (
    rows: readonly VoteRequestListItem[],
    whole: boolean,
    lastAt: number | undefined,
    told = 0,
  ): Promise<Findings> => {
    const known = await requests.all();
    const learnt = new Map<string, TrackedVoteRequest>();
    const events: GovernanceEvent[] = [];
    for (const row of rows) {
      const identity = identityOf(row);
      if (identity === null) continue;
      const key = keyOf(known, row, identity);
      const before = learnt.get(key) ?? known.get(key);
      if (!before) {
        const first = firstSeen(row, now(), lastAt === undefined);
        if (!first) continue;
        learnt.set(key, decide(first).next);
        if (lastAt === undefined) continue;
        if (first.phase === "open") events.push({ kind: "opened", key, row });
        else if ((row.createdAt ?? lastAt) > lastAt - MISSED_MS) events.push({ kind: "missed", key, row });
        continue;
      }
      const { next: compared, changedFrom, closed } = compare(before, row, whole, now());
      const { next, way, needed = 0 } = decide(compared);
      if (next !== before && JSON.stringify(next) !== JSON.stringify(before))
        learnt.set(key, closed ? { ...next, closedAt: now() } : next);
      if (changedFrom)
        events.push({
          kind: "changed",
          key,
          sequence: next.changeSequence,
          from: changedFrom,
          to: next.terms,
        });
      if (closed) events.push({ kind: "closed", key, status: next.status });
      else if (way) events.push({ kind: "decided", key, way, votes: next[way] ?? 0, needed });
    }
    return { learnt, events: toDigest(events, lastAt ?? null, told) };
  };

  /** The rest of the list behind its first page: all of it where that is due, else as far as open requests stand. */
  const readList = async (first: Awaited<ReturnType<Explorer["voteRequests"]>>, wholeIsDue: boolean) => {
    const { totalElements, unreadable } = first.data;
    const readsAll =
      wholeIsDue ||
      unreadable > 0 ||
      totalElements === null ||
      totalElements !== counted ||
      ageOf(wholeAt, now()) >= WHOLE_MS;
    const known = await requests.all();
    const isEnough = (rows: readonly VoteRequestListItem[]) => !readsAll && everyOpenIn(known, rows);
    const { data: rows, complete } = await readPages(
      "voteRequests",
      async (page) => (page.page === 0 ? first : explorer.voteRequests(page)),
      isEnough,
    );
    // An empty, partial or stale answer is no news, and no baseline.
    const whole = complete && rows.length > 0;
    return { rows, whole, done: whole || isEnough(rows), totalElements };
  };

  return async (publisher: Publisher): Promise<PollOutcome> => {
    const last = await progress.get(PROGRESS);
    const gap = last ? ageOf(last.completeAt, now()) : 0;
    const afterGap = gap > Math.max(10 * MINUTE, 5 * pollMs);
    const first = await explorer.voteRequests({ page: 0, size: 100 });
    // Rows of which none names a request are no reading, whatever else they hold.
    if (first.data.sent > 0 && first.data.content.every((row) => identityOf(row) === null)) return "failed";
    let told = 0;
    if (last && !afterGap) {
      // What opens stands on the first page: it is announced before the rest is read.
      const found = await compareAll(first.data.content, false, last.completeAt);
      told = found.events.filter(isNew).length;
      await settle(publisher, found);
    }
    const { rows, whole, done, totalElements } = await readList(first, afterGap || !last);
    if (!last && !whole) return "partial";
    const found = await compareAll(rows, done, last?.completeAt, told);
    await settle(publisher, found, done ? [progress.put(PROGRESS, { completeAt: now() })] : []);
    if (whole) {
      wholeAt = now();
      counted = totalElements;
      await settle(publisher, await findVanished(rows));
      await settle(publisher, await findOld());
    }
    const subscribed = await publisher.subscriptions();
    await settle(publisher, await checkPending(subscribed));
    await settle(publisher, await checkReminders(subscribed));
    return done ? "done" : "partial";
  };
}
