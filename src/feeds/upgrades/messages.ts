import { pauseWords } from "../../ledger/upgrades.js";
import { address } from "../../screens/addresses.js";
import { movingView } from "../../screens/standstill.js";
import type { Link, Tone, View } from "../../screens/view.js";
import { spanWords } from "../../text/durations.js";
import { type Markdown, md, timestamp, timestampWithAge, utcDate, utcDay } from "../../text/markdown.js";
import { grouped } from "../../text/numbers.js";
import { present } from "../../util/present.js";
import { MINUTE } from "../../util/units.js";
import type { Upgrade } from "./collections.js";
import { timeOfStep, type UpgradeEvent, type UpgradeTimes } from "./events.js";

/** The part of an upgrade that messages about its schedule need. */
export type ShownUpgrade = UpgradeTimes & Partial<Upgrade>;

const linksTo = (mark: string, decidedBy?: string): Link[] =>
  present([
    { label: "Versions", emoji: "📊", to: address("versions", {}), mark },
    decidedBy !== undefined && {
      label: "The vote",
      emoji: "🗳️",
      to: address("voteRequest", { id: decidedBy }),
    },
  ]);

/** Returns the lines with the times of an upgrade. */
export function timeLines({ upgradeAt, freezeAt }: ShownUpgrade, now: number): Markdown[] {
  if (now >= upgradeAt) return [md`🛠️ Transactions were due to pause on ${timestampWithAge(upgradeAt)}.`];
  return present([
    md`🛠️ Transactions pause on ${timestampWithAge(upgradeAt)}, for seconds to minutes.`,
    freezeAt !== null && md`🧊 No new parties or packages from ${timestampWithAge(freezeAt)} until then.`,
  ]);
}

const ADVICE = md`Validators that don't run a compatible version by then can't send or receive transactions afterwards.`;
const NO_CLAIM = md`-# The rounds don't show whether the upgrade took place.`;

interface CardState {
  readonly notification: Markdown;
  readonly tone?: Tone;
  readonly lines: readonly Markdown[];
  /** True if it matters how ready the network is. */
  readonly isAhead: boolean;
}

function cardState(upgrade: ShownUpgrade, now: number): CardState {
  const { upgradeAt, movedFrom, isCancelled, endedAt } = upgrade;
  if (isCancelled)
    return {
      notification: md`⚪ Network upgrade of ${utcDay(upgradeAt)} cancelled`,
      lines: [md`It was scheduled for ${timestamp(upgradeAt, "f")}.`],
      isAhead: false,
    };
  if (endedAt !== undefined || now >= upgradeAt)
    return {
      notification: md`🛠️ Network upgrade of ${utcDay(upgradeAt)}: the scheduled time has passed`,
      lines: present([...timeLines(upgrade, now), endedAt !== undefined && NO_CLAIM]),
      isAhead: false,
    };
  // A vote may have moved only the freeze before it.
  const movedLine =
    movedFrom === undefined || movedFrom === upgradeAt
      ? []
      : [md`-# Moved. It was scheduled for ${timestamp(movedFrom, "f")}.`];
  return {
    notification: md`🛠️ Network upgrade scheduled: ${pauseWords(upgradeAt)}`,
    tone: "warning",
    lines: [...timeLines(upgrade, now), ...movedLine, ADVICE],
    isAhead: true,
  };
}

/**
 * Returns an upgrade's message as it is now.
 * @param readiness lines that say how ready the network is
 */
export function upgradeView(
  upgrade: ShownUpgrade,
  readiness: readonly Markdown[],
  mark: string,
  now: number,
): View {
  const { notification, tone, lines, isAhead } = cardState(upgrade, now);
  return {
    notification,
    tone,
    body: isAhead ? [...lines, ...readiness] : lines,
    links: linksTo(mark, upgrade.decidedBy),
  };
}

/** Formats the time until a moment, to five minutes: "1 day", "55 min". */
const untilWords = (at: number, now: number): string =>
  spanWords(Math.max(5 * MINUTE, Math.round((at - now) / (5 * MINUTE)) * 5 * MINUTE));

/** An event that is no beginning of a message. */
type NewsEvent = Exclude<UpgradeEvent, { kind: "scheduled" | "still" }>;
/** An event about the schedule, and not about the rounds. */
type ScheduleEvent = Extract<NewsEvent, { upgradeAt: number }>;

/** Time after which "about now" is no longer true, in ms. */
const PASSED_MS = 20 * MINUTE;

/** Returns the news of an event about the schedule in one line. */
function scheduleNews(event: ScheduleEvent, now: number): Markdown {
  const { upgradeAt, freezeAt } = event;
  switch (event.kind) {
    case "moved":
      return event.movedFrom === upgradeAt
        ? md`🛠️ Network upgrade: the freeze before it has changed, and ${pauseWords(upgradeAt)}`
        : md`🛠️ Network upgrade moved: ${pauseWords(upgradeAt)}, not on ${utcDate(event.movedFrom)}`;
    case "cancelled":
      return md`⚪ Network upgrade of ${utcDay(upgradeAt)} cancelled`;
    case "advancing":
      return event.isLate
        ? md`🟢 Rounds are advancing after the scheduled network upgrade`
        : md`🟢 Rounds are advancing again after the scheduled network upgrade`;
    case "reminder": {
      if (event.step === "upgrade")
        return now - upgradeAt < PASSED_MS
          ? md`🛠️ Network upgrade: transactions pause about now`
          : md`🛠️ The time of the network upgrade has passed: ${utcDate(upgradeAt)}`;
      const inWords = untilWords(timeOfStep(event.step, event), now);
      return freezeAt === null
        ? md`⏳ Network upgrade: transactions pause in ${inWords}`
        : md`⏳ Network upgrade: freeze in ${inWords} (no new parties or packages); ${pauseWords(upgradeAt)}`;
    }
  }
}

const SCHEDULE_TONES = {
  moved: "warning",
  reminder: "warning",
  cancelled: "neutral",
  advancing: "good",
} as const satisfies Readonly<Record<ScheduleEvent["kind"], Tone>>;

/** Says that a vote may have changed the schedule, because the vote requests could not be read for a while. */
const unreadLines = (event: ScheduleEvent): Markdown[] =>
  event.kind === "reminder" && event.readAt !== undefined
    ? [
        md`⚠️ I haven't been able to read the vote requests since ${timestamp(event.readAt, "f")}. The upgrade may have been moved or cancelled, and the versions may be old.`,
      ]
    : [];

/** Returns the details of an event about the schedule. */
function scheduleLines(
  event: ScheduleEvent,
  readiness: readonly Markdown[],
  now: number,
): readonly Markdown[] {
  if (event.kind === "cancelled") return [md`It was scheduled for ${timestamp(event.upgradeAt, "f")}.`];
  if (event.kind === "advancing") return [md`The newest round is ${grouped(event.round)}.`, NO_CLAIM];
  if (event.kind === "reminder" && event.step === "upgrade")
    return [
      md`Scheduled for ${timestamp(event.upgradeAt, "f")}. You'll be told when the rounds advance again.`,
      ...unreadLines(event),
      ...readiness,
    ];
  return [...timeLines(event, now), ADVICE, ...unreadLines(event), ...readiness];
}

/** Returns a message that is not edited later. */
export function newsView(event: NewsEvent, readiness: readonly Markdown[], mark: string, now: number): View {
  if (event.kind === "moving") return movingView(event, mark);
  return {
    notification: scheduleNews(event, now),
    tone: SCHEDULE_TONES[event.kind],
    body: scheduleLines(event, readiness, now),
    links: linksTo(mark),
  };
}
