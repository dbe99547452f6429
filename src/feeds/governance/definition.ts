import type { FeedDefinition, WatchChoice } from "../../delivery/feed.js";
import { ExplorerError, ifAnswered } from "../../explorer/errors.js";
import {
  countSuperValidators,
  findVoteRequest,
  fromExplorer,
  identityOf,
  type VoteRequest,
} from "../../ledger/vote-requests.js";
import { isOpen, isOver, neededFor, votableUntil } from "../../ledger/vote-rules.js";
import { voterIn, voterSubject } from "../../ledger/votes.js";
import { FIRST_FEED } from "../../storage/catalogue.js";
import { md, timestamp } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import { PersonError } from "../../util/person-error.js";
import { DAY, HOUR } from "../../util/units.js";
import { createMessages } from "./messages.js";
import { notVotedYet } from "./reminding.js";
import { formatBefore, options, remindersOf, topics } from "./topics.js";
import { requestKey, toVoteRequest } from "./tracking.js";
import { PROGRESS } from "./watch.js";

/** Open requests that a new subscriber is shown. */
const MAX_SHOWN = 10;
/** Their names are not waited for any longer than this, in ms: their kinds will do. */
const NAMES_MS = 1_000;

/** What a sample shows where there has never been a vote request. */
const madeUp = (now: number): VoteRequest => ({
  ...fromExplorer(null, null),
  title: "A vote request",
  status: "In Progress",
  requester: "A super validator",
  voteBefore: now + 7 * DAY,
  yes: 3,
  no: 0,
  pending: 10,
});

/** One vote request, for one person. */
const proposalWatch: WatchChoice = {
  name: "proposal",
  description: "Be told in private of one vote request: changes, its deadline, its outcome",
  owns: (subject) => voterIn(subject) === undefined,
  subject: {
    option: { name: "proposal", description: "Its title, or its id", kinds: ["proposal"] },
    async check(id, { explorer }) {
      const found = await findVoteRequest(explorer, id).catch((error: unknown) => {
        // One that cannot be read right now may be watched all the same.
        if (!(error instanceof ExplorerError)) throw error;
        if (error.problem !== "missing" && error.problem !== "rejected") return undefined;
        throw new PersonError(
          "No vote request has that id or title. `/proposals list` shows them.",
          "missing",
        );
      });
      if (found && isOver(found.data, Date.now()))
        throw new PersonError("That vote request has ended: nothing more happens to it.");
      // Whichever of its ids was given.
      return found?.data.identity ?? id;
    },
    nameOf(id, { names, directory }) {
      const title = directory.entry("proposal", id)?.name ?? null;
      return cut(names.voteRequest({ identity: id, title }), 100);
    },
  },
  settings: {
    topics: { new: false, outcome: true, reminders: true, decided: true, changes: true, votes: false },
    before: [DAY],
  },
};

/** The deadlines that one super validator has not voted by, for one person. */
const voterWatch: WatchChoice = {
  name: "voter",
  description: "Be reminded in private of each vote that a super validator has not cast",
  owns: (subject) => voterIn(subject) !== undefined,
  subject: {
    option: { name: "sv", description: "The super validator", kinds: ["voter"] },
    // A button names it as it is kept.
    check: async (voter) => (voterIn(voter) === undefined ? voterSubject(voter) : voter),
    nameOf: (subject, { names }) => names.called(voterIn(subject) ?? subject),
  },
  settings: {
    topics: { new: false, outcome: false, reminders: true, decided: false, changes: false, votes: false },
    before: [DAY, 6 * HOUR],
  },
};

/** How vote requests are subscribed to. */
export const definition: FeedDefinition = {
  name: FIRST_FEED,
  description: "Subscribe a channel to governance, or change what is announced there",
  thing: "vote request",
  topics,
  options,
  threads: true,
  watches: [proposalWatch, voterWatch],
  tagName: /govern|vote|proposal/i,

  async sample({ explorer, names, renderer, now }, { subject }, mark) {
    const voter = voterIn(subject);
    const rows = (await ifAnswered(explorer.voteRequests({ page: 0, size: 100 })))?.data.content ?? [];
    const chosen = subject === null ? undefined : rows.find((row) => identityOf(row) === subject);
    const newest = chosen ?? rows.find((row) => isOpen(row, now)) ?? rows[0];
    const identity = newest && identityOf(newest);
    const found = identity ? await ifAnswered(findVoteRequest(explorer, identity)) : undefined;
    const request = found?.data ?? (newest ? fromExplorer(newest, null) : madeUp(now));
    const needed = neededFor(request, await countSuperValidators(explorer));
    const messages = createMessages(renderer, names, () => now);
    const snapshot = { request, needed, revision: 0, isOver: false, missing: async () => null };
    return voter === undefined
      ? messages.sample(snapshot, mark)
      : messages.reminderView(
          { deadline: votableUntil(request) ?? now + DAY, snapshot, mark },
          notVotedYet([names.called(voter)], request, names),
        );
  },

  async standing({ explorer, names, now }, subscription) {
    const { subject } = subscription;
    if (voterIn(subject) !== undefined)
      return [
        md`You hear of each open vote request that it has not voted on, ${formatBefore(remindersOf(subscription))} before each of its deadlines.`,
      ];
    if (subject !== null) {
      const request = (await ifAnswered(findVoteRequest(explorer, subject)))?.data;
      return request ? [md`Voting ends ${timestamp(votableUntil(request), "f")}.`] : [];
    }
    const rows = (await ifAnswered(explorer.voteRequests({ page: 0, size: 100 })))?.data.content;
    if (!rows) return [md`The explorer cannot be read right now, so I cannot say what is open.`];
    const open = rows.filter((row) => isOpen(row, now));
    await names.read(open.slice(0, MAX_SHOWN), NAMES_MS);
    if (open.length === 0) return [md`Nothing is open at the moment.`];
    return [
      md`Open now, and not announced again:`,
      ...open
        .slice(0, MAX_SHOWN)
        .map(
          (row) =>
            md`• ${cut(names.voteRequest({ ...row, identity: identityOf(row) }), 120)}, voting ends ${timestamp(votableUntil(row), "f")}`,
        ),
      ...(open.length > MAX_SHOWN ? [md`…and ${open.length - MAX_SHOWN} more`] : []),
    ];
  },

  async nowOf({ voteRequests }, { subject }) {
    if (voterIn(subject) !== undefined) return md`reminded of each deadline`;
    if (subject === null) return undefined;
    const known = await voteRequests.get(requestKey(subject));
    if (!known) return md`not read yet`;
    return known.phase === "open"
      ? md`open, until ${timestamp(votableUntil(toVoteRequest(known)), "f")}`
      : md`ended: ${known.status}`;
  },

  async lastRead({ progress }) {
    const last = await progress.get(PROGRESS);
    return last
      ? md`The explorer was last read completely ${timestamp(last.completeAt)}.`
      : md`The explorer has not been read completely yet.`;
  },
};
