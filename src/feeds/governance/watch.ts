import { progress, type Subscription } from "../../delivery/collections.js";
import { hasTopic } from "../../delivery/feed.js";
import type { Findings, PollSteps, Subscribers } from "../../delivery/module.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import { identityOf } from "../../ledger/vote-requests.js";
import type { Write } from "../../storage/store.js";
import { ageOf, isTimely } from "../../util/clock.js";
import { MINUTE } from "../../util/units.js";
import { findOld, findVanished, isUnknown } from "./closings.js";
import type { TrackedVoteRequest } from "./collections.js";
import { createCompletion } from "./completion.js";
import { findDueReminders } from "./due-reminders.js";
import { eventId, type GovernanceEvent } from "./events.js";
import { createList } from "./list.js";
import { createPendingCheck } from "./pending.js";
import type { ReadFindings, RequestDeps } from "./requests.js";
import { compareKnown, createNewRows, type RowSource } from "./rows.js";
import { findStages } from "./stages.js";
import { topics } from "./topics.js";
import { keyOf } from "./tracking.js";

/** Id of the time of the last complete read. */
export const PROGRESS = "governance";

/** Maximum number of new requests that are announced separately. If one read finds more, they share one message. */
const MAX_SINGLE = 3;

interface GovernanceWatchDeps extends RequestDeps {
  /** Called with a changed request once it is stored. */
  readonly onLearnt: (request: TrackedVoteRequest) => void;
  readonly pollMs: number;
}

/** Returns the ids of a request's reminder events. */
const remindersOf = (key: string, { reminded }: TrackedVoteRequest): string[] =>
  reminded.map((reminder) => eventId({ kind: "reminder", key, reminder }));

const isNew = (event: GovernanceEvent) => event.kind === "opened" || event.kind === "missed";

/** Returns since when a subscription waits for new requests, epoch ms. One from the environment does not say. */
const awaitedSinceBy = (each: Subscription): number =>
  each.subject === null && hasTopic(each, { topics }, "new") ? each.since || Infinity : Infinity;

/**
 * Combines new requests into one event if there are too many.
 * @param since time of the last complete read of the list
 * @param told number of new requests of this read that have already been announced
 */
function toDigest(events: readonly GovernanceEvent[], since: number | null, told: number): GovernanceEvent[] {
  const fresh = events.filter(isNew);
  if (fresh.length < 2 || fresh.length + told <= MAX_SINGLE) return [...events];
  const digest: GovernanceEvent = {
    kind: "digest",
    keys: fresh.map(({ key }) => key),
    rows: fresh.map(({ row }) => row),
    since,
  };
  return [digest, ...events.filter((event) => !isNew(event))];
}

/** Compares each read of the vote requests with the tracked ones, and publishes the changes. */
export function createGovernanceWatch(deps: GovernanceWatchDeps) {
  const { explorer, state, requests, superValidators, onLearnt, pollMs, now } = deps;
  const readTimes = state.open(progress);
  const checkPending = createPendingCheck(deps);
  const completeDetails = createCompletion(deps);

  /** Yields the findings as one step, and caches them once they are written. */
  async function* settle(
    { learnt, events }: ReadFindings,
    more: readonly Write[] = [],
  ): AsyncGenerator<Findings, void, void> {
    const knownRequests = await requests.all();
    const moved = [...learnt].flatMap(([key, each]) =>
      each.revision === knownRequests.get(key)?.revision ? [] : [key, ...remindersOf(key, each)],
    );
    const writes = [...more, ...[...learnt].map(([key, each]) => requests.put(key, each))];
    yield { events, writes, changed: moved };
    // The requests may have been reloaded before this was written.
    const currentRequests = await requests.all();
    for (const [key, each] of learnt) {
      currentRequests.set(key, each);
      onLearnt(each);
    }
  }

  const startedAt = now();
  let hasWaited = false;
  /** True if a row's request is not tracked yet. */
  const hasUnknown = async (rows: readonly VoteRequestListItem[]): Promise<boolean> => {
    const known = await requests.all();
    return rows.some((row) => {
      const identity = identityOf(row);
      return identity !== null && !known.has(keyOf(known, row, identity));
    });
  };

  const list = createList(deps);
  const judgeNew = createNewRows(deps);

  /**
   * Compares rows with the tracked requests.
   * @param toldCount number of new requests of this read that have already been announced
   */
  const compareAll = async (
    rows: readonly VoteRequestListItem[],
    read: Omit<RowSource, "mayLackOlder" | "voters">,
    wasPartial: boolean,
    toldCount = 0,
  ): Promise<ReadFindings> => {
    const knownRequests = await requests.all();
    const learntRequests = new Map<string, TrackedVoteRequest>();
    const events: GovernanceEvent[] = [];
    const isIncomplete = rows.some(({ abstainCount }) => abstainCount === null);
    const source: RowSource = {
      ...read,
      // An answer without any request, or with the same page twice, may have been wrong.
      mayLackOlder: knownRequests.size === 0 || wasPartial,
      voters: isIncomplete ? await superValidators() : undefined,
    };
    for (const row of rows) {
      const identity = identityOf(row);
      if (identity === null) continue;
      const key = keyOf(knownRequests, row, identity);
      const knownRequest = learntRequests.get(key) ?? knownRequests.get(key);
      const { next, events: rowEvents } = knownRequest
        ? compareKnown(key, knownRequest, row, source, now())
        : await judgeNew(key, row, source);
      if (next && next !== knownRequest && JSON.stringify(next) !== JSON.stringify(knownRequest))
        learntRequests.set(key, next);
      events.push(...rowEvents);
    }
    // Details may be read for each row, which can take minutes. The requests of a read are seen together, when they are announced.
    const seenAt = now();
    for (const [key, each] of learntRequests)
      if (!knownRequests.has(key)) learntRequests.set(key, { ...each, seenAt });
    return { learnt: learntRequests, events: toDigest(events, read.lastAt ?? null, toldCount) };
  };

  return async function* (subscribers: Subscribers): PollSteps {
    const lastRead = await readTimes.get(PROGRESS);
    const gap = lastRead ? ageOf(lastRead.completeAt, now()) : 0;
    const afterGap = gap > Math.max(10 * MINUTE, 5 * pollMs);
    const firstPage = await explorer.voteRequests({ page: 0, size: 100 });
    // If no row has an id, the answer is invalid.
    if (firstPage.data.sent > 0 && firstPage.data.content.every((row) => identityOf(row) === null))
      return "failed";
    let toldCount = 0;
    if (lastRead && !afterGap && (await hasUnknown(firstPage.data.content))) {
      // New requests are on the first page, so announce them before reading the rest.
      const wasPartial = lastRead.isPartial === true;
      const firstRead = { whole: false, lastAt: lastRead.completeAt, awaitedSince: Infinity };
      const firstFindings = await compareAll(firstPage.data.content, firstRead, wasPartial);
      toldCount = firstFindings.events.filter(isNew).length;
      yield* settle(firstFindings);
    }
    const { rows, whole, isOnlyPage, isSettled, done, totalElements } = await list.read(
      firstPage,
      afterGap || !lastRead,
    );
    // No request is announced before there is a baseline, so the poll must not look successful.
    if (!lastRead && !done) return "failed";
    const starts = lastRead ? [] : (await subscribers.subscriptions()).map(awaitedSinceBy);
    const wholeRead = {
      whole: done,
      lastAt: lastRead?.completeAt,
      awaitedSince: starts.reduce((first, each) => Math.min(first, each), Infinity),
    };
    const allFindings = await compareAll(rows, wholeRead, lastRead?.isPartial === true, toldCount);
    // The list is as old as its first page. Requests that opened while it was read may be missing.
    const completeAt = firstPage.fetchedAt;
    const isPartial = !whole && (!lastRead || lastRead.isPartial === true);
    const read = isPartial ? { completeAt, isPartial } : { completeAt };
    yield* settle(allFindings, done ? [readTimes.put(PROGRESS, read)] : []);
    // Newer requests may have pushed one off the only page that an explorer shows. Its details say how it ended.
    if (whole || isOnlyPage) {
      list.noteWhole(totalElements);
      yield* settle(await findVanished(deps, rows));
      yield* settle(await findOld(deps));
    }
    const isLost = (known: TrackedVoteRequest) => isUnknown(explorer, known, rows.length === 0);
    const subscribedChannels = await subscribers.subscriptions();
    yield* settle(await checkPending(subscribedChannels));
    yield* settle(await completeDetails());
    // If the process was suspended, the tallies are older than the clock, and the next poll reads them again. It does not wait twice in a
    // row, because a slow explorer must not keep the reminders back.
    hasWaited = !hasWaited && !isTimely(completeAt, now());
    if (hasWaited) return "partial";
    // Wait for a complete read, which may confirm new dates, before announcing anything about the old ones. A row that stays unreadable
    // gets no confirmation.
    const awaits = done && !isSettled;
    yield* settle(await findStages(deps, isLost, awaits));
    yield* settle(await findDueReminders({ ...deps, startedAt }, subscribedChannels, isLost, awaits));
    return done ? "done" : "partial";
  };
}
