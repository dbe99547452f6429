import type { Random } from "../../sandbox/explorer/random.js";
import { DAY, HOUR, MINUTE } from "../../src/util/units.js";
import type { Span } from "./windows.js";

/** Number of super validators of the ledger, and of votes needed for a decision (docs/ledger.md). */
export const SUPER_VALIDATORS = 9;
export const NEEDED = 6;

/** A vote on a motion. Voters are in the ledger's order. */
export interface DrawnVote {
  readonly at: number;
  readonly accept: boolean;
  /** True if the last voter changes its vote. */
  readonly isChange?: boolean;
}

/** A vote request, from its opening to its end. */
export interface Motion {
  readonly title: string;
  readonly at: number;
  readonly voteBefore: number;
  readonly effectiveAt: number | null;
  readonly votes: readonly DrawnVote[];
  /** Time when a vote was changed, so that one side no longer had enough. */
  readonly undecidedAt?: number;
  /** Time and status of its end. A null status follows the ledger's rules. */
  readonly closesAt: number;
  readonly status: "Accepted" | "Rejected" | null;
  /** Time when one side had enough votes. `undefined` if that did not happen. */
  readonly decidedAt: Readonly<Partial<Record<"yes" | "no", number>>>;
  /** True if it was accepted, but is not carried out on its dates. */
  readonly isStuck: boolean;
  /** True if the person watches it in private. */
  readonly isWatched: boolean;
  /** If it is about the network's upgrade: the time that it sets, or null if it removes the upgrade. */
  readonly upgradeAt?: number | null;
}

/** True if a motion ends accepted. A null status follows the ledger's rules. */
export const isAccepted = (motion: Motion): boolean => {
  const { status, decidedAt, undecidedAt, effectiveAt, closesAt, voteBefore } = motion;
  return (
    status === "Accepted" ||
    // It takes effect with the last vote that was needed.
    (status === null && effectiveAt === null && closesAt < voteBefore) ||
    (status === null &&
      undecidedAt === undefined &&
      decidedAt.yes !== undefined &&
      (effectiveAt === null || closesAt >= effectiveAt))
  );
};

/** Makes some of the motions votes on the network's upgrade: half of those that will be accepted. */
export function withUpgrades(random: Random, motions: readonly Motion[]): Motion[] {
  return motions.map((motion) => {
    if (!isAccepted(motion) || motion.isStuck || motion.isWatched || random.chance(0.5)) return motion;
    const from = Math.max(motion.closesAt, motion.effectiveAt ?? 0);
    const upgradeAt = Math.ceil((from + random.int(HOUR, 4 * DAY)) / HOUR) * HOUR;
    return { ...motion, upgradeAt: random.chance(0.2) ? null : upgradeAt };
  });
}

function drawMotion(random: Random, title: string, at: number): Motion {
  const isShort = random.chance(0.2);
  const voteBefore = at + (isShort ? 4 * HOUR : random.int(20 * HOUR, 100 * HOUR));
  const effectiveAt = random.chance(0.7) && !isShort ? voteBefore + random.int(12 * HOUR, 36 * HOUR) : null;
  const ends = effectiveAt ?? voteBefore;
  const bias = random.pick([0.15, 0.6, 0.95]);
  const drawn = Array.from({ length: random.int(0, SUPER_VALIDATORS - 1) }, () => ({
    at: at + random.int(MINUTE, ends - at - HOUR / 2),
    accept: random.chance(bias),
  })).sort((a, b) => a.at - b.at);
  const drawnEnd = random.chance(0.5) ? random.int(at + HOUR, ends) : ends;
  // The requester's own Yes is cast with the request.
  const nth = (accept: boolean, count: number) =>
    drawn.filter((vote) => vote.accept === accept)[count - 1]?.at;
  const sixthYes = nth(true, NEEDED - 1);
  // The requester's own vote is cast with the request.
  const hasExpired = effectiveAt !== null && 1 + drawn.filter((vote) => vote.at < voteBefore).length < NEEDED;
  /** True if votes at this time count. Votes after a request has expired do not. */
  const counts = (moment: number | undefined): moment is number =>
    moment !== undefined && moment < closesAt && !(hasExpired && moment >= voteBefore);
  const isStuck =
    !hasExpired && !isShort && sixthYes !== undefined && effectiveAt !== null && random.chance(0.4);
  const isEnacted = effectiveAt === null && sixthYes !== undefined && sixthYes < drawnEnd;
  const enactedOrDrawn = isEnacted ? sixthYes : drawnEnd;
  const closesAt = isStuck ? ends + random.int(2 * HOUR, 9 * HOUR) : enactedOrDrawn;
  const sixthNo = nth(false, NEEDED);
  return {
    title,
    at,
    voteBefore,
    effectiveAt,
    votes: drawn.filter((vote) => vote.at <= closesAt),
    closesAt,
    isStuck,
    status: isEnacted || closesAt === ends ? null : random.pick(["Accepted", "Rejected"] as const),
    decidedAt: {
      ...(counts(sixthYes) ? { yes: sixthYes } : {}),
      ...(counts(sixthNo) ? { no: sixthNo } : {}),
    },
    isWatched: random.chance(0.4),
  };
}

/** Draws the vote requests of a history. */
export function drawMotions(random: Random, { startAt, days }: Span, seed: number): Motion[] {
  const motions: Motion[] = [];
  const endAt = startAt + days * DAY;
  for (let at = startAt + 7 * HOUR; at < endAt - 2 * DAY; at += random.int(6 * HOUR, 36 * HOUR))
    motions.push(drawMotion(random, `Motion ${motions.length + 1} of ${seed}`, at));
  return motions;
}
