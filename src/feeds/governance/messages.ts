import type { Names } from "../../directory/names.js";
import { LIMITS } from "../../discord/limits.js";
import { MENU_SLOTS } from "../../discord/links.js";
import type { VoteRequestListItem } from "../../explorer/schema/governance.js";
import { mayStillVote, standingOf, type VotePhase } from "../../ledger/vote-phase.js";
import { identityOf, openedAtIn, tallyIn, type VoteRequest } from "../../ledger/vote-requests.js";
import {
  castIn,
  isCounted,
  isOver,
  neededFor,
  outcomeKnown,
  statusGroup,
  votableUntil,
} from "../../ledger/vote-rules.js";
import { address } from "../../screens/addresses.js";
import { MAX_LABEL } from "../../screens/parts.js";
import type { Link, View } from "../../screens/view.js";
import { RULES_LINK } from "../../screens/vote-explained.js";
import {
  ENDED_UNKNOWN,
  shortVote,
  standingNote,
  standingTone,
  statusText,
  statusTone,
  tallyLines,
  tallySuffix,
  upgradeNote,
} from "../../screens/vote-parts.js";
import { kindWords, voteRequestLines } from "../../screens/vote-request.js";
import { dateWords, timeLine } from "../../screens/vote-times.js";
import { roughly, spanWords } from "../../text/durations.js";
import { shortId } from "../../text/ids.js";
import { bold, join, type Markdown, md, timestamp } from "../../text/markdown.js";
import { cut, namesAndMore } from "../../text/plain.js";
import { present } from "../../util/present.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import { type GovernanceEvent, hasEnded } from "./events.js";
import type { Snapshot } from "./snapshot.js";

/** Returns the buttons of a message about a vote request, or about several. */
export function announcementLinks(id: string | null, mark: string): Link[] {
  const all: Link = { label: "All vote requests", emoji: "📋", to: address("proposals", {}), mark };
  if (id === null) return [all];
  return [
    { label: "Details", emoji: "📜", to: address("voteRequest", { id }) },
    { label: "Votes", emoji: "🗳️", to: address("votes", { id }) },
    RULES_LINK,
    all,
  ];
}

/** The ending of a vote request, for an announcement. */
export interface Ending {
  readonly status: string | null;
  /** True if the explorer states the outcome. */
  readonly known: boolean;
}

/** Returns an ending and the request's name in one line: "✅ Accepted: Feature Delta Labs (10 yes, 1 no)". */
export function endingNews({ status, known }: Ending, request: VoteRequest, title: string): Markdown {
  const named = md`${title}${tallySuffix(request)}`;
  if (!known) return md`${ENDED_UNKNOWN}: ${named}`;
  return statusGroup(status) === "other"
    ? md`▫️ Ended as “${cut(status ?? "", 60)}”: ${named}`
    : md`${statusText(status)}: ${named}`;
}

/** Returns the state of a request and its name in one line. `undefined` while votes can be cast. */
function standingNews(request: VoteRequest, phase: VotePhase, title: string): Markdown | undefined {
  const named = md`${title}${tallySuffix(request)}`;
  switch (phase) {
    case "voting":
      return undefined;
    case "expired":
      return md`⌛ Expired: ${named}`;
    case "rejected":
      return md`❌ Rejected by the votes: ${named}`;
    case "ready":
      return md`✅ Enough yes votes: ${named}`;
    case "overdue":
      return md`⚠️ Overdue: ${named}`;
    case "ended":
      return endingNews(endingIn(request), request, title);
  }
}

/** Returns the ending of a request that is over. */
const endingIn = ({ status, isGone }: VoteRequest): Ending => ({
  status,
  known: !isGone && outcomeKnown(status),
});

/** Returns the line below the news of an ending. */
export const endingNote = ({ known }: Ending): Markdown[] =>
  known ? [] : [md`The explorer no longer lists it.`];

const endingTone = ({ status, known }: Ending) => (known ? statusTone(status) : "warning");

/** The votes that are missing when a reminder is sent. */
export interface Absence {
  /** Returns the reminder's news for people who represent super validators. Missing in reminders for others. */
  readonly news?: (left: string) => Markdown;
  readonly lines: readonly Markdown[];
}

/** Formats the time until a deadline, in ms. Reminders are sent a moment after they are due. */
function leftWords(ms: number): string {
  const stepMs = ms < 10 * MINUTE ? MINUTE : 5 * MINUTE;
  if (ms < 12 * HOUR) return spanWords(Math.max(1, Math.round(ms / stepMs)) * stepMs);
  return ms < 2 * DAY ? roughly(ms) : spanWords(Math.round(ms / HOUR) * HOUR);
}

/** Maximum number of rows in a digest. A button opens the full list. */
const MAX_ROWS = 12;
/** Maximum number of names in a digest's notification. */
const MAX_NAMED = 3;

/** Returns the time in which several requests opened. The explorer may list them much later, or not say when they opened. */
function openedWords(openedAt: readonly (number | null)[], since: number | null): Markdown | undefined {
  if (since !== null && openedAt.includes(null)) return undefined;
  const earliest = Math.min(...openedAt.map((each) => each ?? Number.POSITIVE_INFINITY));
  if (Number.isFinite(earliest) && since !== null && earliest < since)
    return md`The first of them opened ${timestamp(earliest, "f")}. The explorer didn't list them before.`;
  return since === null
    ? md`They opened before I could check for the first time.`
    : md`They opened after ${timestamp(since, "f")}, when I last checked.`;
}

/** Maximum length of all titles before the warning of a short vote, so that a phone's notification has room for it. */
const MAX_URGENT_TITLE = 65;

/** Creates announcements of vote requests and their reminders. One link in each message contains its mark. */
export function createMessages(names: Names, now: () => number) {
  const titleOf = (request: VoteRequest): string => names.voteRequest(request, 150);

  /** Returns a view of the complete request below its news. */
  const wholeView = (
    { request, needed }: Snapshot,
    mark: string,
    parts: Pick<View, "tone"> & { readonly notification: Markdown; readonly notes: readonly Markdown[] },
  ): View => {
    const kind = kindWords(request, names.voteRequest(request));
    return {
      ...(kind === null ? {} : { title: md`${kind}` }),
      tone: parts.tone,
      notification: parts.notification,
      body: voteRequestLines(request, parts.notes, {
        needed,
        names,
        now: now(),
        rest: "Press “Details” to see it all.",
      }),
      thumbnail: request.requesterImg,
      links: announcementLinks(request.identity, mark),
      ...(request.identity === null ? {} : { explorerPage: { kind: "proposal", id: request.identity } }),
    };
  };

  const openedNews = (request: VoteRequest): Markdown => {
    const title = titleOf(request);
    const warnings = shortVote(request);
    const shownTitle = warnings.length > 0 ? names.voteRequest(request, MAX_URGENT_TITLE) : title;
    return join([md`🗳️ New vote request: ${shownTitle}`, ...upgradeNote(request, title), ...warnings], " · ");
  };

  /** Announces that a request has opened, with its current tally, or its end. */
  const announcement = (snapshot: Snapshot, mark: string): View => {
    const { request, needed } = snapshot;
    const standing = standingOf(request, needed, now());
    const ended = standing.phase === "ended" ? endingIn(request) : undefined;
    return wholeView(snapshot, mark, {
      notification: standingNews(request, standing.phase, titleOf(request)) ?? openedNews(request),
      tone: ended ? endingTone(ended) : standingTone(request, standing),
      notes: ended ? endingNote(ended) : standingNote(request, standing),
    });
  };

  /** Returns a reminder's news while votes can be cast. */
  const reminderNews = ({ request, needed }: Snapshot, deadline: number, { news }: Absence): Markdown => {
    const leftMs = deadline - now();
    const title = titleOf(request);
    if (leftMs <= 0) return md`🗳️ Still open: ${title}${tallySuffix(request)}`;
    const timeLeft = leftWords(leftMs);
    if (news) return news(timeLeft);
    if (needed === undefined || !isCounted(request)) return md`⏰ ${timeLeft} left to vote: ${title}`;
    // At its last date, only yes votes carry it.
    const isQuorum = request.targetEffectiveAt !== null && deadline < (votableUntil(request) ?? 0);
    const count = isQuorum ? castIn(request) : (request.yes ?? 0);
    const votes = isQuorum ? "votes" : "yes votes";
    const share = count < needed ? `${count} of ${needed} ${votes}` : `${count} ${votes}, enough`;
    return md`⏰ ${timeLeft} left to vote: ${title} (${share})`;
  };

  /**
   * Returns the current content of a reminder.
   * @param deadline epoch ms
   */
  const reminder = (snapshot: Snapshot, deadline: number, mark: string, who: Absence): View => {
    const { request, needed } = snapshot;
    const standing = standingOf(request, needed, now());
    const { phase, next } = standing;
    const isPast = !mayStillVote(request, standing);
    // The quorum date matters first, and not any more once enough have voted.
    const nearest = deadline > now() ? (next?.at ?? deadline) : deadline;
    return {
      notification: standingNews(request, phase, titleOf(request)) ?? reminderNews(snapshot, nearest, who),
      tone: phase === "ended" ? statusTone(request.status) : "warning",
      body: [
        ...(phase === "ended" ? endingNote(endingIn(request)) : standingNote(request, standing)),
        ...tallyLines(request, needed, now()),
        ...(isPast ? [] : [timeLine(request, now(), phase), ...who.lines]),
      ],
      links: announcementLinks(request.identity, mark),
    };
  };

  const nextDateOf = (row: VoteRequestListItem) =>
    standingOf({ ...row, ...tallyIn(row) }, neededFor(tallyIn(row), undefined), now()).next;
  const shortVoteIn = (row: VoteRequestListItem) => shortVote({ ...row, createdAt: openedAtIn(row) });

  /** Returns the facts of a row that do not change: its outcome, or the date of its decision. */
  const lastingFacts = (row: VoteRequestListItem): readonly Markdown[] => {
    if (isOver(row, now())) return [statusText(row.status)];
    const nextDate = nextDateOf(row);
    return present([nextDate && dateWords(nextDate), ...shortVoteIn(row)]);
  };

  return {
    announcement,
    reminder,

    /** Reports a request that opened and ended while the bot was offline. There is no other message about it. */
    missed(snapshot: Snapshot, mark: string): View {
      const { request } = snapshot;
      const ended = endingIn(request);
      return wholeView(snapshot, mark, {
        notification: endingNews(ended, request, titleOf(request)),
        tone: statusTone(request.status),
        notes: [md`Opened and ended while I wasn't watching.`, ...endingNote(ended)],
      });
    },

    /**
     * Announces several new requests in one message, with menus to open each. It is never edited, so it
     * contains nothing that will change.
     * @param isForNew false for channels that want only the outcomes among them
     */
    digest(
      { rows: listed, since }: GovernanceEvent & { kind: "digest" },
      mark: string,
      isForNew = true,
    ): View {
      const all = isForNew ? listed : listed.filter(hasEnded);
      // The most urgent one must not be among those that the notification only counts.
      const urgency = (row: VoteRequestListItem) =>
        isOver(row, now()) ? Number.POSITIVE_INFINITY : (nextDateOf(row)?.at ?? Number.MAX_VALUE);
      const rows = all
        .toSorted((a, b) => urgency(a) - urgency(b) || 0)
        .map((row) => ({
          row,
          titled: (most: number) => names.voteRequest({ ...row, identity: identityOf(row) }, most),
          id: identityOf(row),
        }));
      const shownRows = rows.slice(0, MAX_ROWS);
      const endedCount = rows.filter(({ row }) => isOver(row, now())).length;
      const shortVote = rows.find(({ row }) => !isOver(row, now()) && shortVoteIn(row).length > 0);
      const maxTitle = shortVote ? Math.floor(MAX_URGENT_TITLE / MAX_NAMED) : 60;
      const named = rows.slice(0, MAX_NAMED).map(({ titled }) => titled(maxTitle));
      const warnings = shortVote ? shortVoteIn(shortVote.row) : [];
      const told = isForNew
        ? md`${rows.length} new vote requests`
        : md`Opened and ended while I wasn't watching`;
      const news = md`🗳️ ${told}: ${namesAndMore(named, rows.length)}`;
      return {
        notification: join([news, ...warnings.map((each) => md`${each} (${shortVote?.titled(40)})`)], " · "),
        body: present([
          isForNew && openedWords(all.map(openedAtIn), since),
          isForNew &&
            endedCount > 0 &&
            md`${endedCount === rows.length ? "All" : endedCount} of them ${endedCount === 1 ? "has" : "have"} ended since.`,
          ...shownRows.map(({ row, titled }) => join([bold(titled(120)), ...lastingFacts(row)], " · ")),
          rows.length > shownRows.length &&
            md`…and ${rows.length - shownRows.length} more. Press “All vote requests” to see them.`,
        ]),
        menus: MENU_SLOTS.map((_, at) => ({
          placeholder: at === 0 ? "Open a vote request…" : "More vote requests…",
          choices: rows
            .slice(at * LIMITS.menuOptions, (at + 1) * LIMITS.menuOptions)
            .flatMap(({ titled, id }) =>
              id === null
                ? []
                : [{ label: titled(MAX_LABEL), hint: shortId(id), to: address("voteRequest", { id }) }],
            ),
        })),
        links: announcementLinks(null, mark),
      };
    },
  };
}
