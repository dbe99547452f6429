import type { Names } from "../directory/names.js";
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

/** The ledger's own words for an end, put for people; every other word stands as the API gives it. */
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

export const statusTone = (status: string | null): Tone => STATUS_LOOKS[statusGroup(status)][1];

/** Up to so many votes have a square each; more share a bar. */
const MAX_SQUARES = 20;
const SEGMENTS = 12;

/** Counts as so many segments in all, by the largest remainders; none that is not zero gets none. */
function segmentsOf(counts: readonly number[]): number[] {
  const all = counts.reduce((sum, count) => sum + count, 0);
  const exact = counts.map((count) => (count / all) * SEGMENTS);
  const segments = exact.map((each) => (each === 0 ? 0 : Math.max(1, Math.floor(each))));
  const remainder = (index: number) => (exact[index] ?? 0) - (segments[index] ?? 0);
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
 * Votes as squares: yes, no, and those who have not voted yet; a square for each vote where there are at most twenty.
 * @param needed a mark stands after so many squares, where each is a vote
 */
export function tallyBar({ yes, no, pending }: Tally, needed: number | undefined): Markdown {
  if (yes === null && no === null) return md`the explorer gives no tally`;
  const counts = [yes ?? 0, no ?? 0, pending ?? 0];
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0)
    return md`${yes === null || no === null ? "the explorer gives no whole tally" : "no votes yet"}`;
  const isExact = all <= MAX_SQUARES;
  const [y = 0, n = 0, rest = 0] = isExact ? counts : segmentsOf(counts);
  const squares = [..."🟩".repeat(y), ..."🟥".repeat(n), ..."⬛".repeat(rest)];
  if (isExact && needed !== undefined && needed < all) squares.splice(needed, 0, "┃");
  return md`${squares.join("")}`;
}

/** The tally in words. A count that the explorer does not give is not a zero. */
export function tallyWords(request: Tally & VoteState, now: number): Markdown {
  const part = (count: number | null, words: string) =>
    md`${bold(count === null ? "?" : grouped(count))} ${words}`;
  return join(
    [
      part(request.yes, "yes"),
      part(request.no, "no"),
      request.pending !== null &&
        part(request.pending, isOver(request, now) ? "did not vote" : "not voted yet"),
    ],
    " · ",
  );
}

/** Whether enough have voted, or how many it takes: nothing of a vote that is over. */
function neededWords(request: Tally & VoteState, needed: number | undefined, now: number): Markdown | false {
  if (isOver(request, now)) return false;
  if (needed === undefined) return md`-# how many yes are needed is not known right now`;
  const side = decidedBy(request, needed);
  if (side === undefined) return md`-# about ${needed} yes needed (estimate)`;
  const words = `enough ${side} votes are in (about ${needed} needed)`;
  const isLater = side === "yes" && request.targetEffectiveAt !== null;
  return isLater ? md`-# ${words}; yes counts at the effective date` : md`-# ${words}`;
}

/** How a vote stands: as squares, in words, and whether that is enough. */
export const tallyLines = (
  request: Tally & VoteState,
  needed: number | undefined,
  now: number,
): readonly Markdown[] => {
  const words = neededWords(request, needed, now);
  return [tallyBar(request, needed), tallyWords(request, now), ...(words ? [words] : [])];
};

/** Characters that the names of those who have not voted have room for. */
const MAX_MISSING = 700;

/** Who has not voted on an open request; null where that could not be read for sure. */
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

/** When the votes of an open request count (docs/ledger.md, "How it ends"). */
function openTimes({ voteBefore, targetEffectiveAt }: VoteState, now: number): Field[] {
  if (targetEffectiveAt === null) {
    return [
      { name: "Voting ends", value: moment(voteBefore, now), inline: true },
      { name: "Takes effect", value: md`as soon as enough vote yes`, inline: true },
    ];
  }
  return [
    { name: "Enough must have voted by", value: moment(voteBefore, now), inline: true },
    {
      name: "Voting ends, and the request takes effect",
      value: moment(targetEffectiveAt, now),
      inline: true,
    },
    {
      name: "How it is decided",
      value: md`Enough super validators must have voted, yes or no, by the first date. The yes votes are counted at the second date; votes can be changed until then. Enough no votes reject it at any time.`,
    },
  ];
}

/** Why a request that did not pass takes no effect. */
const NO_EFFECT: Partial<Record<StatusGroup, string>> = {
  rejected: "never: it was rejected",
  expired: "never: it expired",
  failed: "it was accepted, but could not be carried out",
};

/** When a vote that is over ended, epoch ms, where that follows from its dates: one that was decided by enough votes ended early. */
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
  const until = endOf(state, group);
  const passed = group === "accepted" || group === "implemented";
  const isEarly = until === null || now < until;
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
    { name: "Voting ended", value: isEarly ? early : moment(until, now), inline: true },
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

/** Until when a request can be voted on, or that it is over, for a line of a list. */
export function untilWords(request: VoteState, now: number): Markdown {
  if (!isOver(request, now)) return md`voting ends ${timestamp(votableUntil(request), "f")}`;
  const until = endOf(request, statusGroup(request.status));
  return until !== null && until <= now ? md`voting ended ${timestamp(until, "f")}` : md`voting has ended`;
}

/** Everything that is said of how a request stands: its tally, and its dates. */
export const voteFields = (request: VoteRequest, needed: number | undefined, now: number): Field[] => [
  { name: "Votes", value: join(tallyLines(request, needed, now), "\n") },
  ...(request.createdAt === null
    ? []
    : [{ name: "Opened", value: timestamp(request.createdAt, "f"), inline: true }]),
  ...timeFields(request, now),
];
