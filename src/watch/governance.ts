import { ExplorerError } from "../explorer/errors.js";
import { identityOf } from "../explorer/governance.js";
import { readPages } from "../explorer/paging.js";
import type { VoteRequestListItem } from "../explorer/schema.js";
import type { Explorer } from "../explorer/service.js";
import type { Log } from "../ops/log.js";
import type { PollOutcome } from "../ops/metrics.js";
import type { Lease } from "../storage/lease.js";
import { collectionOf, type State, type Write } from "../storage/state.js";
import type { Edits } from "./edits.js";
import { createEndsWatch } from "./ends.js";
import type { GovernanceEvent } from "./events.js";
import type { Outbox } from "./outbox.js";
import {
  compare,
  type Findings,
  firstSeen,
  type KnownRequest,
  type KnownRequests,
  requestKey,
} from "./requests.js";
import type { Subscription, Subscriptions } from "./subscriptions.js";
import { createVotesWatch } from "./votes.js";

/** How far the watch has come. */
export interface Progress {
  /** When the list was last read as far as it can bring news, epoch ms; the first time makes what is there known, silently. */
  readonly completeAt: number;
}

export const PROGRESS = "governance";

const MINUTE = 60_000;
/**
 * All pages are read this often, in ms, and whenever the explorer counts another number of requests. In between, a poll
 * ends once every open request has been seen: what is behind is over, and only grows.
 */
const WHOLE_MS = 10 * MINUTE;
/** More than this many new after a gap are told in one message. */
const MOST_SINGLY = 3;

interface Parts {
  /** Asks for nothing but new readings. */
  readonly explorer: Explorer;
  readonly state: State;
  readonly lease: Lease;
  readonly subscriptions: Subscriptions;
  readonly outbox: Outbox;
  readonly edits: Edits;
  readonly requests: KnownRequests;
  readonly pollMs: number;
  readonly log: Log;
  readonly now?: () => number;
}

/** Compares each read of the vote requests with what is known, and hands what happened to the outbox. */
export interface GovernanceWatch {
  /** @returns whether they were read as far as they can bring news, in part, or not at all */
  poll(): Promise<PollOutcome>;
}

export function createGovernanceWatch(parts: Parts): GovernanceWatch {
  const {
    explorer,
    state,
    lease,
    subscriptions,
    outbox,
    edits,
    requests,
    pollMs,
    log,
    now = Date.now,
  } = parts;
  const progress = collectionOf<Progress>(state, "progress");
  const { lookAtDue, lookAtDeadlines } = createVotesWatch({ explorer, requests, now });
  const { lookForGone, lookForOld } = createEndsWatch({ explorer, state, requests, now });

  /** Commits what was found, the deliveries it makes due, and whatever else belongs to it, at once. */
  const settle = async ({ learnt, events }: Findings, more: readonly Write[] = []) => {
    const known = await requests.all();
    const wants = (subscription: Subscription, event: GovernanceEvent) =>
      event.kind !== "reminder" ||
      subscription.before.some((before) => event.reminder.endsWith(`:${before}`));
    const deliveries = await outbox.prepare(events, wants);
    const writes = [
      ...more,
      ...deliveries.writes,
      ...[...learnt].map(([key, each]) => requests.put(key, each)),
    ];
    if (writes.length === 0) return;
    if (!(await state.commit([lease.guard, ...writes])))
      throw new Error("Another process does the background work now");
    let moved = false;
    for (const [key, each] of learnt) {
      moved ||= each.revision !== known.get(key)?.revision;
      known.set(key, each);
    }
    if (moved) edits.touch();
    deliveries.release();
  };

  /** When all pages were last read, and how many requests the explorer counted then. */
  let wholeAt = Number.NEGATIVE_INFINITY;
  let counted: number | null = null;

  /** Whether every request that is known to be open is among rows. */
  const everyOpenIn = (known: ReadonlyMap<string, KnownRequest>, rows: readonly VoteRequestListItem[]) => {
    const seen = new Set(rows.map((row) => keyOf(known, row, identityOf(row) ?? "")));
    return [...known].every(([key, { phase }]) => phase !== "open" || seen.has(key));
  };

  /** What rows say that is not known yet. */
  const look = async (
    rows: readonly VoteRequestListItem[],
    whole: boolean,
    baseline: boolean,
  ): Promise<Findings> => {
    const known = await requests.all();
    const learnt = new Map<string, KnownRequest>();
    const events: GovernanceEvent[] = [];
    for (const row of rows) {
      const identity = identityOf(row);
      if (identity === null) continue;
      const key = keyOf(known, row, identity);
      const before = learnt.get(key) ?? known.get(key);
      if (!before) {
        const first = firstSeen(row, now(), baseline);
        if (!first) continue;
        learnt.set(key, first);
        if (first.phase === "open" && !baseline) events.push({ kind: "opened", key, row });
        continue;
      }
      const { next, changedFrom, closed } = compare(before, row, whole);
      if (JSON.stringify(next) !== JSON.stringify(before))
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
    }
    return { learnt, events };
  };

  const poll = async (): Promise<PollOutcome> => {
    const last = await progress.get(PROGRESS);
    const gap = last ? now() - last.completeAt : 0;
    const afterGap = gap > Math.max(10 * MINUTE, 5 * pollMs);
    const first = await explorer.voteRequests({ page: 0, size: 100 });
    if (last && !afterGap) {
      // What opens stands on the first page: it is told before the rest is read.
      await settle(await look(first.data.content, false, false));
    }
    const { totalElements, unreadable } = first.data;
    const wholeIsDue =
      afterGap ||
      unreadable > 0 ||
      totalElements === null ||
      totalElements !== counted ||
      now() - wholeAt >= WHOLE_MS ||
      !last;
    const known = await requests.all();
    const enough = (rows: readonly VoteRequestListItem[]) => !wholeIsDue && everyOpenIn(known, rows);
    const all = await readPages(
      async (page) => (page.page === 0 ? first : explorer.voteRequests(page)),
      (row) => row.contractId,
      enough,
    );
    // An empty, partial or stale answer is no news, and no baseline.
    const whole = all.complete && all.data.length > 0;
    const done = whole || enough(all.data);
    if (!last && !whole) return "partial";
    const found = await look(all.data, done, !last);
    const opened = found.events.filter((event) => event.kind === "opened");
    const events =
      afterGap && opened.length > MOST_SINGLY
        ? [
            {
              kind: "digest" as const,
              keys: opened.map(({ key }) => key),
              rows: opened.map(({ row }) => row),
            },
            ...found.events.filter((event) => event.kind !== "opened"),
          ]
        : found.events;
    await settle({ ...found, events }, done ? [progress.put(PROGRESS, { completeAt: now() })] : []);
    if (whole) {
      wholeAt = now();
      counted = totalElements;
      await settle(await lookForGone(all.data));
      const { findings, writes } = await lookForOld();
      await settle(findings, writes);
    }

    const subscribed = await subscriptions.all();
    await settle(await lookAtDue(subscribed));
    await settle(await lookAtDeadlines(subscribed));
    return done ? "done" : "partial";
  };

  return {
    async poll() {
      try {
        return await poll();
      } catch (error) {
        if (!(error instanceof ExplorerError)) throw error;
        log.debug({ err: error }, "The vote requests could not be read; trying again at the next poll");
        return "failed";
      }
    },
  };
}

/** A request's key: that of the known request which has had one of the row's ids, else of its own identity. */
function keyOf(known: ReadonlyMap<string, KnownRequest>, row: VoteRequestListItem, identity: string): string {
  const own = requestKey(identity);
  if (known.has(own)) return own;
  for (const [key, { contractIds }] of known) {
    if (contractIds.some((id) => id === row.trackingCid || id === row.contractId)) return key;
  }
  return own;
}
