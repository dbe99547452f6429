import type { Names } from "../directory/names.js";
import {
  DATE_NAMES,
  isVotable,
  PHASE_WORDS,
  type Standable,
  type Standing,
  shortWindow,
  standingOf,
  type VoteDate,
} from "../ledger/vote-phase.js";
import type { VoteRequest } from "../ledger/vote-requests.js";
import {
  decidedBy,
  isOver,
  type StatusGroup,
  statusGroup,
  type Tally,
  type VoteState,
  votableUntil,
} from "../ledger/vote-rules.js";
import type { Voter } from "../ledger/votes.js";
import { bold, grouped, join, type Markdown, md, timestamp, timestampWithAge } from "../text/markdown.js";
import { cut } from "../text/plain.js";
import { HOUR, MINUTE } from "../util/units.js";
import { brief } from "./parts.js";
import type { Field, Tone } from "./view.js";

const STATUS_LOOKS: Readonly<Record<StatusGroup, readonly [sign: Markdown, tone: Tone]>> = {
  open: [md`🗳️`, "neutral"],
  accepted: [md`✅`, "good"],
  implemented: [md`✅`, "good"],
  rejected: [md`❌`, "bad"],
  expired: [md`⌛`, "warning"],
  failed: [md`⚠️`, "warning"],
  other: [md`▫️`, "neutral"],
};

/** Plain words for the ledger's statuses. Other words are shown as they are. */
const PLAIN_WORDS: ReadonlyMap<string, string> = new Map([
  ["VRO_Accepted", "Accepted"],
  ["VRO_Rejected", "Rejected"],
  ["VRO_Expired", "Expired"],
  ["VRO_AcceptedButActionFailed", "Accepted, but the action failed"],
]);

/** A status by sign and word. */
export function statusText(status: string | null): Markdown {
  const [sign] = STATUS_LOOKS[statusGroup(status)];
  return md`${sign} ${brief(PLAIN_WORDS.get(status ?? "") ?? status ?? "status not known")}`;
}

/** Describes a request's standing with a sign: its status, or its phase until it is closed. */
export function standingText({ status }: Pick<Standable, "status">, { phase, since }: Standing): Markdown {
  switch (phase) {
    case "expired":
      return md`⌛ Expired, not closed yet: too few had voted by ${timestamp(since, "f")}`;
    case "rejected":
      return md`❌ Rejected by the votes, not closed yet`;
    case "ready":
      return md`✅ Enough yes votes: ready to close`;
    case "overdue":
      return md`⚠️ Overdue. ${overdueWords(since)}`;
    default:
      return statusText(status);
  }
}

/** Describes an overdue request. @param since epoch ms */
export const overdueWords = (since: number | null): Markdown =>
  md`Enough yes votes since ${timestamp(since, "f")}, not carried out yet. Votes still count.`;

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
    const index = (left > 0 ? order[0] : order.at(-1)) ?? 0;
    const step = Math.sign(left);
    segments[index] = (segments[index] ?? 0) + step;
    left -= step;
  }
  return segments;
}

/**
 * Draws votes as squares: yes, no, and missing. With at most twenty votes, each has its own square.
 * @param needed a mark follows this many squares if each is a vote
 */
export function tallyBar({ yes, no, pending }: Tally, needed: number | undefined): Markdown {
  if (yes === null && no === null) return md`the explorer gives no tally`;
  if (yes === null || no === null || pending === null) return md`the explorer gives no whole tally`;
  const counts = [yes, no, pending];
  const totalCount = counts.reduce((sum, count) => sum + count, 0);
  if (totalCount === 0) return md`no votes yet`;
  const isExact = totalCount <= MAX_SQUARES;
  const [y = 0, n = 0, rest = 0] = isExact ? counts : segmentsOf(counts);
  const squares = [..."🟩".repeat(y), ..."🟥".repeat(n), ..."⬛".repeat(rest)];
  if (isExact && needed !== undefined && needed < totalCount) squares.splice(needed, 0, "┃");
  return md`${squares.join("")}`;
}

/** The tally in words. A count that the explorer does not give is not a zero. */
export function tallyWords(request: Standable, needed: number | undefined, now: number): Markdown {
  const tallyPart = (count: number | null, words: string) =>
    md`${bold(count === null ? "?" : grouped(count))} ${words}`;
  const mayVote = isVotable(standingOf(request, needed, now));
  return join(
    [
      tallyPart(request.yes, "yes"),
      tallyPart(request.no, "no"),
      request.pending !== null && tallyPart(request.pending, mayVote ? "not voted yet" : "did not vote"),
    ],
    " · ",
  );
}

/** Describes if there are enough votes, or how many it takes; empty if votes no longer matter. */
function neededWords(request: Standable, needed: number | undefined, now: number): Markdown | false {
  if (!isVotable(standingOf(request, needed, now))) return false;
  if (needed === undefined) return md`-# how many yes are needed is not known right now`;
  const side = decidedBy(request, needed);
  if (side === undefined) return md`-# about ${needed} yes needed (estimate)`;
  const enoughWords = `enough ${side} votes are in (about ${needed} needed)`;
  const { targetEffectiveAt } = request;
  const isLater = side === "yes" && targetEffectiveAt !== null && now < targetEffectiveAt;
  return isLater ? md`-# ${enoughWords}; they count on the day of the decision` : md`-# ${enoughWords}`;
}

/** Returns the tally as squares and words. */
export const tallyLines = (
  request: Standable,
  needed: number | undefined,
  now: number,
): readonly Markdown[] => {
  const neededText = neededWords(request, needed, now);
  return [tallyBar(request, needed), tallyWords(request, needed, now), ...(neededText ? [neededText] : [])];
};

/** Characters that the names of those who have not voted have room for. */
const MAX_MISSING = 700;

/** Returns the line about missing votes; null if they are uncertain. */
export const missingLine = (
  missing: readonly Pick<Voter, "name">[] | null,
  { called }: Pick<Names, "called">,
): Markdown => {
  if (missing === null) return md`-# Who has not voted could not be read.`;
  if (missing.length === 0) return md`Everybody has voted.`;
  return md`⬛ **Not voted yet:** ${cut(missing.map(({ name }) => called(name)).join(", "), MAX_MISSING)}`;
};

/** A moment with how far off it is while it lies ahead, and as a date alone once it is past. */
const moment = (ms: number | null, now: number): Markdown =>
  ms !== null && ms <= now ? timestamp(ms, "f") : timestampWithAge(ms);

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The two dates of a request that the explorer does not call over (docs/ledger.md, "How a vote ends"). */
function openTimes({ voteBefore, targetEffectiveAt }: VoteState, now: number): Field[] {
  const quorum = { name: capitalized(DATE_NAMES.quorum), value: moment(voteBefore, now), inline: true };
  if (targetEffectiveAt === null)
    return [quorum, { name: "Takes effect", value: md`as soon as enough have voted yes`, inline: true }];
  return [
    quorum,
    { name: capitalized(DATE_NAMES.decision), value: moment(targetEffectiveAt, now), inline: true },
    {
      name: "How it is decided",
      value: md`Enough super validators must have voted, yes or no, by the first date, or the request expires. On the second date enough yes votes carry it. Votes count as long as the request is open. Enough no votes reject it at any time.`,
    },
  ];
}

/** Why a request that did not pass takes no effect. */
const NO_EFFECT: Partial<Record<StatusGroup, string>> = {
  rejected: "never: it was rejected",
  expired: "never: it expired",
  failed: "it was accepted, but could not be carried out",
};

/** When a vote that is over ended, epoch ms, if that follows from its dates: one that was decided by enough votes ended early. */
function endOf(state: VoteState, group: StatusGroup): number | null {
  if (group === "expired") return state.voteBefore;
  if (group === "accepted" || group === "implemented") return state.targetEffectiveAt;
  return group === "other" ? votableUntil(state) : null;
}

const ENOUGH: Partial<Record<StatusGroup, string>> = {
  accepted: "when enough had voted yes",
  implemented: "when enough had voted yes",
  failed: "when enough had voted yes",
  rejected: "when enough had voted no, or too few yes in the end",
};

/** When voting ended, and what came of it: of a request that is over. */
function endedTimes(state: VoteState, now: number): Field[] {
  const group = statusGroup(state.status);
  const { targetEffectiveAt } = state;
  const untilAt = endOf(state, group);
  const passed = group === "accepted" || group === "implemented";
  const isEarly = untilAt === null || now < untilAt;
  const latest = votableUntil(state);
  const early = join(
    [
      md`${ENOUGH[group] ?? "before its date"}`,
      latest !== null && latest <= now && md`by ${timestamp(latest, "f")} at the latest`,
    ],
    ", ",
  );
  const effect = passed
    ? targetEffectiveAt === null
      ? md`when enough had voted yes`
      : moment(targetEffectiveAt, now)
    : NO_EFFECT[group];
  return [
    { name: "Voting ended", value: isEarly ? early : moment(untilAt, now), inline: true },
    ...(effect === undefined
      ? []
      : [
          {
            name:
              targetEffectiveAt !== null && passed && targetEffectiveAt <= now
                ? "Took effect"
                : "Takes effect",
            value: md`${effect}`,
            inline: true,
          },
        ]),
  ];
}

/** When a vote ends or ended, and when it takes effect. */
export const timeFields = (request: VoteState, now: number): Field[] =>
  isOver(request, now) ? endedTimes(request, now) : openTimes(request, now);

/** Returns the next date or the phase, for a line of a list. */
export function untilWords(request: Standable, needed: number | undefined, now: number): Markdown {
  const { phase, next } = standingOf(request, needed, now);
  if (phase === "ended") {
    const untilAt = endOf(request, statusGroup(request.status));
    return untilAt !== null && untilAt <= now
      ? md`voting ended ${timestamp(untilAt, "f")}`
      : md`voting has ended`;
  }
  const phaseWords = PHASE_WORDS[phase];
  if (phaseWords !== undefined) return md`${phaseWords}`;
  return next ? dateWords(next) : md`no date ahead`;
}

/** A date with its name: "quorum by 3 March 2026 12:00". */
export const dateWords = ({ name, at }: VoteDate): Markdown => md`${name} ${timestamp(at, "f")}`;

/** Marks a request that is open for less than two days. */
export function shortVote(request: Parameters<typeof shortWindow>[0]): Markdown[] {
  const window = shortWindow(request);
  return window === undefined ? [] : [md`⚠️ Short vote: ${windowWords(window)}`];
}

/** A time to vote in words: "4 hours", "30 minutes". */
function windowWords(ms: number): string {
  const hours = Math.round(ms / HOUR);
  return ms < 90 * MINUTE ? `${Math.round(ms / MINUTE)} minutes` : `${hours} hours`;
}

/** Returns the fields of a request's standing: tally and dates. */
export const voteFields = (request: VoteRequest, needed: number | undefined, now: number): Field[] => [
  { name: "Votes", value: join(tallyLines(request, needed, now), "\n") },
  ...(request.createdAt === null
    ? []
    : [{ name: "Opened", value: timestamp(request.createdAt, "f"), inline: true }]),
  ...timeFields(request, now),
];
