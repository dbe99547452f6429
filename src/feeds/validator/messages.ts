import { SNOOZES, snoozes } from "../../delivery/snoozes.js";
import type { Activity, Interval } from "../../ledger/network-rhythm.js";
import { address, buttonAddress } from "../../screens/addresses.js";
import { activity as activityWords, rhythmWords, version } from "../../screens/parts.js";
import type { Field, Link, Menu, View } from "../../screens/view.js";
import { roughly, spanWords } from "../../text/durations.js";
import {
  countedWords,
  join,
  type Markdown,
  md,
  timestamp,
  timestampWithAge,
  userMention,
} from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import { acknowledgeButton, snoozeButton } from "./buttons.js";
import { type Alert, type AlertResponse, isSnoozed } from "./collections.js";
import { MANY, type ValidatorEvent } from "./events.js";

type ShownSilence = Extract<Alert, { kind: "silent" }>;
type ManySilent = Extract<Alert, { kind: "many" }>;
type ShownHold = Extract<Alert, { kind: "hold" }>;

/** Content of messages about a validator. */
export interface Known {
  /** Returns a party's name. */
  readonly called: (party: string) => string;
  readonly activity: Activity | undefined;
  /** The validator's reporting interval; `undefined` if the message is about several. */
  readonly interval: Interval | undefined;
  readonly response: AlertResponse | undefined;
  readonly now: number;
}

/** Names of a channel's own that a message lists. */
const MAX_NAMED = 20;

const details = (id: string, mark?: string): Link => ({
  label: "Details",
  emoji: "🖥️",
  to: address("validator", { id }),
  ...(mark === undefined ? {} : { mark }),
});

const listLink = (mark: string): Link => ({
  label: "All validators",
  emoji: "📋",
  to: address("overview", {}),
  mark,
});

/** The message that a button is on: the alert's own, or news about it. */
type Where = "card" | "news";

const takeOn = (id: string, since: number, on: Where = "card"): Link => ({
  label: "I'm on it",
  emoji: "🙋",
  to: buttonAddress(acknowledgeButton, { id, since, on }),
});

const snoozeMenu = (id: string, since: number, on: Where = "card"): Menu => ({
  placeholder: "Snooze…",
  choices: [...snoozes, "back" as const].map((span) => ({
    label: span === "back" ? "until it is back" : SNOOZES[span].words,
    emoji: "💤",
    to: buttonAddress(snoozeButton, { id, since, for: span, on }),
  })),
});

/** Returns the lines about who took the alert and until when it is snoozed. */
function responseLines({ response, now }: Known, isOver = false): Markdown[] {
  const { acknowledged, snoozed } = response ?? {};
  const who = (by: string | null) => (by === null ? md`Somebody` : userMention(by));
  const sinceWords = acknowledged && timestamp(acknowledged.at, "f");
  return [
    ...(acknowledged
      ? [
          isOver
            ? md`🙋 ${who(acknowledged.by)} was on it, from ${sinceWords}.`
            : md`🙋 ${who(acknowledged.by)} is on it, since ${sinceWords}.`,
        ]
      : []),
    ...(snoozed && !isOver && isSnoozed(response, now)
      ? [
          md`💤 Snoozed by ${who(snoozed.by)} until ${snoozed.until === null ? md`it is back` : timestamp(snoozed.until, "f")}.`,
        ]
      : []),
  ];
}

/** Returns the other fields of a validator, with their age. */
function fieldsOf({ activity, interval }: Known): Field[] {
  if (!activity) return [];
  return [
    { name: "Explorer says", value: activityWords(activity.active), inline: true },
    { name: "Version", value: version(activity.version), inline: true },
    ...(interval ? [{ name: "Rhythm", value: rhythmWords(interval), inline: true }] : []),
    { name: "Data from", value: timestamp(activity.readAt), inline: true },
  ];
}

/** Returns the current content of a silence's message. */
export function silenceView(alert: ShownSilence, known: Known, mark: string): View {
  const { validator, since, endedAt, after } = alert;
  const name = cut(known.called(validator), 100);
  const isBack = endedAt !== undefined && !alert.isGone;
  return {
    title: isBack
      ? md`🟢 Back: ${name}`
      : alert.isGone
        ? md`⚪ No longer listed: ${name}`
        : md`🔴 Silent: ${name}`,
    tone: isBack ? "good" : alert.isGone ? "neutral" : "bad",
    // The notification text is never edited, so it uses words that stay true.
    notification: md`${name} went silent: last seen ${timestamp(since, "f")}`,
    body: [
      endedAt === undefined
        ? md`Last seen ${timestampWithAge(since)}, which is more than ${spanWords(after)} ago.`
        : isBack
          ? md`Was silent for ${roughly(endedAt - since)}: from ${timestamp(since, "f")} to ${timestamp(endedAt, "f")}.`
          : md`Last seen ${timestampWithAge(since)}.`,
      ...responseLines(known, endedAt !== undefined),
    ],
    fields: fieldsOf(known),
    menus: endedAt === undefined ? [snoozeMenu(validator, since)] : [],
    links: [...(endedAt === undefined ? [takeOn(validator, since)] : []), details(validator, mark)],
    explorerPage: { kind: "validator", id: validator },
    readings: [],
  };
}

/** Returns the title of a group that is over. Members that the explorer no longer lists have not come back. */
function overTitle(back: number, gone: number): Markdown {
  if (back + gone === 0) return md`⚪ No longer watched`;
  if (gone === 0) return md`🟢 Back: all of yours`;
  return back === 0
    ? md`⚪ No longer listed: all of yours`
    : md`🟢 Over: ${back} back, ${gone} no longer listed`;
}

/** Many that went silent together, with what became of the channel's own. */
export function manyView(alert: ManySilent, known: Known, mark: string): View {
  const { since, silent, total, members, endedAt, toldAt } = alert;
  const { called } = known;
  const nameOf = (party: string) => cut(called(party), 60);
  const names = members.slice(0, MAX_NAMED).map(({ validator }) => nameOf(validator));
  const moreCount = members.length - names.length;
  const whatHappened = md`${silent} of ${total} validators went silent at about ${timestamp(since, "t")}: probably the network or the explorer.`;
  const ownNames =
    members.length === 0
      ? md``
      : moreCount > 0
        ? md`Of yours: ${names.join(", ")} and ${moreCount} more.`
        : md`Of yours: ${names.join(", ")}.`;
  const gone = members.filter(({ isGone }) => isGone).length;
  const back = members.filter(({ backAt }) => backAt !== undefined).length - gone;
  return {
    title: endedAt === undefined ? md`🔴 ${silent} validators went silent` : overTitle(back, gone),
    tone: endedAt === undefined ? "bad" : back > 0 ? "good" : "neutral",
    notification: md`${whatHappened} ${ownNames}`,
    body: [
      whatHappened,
      md``,
      ...members.slice(0, MAX_NAMED).map(({ validator, backAt, isGone }) => {
        if (backAt === undefined) return md`🔴 ${nameOf(validator)}`;
        return isGone
          ? md`⚪ ${nameOf(validator)}, no longer listed since ${timestamp(backAt, "f")}`
          : md`🟢 ${nameOf(validator)}, back ${timestamp(backAt)}`;
      }),
      ...(moreCount > 0 ? [md`…and ${moreCount} more`] : []),
      ...(members.length === 0
        ? []
        : [
            md`-# ${back} of ${countedWords(members.length, "validator")} of yours back${gone > 0 ? `, ${gone} no longer listed` : ""}`,
          ]),
      ...responseLines(known, endedAt !== undefined),
    ],
    menus: [
      ...(endedAt === undefined ? [snoozeMenu(MANY, toldAt)] : []),
      {
        placeholder: "Open a validator…",
        choices: members.map(({ validator }) => ({
          label: nameOf(validator),
          to: address("validator", { id: validator }),
        })),
      },
    ],
    links: [...(endedAt === undefined ? [takeOn(MANY, toldAt)] : []), listLink(mark)],
    readings: [],
  };
}

/** The network's validators report in another rhythm than before: alerts wait until it is known. */
function rhythmView(
  { newestAt, since, endedAt }: ShownHold,
  { beforeMs, nowMs }: NonNullable<ShownHold["rhythm"]>,
  mark: string,
): View {
  const links = [listLink(mark)];
  const beforeWords = `about every ${roughly(beforeMs)}`;
  if (endedAt === undefined || nowMs === undefined)
    return {
      title: md`⏸ Validators have changed their rhythm`,
      tone: "warning",
      notification: md`⏸ No validator has reported since ${timestamp(newestAt, "f")}, while the ledger moves on; alerts wait.`,
      body: [
        md`No validator of the network has reported since ${timestampWithAge(newestAt)}, although the ledger moves on. Before, they reported ${beforeWords}.`,
        md`Nobody is called silent until it's known how often they report now.`,
      ],
      links,
      readings: [],
    };
  const isSame = Math.abs(nowMs - beforeMs) <= beforeMs / 4;
  return {
    title: isSame ? md`▶️ Validators report again` : md`▶️ Validators now report about every ${roughly(nowMs)}`,
    tone: "good",
    body: [
      isSame
        ? md`They report ${beforeWords}, as before.`
        : md`Before ${timestamp(since, "f")} they reported ${beforeWords}. Alerts use the new interval.`,
    ],
    links,
    readings: [],
  };
}

/** Alerts are on hold, since the explorer itself is behind or the network's rhythm has changed. */
export function holdView(hold: ShownHold, mark: string): View {
  const { newestAt, since, endedAt, rhythm } = hold;
  if (rhythm) return rhythmView(hold, rhythm, mark);
  return endedAt === undefined
    ? {
        title: md`⏸ Alerts are on hold`,
        tone: "warning",
        notification: md`⏸ The explorer's newest data is ${roughly(since - newestAt)} old; alerts are on hold.`,
        body: [
          md`The explorer's newest data is from ${timestampWithAge(newestAt)}. Until it is newer, no validator is called silent: nobody could tell.`,
        ],
        links: [listLink(mark)],
        readings: [],
      }
    : {
        title: md`▶️ Alerts are on again`,
        tone: "good",
        body: [
          md`They were on hold from ${timestamp(since, "f")} to ${timestamp(endedAt, "f")}: the explorer had no new data.`,
        ],
        links: [listLink(mark)],
        readings: [],
      };
}

/** Returns the members that are still silent. @param since when the alert was sent, epoch ms */
function stillSilent(members: readonly string[], since: number, { called }: Known): Markdown {
  const names = members.slice(0, MAX_NAMED).map((party) => cut(called(party), 60));
  const moreWords = members.length > names.length ? ` and ${members.length - names.length} more` : "";
  return md`Of those that went silent together, told ${timestampWithAge(since)}: ${`${names.join(", ")}${moreWords}`}.`;
}

/** Returns news with a message of its own, which is never edited. */
export function newsView(
  event: Exclude<ValidatorEvent, { kind: "silent" | "many" | "hold" }>,
  known: Known,
  mark: string,
): View {
  const members = "members" in event ? event.members : undefined;
  const name = members ? `${members.length} of yours` : cut(known.called(event.validator), 100);
  const silentFor = (since: number) =>
    md`It has been silent for ${roughly(known.now - since)}: last seen ${timestampWithAge(since)}.`;
  const news = (title: Markdown, tone: View["tone"], body: readonly Markdown[]): View => ({
    title,
    tone,
    notification: title,
    body,
    links: [details(event.validator, mark)],
    readings: [],
  });
  switch (event.kind) {
    case "worse":
    case "again":
      return {
        ...news(md`🔴 Still silent: ${name}`, "bad", [
          members ? stillSilent(members, event.since, known) : silentFor(event.since),
          ...responseLines(known),
        ]),
        menus: [snoozeMenu(event.validator, event.since, "news")],
        links: [
          takeOn(event.validator, event.since, "news"),
          members ? listLink(mark) : details(event.validator, mark),
        ],
      };
    case "back":
      return news(md`🟢 Back: ${name}`, "good", [
        md`Seen again ${timestampWithAge(event.at)}, after ${roughly(event.at - event.since)}.`,
      ]);
    case "gone":
      return news(md`⚪ No longer listed: ${name}`, "neutral", [
        md`The explorer no longer lists it: it said so twice, half an hour apart. Nothing more is told of it.`,
      ]);
    case "version":
      return news(md`⚠️ Old version: ${name}`, "warning", [
        join(
          [
            md`It runs ${version(event.running)}, and most run ${version(event.target)}.`,
            md`It has been behind for a day.`,
          ],
          " ",
        ),
      ]);
    case "traffic":
      return news(md`⚠️ Little traffic left: ${name}`, "warning", [
        md`Less than ${event.percent} % of the traffic that it bought is left. Without any, it can submit nothing.`,
      ]);
  }
}
