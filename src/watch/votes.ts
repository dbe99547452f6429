import { ifAnswered } from "../explorer/errors.js";
import type { Action } from "../explorer/governance.js";
import { readPages } from "../explorer/paging.js";
import { findProposal, voteKey } from "../explorer/proposals.js";
import type { Vote } from "../explorer/schema.js";
import type { Explorer, Reading } from "../explorer/service.js";
import { cut } from "../explorer/values.js";
import type { GovernanceEvent, Topic } from "./events.js";
import {
  dueReminders,
  type Findings,
  type KnownRequest,
  type KnownRequests,
  requestKey,
} from "./requests.js";
import type { Subscription } from "./subscriptions.js";

/** Pages of votes read at the most when a tally moved. */
const MOST_VOTE_PAGES = 6;

interface Parts {
  /** Asks for nothing but new readings. */
  readonly explorer: Explorer;
  readonly requests: KnownRequests;
  readonly now: () => number;
}

/** What is read of single requests, where a subscription wants to hear of it: votes, actions, and who has not voted. */
export function createVotesWatch({ explorer, requests, now }: Parts) {
  const readVotes = async (keys: readonly string[]): Promise<Reading<readonly Vote[]>> => {
    const known = await requests.all();
    const wanted = keys.flatMap((key) => known.get(key) ?? []);
    return readPages(
      (page) => explorer.votes(page),
      voteKey,
      (rows) =>
        wanted.every(
          ({ identity, yes, no }) =>
            rows.filter((row) => row.trackingCid === identity && row.accept !== null).length >=
            (yes ?? 0) + (no ?? 0),
        ),
      MOST_VOTE_PAGES,
    );
  };

  /**
   * What a vote has changed besides the tally: who voted how, and what the detail says of the action. What the explorer
   * does not answer now stays due.
   */
  const lookAtDue = async (subscribed: readonly Subscription[]): Promise<Findings> => {
    const wanted = (topic: Topic) => subscribed.some(({ topics }) => topics[topic]);
    const [wantVotes, wantChanges] = [wanted("votes"), wanted("changes")];
    const known = await requests.all();
    const due = [...known].filter(
      ([, each]) => each.due || (wantVotes && each.phase === "open" && !each.votes),
    );
    const learnt = new Map<string, KnownRequest>();
    const events: GovernanceEvent[] = [];
    if (due.length === 0) return { learnt, events };
    const read = wantVotes ? await ifAnswered(readVotes(due.map(([key]) => key))) : undefined;
    const whole = !wantVotes || (read !== undefined && read.problem === undefined);
    for (const [key, request] of due) {
      let { due: done, ...next } = request;
      let answered = whole;
      // What was missing from the votes that were there first would be told as new later.
      if (wantVotes && read && (whole || request.votes))
        next = { ...next, ...votesOf(key, request, read.data, events) };
      if (!wantVotes) {
        // Nobody listens: whoever does later hears of what is cast from then on.
        const { votes: forgotten, flips, ...rest } = next;
        next = rest;
      }
      if (wantChanges && request.phase === "open") {
        const action = await ifAnswered(actionOf(key, request, events));
        answered &&= action !== undefined;
        next = { ...next, ...action };
      }
      learnt.set(key, answered ? next : { ...next, due: true });
    }
    return { learnt, events };
  };

  /** A request's votes as read, and what is to be told of them: a changed one once two reads agree. */
  const votesOf = (key: string, request: KnownRequest, all: readonly Vote[], events: GovernanceEvent[]) => {
    const votes: Record<string, boolean | null> = { ...request.votes };
    const flips: Record<string, boolean> = {};
    let sequence = request.voteSequence;
    for (const { trackingCid, identifier, accept, accountName, company } of all) {
      if (trackingCid !== request.identity || identifier === null || accept === null) continue;
      const before = votes[identifier] ?? null;
      if (before === accept) continue;
      if (before !== null && request.flips?.[identifier] !== accept) {
        flips[identifier] = accept;
        continue;
      }
      votes[identifier] = accept;
      const isRequester =
        request.requester !== null && [identifier, accountName, company].includes(request.requester);
      const own = isRequester && accept && before === null;
      if (request.votes === undefined || own) continue;
      sequence += 1;
      const voter = accountName ?? company ?? identifier;
      events.push({ kind: "vote", key, sequence, voter, from: before, to: accept });
    }
    const unsure = Object.keys(flips).length > 0;
    return { votes, voteSequence: sequence, flips, ...(unsure ? { due: true } : {}) };
  };

  /** Reminders that are due: of several that became due at once, only the last is told. */
  const lookAtDeadlines = async (all: readonly Subscription[]): Promise<Findings> => {
    const known = await requests.all();
    const learnt = new Map<string, KnownRequest>();
    const events: GovernanceEvent[] = [];
    for (const [key, request] of known) {
      const due = new Set<string>();
      const told = new Set<string>();
      for (const { before, since, topics } of all) {
        const own = topics.reminders ? dueReminders(request, before, since, now()) : [];
        for (const each of own) due.add(each);
        const last = own.at(-1);
        if (last) told.add(last);
      }
      if (due.size === 0) continue;
      const absent = await whoIsAbsent(request);
      learnt.set(key, { ...request, reminded: [...request.reminded, ...due] });
      for (const reminder of told) events.push({ kind: "reminder", key, reminder, absent });
    }
    return { learnt, events };
  };

  /** Super validators that have voted before and not on this request; null where not all of them are known. */
  const whoIsAbsent = async (request: KnownRequest): Promise<readonly string[] | null> => {
    const read = await ifAnswered(readVotes([requestKey(request.identity)]));
    if (read === undefined || read.problem) return null;
    const all = read.data;
    const voters = new Map(
      all.flatMap((vote) =>
        vote.identifier === null
          ? []
          : [[vote.identifier, vote.accountName ?? vote.company ?? vote.identifier] as const],
      ),
    );
    const voted = new Set(
      all
        .filter((vote) => vote.trackingCid === request.identity && vote.accept !== null)
        .map((vote) => vote.identifier),
    );
    const absent = [...voters].filter(([id]) => !voted.has(id)).map(([, name]) => name);
    return absent.length === request.pending ? absent : null;
  };

  /** The action as the detail tells it: the list does not. Undefined where the detail is not answered. */
  const actionOf = async (key: string, request: KnownRequest, events: GovernanceEvent[]) => {
    const { action, detail } = (await findProposal(explorer, request.identity)).data;
    if (detail === "unanswered") return undefined;
    const text = actionText(action);
    if (detail === "none" || text === null || text === request.terms.action) return {};
    const terms = { ...request.terms, action: text };
    if (request.terms.action === null) return { terms };
    const changeSequence = request.changeSequence + 1;
    events.push({ kind: "changed", key, sequence: changeSequence, from: request.terms, to: terms });
    return { terms, changeSequence, revision: request.revision + 1 };
  };

  return { lookAtDue, lookAtDeadlines };
}

/** An action as one text, by which two are compared and which people are shown; null where nothing is said. */
function actionText({ words, subject, changes }: Action): string | null {
  if (words === null) return null;
  const parts = [
    ...subject.map(({ label, value }) => `${label} ${value}`),
    ...changes.map(({ key, to }) => `${key} = ${to ?? "removed"}`),
  ];
  return cut(parts.length > 0 ? `${words} (${parts.join(", ")})` : words, 600);
}
