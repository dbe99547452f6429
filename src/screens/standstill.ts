import type { Rhythms } from "../ledger/network-rhythm.js";
import { lateAfter } from "../ledger/rhythm.js";
import { isStillOrSettling } from "../ledger/rounds.js";
import { roughly } from "../text/durations.js";
import { type Markdown, md, timestamp, timestampWithAge, utcDate } from "../text/markdown.js";
import { grouped } from "../text/numbers.js";
import { present } from "../util/present.js";
import { address } from "./addresses.js";
import type { Link, View } from "./view.js";

/** A time without new rounds. */
interface ShownStandstill {
  /** The newest round, and since when it is the newest (epoch ms). */
  readonly round: number;
  readonly since: number;
  readonly endedAt?: number;
  /** True if it may have ended before `endedAt`, because the rounds could not be read. */
  readonly isLate?: boolean | undefined;
  /** True if it ended because the rounds could no longer be read. */
  readonly isUnsure?: boolean;
  /** True if alerts stayed on hold for another reason when it ended. */
  readonly isStillHeld?: boolean;
}

const networkLink = (mark: string): Link => ({
  label: "Network",
  emoji: "🌐",
  to: address("network", {}),
  mark,
});

/** Formats the duration of a standstill. */
const spanOf = (since: number, endedAt: number, isLate: boolean | undefined): Markdown =>
  md`about ${roughly(endedAt - since)}${isLate ? md` or less` : md``}`;

/** Returns the message about a standstill of the network, as it is now. */
export function standstillView(
  { round, since, endedAt, isUnsure, isLate, isStillHeld }: ShownStandstill,
  mark: string,
): View {
  const common = { links: [networkLink(mark)] };
  if (endedAt === undefined)
    return {
      ...common,
      notification: md`🧊 The network stands still: no new round since ${utcDate(since)}`,
      tone: "bad",
      body: [
        md`Round ${grouped(round)} has been the newest since ${timestampWithAge(since)}, although the explorer is up to date. A new one is long overdue.`,
        md`Alerts about silent validators are on hold until the rounds advance again and validators have had time to report.`,
      ],
    };
  if (isUnsure)
    return {
      ...common,
      notification: isStillHeld
        ? md`⏸ I can't read the newest round any more; silence alerts stayed on hold`
        : md`▶️ Silence alerts are on again; I can't read the newest round`,
      body: [
        md`Round ${grouped(round)} was the newest from ${timestamp(since, "f")} until at least ${timestamp(endedAt, "f")}.`,
      ],
    };
  return {
    ...common,
    notification: md`🟢 The network stood still for ${spanOf(since, endedAt, isLate)}`,
    tone: "good",
    body: [
      isLate
        ? md`Round ${grouped(round)} was the newest from ${timestamp(since, "f")}. I didn't see the next one begin: the rounds had advanced by ${timestamp(endedAt, "f")}.`
        : md`No round began from ${timestamp(since, "f")} to ${timestamp(endedAt, "f")}.`,
    ],
  };
}

/** Returns the message that says that the rounds advance again. */
export const movingView = (
  { round, since, at, isLate }: Pick<ShownStandstill, "round" | "since" | "isLate"> & { readonly at: number },
  mark: string,
): View => ({
  notification: md`🟢 The network moves again, after ${spanOf(since, at, isLate)}`,
  tone: "good",
  body: present([
    isLate &&
      md`I didn't see the first one begin. The rounds may have advanced before ${timestamp(at, "f")}.`,
    md`Round ${grouped(round)} has begun. Alerts about silent validators resume once validators have had time to report.`,
  ]),
  links: [networkLink(mark)],
});

/**
 * Returns the line about a network that stands still, or moves again so recently that not every validator has had the time to report.
 * Missing reports then say nothing about the explorer or the validators, unless the newest one came after that.
 * @param behindSince time of the newest report if the explorer seems to be behind, epoch ms
 */
export async function standstillLine(
  rhythms: Rhythms,
  behindSince: number | null = null,
): Promise<Markdown | undefined> {
  const known = await rhythms.rounds();
  if (!known) return undefined;
  const { ms } = (await rhythms.intervals())(null);
  if (!isStillOrSettling(known, ms, Date.now())) return undefined;
  if (known.isStandingStill)
    return md`🧊 **The network stands still:** no new round since ${timestampWithAge(known.since)}. Validators can't report.`;
  const movedAt = known.movedAt ?? known.since;
  if (behindSince !== null && behindSince > movedAt) return undefined;
  return md`🟢 **The network moves again:** new rounds since ${timestamp(movedAt, "f")}. Validators have until ${timestamp(movedAt + lateAfter(ms), "f")} to report.`;
}
