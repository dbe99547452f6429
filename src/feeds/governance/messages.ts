import { isDeepStrictEqual } from "node:util";
import type { Names } from "../../directory/names.js";
import type { MessagePayload, Renderer } from "../../discord/message.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import { toTitle } from "../../ledger/actions.js";
import { standingOf } from "../../ledger/vote-phase.js";
import { identityOf, tallyIn, type VoteRequest } from "../../ledger/vote-requests.js";
import { isOver, neededFor, outcomeKnown, statusGroup } from "../../ledger/vote-rules.js";
import { address } from "../../screens/addresses.js";
import { brief } from "../../screens/parts.js";
import type { Link, View } from "../../screens/view.js";
import {
  overdueWords,
  shortVote,
  standingText,
  standingTone,
  statusText,
  statusTone,
  tallyLines,
} from "../../screens/vote-parts.js";
import { voteRequestFields } from "../../screens/vote-request.js";
import { dateWords } from "../../screens/vote-times.js";
import { shortId } from "../../text/ids.js";
import { bold, join, type Markdown, md, timestamp, timestampWithAge } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import type { GovernanceEvent, News, Reminder } from "./events.js";
import type { Snapshot } from "./snapshot.js";
import type { Terms } from "./tracking.js";

function announcementLinks(id: string | null, mark: string): Link[] {
  const ownLine =
    id === null
      ? []
      : [
          { label: "Details", emoji: "📜", to: address("voteRequest", { id }) },
          { label: "Votes", emoji: "🗳️", to: address("votes", { id }) },
        ];
  return [...ownLine, { label: "All vote requests", emoji: "📋", to: address("proposals", {}), mark }];
}

/** The line below an announcement whose request has ended: the outcome that the explorer states, or that it is unknown. */
function outcome(status: string | null, isKnown: boolean): Markdown {
  if (!isKnown) return md`**Ended, outcome unknown.** The explorer no longer lists it.`;
  return statusGroup(status) === "other"
    ? md`**Ended.** The explorer calls it “${brief(status ?? "")}”.`
    : md`**Closed:** ${statusText(status)}`;
}

/** The missing votes that a reminder names. */
export interface Absence {
  /** In the place of the reminder's own. */
  readonly title?: Markdown;
  readonly lines: readonly Markdown[];
}

type CastVotesEvent = Extract<GovernanceEvent, { kind: "votes" }>;

const VOTE_SIGNS = { true: "✅", false: "❌", null: "⚪" } as const;
const signOf = (vote: boolean | null): string => VOTE_SIGNS[`${vote}`];

/** Voters that one message names. */
const MAX_VOTERS = 6;

/** Votes in one line, such as "Falcon Finance ✅, Grove Trust ❌ (before: ✅), 3 more". */
function votesLine(votes: CastVotesEvent["votes"], called: Names["called"]): Markdown {
  const shownVotes = votes.slice(0, votes.length > MAX_VOTERS ? MAX_VOTERS - 1 : MAX_VOTERS);
  const moreCount = votes.length - shownVotes.length;
  return join(
    [
      ...shownVotes.map(({ voter, from, to }) => {
        const beforeWords = from === null ? md`` : md` (before: ${signOf(from)})`;
        return md`**${cut(called(voter), 60)}** ${signOf(to)}${beforeWords}`;
      }),
      moreCount > 0 && md`${moreCount} more`,
    ],
    ", ",
  );
}

function changes(from: Terms, to: Terms): Markdown {
  const changeLine = (name: string, was: Markdown, is: Markdown) => md`${bold(name)}: ${was} → ${is}`;
  const text = (value: string | null) => md`${value ?? "none"}`;
  return join(
    [
      from.title !== to.title && changeLine("Title", text(toTitle(from.title)), text(toTitle(to.title))),
      from.action !== to.action && changeLine("Action", text(from.action), text(to.action)),
      isDeepStrictEqual(from, to) && md`**Action:** its details have changed. “Details” below has all of it.`,
      from.voteBefore !== to.voteBefore &&
        changeLine("Quorum by", timestamp(from.voteBefore, "f"), timestampWithAge(to.voteBefore)),
      from.targetEffectiveAt !== to.targetEffectiveAt &&
        changeLine(
          "Decided on",
          decision(from.targetEffectiveAt, timestamp(from.targetEffectiveAt, "f")),
          decision(to.targetEffectiveAt, timestampWithAge(to.targetEffectiveAt)),
        ),
    ],
    "\n",
  );
}

/** The day of a decision, or that there is none. */
const decision = (at: number | null, words: Markdown): Markdown =>
  at === null ? md`as soon as enough have voted yes` : words;

/** Rows of a digest; the rest is a click away. */
const MAX_ROWS = 12;

/** Says when several requests opened. The explorer may list them long after that. */
function openedWords(openedAt: readonly (number | null)[], since: number | null): Markdown {
  const earliest = Math.min(...openedAt.map((each) => each ?? Number.POSITIVE_INFINITY));
  if (Number.isFinite(earliest) && since !== null && earliest < since)
    return md`The first of them opened ${timestamp(earliest, "f")}. The explorer did not list them before.`;
  return since === null
    ? md`They opened since I last read the vote requests.`
    : md`They opened after ${timestamp(since, "f")}, when I last read all vote requests.`;
}

/** Creates the messages about vote requests. Each contains its mark in one link. */
export function createMessages(renderer: Renderer, names: Names, now: () => number) {
  const titleOf = (request: VoteRequest): string => cut(names.voteRequest(request), 150);

  /** The notification text states the news in words that stay true. A vote's message has none, because there are many. */
  const message = (
    view: Omit<View, "readings">,
    notification: Markdown | null = view.title,
  ): MessagePayload => renderer.message({ ...view, ...(notification ? { notification } : {}), readings: [] });

  /** Returns a view of the whole request. */
  const wholeView = (
    { request, needed }: Snapshot,
    mark: string,
    heading: Pick<View, "title" | "tone" | "body">,
  ): View => ({
    ...heading,
    notification: join([md`Vote request: ${titleOf(request)}`, ...shortVote(request)], " · "),
    fields: voteRequestFields(request, {
      needed,
      names,
      now: now(),
      rest: "“Details” below has all of it.",
    }),
    thumbnail: request.requesterImg,
    links: announcementLinks(request.identity, mark),
    ...(request.identity === null ? {} : { explorerPage: { kind: "proposal", id: request.identity } }),
    readings: [],
  });

  /** The announcement that a request has opened, with its tally as it is now. */
  const announcement = (
    snapshot: Snapshot,
    mark: string,
    ended?: { readonly status: string | null; readonly known: boolean },
  ): View => {
    const { request, needed } = snapshot;
    const standing = standingOf(request, needed, now());
    return wholeView(snapshot, mark, {
      title: md`${ended ? "Vote request" : "New vote request"}: ${titleOf(request)}`,
      tone: ended ? (ended.known ? statusTone(ended.status) : "warning") : standingTone(request, standing),
      body: [
        ended ? outcome(ended.status, ended.known) : standingText(request, standing),
        ...(ended ? [] : shortVote(request)),
      ],
    });
  };

  const reminder = (
    {
      snapshot,
      deadline,
      mark,
    }: { readonly snapshot: Snapshot; readonly deadline: number; readonly mark: string },
    who: Absence,
  ): View => {
    const { request, needed } = snapshot;
    const isQuorum = deadline === request.voteBefore;
    const when = join(
      [
        md`${isQuorum ? "Quorum by" : "Decided on"} ${timestampWithAge(deadline)}`,
        isQuorum &&
          request.targetEffectiveAt !== null &&
          md`decided on ${timestamp(request.targetEffectiveAt, "f")}`,
      ],
      "; ",
    );
    const hasEnded = isOver(request, now());
    const standing = standingOf(request, needed, now());
    const hasExpired = standing.phase === "expired";
    const word = hasEnded ? "Ended" : hasExpired ? "Expired" : "Still open";
    const title = (hasExpired || hasEnded ? undefined : who.title) ?? md`${word}: ${titleOf(request)}`;
    return {
      title,
      notification: title,
      tone: hasEnded ? statusTone(request.status) : "warning",
      body: [
        hasEnded
          ? outcome(request.status, outcomeKnown(request.status))
          : hasExpired
            ? standingText(request, standing)
            : when,
        ...(hasEnded || hasExpired ? [] : shortVote(request)),
        ...tallyLines(request, needed, now()),
        ...(hasEnded || hasExpired ? [] : who.lines),
      ],
      links: announcementLinks(request.identity, mark),
      readings: [],
    };
  };

  /** What a list says of a request that stays true: how it ended, or when it is decided. */
  const lastingFacts = (row: VoteRequestListItem): readonly Markdown[] => {
    if (isOver(row, now())) return [statusText(row.status)];
    const { next } = standingOf({ ...row, ...tallyIn(row) }, neededFor(tallyIn(row), undefined), now());
    return [...(next ? [dateWords(next)] : []), ...shortVote(row)];
  };

  return {
    /**
     * The announcement that a request has opened, with its tally as it is now.
     * @param ended how it ended; undefined while it is open
     */
    announcement: (...of: Parameters<typeof announcement>): MessagePayload =>
      renderer.message(announcement(...of)),

    /** The same, not yet rendered. */
    sample: (snapshot: Snapshot, mark: string): View => announcement(snapshot, mark),

    /** The only message about a request that opened and ended while the bot was away. */
    missed(snapshot: Snapshot, mark: string): MessagePayload {
      const { request } = snapshot;
      const view = wholeView(snapshot, mark, {
        title: md`Vote request: ${titleOf(request)}`,
        tone: statusTone(request.status),
        body: [
          md`Opened and ended while I was not watching.`,
          outcome(request.status, outcomeKnown(request.status)),
        ],
      });
      return renderer.message(view);
    },

    /**
     * One message for several that are new, with a menu to open each. It is never edited, so it states nothing of open requests
     * that will change.
     */
    digest({ rows: all, since }: GovernanceEvent & { kind: "digest" }, mark: string): MessagePayload {
      const rows = all.map((row) => ({
        row,
        title: names.voteRequest({ ...row, identity: identityOf(row) }),
        id: identityOf(row),
      }));
      const shownRows = rows.slice(0, MAX_ROWS);
      const endedCount = rows.filter(({ row }) => isOver(row, now())).length;
      return message({
        title: md`${rows.length} new vote requests`,
        tone: "neutral",
        body: [
          openedWords(
            all.map(({ createdAt }) => createdAt),
            since,
          ),
          ...(endedCount > 0
            ? [md`${endedCount === rows.length ? "All" : endedCount} of them have ended since.`]
            : []),
          ...shownRows.map(({ row, title }) => join([bold(cut(title, 120)), ...lastingFacts(row)], " · ")),
          ...(rows.length > shownRows.length
            ? [md`…and ${rows.length - shownRows.length} more: “All vote requests” below lists them.`]
            : []),
        ],
        menus: [
          {
            placeholder: "Open a vote request…",
            choices: rows.flatMap(({ title, id }) =>
              id === null ? [] : [{ label: title, hint: shortId(id), to: address("voteRequest", { id }) }],
            ),
          },
        ],
        links: announcementLinks(null, mark),
      });
    },

    /** The current content of a reminder. @param deadline epoch ms */
    reminder: (...of: Parameters<typeof reminder>): MessagePayload => renderer.message(reminder(...of)),

    /** The same, not yet rendered. */
    reminderView: (...of: Parameters<typeof reminder>): View => reminder(...of),

    /** Later news about an announced request. It can also stand alone. */
    news(event: Exclude<News, Reminder>, { request, needed }: Snapshot, mark: string): MessagePayload {
      const tally = tallyLines(request, needed, now());
      const title = titleOf(request);
      const sharedParts = { links: announcementLinks(request.identity, mark) };
      switch (event.kind) {
        case "changed":
          return message({
            ...sharedParts,
            title: md`Changed: ${title}`,
            tone: "warning",
            body: [changes(event.from, event.to)],
          });
        case "votes": {
          const { votes } = event;
          const heading = votes.length === 1 ? md`Vote on ${title}` : md`${votes.length} votes on ${title}`;
          const bodyLines = [votesLine(votes, names.called), ...tally];
          return message({ ...sharedParts, title: heading, tone: "neutral", body: bodyLines }, null);
        }
        case "decided": {
          const untilAt = request.targetEffectiveAt;
          const bodyLines = [
            md`Enough ${event.way} votes are in: **${event.votes}** of about ${event.needed} needed.`,
            event.way === "no"
              ? md`With so many it is rejected.`
              : untilAt === null
                ? md`It takes effect as soon as it's carried out.`
                : md`Decided on ${timestampWithAge(untilAt)}; until then votes can still change.`,
            ...tally,
          ];
          const tone = event.way === "yes" ? "good" : "bad";
          return message({
            ...sharedParts,
            title: md`Enough ${event.way} votes: ${title}`,
            tone,
            body: bodyLines,
          });
        }
        case "undecided":
          return message({
            ...sharedParts,
            title: md`No longer enough ${event.way} votes: ${title}`,
            tone: "warning",
            body: [
              md`Votes have changed: **${event.votes}** ${event.way} of about ${event.needed} needed. It is open again.`,
              ...tally,
            ],
          });
        case "overdue":
          return message({
            ...sharedParts,
            title: md`Overdue: ${title}`,
            tone: "warning",
            body: [overdueWords(event.since), ...tally],
          });
        case "closed": {
          const isOutcomeKnown = outcomeKnown(event.status);
          const tone = isOutcomeKnown ? statusTone(event.status) : "warning";
          const bodyLines = [outcome(event.status, isOutcomeKnown), ...tally];
          return message({ ...sharedParts, title: md`Closed: ${title}`, tone, body: bodyLines });
        }
      }
    },
  };
}
