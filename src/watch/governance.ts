import { ExplorerError, ifAnswered } from "../explorer/errors.js";
import { identityOf, statusGroup } from "../explorer/governance.js";
import { readPages } from "../explorer/paging.js";
import type { VoteRequestListItem } from "../explorer/schema.js";
import type { Explorer } from "../explorer/service.js";
import type { Log } from "../ops/log.js";
import type { PollOutcome } from "../ops/metrics.js";
import type { Lease } from "../storage/lease.js";
import { collectionOf, type State, type Write } from "../storage/state.js";
import type { Edits } from "./edits.js";
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
  /** When the list was last read whole, epoch ms; the first time makes what is there known, silently. */
  readonly completeAt: number;
}

export const PROGRESS = "governance";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** More than this many new after a gap are told in one message. */
const MOST_SINGLY = 3;
/** A closed request's details are forgotten after this long, in ms; its key never. */
const PRUNE_MS = 180 * DAY;

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
  /** @returns whether they were read whole, in part, or not at all */
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

  /** Requests that were open and are gone from a complete read: closed once endpoint 14 says so, or a day after the end. */
  const lookForGone = async (rows: readonly VoteRequestListItem[]): Promise<Findings> => {
    const known = await requests.all();
    const present = new Set(rows.flatMap((row) => [row.trackingCid, row.contractId]));
    const learnt = new Map<string, KnownRequest>();
    const events: GovernanceEvent[] = [];
    for (const [key, each] of known) {
      if (
        each.phase !== "open" ||
        present.has(each.identity) ||
        each.contractIds.some((id) => present.has(id))
      )
        continue;
      const missing = Math.min(each.missing + 1, 2);
      const status = missing < 2 ? null : await confirmedStatus(each);
      const end = Math.max(each.terms.voteBefore ?? 0, each.terms.targetEffectiveAt ?? 0);
      const ended = end > 0 && now() > end + DAY;
      if (missing >= 2 && (status !== null || ended)) {
        learnt.set(key, {
          ...each,
          missing,
          phase: "closed",
          status: status ?? each.status,
          ...(status === null ? { endUnconfirmed: true } : {}),
          closedAt: now(),
          revision: each.revision + 1,
        });
        events.push({ kind: "closed", key, status });
      } else if (missing !== each.missing) learnt.set(key, { ...each, missing });
    }
    return { learnt, events };
  };

  /** A status by which endpoint 14 says that a request is over; null where it does not. */
  const confirmedStatus = async ({ contractIds, identity }: KnownRequest): Promise<string | null> => {
    for (const id of new Set([contractIds.at(-1) ?? identity, identity])) {
      const status = (await ifAnswered(explorer.voteRequest({ id })))?.data.status ?? null;
      const group = statusGroup(status);
      if (group !== "open" && group !== "other") return status;
    }
    return null;
  };

  /** What was closed long ago is forgotten but for its key, or an old row would be announced anew. */
  const prune = async (): Promise<void> => {
    const learnt = new Map<string, KnownRequest>();
    for (const [key, each] of await requests.all()) {
      if (each.closedAt === undefined || now() - each.closedAt < PRUNE_MS) continue;
      const { votes, unconfirmed, closedAt, ...kept } = each;
      const terms = { title: null, action: null, voteBefore: null, targetEffectiveAt: null };
      learnt.set(key, { ...kept, phase: "silent", contractIds: [], reminded: [], terms });
    }
    if (learnt.size === 0) return;
    const announced = collectionOf<unknown>(state, "announced");
    const old = [...(await announced.list()).keys()].filter((id) => learnt.has(id.split("@")[0] ?? ""));
    await settle(
      { learnt, events: [] },
      old.map((id) => announced.delete(id)),
    );
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
    const all = await readPages(
      async (page) => (page.page === 0 ? first : explorer.voteRequests(page)),
      (row) => row.contractId,
      () => false,
    );
    // An empty, partial or stale answer is no news, and no baseline.
    const whole = all.complete && all.data.length > 0;
    if (!last && !whole) return "partial";
    const found = await look(all.data, whole, !last);
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
    await settle({ ...found, events }, whole ? [progress.put(PROGRESS, { completeAt: now() })] : []);
    if (whole) {
      await settle(await lookForGone(all.data));
      await prune();
    }

    const subscribed = await subscriptions.all();
    await settle(await lookAtDue(subscribed));
    await settle(await lookAtDeadlines(subscribed));
    return whole ? "done" : "partial";
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
