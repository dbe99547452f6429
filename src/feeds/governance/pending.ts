import { isDeepStrictEqual } from "node:util";
import type { Names } from "../../directory/names.js";
import { ifAnswered } from "../../explorer/errors.js";
import { readPages } from "../../explorer/paging.js";
import type { Vote, VoteRequestDetail } from "../../explorer/schema/governance.js";
import type { Explorer, Reading } from "../../explorer/service.js";
import { toDecimal } from "../../explorer/values.js";
import { type Action, toAction } from "../../ledger/actions.js";
import { flatten } from "../../ledger/configuration.js";
import { type Value, valueText } from "../../ledger/units.js";
import { readDetail } from "../../ledger/vote-requests.js";
import { votesIn } from "../../ledger/votes.js";
import type { Subscription, TrackedVoteRequest } from "../../storage/catalogue.js";
import { cut } from "../../text/plain.js";
import { digest } from "../../util/digest.js";
import { lazy } from "../../util/single-flight.js";
import type { GovernanceEvent } from "./events.js";
import { remindersFor } from "./reminders.js";
import type { Findings, TrackedVoteRequests } from "./requests.js";
import type { TopicName } from "./topics.js";
import { tallyOf } from "./tracking.js";
import { compareVotes, votesOn } from "./vote-changes.js";

/** Pages of votes read at the most when a tally moved. */
const MAX_VOTE_PAGES = 6;

interface PendingDeps {
  /** Takes nothing but new readings. */
  readonly explorer: Explorer;
  readonly requests: TrackedVoteRequests;
  readonly names: Names;
  readonly now: () => number;
}

/** What is read of single requests, where a subscription wants to know: votes and actions. */
export function createPendingChecks({ explorer, requests, names, now }: PendingDeps) {
  /** The votes, as far as those on the wanted requests go. */
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

  /** The detail of the newest version; undefined where it is not answered, null where there is none. */
  const detailOf = ({
    identity,
    contractIds,
  }: TrackedVoteRequest): Promise<VoteRequestDetail | null | undefined> =>
    ifAnswered(
      readDetail(explorer, { contractId: contractIds.at(-1) ?? null, trackingCid: identity }).then(
        (detail) => detail ?? null,
      ),
    );

  /** What the requester is called, by its party or by its name. */
  const requesterOf = ({ requester }: TrackedVoteRequest, detail: VoteRequestDetail | null | undefined) =>
    [requester, detail?.requester, detail?.requesterName, requester && names.party(requester)].flatMap(
      (name) => name ?? [],
    );

  /**
   * The votes of the contract itself: undefined where it is an older version than the list has seen, null where it is not
   * given.
   */
  const exactVotes = (request: TrackedVoteRequest, { contractId, rawPayload }: VoteRequestDetail) => {
    const votes = votesIn(rawPayload);
    if (votes === null) return null;
    const count = votes.filter(({ accept }) => accept !== null).length;
    const isNewest = contractId !== null && contractId === request.contractIds.at(-1);
    return isNewest || count >= (request.yes ?? 0) + (request.no ?? 0) ? votes : undefined;
  };

  /** What a detail changes of the action: the list does not tell it. */
  const compareAction = (
    key: string,
    request: TrackedVoteRequest,
    detail: VoteRequestDetail,
    events: GovernanceEvent[],
  ) => {
    const action = toAction(detail.actionConfig);
    const text = actionText(action, names);
    const actionDigest = digestOf(action);
    if (text === null || actionDigest === request.actionDigest) return { unconfirmedAction: undefined };
    names.learn(request.identity, action);
    const terms = { ...request.terms, action: text };
    if (request.actionDigest === undefined) return { terms, actionDigest };
    // A change counts once two reads agree, as every other does.
    if (request.unconfirmedAction !== actionDigest)
      return { unconfirmedAction: actionDigest, needsDetail: true };
    const changeSequence = request.changeSequence + 1;
    events.push({ kind: "changed", key, sequence: changeSequence, from: request.terms, to: terms });
    const revision = request.revision + 1;
    return { terms, actionDigest, unconfirmedAction: undefined, changeSequence, revision };
  };

  return {
    /**
     * What a vote has changed besides the tally: who voted how, and what the detail says of the action. What the explorer
     * does not answer now stays pending.
     */
    async checkPending(subscribed: readonly Subscription[]): Promise<Findings> {
      const isWanted = (topic: TopicName) => subscribed.some(({ topics }) => topics[topic]);
      const [wantsVotes, wantsChanges] = [isWanted("votes"), isWanted("changes")];
      const pending = [...(await requests.all())].filter(
        ([, each]) => each.needsDetail || (wantsVotes && each.phase === "open" && !each.votes),
      );
      const learnt = new Map<string, TrackedVoteRequest>();
      const events: GovernanceEvent[] = [];
      // Read once, and only where a contract does not hold its own votes.
      const listed = lazy(() => ifAnswered(readVotes(pending.map(([, each]) => each))));
      for (const [key, request] of pending) {
        let { needsDetail, ...next } = request;
        let isAnswered = true;
        const detail = wantsVotes || wantsChanges ? await detailOf(request) : null;
        if (wantsVotes) {
          const exact = detail ? exactVotes(request, detail) : null;
          const read = exact === null ? await listed() : undefined;
          isAnswered = Array.isArray(exact) || (read !== undefined && !read.problem);
          const votes = exact ?? (read && votesOn(request, read.data));
          // What was missing from the votes that were there first would be announced as new later.
          if (votes && (isAnswered || request.votes)) {
            const compared = compareVotes(key, request, votes, requesterOf(request, detail));
            next = { ...next, ...compared.changes };
            events.push(...compared.events);
          }
        } else {
          // Nobody is subscribed: a later subscriber is told of votes cast from then on.
          const { votes: forgotten, unconfirmedVotes, ...rest } = next;
          next = rest;
        }
        if (wantsChanges && request.phase === "open") {
          isAnswered &&= detail !== undefined;
          const { unconfirmedAction, ...action } = detail ? compareAction(key, request, detail, events) : {};
          const { unconfirmedAction: _, ...rest } = next;
          next = { ...rest, ...action, ...(unconfirmedAction ? { unconfirmedAction } : {}) };
        }
        const isMoved = !isDeepStrictEqual(tallyOf(next), tallyOf(request));
        next = { ...next, revision: next.revision + (isMoved ? 1 : 0) };
        learnt.set(key, isAnswered ? next : { ...next, needsDetail: true });
      }
      return { learnt, events };
    },

    /** Reminders that are due: who has not voted is read when they are sent. */
    async checkReminders(subscribed: readonly Subscription[]): Promise<Findings> {
      const learnt = new Map<string, TrackedVoteRequest>();
      const events: GovernanceEvent[] = [];
      for (const [key, request] of await requests.all()) {
        // Of those that are over there are hundreds, for each of thousands of subscriptions.
        if (request.phase !== "open") continue;
        const { done, announced } = remindersFor(request, subscribed, now());
        if (done.length === 0) continue;
        learnt.set(key, { ...request, reminded: [...request.reminded, ...done] });
        for (const reminder of announced) events.push({ kind: "reminder", key, reminder });
      }
      return { learnt, events };
    },
  };
}

/** What an action is, whatever the words for it. The configuration it is based on is none of its own. */
const digestOf = ({ config }: Action): string => {
  const own = [...flatten({ config })].filter(([path]) => !/(^|\.)baseConfig\./.test(path));
  return digest(JSON.stringify(own.map(([path, { text }]) => [path, toDecimal(text) ?? text]).sort()));
};

/** An action as one text; null where nothing is said. */
function actionText({ words, facts, changes }: Action, names: Names): string | null {
  if (words === null) return null;
  const text = (value: Value | null) => (value === null ? "removed" : valueText(value, names.called));
  const parts = [...facts, ...changes.map(({ label, to }) => ({ label, value: to }))].map(
    ({ label, value }) => `${label}: ${text(value)}`,
  );
  return cut(parts.length > 0 ? `${words} (${parts.join(", ")})` : words, 600);
}
