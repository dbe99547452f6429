import { isDeepStrictEqual } from "node:util";
import type { Subscription } from "../../delivery/collections.js";
import { hasTopic } from "../../delivery/feed.js";
import { ifAnswered } from "../../explorer/errors.js";
import { readPagesOf } from "../../explorer/paging.js";
import type { Vote, VoteRequestDetail } from "../../explorer/schema/governance.js";
import type { Reading } from "../../explorer/service.js";
import { standingOf } from "../../ledger/vote-phase.js";
import { firstVoteAt } from "../../ledger/vote-requests.js";
import { castIn } from "../../ledger/vote-rules.js";
import { votesIn } from "../../ledger/votes.js";
import { lazy } from "../../util/single-flight.js";
import { compareAction } from "./action-changes.js";
import type { TrackedVoteRequest } from "./collections.js";
import { votesInContract } from "./contract-votes.js";
import type { GovernanceEvent } from "./events.js";
import { type Detail, type ReadFindings, type RequestDeps, readTrackedDetail } from "./requests.js";
import { type GovernanceTopic, topics } from "./topics.js";
import { neededForTracked, sawQuorum, tallyOf, toVoteRequest } from "./tracking.js";
import { compareVotes, votesOn } from "./vote-changes.js";

/** Maximum number of pages of votes that are read after a tally has changed. */
const MAX_VOTE_PAGES = 6;

type ListedVotes = () => Promise<Reading<readonly Vote[]> | undefined>;

/** The parts of a request to read. */
interface Wanted {
  readonly votes: boolean;
  readonly changes: boolean;
  /** If it had expired. */
  readonly expiry: boolean;
}

/** Creates the check that reads single requests for votes and changes of the action. */
export function createPendingCheck({ explorer, requests, superValidators, names, now }: RequestDeps) {
  /** Requests whose details were asked for the time of their opening. */
  const askedForOpening = new Set<string>();

  /** True if the list did not say when a request was opened, and its details were not asked yet. */
  const isUndated = (key: string, { phase, openedAt }: TrackedVoteRequest): boolean =>
    phase === "open" && openedAt === null && !askedForOpening.has(key);
  /** Reads votes until those on the wanted requests are complete. */
  const readVotes = (wanted: readonly TrackedVoteRequest[]): Promise<Reading<readonly Vote[]>> =>
    readPagesOf(
      explorer,
      "votes",
      (rows) =>
        wanted.every(
          (request) =>
            votesOn(request, rows).filter((row) => row.accept !== null).length >=
            (request.yes ?? 0) + (request.no ?? 0),
        ),
      MAX_VOTE_PAGES,
    );

  /** Returns the requester's party and its names. */
  const requesterOf = ({ requester }: TrackedVoteRequest, detail: Detail) =>
    [requester, detail?.requester, detail?.requesterName, requester && names.party(requester)].flatMap(
      (name) => name ?? [],
    );

  /** True if the times of the votes show that enough had voted by the quorum date. The explorer was behind at that time. */
  const wasInTime = async (
    request: TrackedVoteRequest,
    { rawPayload }: VoteRequestDetail,
  ): Promise<boolean> => {
    const needed = await neededForTracked(request, superValidators);
    const dated = { ...toVoteRequest(request), votes: votesIn(rawPayload) };
    const { phase } = standingOf(dated, needed, now());
    return needed !== undefined && phase !== "expired" && phase !== "ended";
  };

  /**
   * True if the bot did not see if enough had voted by the quorum date, because it was not running then. Enough have voted now, and
   * only the times of the votes tell.
   */
  const isUnproven = async (request: TrackedVoteRequest): Promise<boolean> => {
    const { phase, terms, hasExpired } = request;
    const isPast = terms.voteBefore !== null && terms.voteBefore <= now() && terms.targetEffectiveAt !== null;
    if (phase !== "open" || !isPast || hasExpired !== undefined || sawQuorum(request)) return false;
    const needed = await neededForTracked(request, superValidators);
    return needed !== undefined && castIn(toVoteRequest(request)) >= needed;
  };

  /** Compares the votes of a request: those in its contract, or those in the list if the contract has none. */
  const checkVotes = async (
    key: string,
    request: TrackedVoteRequest,
    detail: Detail,
    listedVotes: ListedVotes,
  ) => {
    const exactTally = detail ? votesInContract(request, detail) : null;
    const readRows = exactTally === null ? await listedVotes() : undefined;
    const isAnswered = Array.isArray(exactTally) || (readRows !== undefined && !readRows.problem);
    const votes = exactTally ?? (readRows && votesOn(request, readRows.data));
    // Votes that are missing from the first read would later be announced as new.
    // The details, which will answer later, have all of them.
    const castCount = votes?.filter(({ accept }) => accept !== null).length ?? 0;
    const isWhole = detail !== undefined || castCount >= castIn(request);
    const isUsable = votes && (request.votes || (isAnswered && isWhole));
    const compared = isUsable
      ? compareVotes(key, request, votes, requesterOf(request, detail))
      : { changes: {}, events: [] };
    return { ...compared, isAnswered };
  };

  /** Reads what is wanted of one request, and returns what it is now. It stays pending if the explorer does not answer. */
  const checkOne = async (
    key: string,
    request: TrackedVoteRequest,
    { votes: wantsVotes, changes: wantsChanges, expiry: wantsExpiry }: Wanted,
    listedVotes: ListedVotes,
  ): Promise<{ readonly next: TrackedVoteRequest; readonly events: readonly GovernanceEvent[] }> => {
    let { needsDetail, ...next } = request;
    let isAnswered = true;
    const events: GovernanceEvent[] = [];
    const isWanted = wantsVotes || wantsChanges || wantsExpiry || isUndated(key, request);
    const detail = isWanted ? await readTrackedDetail(explorer, request) : null;
    if (isUndated(key, request) && detail !== undefined) {
      askedForOpening.add(key);
      next = { ...next, openedAt: detail && firstVoteAt(votesIn(detail.rawPayload)) };
    }
    if (wantsVotes) {
      const checked = await checkVotes(key, request, detail, listedVotes);
      isAnswered = checked.isAnswered;
      next = { ...next, ...checked.changes };
      events.push(...checked.events);
    } else {
      // Without subscribers, the votes are deleted. A later subscriber receives only votes cast from then on.
      const { votes, unconfirmedVotes, ...rest } = next;
      next = rest;
    }
    if (wantsChanges && request.phase === "open") {
      isAnswered &&= detail !== undefined;
      const compared = detail ? compareAction(key, request, detail, names) : undefined;
      const { unconfirmedAction, ...rest } = next;
      next = { ...rest, ...compared?.changes };
      events.push(...(compared?.events ?? []));
    }
    // An older contract may lack the votes that were in time.
    const isCurrent = detail != null && votesInContract(request, detail) !== undefined;
    if (wantsExpiry) isAnswered &&= detail === null || isCurrent;
    const hasExpired = wantsExpiry && isCurrent ? !(await wasInTime(request, detail)) : request.hasExpired;
    const isJudged = hasExpired !== undefined && hasExpired !== request.hasExpired;
    if (isJudged) next = { ...next, hasExpired };
    const isMoved = isJudged || !isDeepStrictEqual(tallyOf(next), tallyOf(request));
    next = { ...next, revision: next.revision + (isMoved ? 1 : 0) };
    return { next: isAnswered ? next : { ...next, needsDetail: true }, events };
  };

  /**
   * Reads votes and actions of requests whose tally has changed. Requests stay pending if the explorer does
   * not answer. Votes on a request whose tally is unknown are always read.
   */
  return async (subscribed: readonly Subscription[]): Promise<ReadFindings> => {
    const isWanted = (topic: GovernanceTopic) => subscribed.some((each) => hasTopic(each, { topics }, topic));
    const [votes, changes] = [isWanted("votes"), isWanted("changes")];
    const unproven = new Set<string>();
    for (const [key, each] of await requests.all()) if (await isUnproven(each)) unproven.add(key);
    const pending = [...(await requests.all())].filter(
      ([key, each]) =>
        each.needsDetail ||
        unproven.has(key) ||
        isUndated(key, each) ||
        (votes && each.phase === "open" && (!each.votes || each.yes === null || each.no === null)),
    );
    // The list is read once, and only if a contract does not contain its votes.
    const listedVotes = lazy(() => ifAnswered(readVotes(pending.map(([, each]) => each))));
    const learnt = new Map<string, TrackedVoteRequest>();
    const events: GovernanceEvent[] = [];
    for (const [key, request] of pending) {
      const expiry = request.hasExpired === true || unproven.has(key);
      const checked = await checkOne(key, request, { votes, changes, expiry }, listedVotes);
      learnt.set(key, checked.next);
      events.push(...checked.events);
    }
    return { learnt, events };
  };
}
