import type { Feed, FeedDefinition, FeedModule } from "../../delivery/feed.js";
import { proposalEntry } from "../../directory/fill.js";
import { ExplorerError, ifAnswered } from "../../explorer/errors.js";
import {
  countSuperValidators,
  findVoteRequest,
  fromExplorer,
  identityOf,
  type VoteRequest,
} from "../../ledger/vote-requests.js";
import { isOpen, isOver, neededFor, votableUntil } from "../../ledger/vote-rules.js";
import { FIRST_FEED } from "../../storage/catalogue.js";
import { md, timestamp } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import { PersonError } from "../../util/person-error.js";
import { DAY } from "../../util/units.js";
import { beforeOf, eventId, type GovernanceEvent, keysOf, openingOf, readEvent, TOPIC_OF } from "./events.js";
import { createMessages, outcomeKnown } from "./messages.js";
import { createTrackedVoteRequests } from "./requests.js";
import { createSnapshots, DETAIL_MS, type Snapshot } from "./snapshot.js";
import { options, remindersOf, topics } from "./topics.js";
import { requestKey, toVoteRequest } from "./tracking.js";
import { createGovernanceWatch, PROGRESS } from "./watch.js";

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

const definition: FeedDefinition = {
  name: FIRST_FEED,
  description: "Subscribe a channel to governance, or change what is announced there",
  thing: "vote request",
  topics,
  options,
  threads: true,
  watch: {
    name: "proposal",
    description: "Be told in private of one vote request: changes, its deadline, its outcome",
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
      topics: { new: false, outcome: true, reminders: true, changes: true, votes: false },
      before: [DAY],
    },
  },
  tagName: /govern|vote|proposal/i,

  async sample({ explorer, names, renderer, now }, { subject }, mark) {
    const rows = (await ifAnswered(explorer.voteRequests({ page: 0, size: 100 })))?.data.content ?? [];
    const chosen = subject === null ? undefined : rows.find((row) => identityOf(row) === subject);
    const newest = chosen ?? rows.find((row) => isOpen(row, now)) ?? rows[0];
    const identity = newest && identityOf(newest);
    const found = identity ? await ifAnswered(findVoteRequest(explorer, identity)) : undefined;
    const request = found?.data ?? (newest ? fromExplorer(newest, null) : madeUp(now));
    const needed = neededFor(request, await countSuperValidators(explorer));
    return createMessages(renderer, names, () => now).sample({ request, needed, revision: 0 }, mark);
  },

  async standing({ explorer, names, now }, { subject }) {
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
    const known = subject === null ? undefined : await voteRequests.get(requestKey(subject));
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

/** Announces the ledger's vote requests: as they open, change, are voted on, near their deadline and close. */
export const governance: FeedModule = {
  definition,
  pollMs: ({ governance: { pollSeconds } }) => pollSeconds * 1_000,

  create({ explorer, state, renderer, directory, names, now }, pollMs) {
    const requests = createTrackedVoteRequests(state);
    const snapshots = createSnapshots({
      explorer: explorer.for("background", { maxAgeMs: 10_000 }),
      tracked: requests.get,
      names,
    });
    const messages = createMessages(renderer, names, now);
    const titleOf = ({ request }: Snapshot) => names.voteRequest(request);

    const feed: Feed<GovernanceEvent> = {
      definition,
      readEvent,
      idOf: eventId,
      topicOf: ({ kind }) => TOPIC_OF[kind],
      subjectsOf: keysOf,
      begins: ({ kind }) => kind === "opened" || kind === "digest",
      wants: (subscription, event) =>
        (subscription.subject === null ||
          (event.kind !== "digest" && event.key === requestKey(subscription.subject))) &&
        (event.kind !== "reminder" || remindersOf(subscription).includes(beforeOf(event.reminder))),
      async render(event, mark) {
        if (event.kind === "digest") {
          await names.read(event.rows, DETAIL_MS);
          return { payload: messages.digest(event, mark), title: "New vote requests", revision: 0 };
        }
        const snapshot = await snapshots.of(event.key, "row" in event ? event.row : undefined);
        const payload =
          event.kind === "opened"
            ? messages.announcement(snapshot, mark)
            : event.kind === "missed"
              ? messages.missed(snapshot, mark)
              : messages.news(event, snapshot, mark);
        return { payload, title: titleOf(snapshot), revision: snapshot.revision };
      },
      lasting: {
        async stateOf(key) {
          const known = await requests.get(key);
          if (!known) return undefined;
          const endedAt = { open: null, closed: known.closedAt ?? now(), ignored: 0 }[known.phase];
          return { revision: known.revision, endedAt };
        },
        async current(key, mark) {
          const known = await requests.get(key);
          const ended =
            known?.phase === "closed"
              ? { status: known.status, known: !known.endUnconfirmed && outcomeKnown(known.status) }
              : undefined;
          return messages.announcement(await snapshots.of(key), mark, ended);
        },
        titleOf: async (key) => titleOf(await snapshots.of(key)),
        beginningOf: openingOf,
      },
    };

    const poll = createGovernanceWatch({
      explorer: explorer.for("background", { maxAgeMs: 0 }),
      state,
      requests,
      names,
      onLearnt: (tracked) => {
        const { identity } = tracked;
        directory.add("proposal", proposalEntry(toVoteRequest(tracked), identity, names, now()));
      },
      pollMs,
      now,
    });
    return { feed, poll };
  },
};
