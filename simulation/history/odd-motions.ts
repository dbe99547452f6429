import type { Random } from "../../sandbox/explorer/random.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import { type DrawnVote, type Motion, NEEDED } from "./motions.js";
import type { Span } from "./windows.js";

/** Kinds of unusual vote requests. */
const KINDS = [
  /** The explorer lists it hours after it has opened. */
  "late",
  /** The explorer drops it before its end, so that its outcome stays unknown. */
  "gone",
  /** It has no title, and its action is only in the contract's payload. */
  "untitled",
  /** The explorer counts no votes on it, and lists none after its end. */
  "uncounted",
  /** Enough vote yes, and then one of them no. The explorer does not say how many have not voted. */
  "wavering",
  /** It opens and ends while no process runs. */
  "brief",
  /** One of several that the explorer lists at the same moment, hours after they opened. */
  "crowd",
] as const;
type Kind = (typeof KINDS)[number];

/** True if a vote request can be judged like any other: the explorer lists it with its title all the time. */
export const isPlain = ({ kind }: OddMotion): boolean => kind === "uncounted" || kind === "wavering";

/** A vote request about which the explorer or the voters do something unusual. */
export interface OddMotion extends Motion {
  readonly kind: Kind;
  /** Time from which the explorer lists it, and from which it no longer does. */
  readonly listedAt: number;
  readonly goneAt: number | null;
}

/** Times between the odd motions of one kind. */
const EVERY_DAYS = 5;
/** Number of motions in a crowd, more than are announced one by one. */
const CROWD = 8;
/** Time for which no process runs, in ms. */
export const ABSENCE_MS = 4 * HOUR;

/** Opening, deadlines and end of each kind, in hours since the first of a series. */
const TIMES: Readonly<
  Record<
    Kind,
    Readonly<Record<"at" | "listed" | "quorum" | "closes", number>> & { readonly decision: number | null }
  >
> = {
  late: { at: 20, listed: 25.5, quorum: 80, decision: null, closes: 52 },
  gone: { at: 26, listed: 26, quorum: 36, decision: 40, closes: 90 },
  wavering: { at: 28, listed: 28, quorum: 75, decision: 88, closes: 88 },
  untitled: { at: 73, listed: 73, quorum: 100, decision: null, closes: 100 },
  uncounted: { at: 33, listed: 33, quorum: 70, decision: 84, closes: 66 },
  crowd: { at: 92, listed: 97, quorum: 150, decision: null, closes: 98.2 },
  brief: { at: 80, listed: 80, quorum: 120, decision: null, closes: 81.5 },
};
/** Start of the absence in hours since the first of a series. */
const ABSENT_FROM = 79.5;

/** Draws the votes of a kind. The first voter votes with the request. */
function votesOf(kind: Kind, at: number): readonly DrawnVote[] {
  const yes = (count: number, everyMs: number) =>
    Array.from({ length: count }, (_, index) => ({ at: at + (index + 1) * everyMs, accept: true }));
  switch (kind) {
    case "gone":
      return yes(2, HOUR);
    case "uncounted":
      return yes(3, 2 * HOUR);
    case "wavering": {
      const enough = yes(NEEDED - 1, HOUR);
      const last = enough.at(-1)?.at ?? at;
      return [...enough, { at: last + 5 * HOUR, accept: false, isChange: true }];
    }
    default:
      return [];
  }
}

/** Returns the starts of the series of odd motions. */
const seriesIn = ({ startAt, days }: Span): readonly number[] =>
  Array.from(
    { length: Math.floor((days - 1) / EVERY_DAYS) },
    (_, index) => startAt + index * EVERY_DAYS * DAY,
  );

/** Draws the odd vote requests of a history: all kinds in each series. */
export function drawOddMotions(random: Random, span: Span, seed: number): readonly OddMotion[] {
  return seriesIn(span).flatMap((from, series) =>
    KINDS.flatMap((kind): readonly OddMotion[] => {
      const jitter = kind === "brief" ? 0 : random.int(0, 40 * MINUTE);
      const { at, listed, quorum, decision, closes } = TIMES[kind];
      const time = (hours: number) => from + hours * HOUR + jitter;
      const votes = votesOf(kind, time(at));
      const changed = votes.findIndex(({ isChange }) => isChange);
      const drawn = {
        kind,
        at: time(at),
        listedAt: time(listed),
        goneAt: kind === "gone" ? time(at + 4) : null,
        voteBefore: time(quorum),
        effectiveAt: decision === null ? null : time(decision),
        votes,
        closesAt: time(closes),
        status: kind === "gone" || kind === "wavering" || kind === "untitled" ? null : ("Rejected" as const),
        ...(changed < 0
          ? { decidedAt: {} }
          : { decidedAt: { yes: votes[changed - 1]?.at ?? 0 }, undecidedAt: votes[changed]?.at ?? 0 }),
        isStuck: false,
        isWatched: kind === "gone",
      };
      return Array.from({ length: kind === "crowd" ? CROWD : 1 }, (_, index) => ({
        ...drawn,
        title: `Motion ${kind} ${series + 1}.${index + 1} of ${seed}`,
      }));
    }),
  );
}

/** Returns the times from which no process runs. */
export const absencesIn = (span: Span): readonly number[] =>
  seriesIn(span).map((from) => from + ABSENT_FROM * HOUR);
