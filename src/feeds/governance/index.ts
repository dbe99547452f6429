import type { Feed, FeedDefinition, FeedModule } from "../../delivery/feed.js";
import { ifAnswered } from "../../explorer/errors.js";
import { toTitle } from "../../ledger/actions.js";
import { isOpen, votableUntil } from "../../ledger/vote-rules.js";
import { FIRST_FEED } from "../../storage/catalogue.js";
import { md, timestamp } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import { DAY } from "../../util/units.js";
import { beforeOf, eventId, type GovernanceEvent, keysOf, openingOf, readEvent, TOPIC_OF } from "./events.js";
import { createMessages, outcomeKnown } from "./messages.js";
import { createTrackedVoteRequests } from "./requests.js";
import { createSnapshots } from "./snapshot.js";
import { options, remindersOf, topics } from "./topics.js";
import { createGovernanceWatch, PROGRESS } from "./watch.js";

/** Open requests that a new subscriber is shown. */
const MAX_SHOWN = 10;

const definition: FeedDefinition = {
  name: FIRST_FEED,
  description: "Subscribe a channel to governance, or change what is announced there",
  thing: "vote request",
  topics,
  options,
  tagName: /govern|vote|proposal/i,
  sample: (now) => ({
    title: md`🧪 Sample: New vote request: Offboard Member`,
    tone: "neutral",
    body: [md`This is how an announcement will look. Nothing has happened on the ledger; nobody is pinged.`],
    fields: [
      { name: "Votes", value: md`🟩🟩🟩⬛⬛⬛⬛⬛⬛┃⬛⬛⬛⬛\n**3** yes · **0** no · **10** not voted yet` },
      { name: "Voting ends", value: timestamp(now + 7 * DAY, "f"), inline: true },
    ],
  }),

  async standing(explorer, now) {
    const rows = (await ifAnswered(explorer.voteRequests({ page: 0, size: 100 })))?.data.content;
    if (!rows) return [md`The explorer cannot be read right now, so I cannot say what is open.`];
    const open = rows.filter((row) => isOpen(row, now));
    if (open.length === 0) return [md`Nothing is open at the moment.`];
    return [
      md`Open now, and not announced again:`,
      ...open
        .slice(0, MAX_SHOWN)
        .map(
          (row) =>
            md`• ${cut(toTitle(row.title) ?? "without a title", 120)}, voting ends ${timestamp(votableUntil(row), "f")}`,
        ),
      ...(open.length > MAX_SHOWN ? [md`…and ${open.length - MAX_SHOWN} more`] : []),
    ];
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

  create({ explorer, state, renderer, log, now }, pollMs) {
    const requests = createTrackedVoteRequests(state);
    const snapshots = createSnapshots({
      explorer: explorer.for("background", { maxAgeMs: 10_000 }),
      tracked: requests.get,
    });
    const messages = createMessages(renderer, now);

    const feed: Feed<GovernanceEvent> = {
      definition,
      readEvent,
      idOf: eventId,
      topicOf: ({ kind }) => TOPIC_OF[kind],
      subjectsOf: keysOf,
      begins: ({ kind }) => kind === "opened" || kind === "digest",
      wants: (subscription, event) =>
        event.kind !== "reminder" || remindersOf(subscription).includes(beforeOf(event.reminder)),
      async render(event, mark) {
        if (event.kind === "digest")
          return { payload: messages.digest(event, mark), title: "New vote requests", revision: 0 };
        const snapshot = await snapshots.of(event.key, "row" in event ? event.row : undefined);
        const payload =
          event.kind === "opened"
            ? messages.announcement(snapshot, mark)
            : event.kind === "missed"
              ? messages.missed(snapshot, mark)
              : messages.news(event, snapshot, mark);
        return { payload, title: snapshot.request.title ?? "Vote request", revision: snapshot.revision };
      },
      async stateOf(key) {
        const known = await requests.get(key);
        return known && { revision: known.revision, ended: known.phase === "closed" };
      },
      async current(key, mark) {
        const known = await requests.get(key);
        const ended =
          known?.phase === "closed"
            ? { status: known.status, known: !known.endUnconfirmed && outcomeKnown(known.status) }
            : undefined;
        return messages.announcement(await snapshots.of(key), mark, ended);
      },
      titleOf: async (key) => (await snapshots.of(key)).request.title ?? "Vote request",
      beginningOf: openingOf,
    };

    const poll = createGovernanceWatch({
      explorer: explorer.for("background", { maxAgeMs: 0 }),
      state,
      requests,
      pollMs,
      log,
      now,
    });
    return { feed, poll };
  },
};
