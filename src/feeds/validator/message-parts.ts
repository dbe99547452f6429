import { SNOOZE_SPANS, SNOOZES, type Snooze } from "../../delivery/snoozes.js";
import type { Activity, Interval } from "../../ledger/network-rhythm.js";
import { address, buttonAddress } from "../../screens/addresses.js";
import { activity as activityWords, rhythmWords, version } from "../../screens/parts.js";
import type { Link, Menu } from "../../screens/view.js";
import { spanWords } from "../../text/durations.js";
import { join, type Markdown, md, timestamp, userMention } from "../../text/markdown.js";
import { cut, namesAndMore } from "../../text/plain.js";
import { present } from "../../util/present.js";
import { MINUTE } from "../../util/units.js";
import { acknowledgeButton, handBackButton, snoozeButton } from "./buttons.js";
import { type AlertResponse, isSnoozed } from "./collections.js";

/** Data for messages about a validator. */
export interface Known {
  /** Returns a party's name in at most `most` UTF-16 units. Parties with the same name are told apart. */
  readonly called: (party: string, most: number) => string;
  readonly activity: Activity | undefined;
  /** The validator's reporting interval. `undefined` if the message is about several. */
  readonly interval: Interval | undefined;
  readonly response: AlertResponse | undefined;
  /** Contact links that the validator publishes. */
  readonly contact?: Markdown | undefined;
  readonly now: number;
}

/** Maximum number of names in a message. */
export const MAX_NAMED = 20;
/** Maximum number of names in a notification. */
export const MAX_IN_NEWS = 3;

/** Returns a link to a validator's screen. */
export const detailsLink = (id: string, mark: string): Link => ({
  label: "Details",
  emoji: "🖥️",
  to: address("validator", { id }),
  mark,
});

/** Returns a link to the overview of validators. */
export const listLink = (mark: string): Link => ({
  label: "All validators",
  emoji: "📋",
  to: address("overview", {}),
  mark,
});

/** Returns the menu that opens one of several validators. */
export const validatorMenu = (parties: readonly string[], { called }: Known): Menu => ({
  placeholder: "Open a validator…",
  choices: parties.map((id) => ({ label: called(id, 60), to: address("validator", { id }) })),
});

/** The message that contains a button: the alert itself, or a message about it. */
type Where = "card" | "news";

/** Returns the button that takes an alert, or gives it back if it has been taken. */
export function acknowledgeLink({ response }: Known, id: string, since: number, on: Where = "card"): Link {
  const taken = response?.acknowledged;
  const button = taken ? handBackButton : acknowledgeButton;
  const label = taken ? `${cut(taken.name ?? "Somebody", 60)} has it` : "I'm on it";
  return { label, emoji: "🙋", to: buttonAddress(button, { id, since, on }) };
}

/** Returns the menu that snoozes an alert, or ends its snooze. @param isSnoozedNow true to offer its end */
export function snoozeMenu(id: string, since: number, isSnoozedNow: boolean, on: Where = "card"): Menu {
  const to = (span: Snooze | "back" | "off") => buttonAddress(snoozeButton, { id, since, for: span, on });
  return {
    placeholder: "Snooze…",
    choices: present([
      isSnoozedNow && { label: "End the snooze", emoji: "🔔", to: to("off") },
      ...SNOOZE_SPANS.map((span) => ({ label: SNOOZES[span].words, emoji: "💤", to: to(span) })),
      { label: "until it's back", emoji: "💤", to: to("back") },
    ]),
  };
}

/** Returns lines with the person who took the alert and the end of the snooze. */
export function responseLines({ response, now }: Known, isOver = false): Markdown[] {
  const { acknowledged, snoozed } = response ?? {};
  const personWords = (by: string | null) => (by === null ? md`Somebody` : userMention(by));
  const sinceWords = acknowledged && timestamp(acknowledged.at, "f");
  return present([
    acknowledged &&
      (isOver
        ? md`🙋 ${personWords(acknowledged.by)} was on it from ${sinceWords}.`
        : md`🙋 ${personWords(acknowledged.by)} has been on it since ${sinceWords}.`),
    snoozed && !isOver && isSnoozed(response, now)
      ? md`💤 Snoozed by ${personWords(snoozed.by)} until ${snoozed.until === null ? md`it's back` : timestamp(snoozed.until, "f")}.`
      : undefined,
  ]);
}

/**
 * Returns further lines about a validator: its reporting interval, its version and its contact links.
 * @param isGone true if the explorer no longer lists it. What it called it before is out of date
 */
export function factLines({ activity, interval, contact }: Known, isGone = false): Markdown[] {
  const contactLines = contact ? [contact] : [];
  if (!activity) return contactLines;
  const says = activity.active === null || isGone ? undefined : activityWords(activity.active);
  return [
    join(
      [
        md`Version ${version(activity.version)}`,
        interval && rhythmWords(interval),
        says && md`the explorer calls it ${says}`,
      ],
      " · ",
    ),
    ...contactLines,
  ];
}

/** Formats a duration, rounded down to minutes so that it is never overstated. */
export const silentWords = (ms: number): string => spanWords(Math.floor(ms / MINUTE) * MINUTE);

/** Returns the names of the first members, and the number of the others. */
export function namesOf(members: readonly string[], most: number, { called }: Known): string {
  const names = members.slice(0, most).map((party) => called(party, 60));
  return namesAndMore(names, members.length);
}
