import type { Subscription } from "../../delivery/collections.js";
import type { Mentions } from "../../delivery/feed.js";
import type { FeedDeps } from "../../delivery/module.js";
import type { Names } from "../../directory/names.js";
import { createOwnId } from "../../discord/places.js";
import { standingOf } from "../../ledger/vote-phase.js";
import type { VoteRequest } from "../../ledger/vote-requests.js";
import { isCalled, type MissingVotes, type Voter, voterIn } from "../../ledger/votes.js";
import type { View } from "../../screens/view.js";
import { missingLine } from "../../screens/vote-parts.js";
import { md } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import { deadlineOf, type Reminder } from "./events.js";
import type { Absence, createMessages } from "./messages.js";
import { isFor } from "./recipients.js";
import type { Snapshot } from "./snapshot.js";
import { missingIn } from "./topics.js";
import { mentionsFor } from "./voters.js";

/**
 * Returns the reminder for people who represent super validators.
 * @param missing the super validators that have not voted
 */
export function notVotedYet(
  missing: readonly string[],
  request: VoteRequest,
  names: Pick<Names, "voteRequest">,
): Absence {
  const missingWords = `${cut(missing.join(", "), 100)} ${missing.length === 1 ? "hasn't" : "haven't"} voted`;
  return {
    news: (left) => md`⏰ ${left} left: ${missingWords} on ${names.voteRequest(request, 120)}`,
    lines: [],
  };
}

interface RemindingDeps
  extends Pick<FeedDeps, "state" | "subscriptions" | "rest" | "pacer" | "names" | "now"> {
  readonly messages: ReturnType<typeof createMessages>;
}

/** Creates the content of reminders, depending on who receives them. */
export function createReminding(deps: RemindingDeps) {
  const { rest, messages, names, now } = deps;
  const ownId = createOwnId(rest);
  const isIn = (voters: readonly Voter[], voter: string) => voters.some((each) => isCalled(each, voter));

  /** Returns the missing votes for a person who watches only super validators. `undefined` if no vote of theirs is missing. */
  const absenceOf = (
    watched: readonly string[],
    missing: MissingVotes | null,
    request: VoteRequest,
  ): Absence | undefined => {
    const called = (voters: readonly string[]) => voters.map((voter) => names.distinct(voter));
    const absent = watched.filter((voter) => isIn(missing?.voters ?? [], voter));
    // A super validator that has never voted is only counted in the tally.
    const isUncertain =
      missing === null || (missing.unknown > 0 && watched.some((voter) => !isIn(missing.voted, voter)));
    if (absent.length === 0 && isUncertain)
      return {
        lines: [md`-# I couldn't check if ${cut(called(watched).join(", "), 200)} has voted.`],
      };
    return absent.length > 0 ? notVotedYet(called(absent), request, names) : undefined;
  };

  const votersOf = (recipients: readonly Subscription[]) =>
    recipients.flatMap(({ subject }) => voterIn(subject) ?? []);

  /** Returns the news of a reminder for people whose super validators have no vote left to cast. */
  const settledNews = async (watched: readonly string[], { request, missing }: Snapshot) => {
    const voted = (await missing())?.voted ?? [];
    const others = watched.filter((voter) => !isIn(voted, voter));
    const title = names.voteRequest(request, 150);
    const called = (voters: readonly string[]) =>
      cut(voters.map((voter) => names.distinct(voter)).join(", "), 100);
    if (others.length === 0) return md`✅ Voted on ${title}: ${called(watched)}`;
    // A vote may also be listed under another name of its voter.
    const isOver = others.every((voter) => names.isFormer({ name: voter, aliases: [voter] }));
    return isOver
      ? md`▫️ No vote is missing on ${title}: ${called(others)} can't vote any more`
      : md`▫️ No vote is missing on ${title}`;
  };

  const absenceFor = async (
    recipients: readonly Subscription[],
    { request, missing }: Snapshot,
  ): Promise<Absence | undefined> => {
    const watched = votersOf(recipients);
    if (watched.length > 0 && watched.length === recipients.length)
      return absenceOf(watched, await missing(), request);
    const isOff = recipients.length > 0 && recipients.every((each) => missingIn(each) === "off");
    const found = await missing();
    return { lines: isOff ? [] : [missingLine(found, names)], uncounted: found?.uncounted };
  };

  const viewOf = (event: Reminder, snapshot: Snapshot, mark: string, absence: Absence) =>
    messages.reminder(snapshot, deadlineOf(event.reminder), mark, absence);

  return {
    /** Returns the reminder to send and the people to ping. `undefined` if the vote is over. */
    async sent(
      event: Reminder,
      snapshot: Snapshot,
      mark: string,
      recipients: readonly Subscription[],
    ): Promise<{ readonly view: View; readonly mentions: Mentions } | undefined> {
      // A reminder that is late because of an outage must not announce a vote that is over.
      const { phase } = standingOf(snapshot.request, snapshot.needed, now());
      const isPast = snapshot.isOver || snapshot.isUnlisted || deadlineOf(event.reminder) <= now();
      if (isPast || phase !== "voting") return undefined;
      const absence = await absenceFor(recipients, snapshot);
      if (!absence) return undefined;
      const mentions = await mentionsFor({ ...deps, ownId }, event, recipients, await snapshot.missing());
      return { view: viewOf(event, snapshot, mark, absence), mentions };
    },

    /** Returns the reminder's current content. */
    async current(
      event: Reminder,
      snapshot: Snapshot,
      mark: string,
      recipients: readonly Subscription[],
    ): Promise<View> {
      const concerned = recipients.filter((each) => !each.isPaused && isFor(each, event));
      const absence = await absenceFor(concerned, snapshot);
      if (absence) return viewOf(event, snapshot, mark, absence);
      const news = await settledNews(votersOf(concerned), snapshot);
      return viewOf(event, snapshot, mark, { news: () => news, lines: [] });
    },
  };
}
