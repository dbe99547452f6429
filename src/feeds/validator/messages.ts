import { SNOOZE_SPANS, SNOOZES, type Snooze } from "../../delivery/snoozes.js";
import type { Activity, Interval } from "../../ledger/network-rhythm.js";
import { address, buttonAddress } from "../../screens/addresses.js";
import { activity as activityWords, rhythmWords, version } from "../../screens/parts.js";
import { standstillView } from "../../screens/standstill.js";
import type { Link, Menu, View } from "../../screens/view.js";
import { roughly, spanWords } from "../../text/durations.js";
import {
  code,
  join,
  type Markdown,
  md,
  timestamp,
  timestampWithAge,
  userMention,
  utcDate,
  utcTime,
} from "../../text/markdown.js";
import { bytes, countedWords } from "../../text/numbers.js";
import { cut, namesAndMore } from "../../text/plain.js";
import { present } from "../../util/present.js";
import { HOUR, MINUTE } from "../../util/units.js";
import { acknowledgeButton, handBackButton, snoozeButton } from "./buttons.js";
import {
  type AlertResponse,
  type GroupAlert,
  type HoldAlert,
  heldMs,
  isSnoozed,
  type SilentAlert,
} from "./collections.js";
import { MANY, type ValidatorEvent } from "./events.js";

/** When a silence began and ended, as far as that is known. */
interface SilenceTimes extends Pick<SilentAlert, "since" | "endedAt" | "isGone"> {
  readonly isBackEarlier?: boolean | undefined;
}

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
const MAX_NAMED = 20;
/** Names in a notification. */
const MAX_IN_NEWS = 3;

const details = (id: string, mark: string): Link => ({
  label: "Details",
  emoji: "🖥️",
  to: address("validator", { id }),
  mark,
});

const listLink = (mark: string): Link => ({
  label: "All validators",
  emoji: "📋",
  to: address("overview", {}),
  mark,
});

/** The message that contains a button: the alert itself, or a message about it. */
type Where = "card" | "news";

/** Returns the button that takes an alert, or gives it back if it has been taken. */
function acknowledgeLink({ response }: Known, id: string, since: number, on: Where = "card"): Link {
  const taken = response?.acknowledged;
  const button = taken ? handBackButton : acknowledgeButton;
  const label = taken ? `${cut(taken.name ?? "Somebody", 60)} has it` : "I'm on it";
  return { label, emoji: "🙋", to: buttonAddress(button, { id, since, on }) };
}

/** Returns the menu that snoozes an alert, or ends its snooze. @param isSnoozedNow true to offer its end */
function snoozeMenu(id: string, since: number, isSnoozedNow: boolean, on: Where = "card"): Menu {
  const to = (span: Snooze | "back" | "off") => buttonAddress(snoozeButton, { id, since, for: span, on });
  return {
    placeholder: "Snooze…",
    choices: [
      ...(isSnoozedNow ? [{ label: "End the snooze", emoji: "🔔", to: to("off") }] : []),
      ...SNOOZE_SPANS.map((span) => ({ label: SNOOZES[span].words, emoji: "💤", to: to(span) })),
      { label: "until it's back", emoji: "💤", to: to("back") },
    ],
  };
}

/** Returns lines with the person who took the alert and the end of the snooze. */
function responseLines({ response, now }: Known, isOver = false): Markdown[] {
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
function factLines({ activity, interval, contact }: Known, isGone = false): Markdown[] {
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
const silentWords = (ms: number): string => spanWords(Math.floor(ms / MINUTE) * MINUTE);

/** Said of a validator whose first report may have been missed. */
const MAYBE_EARLIER = md`It may have been back earlier, because I didn't see all of its reports.`;

/** Returns the news of a silence in one line. */
function silenceNews(
  { since, endedAt, isGone, isBackEarlier }: SilenceTimes,
  name: string,
  now: number,
): Markdown {
  if (isGone) return md`⚪ No longer listed: ${name}`;
  if (endedAt !== undefined)
    return isBackEarlier ? md`🟢 Back: ${name}` : md`🟢 Back: ${name}, after ${spanWords(endedAt - since)}`;
  return md`🔴 ${name}: no report for ${silentWords(now - since)}`;
}

/** Returns the current content of a silence's message. */
export function silenceView(alert: SilentAlert, known: Known, mark: string): View {
  const { validator, since, endedAt } = alert;
  const name = known.called(validator, 100);
  const isBack = endedAt !== undefined && !alert.isGone;
  const openTone = alert.isGone ? "neutral" : "bad";
  return {
    notification: silenceNews(alert, name, known.now),
    tone: isBack ? "good" : openTone,
    body: [
      isBack
        ? join(
            [
              md`Was silent from ${timestamp(since, "f")} to ${timestamp(endedAt, "f")}.`,
              alert.isBackEarlier && MAYBE_EARLIER,
            ],
            " ",
          )
        : md`Last report ${timestampWithAge(since)}`,
      ...factLines(known, alert.isGone),
      ...responseLines(known, endedAt !== undefined),
    ],
    menus: endedAt === undefined ? [snoozeMenu(validator, since, isSnoozed(known.response, known.now))] : [],
    links: present([
      endedAt === undefined && acknowledgeLink(known, validator, since),
      // The explorer has no details of a validator that it no longer lists.
      alert.isGone ? listLink(mark) : details(validator, mark),
    ]),
    explorerPage: { kind: "validator", id: validator },
  };
}

/** Returns the news of a group that is over. Members that the explorer no longer lists have not come back. */
function overNews(back: number, gone: number): Markdown {
  if (back + gone === 0) return md`⚪ No longer watched`;
  if (gone === 0) return md`🟢 Back: all of yours`;
  return back === 0
    ? md`⚪ No longer listed: all of yours`
    : md`🟢 Over: ${back} back, ${gone} no longer listed`;
}

/** Returns the message about a group of silent validators, with the state of those that the channel watches. */
export function manyView(alert: GroupAlert, known: Known, mark: string): View {
  const { since, silent, total, members, endedAt, toldAt } = alert;
  const { called } = known;
  const nameOf = (party: string) => called(party, 60);
  const moreCount = Math.max(0, members.length - MAX_NAMED);
  const parties = members.map(({ validator }) => validator);
  const withOwn = (before: Markdown, after = md``) =>
    members.length === 0 ? md`` : md`${before}${namesOf(parties, MAX_NAMED, known)}${after}`;
  const isOver = endedAt !== undefined;
  const goneCount = members.filter(({ isGone }) => isGone).length;
  const backCount = members.filter(({ backAt }) => backAt !== undefined).length - goneCount;
  const overTone = backCount > 0 ? "good" : "neutral";
  return {
    notification: isOver
      ? md`${overNews(backCount, goneCount)}${withOwn(md` (`, md`)`)}`
      : md`🔴 ${silent} of ${total} validators went silent at about ${utcTime(since)}${withOwn(md`, including yours: `)}`,
    tone: isOver ? overTone : "bad",
    body: present([
      isOver
        ? md`${silent} of ${total} validators went silent at about ${timestamp(since, "f")}.`
        : md`With this many at once, it's probably the network or the explorer. It began at about ${timestamp(since, "f")}.`,
      md``,
      ...members.slice(0, MAX_NAMED).map(({ validator, backAt, isGone }) => {
        if (backAt === undefined) return md`🔴 ${nameOf(validator)}`;
        return isGone
          ? md`⚪ ${nameOf(validator)}, no longer listed since ${timestamp(backAt, "f")}`
          : md`🟢 ${nameOf(validator)}, back ${timestamp(backAt)}`;
      }),
      moreCount > 0 && md`…and ${moreCount} more`,
      members.length > 1 &&
        md`-# ${backCount} of your ${countedWords(members.length, "validator")} back${goneCount > 0 ? md`, ${goneCount} no longer listed` : md``}`,
      ...responseLines(known, endedAt !== undefined),
    ]),
    menus: present([
      endedAt === undefined && snoozeMenu(MANY, toldAt, isSnoozed(known.response, known.now)),
      {
        placeholder: "Open a validator…",
        choices: parties.map((id) => ({ label: nameOf(id), to: address("validator", { id }) })),
      },
    ]),
    links: present([endedAt === undefined && acknowledgeLink(known, MANY, toldAt), listLink(mark)]),
  };
}

/** Said when a hold ends while alerts stay on hold. The message is not edited later. */
const STAYED_WORDS = md`Another message says why alerts stayed on hold.`;

/** Returns the message about a changed rhythm of the network. Alerts are held until the new one is known. */
function rhythmView(
  { newestAt, since, endedAt, isStillHeld }: HoldAlert,
  { beforeMs, nowMs }: NonNullable<HoldAlert["rhythm"]>,
  mark: string,
): View {
  const links = [listLink(mark)];
  const beforeWords = `about every ${roughly(beforeMs)}`;
  // If the network slows down, one validator after another, some still report.
  const isPartial = since - newestAt < beforeMs;
  if (endedAt === undefined || nowMs === undefined)
    return {
      notification: isPartial
        ? md`⏸ Most validators now report less often than ${beforeWords}; silence alerts are on hold`
        : md`⏸ No validator has reported since ${utcDate(newestAt)}, though the ledger is moving; silence alerts are on hold`,
      tone: "warning",
      body: [
        isPartial
          ? md`You won't get silence alerts until I know how often they report now.`
          : md`They reported ${beforeWords} before, and that may have changed. You won't get silence alerts until I know how often they report now. The newest report is from ${timestampWithAge(newestAt)}.`,
      ],
      links,
    };
  const isSame = Math.abs(nowMs - beforeMs) <= beforeMs / 4;
  const pauseWords = isPartial
    ? md`Most validators had missed reports at ${timestamp(since, "f")}.`
    : md`No validator had reported since ${timestamp(newestAt, "f")}.`;
  const againWords = isStillHeld ? STAYED_WORDS : md`Alerts are on again.`;
  return {
    notification: isSame
      ? md`▶️ Validators report again, ${beforeWords} as before`
      : md`▶️ Validators now report about every ${roughly(nowMs)}`,
    tone: "good",
    body: [
      isSame
        ? md`${pauseWords} ${againWords}`
        : md`Before ${timestamp(since, "f")} they reported ${beforeWords}. Alerts use the new interval.`,
    ],
    links,
  };
}

/**
 * Returns the message about held alerts: the explorer is behind, the network stands still, or its rhythm has changed.
 * @param now time of the message or of its edit, epoch ms. The explorer's data may advance and still be behind
 */
export function holdView(hold: HoldAlert, mark: string, now: number): View {
  const { standstill, rhythm } = hold;
  if (standstill) return standstillView({ ...hold, ...standstill }, mark);
  return rhythm ? rhythmView(hold, rhythm, mark) : behindView(hold, mark, now);
}

/** Returns the message about an explorer that is behind. */
function behindView(hold: HoldAlert, mark: string, now: number): View {
  const { newestAt, since, endedAt, resumedAt, isStillHeld } = hold;
  const links = [listLink(mark)];
  if (endedAt === undefined)
    return {
      notification: md`⏸ The explorer's newest data is ${roughly(now - newestAt)} old; silence alerts are on hold`,
      tone: "warning",
      body: [
        md`It's from ${timestampWithAge(newestAt)}: the explorer is behind, or the network stands still. Until newer data arrives, I can't tell if a validator is silent.`,
      ],
      links,
    };
  const heldWords = spanWords(heldMs(hold, endedAt));
  const breakWords = resumedAt === undefined ? md`` : md`, with a break`;
  const span = md`from ${timestamp(since, "f")} to ${timestamp(endedAt, "f")}${breakWords}`;
  if (isStillHeld)
    return {
      notification: md`⏸ The explorer had new data again after ${heldWords}; silence alerts stayed on hold`,
      tone: "warning",
      body: [md`It had no recent data ${span}.`, STAYED_WORDS],
      links,
    };
  return {
    notification: md`▶️ Silence alerts are on again after ${heldWords} on hold`,
    tone: "good",
    body: [md`They were on hold ${span}, because the explorer had no recent data.`],
    links,
  };
}

/** Names some members, and says how many others there are. */
function namesOf(members: readonly string[], most: number, { called }: Known): string {
  const names = members.slice(0, most).map((party) => called(party, 60));
  return namesAndMore(names, members.length);
}

/** Returns a separate message about an event, which is never edited. */
export function newsView(
  event: Exclude<ValidatorEvent, { kind: "silent" | "many" | "hold" | "moving" }>,
  known: Known,
  mark: string,
): View {
  const members = "members" in event ? event.members : undefined;
  const name = known.called(event.validator, 100);
  const news = (
    notification: Markdown,
    tone: View["tone"],
    body: readonly Markdown[],
    link = details(event.validator, mark),
  ): View => ({ notification, tone, body, links: [link] });
  switch (event.kind) {
    case "worse":
    case "again": {
      const { validator, since } = event;
      const headline = members
        ? md`🔴 Still silent: ${namesOf(members, MAX_IN_NEWS, known)}`
        : md`🔴 Still silent: ${name}, no report for ${silentWords(known.now - since)}`;
      // The headline has the first names already.
      const isCut = members !== undefined && members.length > MAX_IN_NEWS;
      const allNames = isCut ? md`: ${namesOf(members, MAX_NAMED, known)}` : md``;
      const detailLines = members
        ? [md`From the group alert of ${timestampWithAge(since)}${allNames}.`]
        : [md`Last report ${timestampWithAge(since)}`, ...factLines(known)];
      const screenLink = members ? listLink(mark) : details(validator, mark);
      return {
        ...news(headline, "bad", [...detailLines, ...responseLines(known)]),
        menus: [snoozeMenu(validator, since, false, "news")],
        links: [acknowledgeLink(known, validator, since, "news"), screenLink],
      };
    }
    case "back":
      return news(silenceNews({ ...event, endedAt: event.at }, name, event.at), "good", [
        join(
          [
            md`Seen again ${timestampWithAge(event.at)}. It had been silent since ${timestamp(event.since, "f")}.`,
            event.isBackEarlier && MAYBE_EARLIER,
          ],
          " ",
        ),
      ]);
    case "joined":
      return news(md`🔴 Also silent: ${name}`, "bad", [
        md`It's part of the group alert of ${timestampWithAge(event.since)}.`,
      ]);
    case "gone":
      return news(
        md`⚪ No longer listed: ${name}`,
        "neutral",
        [
          md`The explorer hasn't listed it for at least half an hour. You'll get no alerts about it until it's listed again.`,
        ],
        listLink(mark),
      );
    case "listed":
      return news(md`🟢 Listed again: ${name}`, "good", [
        md`The explorer hadn't listed it for a while. You'll get alerts about it again.`,
      ]);
    case "version":
      return news(
        md`⚠️ Old version: ${name} runs ${event.running ?? "an unknown version"}, and most run ${event.target}`,
        "warning",
        [md`It's been behind for a day. Its operator should update it.`],
      );
    case "upgrade":
      return news(
        md`⚠️ Network upgrade in ${spanWords(Math.max(HOUR, Math.round((event.upgradeAt - known.now) / HOUR) * HOUR))}: ${name} still runs ${event.running}`,
        "warning",
        [
          md`Transactions pause on ${timestampWithAge(event.upgradeAt)}. A validator without a compatible version can't send or receive any afterwards.`,
          md`-# Compared with ${code(event.target, 40)}, the newest version in common use. The vote doesn't say which version is needed.`,
        ],
      );
    case "traffic": {
      const { percent, used, bought } = event;
      const bytesLeft = String(Math.max(0, Number(bought) - Number(used)));
      const isAmountKnown = used !== undefined && bought !== undefined;
      const amounts = isAmountKnown ? md` (${bytes(bytesLeft)} of ${bytes(bought)})` : md``;
      return news(md`⚠️ Low traffic: ${name} has less than ${percent}% left${amounts}`, "warning", [
        md`Once it's used up, only the small free allowance remains. Its operator can buy more.`,
      ]);
    }
  }
}
