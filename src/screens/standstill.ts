import { roughly } from "../text/durations.js";
import { md, timestamp, timestampWithAge } from "../text/markdown.js";
import { grouped } from "../text/numbers.js";
import { address } from "./addresses.js";
import type { Link, View } from "./view.js";

/** A time without new rounds. */
interface ShownStandstill {
  /** The newest round, and since when it is the newest (epoch ms). */
  readonly round: number;
  readonly since: number;
  readonly endedAt?: number;
  /** True if it ended because the rounds could no longer be read. */
  readonly isUnsure?: boolean;
}

const networkLink = (mark: string): Link => ({
  label: "Network",
  emoji: "🌐",
  to: address("network", {}),
  mark,
});

/** Returns the message about a standstill of the network, as it is now. */
export function standstillView({ round, since, endedAt, isUnsure }: ShownStandstill, mark: string): View {
  const common = { links: [networkLink(mark)] };
  if (endedAt === undefined)
    return {
      ...common,
      notification: md`🧊 The network stands still: no new round since ${new Date(since).toISOString().slice(11, 16)} UTC`,
      tone: "bad",
      body: [
        md`Round ${grouped(round)} has been the newest since ${timestampWithAge(since)}, although the explorer is up to date. A new one is long overdue.`,
        md`Alerts about silent validators are on hold until the rounds advance again.`,
      ],
    };
  if (isUnsure)
    return {
      ...common,
      notification: md`▶️ Silence alerts are on again; I can't read the newest round`,
      body: [
        md`Round ${grouped(round)} was the newest from ${timestamp(since, "f")} until at least ${timestamp(endedAt, "f")}.`,
      ],
    };
  return {
    ...common,
    notification: md`🟢 The network stood still for about ${roughly(endedAt - since)}`,
    tone: "good",
    body: [md`No round began from ${timestamp(since, "f")} to ${timestamp(endedAt, "f")}.`],
  };
}

/** Returns the message that says that the rounds advance again. */
export const movingView = (
  { round, since, at }: { readonly round: number; readonly since: number; readonly at: number },
  mark: string,
): View => ({
  notification: md`🟢 The network moves again, after about ${roughly(at - since)}`,
  tone: "good",
  body: [
    md`Round ${grouped(round)} has begun. Alerts about silent validators resume once validators have had time to report.`,
  ],
  links: [networkLink(mark)],
});
