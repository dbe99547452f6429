import type { Names } from "../../directory/names.js";
import { ifAnswered } from "../../explorer/errors.js";
import { readPages } from "../../explorer/paging.js";
import type { Vote } from "../../explorer/schema/governance.js";
import type { Explorer, Reading } from "../../explorer/service.js";
import { leavesOf } from "../../explorer/values.js";
import type { Action } from "../../ledger/actions.js";
import { type Value, valueText } from "../../ledger/units.js";
import { findVoteRequest } from "../../ledger/vote-requests.js";
import type { Subscription, TrackedVoteRequest } from "../../storage/catalogue.js";
import { shortId } from "../../text/ids.js";
import { cut } from "../../text/plain.js";
import { digest } from "../../util/digest.js";
import type { GovernanceEvent } from "./events.js";
import { remindersFor } from "./reminders.js";
import type { Findings, TrackedVoteRequests } from "./requests.js";
import type { TopicName } from "./topics.js";
import { absentFrom, compareVotes } from "./vote-changes.js";

/** Pages of votes read at the most when a tally moved. */
const MAX_VOTE_PAGES = 6;

interface PendingDeps {
  /** Takes nothing but new readings. */
  readonly explorer: Explorer;
  readonly requests: TrackedVoteRequests;
  readonly names: Names;
  readonly now: () => number;
}

/** What is read of single requests, where a subscription wants to know: votes, actions, and who has not voted. */
export function createPendingChecks({ explorer, requests, names, now }: PendingDeps) {
  /** The votes, as far as those on the wanted requests go. */
  const readVotes = (wanted: readonly TrackedVoteRequest[]): Promise<Reading<readonly Vote[]>> =>
    readPages(
      "votes",
      (page) => explorer.votes(page),
      (rows) =>
        wanted.every(
          ({ identity, yes, no }) =>
            rows.filter((row) => row.trackingCid === identity && row.accept !== null).length >=
            (yes ?? 0) + (no ?? 0),
        ),
      MAX_VOTE_PAGES,
    );

  /** The action as the detail tells it: the list does not. Undefined where the detail is not answered. */
  const compareAction = async (key: string, request: TrackedVoteRequest, events: GovernanceEvent[]) => {
    const { action, detail } = (await findVoteRequest(explorer, request.identity)).data;
    if (detail === "unanswered") return undefined;
    const text = actionText(action, names);
    const actionDigest = digestOf(action);
    if (detail === "none" || text === null || actionDigest === request.actionDigest) return {};
    const terms = { ...request.terms, action: text };
    if (request.actionDigest === undefined) return { terms, actionDigest };
    const changeSequence = request.changeSequence + 1;
    events.push({ kind: "changed", key, sequence: changeSequence, from: request.terms, to: terms });
    return { terms, actionDigest, changeSequence, revision: request.revision + 1 };
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
      if (pending.length === 0) return { learnt, events };
      const read = wantsVotes ? await ifAnswered(readVotes(pending.map(([, each]) => each))) : undefined;
      const isWhole = !wantsVotes || (read !== undefined && read.problem === undefined);
      for (const [key, request] of pending) {
        let { needsDetail, ...next } = request;
        let isAnswered = isWhole;
        // What was missing from the votes that were there first would be announced as new later.
        if (wantsVotes && read && (isWhole || request.votes)) {
          const votes = compareVotes(key, request, read.data);
          next = { ...next, ...votes.changes };
          events.push(...votes.events);
        }
        if (!wantsVotes) {
          // Nobody is subscribed: a later subscriber is told of votes cast from then on.
          const { votes: forgotten, unconfirmedVotes, ...rest } = next;
          next = rest;
        }
        if (wantsChanges && request.phase === "open") {
          const action = await ifAnswered(compareAction(key, request, events));
          isAnswered &&= action !== undefined;
          next = { ...next, ...action };
        }
        learnt.set(key, isAnswered ? next : { ...next, needsDetail: true });
      }
      return { learnt, events };
    },

    /** Reminders that are due, with who has not voted. */
    async checkReminders(subscribed: readonly Subscription[]): Promise<Findings> {
      const learnt = new Map<string, TrackedVoteRequest>();
      const events: GovernanceEvent[] = [];
      for (const [key, request] of await requests.all()) {
        const { done, announced } = remindersFor(request, subscribed, now());
        if (done.length === 0) continue;
        const read = await ifAnswered(readVotes([request]));
        const absent = read === undefined || read.problem ? null : absentFrom(request, read.data);
        learnt.set(key, { ...request, reminded: [...request.reminded, ...done] });
        for (const reminder of announced) events.push({ kind: "reminder", key, reminder, absent });
      }
      return { learnt, events };
    },
  };
}

/** What an action is, whatever the words for it. */
const digestOf = ({ config }: Action): string => digest(JSON.stringify([...leavesOf(config)].sort()));

/** An action as one text; null where nothing is said. */
function actionText({ words, facts, changes }: Action, names: Names): string | null {
  if (words === null) return null;
  const text = (value: Value | null) =>
    value === null ? "removed" : valueText(value, (id) => names.party(id) ?? shortId(id));
  const parts = [...facts, ...changes.map(({ label, to }) => ({ label, value: to }))].map(
    ({ label, value }) => `${label}: ${text(value)}`,
  );
  return cut(parts.length > 0 ? `${words} (${parts.join(", ")})` : words, 600);
}
