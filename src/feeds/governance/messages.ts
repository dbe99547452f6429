import type { Names } from "../../directory/names.js";
import { mayStillVote, standingOf } from "../../ledger/vote-phase.js";
import type { VoteRequest } from "../../ledger/vote-requests.js";
import { castIn, isCounted, votableUntil } from "../../ledger/vote-rules.js";
import type { View } from "../../screens/view.js";
import {
  shortVote,
  standingNote,
  standingTone,
  statusTone,
  tallyLines,
  tallySuffix,
  upgradeNote,
} from "../../screens/vote-parts.js";
import { kindWords, voteRequestLines } from "../../screens/vote-request.js";
import { timeLine } from "../../screens/vote-times.js";
import { roughly, spanWords } from "../../text/durations.js";
import { join, type Markdown, md } from "../../text/markdown.js";
import { DAY, HOUR, MINUTE } from "../../util/units.js";
import { digestView, type SeveralRequests } from "./digest.js";
import {
  announcementLinks,
  endingIn,
  endingNews,
  endingNote,
  endingTone,
  MAX_URGENT_TITLE,
  standingNews,
} from "./message-parts.js";
import type { Snapshot } from "./snapshot.js";

/** The votes that are missing when a reminder is sent. */
export interface Absence {
  /** Returns the reminder's news for people who represent super validators. Missing in reminders for others. */
  readonly news?: (left: string) => Markdown;
  readonly lines: readonly Markdown[];
  /** Number of votes in the tally that won't count. */
  readonly uncounted?: number | undefined;
}

/** Formats the time until a deadline, in ms. Reminders are sent a moment after they are due. */
function leftWords(ms: number): string {
  const stepMs = ms < 10 * MINUTE ? MINUTE : 5 * MINUTE;
  if (ms < 12 * HOUR) return spanWords(Math.max(1, Math.round(ms / stepMs)) * stepMs);
  return ms < 2 * DAY ? roughly(ms) : spanWords(Math.round(ms / HOUR) * HOUR);
}

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
      title: kind === null ? undefined : md`${kind}`,
      tone: parts.tone,
      notification: parts.notification,
      body: voteRequestLines(request, parts.notes, {
        needed,
        names,
        now: now(),
        rest: "Press “Details”, then “Raw data”, to see it all.",
      }),
      thumbnail: request.requesterImg,
      links: announcementLinks(request.identity, mark),
      explorerPage: request.identity === null ? undefined : { kind: "proposal", id: request.identity },
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
  const reminderNews = ({ request, needed }: Snapshot, deadline: number, who: Absence): Markdown => {
    const leftMs = deadline - now();
    const title = titleOf(request);
    if (leftMs <= 0) return md`🗳️ Still open: ${title}${tallySuffix(request)}`;
    const timeLeft = leftWords(leftMs);
    if (who.news) return who.news(timeLeft);
    if (needed === undefined || !isCounted(request)) return md`⏰ ${timeLeft} left to vote: ${title}`;
    // At its last date, only yes votes carry it.
    const isQuorum = request.targetEffectiveAt !== null && deadline < (votableUntil(request) ?? 0);
    const count = isQuorum ? castIn(request) : (request.yes ?? 0);
    const votes = isQuorum ? "votes" : "yes votes";
    const isEnough = count - (who.uncounted ?? 0) >= needed;
    const share = isEnough ? `${count} ${votes}, enough` : `${count} of ${needed} ${votes}`;
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

    digest: (event: SeveralRequests, mark: string, isForNew = true): View =>
      digestView(event, mark, { names, isForNew, now: now() }),
  };
}
