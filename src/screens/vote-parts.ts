import type { Names } from "../directory/names.js";
import { upgradeSummary } from "../ledger/upgrades.js";
import {
  mayStillVote,
  type Standable,
  type Standing,
  shortWindow,
  standingOf,
  type VotePhase,
} from "../ledger/vote-phase.js";
import type { VoteRequest } from "../ledger/vote-requests.js";
import { decidedBy, type StatusGroup, statusGroup, statusWords, type Tally } from "../ledger/vote-rules.js";
import type { MissingVotes } from "../ledger/votes.js";
import { spanWords } from "../text/durations.js";
import { bold, join, type Markdown, md, timestamp } from "../text/markdown.js";
import { countedWords, grouped } from "../text/numbers.js";
import { cut } from "../text/plain.js";
import { present } from "../util/present.js";
import { MINUTE } from "../util/units.js";
import { brief } from "./parts.js";
import type { Tone } from "./view.js";

const STATUS_LOOKS: Readonly<Record<StatusGroup, readonly [sign: Markdown, tone: Tone]>> = {
  open: [md`🗳️`, "neutral"],
  accepted: [md`✅`, "good"],
  implemented: [md`✅`, "good"],
  rejected: [md`❌`, "bad"],
  expired: [md`⌛`, "warning"],
  failed: [md`⚠️`, "warning"],
  other: [md`▫️`, "neutral"],
};

/** Signs and words of a cast vote. */
export const BALLOTS = { true: "✅ yes", false: "❌ no" } as const;

/** The end of a request whose outcome is unknown. */
export const ENDED_UNKNOWN = md`▫️ Ended, outcome unknown`;

/** Formats a status as a sign and a word. */
export function statusText(status: string | null): Markdown {
  const [sign] = STATUS_LOOKS[statusGroup(status)];
  return md`${sign} ${brief(statusWords(status))}`;
}

/** Signs and words of the phases in which a request is decided but not closed yet, for lists and events. */
export const PHASE_TEXTS: Readonly<Partial<Record<VotePhase, Markdown>>> = {
  expired: md`⌛ Not enough votes in time`,
  rejected: md`❌ Rejected by the votes`,
  ready: md`✅ Enough yes votes`,
  overdue: md`⚠️ Overdue`,
};

/** Returns the sign and the word of a request in a list: its phase until it is closed, or else its status. */
export const stateText = (status: string | null, phase: VotePhase): Markdown =>
  PHASE_TEXTS[phase] ?? statusText(status);

/** The parts of a request that its ending depends on. */
type EndingParts = Pick<Standable, "status" | "isGone" | "targetEffectiveAt">;

/** Says what a request lacked when it expired (docs/ledger.md, "How a vote ends"). */
const lackWords = ({ targetEffectiveAt }: EndingParts): string =>
  targetEffectiveAt === null ? "not enough yes votes" : "too few had voted";

/** Says that an expired request without a decision date can still be accepted (docs/ledger.md, "How a vote ends"). */
const lateVotes = ({ targetEffectiveAt }: EndingParts): Markdown =>
  targetEffectiveAt === null ? md`. Enough yes votes still carry it until it's closed` : md``;

/** Says why the votes reject a request: no votes do so at any time, and missing yes votes on the day of the decision. */
const rejectionWords = (since: Standing["since"]): Markdown =>
  since === null ? md`enough have voted no` : md`too few had voted yes by ${timestamp(since, "f")}`;

/** Describes a request's standing with a sign: its status, or its phase until it is closed. */
export function standingText(request: EndingParts, { phase, since }: Standing): Markdown {
  const { status, isGone } = request;
  switch (phase) {
    case "expired":
      return md`⌛ Expired, not closed yet: ${lackWords(request)} by ${timestamp(since, "f")}${lateVotes(request)}`;
    case "rejected":
      return md`❌ Rejected by the votes, not closed yet: ${rejectionWords(since)}`;
    case "ready":
      return md`✅ Enough yes votes: ready to close`;
    case "overdue":
      return md`⚠️ Overdue. ${overdueWords(since)}`;
    default:
      return isGone ? ENDED_UNKNOWN : statusText(status);
  }
}

/** Returns the votes in brackets, such as " (10 yes, 1 no)"; an empty text if a count is unknown. */
export const tallySuffix = ({ yes, no }: Pick<Tally, "yes" | "no">): Markdown =>
  yes === null || no === null ? md`` : md` (${grouped(yes)} yes, ${grouped(no)} no)`;

/** Explains a phase that its name does not explain. */
export function standingNote(request: EndingParts, { phase, since }: Standing): Markdown[] {
  switch (phase) {
    case "expired":
      return [
        md`It expired (${lackWords(request)} by ${timestamp(since, "f")}) and isn't closed yet${lateVotes(request)}.`,
      ];
    case "rejected":
      return [md`The votes reject it (${rejectionWords(since)}). It isn't closed yet.`];
    case "overdue":
      return [overdueWords(since)];
    default:
      return request.isGone ? [md`The explorer no longer lists it.`] : [];
  }
}

/** Describes an overdue request. @param since epoch ms */
export const overdueWords = (since: number | null): Markdown =>
  md`Enough yes votes, and due since ${timestamp(since, "f")}, but not carried out yet. Votes still count.`;

/** The colour of a request's message. */
export function standingTone({ status }: Pick<Standable, "status">, { phase }: Standing): Tone {
  if (phase === "expired" || phase === "overdue") return "warning";
  return phase === "rejected" ? "bad" : statusTone(status);
}

export const statusTone = (status: string | null): Tone => STATUS_LOOKS[statusGroup(status)][1];

/** Maximum number of votes that are drawn as one square each. */
const MAX_SQUARES = 20;
const SEGMENTS = 12;

/** Distributes segments over counts by the largest remainders. A count above zero gets at least one. */
function segmentsOf(counts: readonly number[]): number[] {
  const totalCount = counts.reduce((sum, count) => sum + count, 0);
  const exactSegments = counts.map((count) => (count / totalCount) * SEGMENTS);
  const segments = exactSegments.map((each) => (each === 0 ? 0 : Math.max(1, Math.floor(each))));
  const remainder = (index: number) => (exactSegments[index] ?? 0) - (segments[index] ?? 0);
  for (let left = SEGMENTS - segments.reduce((sum, each) => sum + each, 0); left !== 0; ) {
    const order = [...segments.keys()].sort((a, b) => remainder(b) - remainder(a));
    // The smallest remainder may be that of a count that has been raised to one.
    const index = (left > 0 ? order[0] : order.findLast((each) => (segments[each] ?? 0) > 1)) ?? 0;
    const step = Math.sign(left);
    segments[index] = (segments[index] ?? 0) + step;
    left -= step;
  }
  return segments;
}

/**
 * Draws votes as squares: yes, no, and missing. With at most twenty votes, each has its own square.
 * @param needed if each square is one vote, a line marks this number of votes
 */
export function tallyBar({ yes, no, pending }: Tally, needed: number | undefined): Markdown {
  if (yes === null && no === null) return md`tally unavailable`;
  if (yes === null || no === null || pending === null) return md`tally incomplete`;
  const counts = [yes, no, pending];
  const totalCount = counts.reduce((sum, count) => sum + count, 0);
  if (totalCount === 0) return md`no votes yet`;
  const isExact = totalCount <= MAX_SQUARES;
  const [y = 0, n = 0, rest = 0] = isExact ? counts : segmentsOf(counts);
  const squares = [..."🟩".repeat(y), ..."🟥".repeat(n), ..."⬛".repeat(rest)];
  if (isExact && needed !== undefined && needed < totalCount) squares.splice(needed, 0, "┃");
  return md`${squares.join("")}`;
}

/** Describes the tally in words. A count that the explorer does not give is not shown as zero. */
export function tallyWords(request: Standable, needed: number | undefined, now: number): Markdown {
  const tallyPart = (count: number | null, words: string) =>
    md`${bold(count === null ? "?" : grouped(count))} ${words}`;
  const pendingWords = mayStillVote(request, standingOf(request, needed, now))
    ? "not voted yet"
    : "did not vote";
  return join(
    [
      tallyPart(request.yes, "yes"),
      tallyPart(request.no, "no"),
      request.pending !== null &&
        tallyPart(request.pending, request.isGone ? "not voted when last seen" : pendingWords),
    ],
    " · ",
  );
}

/** Says if there are enough votes, or how many are needed. Returns false if votes no longer matter. */
function neededWords(request: Standable, needed: number | undefined, now: number): Markdown | false {
  if (!mayStillVote(request, standingOf(request, needed, now))) return false;
  if (needed === undefined) return md`-# the number of yes votes needed isn't known right now`;
  const side = decidedBy(request, needed);
  if (side === undefined) return md`-# about ${countedWords(needed, "yes vote")} needed`;
  const enoughWords = `enough ${side} votes (about ${needed} needed)`;
  const { targetEffectiveAt } = request;
  const isLater = side === "yes" && targetEffectiveAt !== null && now < targetEffectiveAt;
  return isLater ? md`-# ${enoughWords}; counted on the decision date` : md`-# ${enoughWords}`;
}

/** Returns the tally in words, which screen readers can read, and as squares. */
export const tallyLines = (
  request: Standable,
  needed: number | undefined,
  now: number,
): readonly Markdown[] =>
  present([tallyWords(request, needed, now), tallyBar(request, needed), neededWords(request, needed, now)]);

/** Maximum length of the list of missing voters, in characters. */
const MAX_MISSING = 700;

/** Returns the line about missing votes. @param missing null if they could not be determined */
export const missingLine = (
  missing: MissingVotes | null,
  { distinct }: Pick<Names, "distinct">,
): Markdown => {
  if (missing === null) return md`-# I couldn't read who hasn't voted yet.`;
  const { voters, unknown, isLately, uncounted } = missing;
  const uncountedLine =
    uncounted !== undefined &&
    md`-# ${uncounted === 1 ? "1 vote is from a former super validator" : `${uncounted} votes are from former super validators`}, and won't count.`;
  if (voters.length + unknown === 0) return join([md`Everyone has voted.`, uncountedLine], "\n");
  const has = unknown === 1 ? "1 that has" : `${unknown} that have`;
  const others = unknown > 0 ? [isLately ? `${has} not voted lately` : `${has} never voted before`] : [];
  const missingWords = cut([...voters.map(({ name }) => distinct(name)), ...others].join(", "), MAX_MISSING);
  return join([md`⬛ **Not voted yet:** ${missingWords}`, uncountedLine], "\n");
};

/** Returns a warning for a request that is open for less than two days. */
export function shortVote(request: Parameters<typeof shortWindow>[0]): Markdown[] {
  const window = shortWindow(request);
  return window === undefined ? [] : [md`⚠️ Short vote: ${windowWords(window)}`];
}

/** Says how a request changes the network's next upgrade, if its own title does not. */
export function upgradeNote(
  { action, createdAt }: Pick<VoteRequest, "action" | "createdAt">,
  title: string,
): Markdown[] {
  const summary = upgradeSummary(action.changes, createdAt)?.[0];
  return summary === undefined || title.includes(summary) ? [] : [md`🛠️ ${summary}`];
}

/** Formats the time to vote: "4 hours", "30 minutes", "1 h 30 min". */
function windowWords(ms: number): string {
  const minutes = Math.round(ms / MINUTE);
  if (minutes % 60 === 0 && minutes >= 120) return `${minutes / 60} hours`;
  return minutes < 90 ? countedWords(minutes, "minute") : spanWords(minutes * MINUTE);
}
