import { isDeepStrictEqual } from "node:util";
import type { Subscription } from "../../delivery/collections.js";
import { hasTopic } from "../../delivery/feed.js";
import type { Names } from "../../directory/names.js";
import { ifAnswered } from "../../explorer/errors.js";
import { readPages } from "../../explorer/paging.js";
import type { Vote, VoteRequestDetail } from "../../explorer/schema/governance.js";
import type { Reading } from "../../explorer/service.js";
import { toDecimal } from "../../explorer/values.js";
import type { Action } from "../../ledger/actions.js";
import { flatten } from "../../ledger/configuration.js";
import { type Value, valueText } from "../../ledger/units.js";
import { shortWindow, standingOf } from "../../ledger/vote-phase.js";
import { actionIn, earliest, readDetail } from "../../ledger/vote-requests.js";
import { castIn } from "../../ledger/vote-rules.js";
import { votesIn } from "../../ledger/votes.js";
import { cut } from "../../text/plain.js";
import { digest } from "../../util/digest.js";
import { lazy } from "../../util/single-flight.js";
import type { TrackedVoteRequest } from "./collections.js";
import type { GovernanceEvent } from "./events.js";
import { believedReminders, openingOfReminder, remindersFor, seenOf } from "./reminders.js";
import type { ReadFindings, RequestDeps } from "./requests.js";
import { type GovernanceTopic, topics } from "./topics.js";
import {
  mayHaveMoved,
  neededForTracked,
  sawQuorum,
  tallyOf,
  toVoteRequest,
  trackedStanding,
} from "./tracking.js";
import { compareVotes, votesOn } from "./vote-changes.js";

/** Maximum number of pages of votes that are read after a tally has changed. */
const MAX_VOTE_PAGES = 6;

/** Creates the checks that read single requests for votes and changes of the action. */
export function createPendingChecks({ explorer, requests, superValidators, names, now }: RequestDeps) {
  /** Requests whose details were asked for the time of their opening. */
  const askedForOpening = new Set<string>();

  /** True if the list did not say when a request was opened, and its details were not asked yet. */
  const isUndated = (key: string, { phase, openedAt }: TrackedVoteRequest): boolean =>
    phase === "open" && openedAt === null && !askedForOpening.has(key);
  /** Reads votes until those on the wanted requests are complete. */
  const readVotes = (wanted: readonly TrackedVoteRequest[]): Promise<Reading<readonly Vote[]>> =>
    readPages(
      "votes",
      (page) => explorer.votes(page),
      (rows) =>
        wanted.every(
          (request) =>
            votesOn(request, rows).filter((row) => row.accept !== null).length >=
            (request.yes ?? 0) + (request.no ?? 0),
        ),
      MAX_VOTE_PAGES,
    );

  /**
   * Returns the details of the newest version. `undefined` if the explorer does not answer, null if there are
   * none.
   */
  const detailOf = ({
    identity,
    contractIds,
  }: TrackedVoteRequest): Promise<VoteRequestDetail | null | undefined> =>
    ifAnswered(
      readDetail(explorer, { contractId: contractIds.at(-1) ?? null, trackingCid: identity }).then(
        (detail) => detail ?? null,
      ),
    );

  /** Returns the requester's party and its names. */
  const requesterOf = ({ requester }: TrackedVoteRequest, detail: VoteRequestDetail | null | undefined) =>
    [requester, detail?.requester, detail?.requesterName, requester && names.party(requester)].flatMap(
      (name) => name ?? [],
    );

  /**
   * Returns the votes in the contract. `undefined` if the contract is older than the one in the list, null if
   * it contains no votes.
   */
  const exactVotes = (request: TrackedVoteRequest, { contractId, rawPayload }: VoteRequestDetail) => {
    const votes = votesIn(rawPayload);
    if (votes === null) return null;
    const countOf = (side: boolean) => votes.filter(({ accept }) => accept === side).length;
    const more = countOf(true) + countOf(false) - ((request.yes ?? 0) + (request.no ?? 0));
    const isNewest = contractId !== null && contractId === request.contractIds.at(-1);
    // With as many votes, an older contract may lack a changed one.
    const isSame = more === 0 && (request.yes === null || countOf(true) === request.yes);
    return isNewest || more > 0 || isSame ? votes : undefined;
  };

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

  /** Compares the action in the details, which the list does not contain. */
  const compareAction = (
    key: string,
    request: TrackedVoteRequest,
    detail: VoteRequestDetail,
    events: GovernanceEvent[],
  ) => {
    const action = actionIn(detail);
    const text = actionText(action, names);
    const actionDigest = digestOf(action);
    if (text === null || actionDigest === request.actionDigest) return { unconfirmedAction: undefined };
    names.learn(request.identity, action);
    const terms = { ...request.terms, action: text };
    if (request.actionDigest === undefined) return { terms, actionDigest };
    // Like any other change, this counts once two reads agree.
    if (request.unconfirmedAction !== actionDigest)
      return { unconfirmedAction: actionDigest, needsDetail: true };
    const changeSequence = request.changeSequence + 1;
    events.push({ kind: "changed", key, sequence: changeSequence, from: request.terms, to: terms });
    const revision = request.revision + 1;
    return { terms, actionDigest, unconfirmedAction: undefined, changeSequence, revision };
  };

  return {
    /**
     * Reads votes and actions of requests whose tally has changed. Requests stay pending if the explorer does
     * not answer. Votes on a request whose tally is unknown are always read.
     */
    async checkPending(subscribed: readonly Subscription[]): Promise<ReadFindings> {
      const isWanted = (topic: GovernanceTopic) =>
        subscribed.some((each) => hasTopic(each, { topics }, topic));
      const [wantsVotes, wantsChanges] = [isWanted("votes"), isWanted("changes")];
      const unproven = new Set<string>();
      for (const [key, each] of await requests.all()) if (await isUnproven(each)) unproven.add(key);
      const pending = [...(await requests.all())].filter(
        ([key, each]) =>
          each.needsDetail ||
          unproven.has(key) ||
          isUndated(key, each) ||
          (wantsVotes && each.phase === "open" && (!each.votes || each.yes === null || each.no === null)),
      );
      const learntRequests = new Map<string, TrackedVoteRequest>();
      const events: GovernanceEvent[] = [];
      // The list is read once, and only if a contract does not contain its votes.
      const listedVotes = lazy(() => ifAnswered(readVotes(pending.map(([, each]) => each))));
      for (const [key, request] of pending) {
        let { needsDetail, ...next } = request;
        let isAnswered = true;
        const mayHaveExpired = request.hasExpired === true || unproven.has(key);
        const isWantedNow = wantsVotes || wantsChanges || mayHaveExpired || isUndated(key, request);
        const detail = isWantedNow ? await detailOf(request) : null;
        if (isUndated(key, request) && detail !== undefined) {
          askedForOpening.add(key);
          next = { ...next, openedAt: detail && openedBy(detail) };
        }
        if (wantsVotes) {
          const exactTally = detail ? exactVotes(request, detail) : null;
          const readRows = exactTally === null ? await listedVotes() : undefined;
          isAnswered = Array.isArray(exactTally) || (readRows !== undefined && !readRows.problem);
          const votes = exactTally ?? (readRows && votesOn(request, readRows.data));
          // Votes that are missing from the first read would later be announced as new.
          if (votes && (isAnswered || request.votes)) {
            const compared = compareVotes(key, request, votes, requesterOf(request, detail));
            next = { ...next, ...compared.changes };
            events.push(...compared.events);
          }
        } else {
          // Without subscribers, the votes are deleted. A later subscriber receives only votes cast from then
          // on.
          const { votes: forgotten, unconfirmedVotes, ...rest } = next;
          next = rest;
        }
        if (wantsChanges && request.phase === "open") {
          isAnswered &&= detail !== undefined;
          const { unconfirmedAction, ...action } = detail ? compareAction(key, request, detail, events) : {};
          const { unconfirmedAction: _, ...rest } = next;
          next = { ...rest, ...action, ...(unconfirmedAction ? { unconfirmedAction } : {}) };
        }
        // An older contract may lack the votes that were in time.
        const isCurrent = detail != null && exactVotes(request, detail) !== undefined;
        if (mayHaveExpired) isAnswered &&= detail === null || isCurrent;
        const hasExpired =
          mayHaveExpired && isCurrent ? !(await wasInTime(request, detail)) : request.hasExpired;
        const isJudged = hasExpired !== undefined && hasExpired !== request.hasExpired;
        if (isJudged) next = { ...next, hasExpired };
        const isMoved = isJudged || !isDeepStrictEqual(tallyOf(next), tallyOf(request));
        next = { ...next, revision: next.revision + (isMoved ? 1 : 0) };
        learntRequests.set(key, isAnswered ? next : { ...next, needsDetail: true });
      }
      return { learnt: learntRequests, events };
    },

    /**
     * Finds reminders that are due. Missing votes are read when a reminder is sent.
     * @param awaits true to leave out requests whose dates may have moved
     */
    async checkReminders(subscribed: readonly Subscription[], awaits = false): Promise<ReadFindings> {
      const learntRequests = new Map<string, TrackedVoteRequest>();
      const events: GovernanceEvent[] = [];
      for (const [key, known] of await requests.all()) {
        // There are hundreds of closed requests, and thousands of subscriptions.
        if (known.phase !== "open" || (awaits && mayHaveMoved(known))) continue;
        const reminded = believedReminders(known.reminded, now());
        const request = reminded === known.reminded ? known : { ...known, reminded: [...reminded] };
        if (request !== known) learntRequests.set(key, request);
        const dueReminders = remindersFor(request, subscribed, now());
        if (dueReminders.done.length === 0) continue;
        const standing = trackedStanding(request, await neededForTracked(request, superValidators), now());
        const { done, announced } = remindersFor(request, subscribed, now(), standing);
        if (done.length === 0) continue;
        learntRequests.set(key, { ...request, reminded: [...request.reminded, ...done] });
        const seen = seenOf(request, now());
        const { voteBefore } = request.terms;
        for (const reminder of announced) {
          const createdAt = openingOfReminder(reminder, seen);
          const isShort = shortWindow({ createdAt, voteBefore }) !== undefined;
          events.push({ kind: "reminder", key, reminder, due: [...done], ...seen, isShort });
        }
      }
      return { learnt: learntRequests, events };
    },
  };
}

/** Returns when a request was opened, epoch ms: its requester votes with it. null if its contract does not contain the votes. */
export const openedBy = ({ rawPayload }: VoteRequestDetail): number | null =>
  earliest(...(votesIn(rawPayload) ?? []).map(({ castAt }) => castAt));

/**
 * Returns a digest of an action that does not depend on the bot's wording. The configuration on which the
 * action is based is left out.
 */
const digestOf = ({ config }: Action): string => {
  const ownFields = [...flatten({ config })].filter(([path]) => !/(^|\.)baseConfig\./.test(path));
  return digest(JSON.stringify(ownFields.map(([path, { text }]) => [path, toDecimal(text) ?? text]).sort()));
};

/** Returns an action as text, or null if it is empty. */
function actionText({ words, facts, changes }: Action, names: Names): string | null {
  if (words === null) return null;
  const text = (value: Value | null) => (value === null ? "removed" : valueText(value, names.called));
  const actionParts = [...facts, ...changes.map(({ label, to }) => ({ label, value: to }))].map(
    ({ label, value }) => `${label}: ${text(value)}`,
  );
  return cut(actionParts.length > 0 ? `${words} (${actionParts.join(", ")})` : words, 600);
}
