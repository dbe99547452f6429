import { isDeepStrictEqual } from "node:util";
import type { Names } from "../../directory/names.js";
import { toTitle } from "../../ledger/actions.js";
import { standingOf, type VotePhase } from "../../ledger/vote-phase.js";
import type { VoteRequest } from "../../ledger/vote-requests.js";
import { castIn, outcomeKnown, statusGroup } from "../../ledger/vote-rules.js";
import type { View } from "../../screens/view.js";
import {
  BALLOTS,
  overdueWords,
  standingNote,
  statusTone,
  tallyLines,
  tallySuffix,
} from "../../screens/vote-parts.js";
import { bold, join, type Markdown, md, timestamp, timestampWithAge } from "../../text/markdown.js";
import { countedWords } from "../../text/numbers.js";
import { capitalized } from "../../text/plain.js";
import { present } from "../../util/present.js";
import type { GovernanceEvent, News, Reminder } from "./events.js";
import { announcementLinks, endingNews, endingNote } from "./message-parts.js";
import type { Snapshot } from "./snapshot.js";
import type { Terms } from "./tracking.js";

type CastVotesEvent = Extract<GovernanceEvent, { kind: "votes" }>;

const VOTE_WORDS = { ...BALLOTS, null: "⚪ no vote" } as const;
const voteWords = (vote: boolean | null): string => VOTE_WORDS[`${vote}`];

/** The outcome of a request that lacks votes after its date. */
const UNDECIDED: Readonly<Partial<Record<VotePhase, string>>> = {
  rejected: "it'll be rejected, unless votes change before it's closed.",
  expired: "it can't be carried out, unless votes change before it's closed.",
};

/** Maximum number of voters named in a message. */
const MAX_VOTERS = 6;

/** Returns a voter's name as its vote gives it, with its party's fingerprint if another one has the same name. */
const voterWords = (
  { voter, party }: Pick<CastVotesEvent["votes"][number], "voter" | "party">,
  names: Names,
) => names.distinct(party !== undefined && names.party(party) === voter ? party : voter, 60);

/** Formats votes in one line, such as "Falcon Finance ✅ yes, Grove Trust ❌ no (before: ✅ yes), 3 more". */
function votesLine(votes: CastVotesEvent["votes"], names: Names): Markdown {
  const shownVotes = votes.slice(0, votes.length > MAX_VOTERS ? MAX_VOTERS - 1 : MAX_VOTERS);
  const moreCount = votes.length - shownVotes.length;
  return join(
    [
      ...shownVotes.map(({ from, to, ...voter }) => {
        const beforeWords = from === null ? md`` : md` (before: ${voteWords(from)})`;
        return md`**${voterWords(voter, names)}** ${voteWords(to)}${beforeWords}`;
      }),
      moreCount > 0 && md`${moreCount} more`,
    ],
    ", ",
  );
}

/** A changed field of a request: its name for a sentence, and a separate line. */
interface TermsChange {
  readonly words: string;
  readonly line: Markdown;
}

/** Returns the date of a decision, or that it is made as soon as there are enough votes. */
const decision = (at: number | null, words: Markdown): Markdown =>
  at === null ? md`as soon as enough have voted yes` : words;

function changesOf(from: Terms, to: Terms): TermsChange[] {
  const changes: TermsChange[] = [];
  const add = (words: string, label: string, was: Markdown, is: Markdown) =>
    changes.push({ words, line: md`${bold(label)}: ${was} → ${is}` });
  const text = (value: string | null) => md`${value ?? "none"}`;
  if (from.title !== to.title) add("title", "Title", text(toTitle(from.title)), text(toTitle(to.title)));
  if (from.action !== to.action) add("action", "Action", text(from.action), text(to.action));
  if (isDeepStrictEqual(from, to))
    changes.push({
      words: "action",
      line: md`**Action:** some details changed. Press “Details” to see it all.`,
    });
  if (from.voteBefore !== to.voteBefore)
    add("quorum date", "Quorum by", timestamp(from.voteBefore, "f"), timestampWithAge(to.voteBefore));
  if (from.targetEffectiveAt !== to.targetEffectiveAt)
    add(
      "decision date",
      "Decided on",
      decision(from.targetEffectiveAt, timestamp(from.targetEffectiveAt, "f")),
      decision(to.targetEffectiveAt, timestampWithAge(to.targetEffectiveAt)),
    );
  return changes;
}

/** Says why a request expired although enough have voted. */
function tooFewInTime(
  status: string | null,
  request: VoteRequest,
  needed: number | undefined,
): Markdown | undefined {
  const { voteBefore, targetEffectiveAt, hasExpired } = request;
  const isLate =
    statusGroup(status) === "expired" &&
    hasExpired !== false &&
    voteBefore !== null &&
    targetEffectiveAt !== null &&
    castIn(request) >= (needed ?? Infinity);
  return isLate ? md`Too few had voted by the quorum date, ${timestamp(voteBefore, "f")}.` : undefined;
}

/** Creates messages about an announced request. One link in each contains its mark. */
export function createNews(names: Names, now: () => number) {
  const viewOf = (
    event: Exclude<News, Reminder>,
    { request, needed }: Snapshot,
  ): Pick<View, "tone" | "notification" | "body"> => {
    const title = names.voteRequest(request, 150);
    const named = md`${title}${tallySuffix(request)}`;
    const tally = tallyLines(request, needed, now());
    switch (event.kind) {
      case "changed": {
        const changes = changesOf(event.from, event.to);
        return {
          notification: md`✏️ Changed: ${title} (${changes.map(({ words }) => words).join(", ")})`,
          tone: "warning",
          body: changes.map(({ line }) => line),
        };
      }
      case "votes": {
        const { votes } = event;
        const [only, ...others] = votes;
        const isOne = only !== undefined && only.to !== null && others.length === 0;
        return {
          notification: isOne
            ? md`🗳️ ${voterWords(only, names)} voted ${only.to ? "yes" : "no"} on ${named}`
            : md`🗳️ ${countedWords(votes.length, "vote")} on ${named}`,
          // Without it, late votes would look as if they counted.
          body: [
            votesLine(votes, names),
            ...standingNote(request, standingOf(request, needed, now())),
            ...tally,
          ],
        };
      }
      case "decided": {
        const { way, votes } = event;
        const untilAt = request.targetEffectiveAt;
        const decision =
          untilAt === null || untilAt <= now()
            ? md`It can be carried out now. Votes can still change before that.`
            : md`Decided on ${timestampWithAge(untilAt)}. Votes can still change until then.`;
        const nextSentence =
          way === "no" ? md`It'll be rejected, unless votes change before it's closed.` : decision;
        return {
          notification: md`${way === "yes" ? "✅" : "❌"} Enough ${way} votes: ${title} (${votes}, about ${event.needed} needed)`,
          tone: way === "yes" ? "good" : "bad",
          body: [nextSentence, ...tally],
        };
      }
      case "undecided": {
        const { phase } = standingOf(request, event.needed, now());
        const reason = event.isMoreNeeded
          ? "There are more super validators now, so more votes are needed, and"
          : "Votes have changed, so";
        return {
          notification: md`↩️ No longer enough ${event.way} votes: ${title} (${event.votes} of about ${event.needed} needed)`,
          tone: "warning",
          body: [md`${reason} ${UNDECIDED[phase] ?? "it's undecided again."}`, ...tally],
        };
      }
      case "reopened": {
        const { next } = standingOf(request, needed, now());
        return {
          notification: md`↩️ Open again: ${named}`,
          tone: "warning",
          body: present([
            md`Its end was a mistake in the explorer's list. Votes still count.`,
            next && md`${bold(capitalized(next.name))}: ${timestampWithAge(next.at)}`,
            ...tally,
          ]),
        };
      }
      case "overdue": {
        // The votes in the contract may say when, as on the request's screen. The bot may have seen them later.
        const { phase, since } = standingOf(request, needed, now());
        return {
          notification: md`⚠️ Overdue: ${named}`,
          tone: "warning",
          body: [overdueWords(phase === "overdue" ? since : event.since), ...tally],
        };
      }
      case "closed": {
        const ended = { status: event.status, known: outcomeKnown(event.status) };
        const ending = endingNews(ended, request, title);
        return {
          notification: event.correctedAt !== undefined ? md`✏️ Corrected outcome: ${ending}` : ending,
          tone: ended.known ? statusTone(event.status) : "warning",
          body: present([...endingNote(ended), tooFewInTime(event.status, request, needed), ...tally]),
        };
      }
    }
  };

  /** Returns a message about an announced request. It can be understood without the announcement. */
  return (event: Exclude<News, Reminder>, snapshot: Snapshot, mark: string): View => ({
    ...viewOf(event, snapshot),
    links: announcementLinks(snapshot.request.identity, mark),
  });
}
