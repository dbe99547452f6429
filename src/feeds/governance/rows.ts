import { ifAnswered } from "../../explorer/errors.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import { firstVoteAt, openedAtIn, readDetail } from "../../ledger/vote-requests.js";
import { isOver, type Tally } from "../../ledger/vote-rules.js";
import { votesIn } from "../../ledger/votes.js";
import { HOUR } from "../../util/units.js";
import { type TrackedVoteRequest, trackedVoteRequests } from "./collections.js";
import { decide } from "./decisions.js";
import type { GovernanceEvent } from "./events.js";
import type { RequestDeps } from "./requests.js";
import { compare, firstSeen, isCorrected, withReopening, withTold } from "./tracking.js";

/** A request that ended between two reads is reported if it opened no longer than this before the last complete read, in ms. */
const MISSED_MS = HOUR;

/** The findings in a row: its request's document if that may have changed, and the news. */
interface RowFindings {
  readonly next?: TrackedVoteRequest;
  readonly events: readonly GovernanceEvent[];
}

/** The read that a row is from. */
export interface RowSource {
  /** True if the read shows all requests. */
  readonly whole: boolean;
  /** Time of the last complete read. `undefined` if there was none. */
  readonly lastAt: number | undefined;
  /** Before a complete read, the time since which a channel has waited for new requests, epoch ms. */
  readonly awaitedSince: number;
  /** True if the earlier reads may have lacked older requests: one was empty, or had only one page. */
  readonly mayLackOlder: boolean;
  /** Number of super validators, if the rows do not contain it. */
  readonly voters: number | undefined;
}

/** Creates the judge of rows whose requests are not tracked yet. The time when they were first seen is that of the whole read. */
export function createNewRows({ explorer, state, now }: Pick<RequestDeps, "explorer" | "state" | "now">) {
  const tracked = state.open(trackedVoteRequests);
  /** Times of the last complete reads before requests were first seen past their dates without an outcome, by key. */
  const unclearSince = new Map<string, number>();

  /** Returns when a request was opened, epoch ms. The row's time is that of the latest vote, so the details are asked. */
  const openingOf = async (row: VoteRequestListItem): Promise<number | null> => {
    const listed = openedAtIn(row);
    if (listed !== null) return listed;
    const detail = await ifAnswered(readDetail(explorer, row));
    return (detail ? firstVoteAt(votesIn(detail.rawPayload)) : null) ?? row.createdAt;
  };

  /** True if a request was open at a time already. False if the explorer does not say. */
  const wasOpenAt = async (row: VoteRequestListItem, time: number): Promise<boolean> => {
    const isBefore = (createdAt: number | null) => createdAt !== null && createdAt <= time;
    return isBefore(row.createdAt) || isBefore(await openingOf(row));
  };

  /** True if a request is no news: it existed before anyone waited for it, or before the last complete read. */
  const isOldRow = async (
    key: string,
    row: VoteRequestListItem,
    unseenSince: number | undefined,
    { awaitedSince, mayLackOlder }: RowSource,
  ): Promise<boolean> => {
    if (unseenSince === undefined) {
      if (isOver(row, now()) || row.createdAt === null) return true;
      if (await wasOpenAt(row, awaitedSince)) return true;
    } else if (mayLackOlder && (await wasOpenAt(row, unseenSince - MISSED_MS))) return true;
    return tracked.wasSetAside(key);
  };

  return async (key: string, row: VoteRequestListItem, source: RowSource): Promise<RowFindings> => {
    const unseenSince = unclearSince.get(key) ?? source.lastAt;
    const isOld = await isOldRow(key, row, unseenSince, source);
    const firstRequest = firstSeen(row, now(), isOld);
    if (!firstRequest) {
      if (unseenSince !== undefined) unclearSince.set(key, unseenSince);
      return { events: [] };
    }
    unclearSince.delete(key);
    const isOpenNow = firstRequest.phase === "open";
    const openedAt = openedAtIn(row);
    if (isOpenNow)
      return {
        next: { ...decide(firstRequest, source.voters).next, openedAt },
        events: isOld ? [] : [{ kind: "opened", key, row }],
      };
    // The request opened and ended after the last read, which did not list it.
    const isMissed =
      unseenSince !== undefined && !isOld && (row.createdAt ?? unseenSince) > unseenSince - MISSED_MS;
    if (!isMissed) return { next: { ...firstRequest, openedAt }, events: [] };
    const openUntil = Math.max(unseenSince, row.createdAt ?? 0);
    return { next: { ...firstRequest, openedAt, openUntil }, events: [{ kind: "missed", key, row }] };
  };
}

/** True if no later vote saves a request. Without a decision date, enough yes votes accept it also after its quorum date. */
const isLost = ({ hasExpired, terms }: TrackedVoteRequest): boolean =>
  hasExpired === true && terms.targetEffectiveAt !== null;

/** Returns the number of super validators in a tally. It is not a number if the explorer does not give all counts. */
const votersIn = ({ yes, no, pending }: Tally): number =>
  (yes ?? Number.NaN) + (no ?? Number.NaN) + (pending ?? Number.NaN);

/** Shows a request again if super validators have joined or left: it may need another number of votes. */
const withVoters = (known: TrackedVoteRequest, next: TrackedVoteRequest): TrackedVoteRequest =>
  next.revision > known.revision || Object.is(votersIn(next), votersIn(known))
    ? next
    : { ...next, revision: next.revision + 1 };

/** Returns what a row says about a request that is tracked. */
export function compareKnown(
  key: string,
  known: TrackedVoteRequest,
  row: VoteRequestListItem,
  { whole, lastAt, voters }: RowSource,
  now: number,
): RowFindings {
  const { next: fromRow, changedFrom, closed } = compare(known, row, whole, now);
  const compared = withVoters(known, fromRow);
  // A decision that comes with the end is remembered, and no news.
  const isOpen = compared.phase === "open";
  const judged = isOpen || closed ? decide(compared, voters, whole) : { next: compared };
  const decided = isOpen ? judged : { next: judged.next };
  // Earlier versions did not store the opening time.
  const isUndated = known.openedAt === undefined && openedAtIn(row) !== null;
  const dated = isUndated ? { ...decided.next, openedAt: openedAtIn(row) } : decided.next;
  const told = withTold(known, dated, now);
  const next = whole && !closed ? withReopening(told, row, now) : told;
  const { status, reopenedAt, changeSequence: sequence, terms } = next;
  const changes: readonly GovernanceEvent[] = changedFrom
    ? [{ kind: "changed", key, sequence, from: changedFrom, to: terms }]
    : [];
  const closing = (correctedAt: number | undefined): GovernanceEvent => ({
    kind: "closed",
    key,
    status,
    correctedAt,
  });
  if (closed) {
    // A complete read that lacked the request does not show that it was still open.
    const openUntil = known.missedReads > 0 ? null : (lastAt ?? null);
    return { next: { ...next, closedAt: now, openUntil }, events: [...changes, closing(reopenedAt)] };
  }
  if (told.phase !== "open" && next.phase === "open" && !isLost(next))
    return { next, events: [...changes, { kind: "reopened", key, at: now }] };
  // It was announced that the outcome is unknown.
  if (known.endUnconfirmed && !next.endUnconfirmed && next.phase === "closed")
    return { next, events: [...changes, closing(now)] };
  if (whole && isCorrected(next, now))
    return {
      next: { ...next, toldStatus: status },
      events: [...changes, closing(next.restatedAt ?? 0)],
    };
  const news: readonly GovernanceEvent[] = decided.news && !isLost(next) ? [{ key, ...decided.news }] : [];
  return { next, events: [...changes, ...news] };
}
