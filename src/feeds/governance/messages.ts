import { isDeepStrictEqual } from "node:util";
import type { Names } from "../../directory/names.js";
import type { MessagePayload, Renderer } from "../../discord/message.js";
import { toTitle } from "../../ledger/actions.js";
import { identityOf, type VoteRequest } from "../../ledger/vote-requests.js";
import { isOver, statusGroup } from "../../ledger/vote-rules.js";
import { address } from "../../screens/addresses.js";
import { brief } from "../../screens/parts.js";
import type { Link, View } from "../../screens/view.js";
import { statusText, statusTone, tallyLines, untilWords } from "../../screens/vote-parts.js";
import { voteRequestFields } from "../../screens/vote-request.js";
import { shortId } from "../../text/ids.js";
import { bold, join, type Markdown, md, timestamp, timestampWithAge } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import type { GovernanceEvent, News, Reminder } from "./events.js";
import type { Snapshot } from "./snapshot.js";
import type { Terms } from "./tracking.js";

function links(id: string | null, mark: string): Link[] {
  const own =
    id === null
      ? []
      : [
          { label: "Details", emoji: "📜", to: address("voteRequest", { id }) },
          { label: "Votes", emoji: "🗳️", to: address("votes", { id }) },
        ];
  return [...own, { label: "All vote requests", emoji: "📋", to: address("proposals", {}), mark }];
}

/** Below an announcement whose request is over: the outcome as the API states it, or that nobody knows. */
function outcome(status: string | null, isKnown: boolean): Markdown {
  if (!isKnown) return md`**Ended, outcome unknown.** The explorer no longer lists it.`;
  return statusGroup(status) === "other"
    ? md`**Ended.** The explorer calls it “${brief(status ?? "")}”.`
    : md`**Closed:** ${statusText(status)}`;
}

/** What a reminder says of those who have not voted. */
export interface Absence {
  /** In the place of the reminder's own. */
  readonly title?: Markdown;
  readonly lines: readonly Markdown[];
}

type VotesEvent = Extract<GovernanceEvent, { kind: "votes" }>;

/** Whether a status of a request that is over says how it ended. */
export const outcomeKnown = (status: string | null): boolean =>
  status !== null && statusGroup(status) !== "open";

const VOTE_SIGNS = { true: "✅", false: "❌", null: "⚪" } as const;
const signOf = (vote: boolean | null): string => VOTE_SIGNS[`${vote}`];

/** Voters that one message names. */
const MAX_VOTERS = 6;

/** Votes in one line, such as "Falcon Finance ✅, Grove Trust ❌ (before: ✅), 3 more". */
function votesLine(votes: VotesEvent["votes"], called: Names["called"]): Markdown {
  const shown = votes.slice(0, votes.length > MAX_VOTERS ? MAX_VOTERS - 1 : MAX_VOTERS);
  const more = votes.length - shown.length;
  return join(
    [
      ...shown.map(({ voter, from, to }) => {
        const before = from === null ? md`` : md` (before: ${signOf(from)})`;
        return md`**${cut(called(voter), 60)}** ${signOf(to)}${before}`;
      }),
      more > 0 && md`${more} more`,
    ],
    ", ",
  );
}

function changes(from: Terms, to: Terms): Markdown {
  const line = (name: string, was: Markdown, is: Markdown) => md`${bold(name)}: ${was} → ${is}`;
  const text = (value: string | null) => md`${value ?? "none"}`;
  return join(
    [
      from.title !== to.title && line("Title", text(toTitle(from.title)), text(toTitle(to.title))),
      from.action !== to.action && line("Action", text(from.action), text(to.action)),
      isDeepStrictEqual(from, to) && md`**Action:** its details have changed. “Details” below has all of it.`,
      from.voteBefore !== to.voteBefore &&
        line(
          to.targetEffectiveAt === null ? "Voting ends" : "Enough must have voted by",
          timestamp(from.voteBefore, "f"),
          timestampWithAge(to.voteBefore),
        ),
      from.targetEffectiveAt !== to.targetEffectiveAt &&
        line(
          "Takes effect",
          from.targetEffectiveAt === null
            ? md`as soon as enough vote yes`
            : timestamp(from.targetEffectiveAt, "f"),
          timestampWithAge(to.targetEffectiveAt),
        ),
    ],
    "\n",
  );
}

/** Rows of a digest; the rest is a click away. */
const MAX_ROWS = 12;

/** The messages about vote requests. A mark stands in one of each message's links. */
export function createMessages(renderer: Renderer, names: Names, now: () => number) {
  const titleOf = (request: VoteRequest): string => cut(names.voteRequest(request), 150);

  /** What stands outside the embed says what it is, in words that stay true. A vote's message says nothing: there are many. */
  const message = (
    view: Omit<View, "readings">,
    notification: Markdown | null = view.title,
  ): MessagePayload => renderer.message({ ...view, ...(notification ? { notification } : {}), readings: [] });

  /** What shows all of a request. */
  const whole = (
    { request, needed }: Snapshot,
    mark: string,
    heading: Pick<View, "title" | "tone" | "body">,
  ): View => ({
    ...heading,
    notification: md`Vote request: ${titleOf(request)}`,
    fields: voteRequestFields(request, {
      needed,
      names,
      now: now(),
      rest: "“Details” below has all of it.",
    }),
    thumbnail: request.requesterImg,
    links: links(request.identity, mark),
    ...(request.identity === null ? {} : { explorerPage: { kind: "proposal", id: request.identity } }),
    readings: [],
  });

  /** The announcement that a request has opened, with its tally as it is now. */
  const announcement = (
    snapshot: Snapshot,
    mark: string,
    ended?: { readonly status: string | null; readonly known: boolean },
  ): View => {
    const { request } = snapshot;
    return whole(snapshot, mark, {
      title: md`${ended ? "Vote request" : "New vote request"}: ${titleOf(request)}`,
      tone: ended && !ended.known ? "warning" : statusTone(ended ? ended.status : request.status),
      body: [ended ? outcome(ended.status, ended.known) : statusText(request.status)],
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
    const isFirst = deadline === request.voteBefore && request.targetEffectiveAt !== null;
    const when = isFirst
      ? md`Enough must have voted by ${timestampWithAge(deadline)}; votes can change until ${timestamp(request.targetEffectiveAt, "f")}.`
      : md`Voting ends ${timestampWithAge(deadline)}`;
    const ended = isOver(request, now());
    const title = who.title ?? md`${ended ? "Ended" : "Still open"}: ${titleOf(request)}`;
    return {
      title,
      notification: title,
      tone: ended ? statusTone(request.status) : "warning",
      body: [
        ended ? outcome(request.status, outcomeKnown(request.status)) : when,
        ...tallyLines(request, needed, now()),
        ...(ended ? [] : who.lines),
      ],
      links: links(request.identity, mark),
      readings: [],
    };
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

    /** The one message about a request that opened and ended while nobody watched. */
    missed(snapshot: Snapshot, mark: string): MessagePayload {
      const { request } = snapshot;
      const view = whole(snapshot, mark, {
        title: md`Vote request: ${titleOf(request)}`,
        tone: statusTone(request.status),
        body: [
          md`Opened and ended while I was not watching.`,
          outcome(request.status, outcomeKnown(request.status)),
        ],
      });
      return renderer.message(view);
    },

    /** One message for several that are new, with a menu to open each. */
    digest({ rows: all, since }: GovernanceEvent & { kind: "digest" }, mark: string): MessagePayload {
      const rows = all.map((row) => ({
        row,
        title: names.voteRequest({ ...row, identity: identityOf(row) }),
        id: identityOf(row),
      }));
      const shown = rows.slice(0, MAX_ROWS);
      const ended = rows.filter(({ row }) => isOver(row, now())).length;
      return message({
        title: md`${rows.length} new vote requests`,
        tone: "neutral",
        body: [
          since === null
            ? md`They opened since I last read the vote requests.`
            : md`They opened after ${timestamp(since, "f")}, when I last read all vote requests.`,
          ...(ended > 0 ? [md`${ended === rows.length ? "All" : ended} of them have ended since.`] : []),
          ...shown.map(
            ({ row, title }) =>
              md`${statusText(row.status)} · ${bold(cut(title, 120))} · ${untilWords(row, now())}`,
          ),
          ...(rows.length > shown.length
            ? [md`…and ${rows.length - shown.length} more: “All vote requests” below lists them.`]
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
        links: links(null, mark),
      });
    },

    /** A reminder of a deadline (epoch ms), as it stands now. */
    reminder: (...of: Parameters<typeof reminder>): MessagePayload => renderer.message(reminder(...of)),

    /** The same, not yet rendered. */
    reminderView: (...of: Parameters<typeof reminder>): View => reminder(...of),

    /** News of a request that was announced before: it stands alone just as well. */
    news(event: Exclude<News, Reminder>, { request, needed }: Snapshot, mark: string): MessagePayload {
      const tally = tallyLines(request, needed, now());
      const title = titleOf(request);
      const shared = { links: links(request.identity, mark) };
      switch (event.kind) {
        case "changed":
          return message({
            ...shared,
            title: md`Changed: ${title}`,
            tone: "warning",
            body: [changes(event.from, event.to)],
          });
        case "votes": {
          const { votes } = event;
          const heading = votes.length === 1 ? md`Vote on ${title}` : md`${votes.length} votes on ${title}`;
          const body = [votesLine(votes, names.called), ...tally];
          return message({ ...shared, title: heading, tone: "neutral", body }, null);
        }
        case "decided": {
          const until = request.targetEffectiveAt;
          const body = [
            md`Enough ${event.way} votes are in: **${event.votes}** of about ${event.needed} needed.`,
            event.way === "no"
              ? md`With so many it is rejected.`
              : until === null
                ? md`It takes effect at once.`
                : md`Yes votes count at ${timestampWithAge(until)}; until then votes can still change.`,
            ...tally,
          ];
          const tone = event.way === "yes" ? "good" : "bad";
          return message({ ...shared, title: md`Enough ${event.way} votes: ${title}`, tone, body });
        }
        case "closed": {
          const known = outcomeKnown(event.status);
          const tone = known ? statusTone(event.status) : "warning";
          const body = [outcome(event.status, known), ...tally];
          return message({ ...shared, title: md`Closed: ${title}`, tone, body });
        }
      }
    },
  };
}
