import { SNOOZES, snoozes } from "../../delivery/snoozes.js";
import { address } from "../../screens/addresses.js";
import { activity as activityWords, version } from "../../screens/parts.js";
import type { Field, Link, Menu, View } from "../../screens/view.js";
import type { Activity, Alert, Response } from "../../storage/catalogue.js";
import { formatDuration, roughly } from "../../text/durations.js";
import {
  counted,
  join,
  type Markdown,
  md,
  timestamp,
  timestampWithAge,
  userMention,
} from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import { isSnoozed, rhythmOf } from "./alerts.js";
import { MANY, type ValidatorEvent } from "./events.js";

type Silent = Extract<Alert, { kind: "silent" }>;
type ManySilent = Extract<Alert, { kind: "many" }>;
type Hold = Extract<Alert, { kind: "hold" }>;

/** What messages about one validator are made of. */
export interface Known {
  /** What parties are called. */
  readonly called: (party: string) => string;
  readonly activity: Activity | undefined;
  readonly response: Response | undefined;
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

/** Whether a button stands on an alert's own message, or on news of it. */
type Where = "card" | "news";

const takeOn = (id: string, since: number, on: Where = "card"): Link => ({
  label: "I'm on it",
  emoji: "🙋",
  to: address("acknowledge", { id, since, on }),
});

const snoozeMenu = (id: string, since: number, on: Where = "card"): Menu => ({
  placeholder: "Snooze…",
  choices: [...snoozes, "back" as const].map((span) => ({
    label: span === "back" ? "until it is back" : SNOOZES[span].words,
    emoji: "💤",
    to: address("snooze", { id, since, for: span, on }),
  })),
});

/** Who is on it, and until when it is quiet; of an alert that is over, who was on it. */
function responseLines({ response, now }: Known, isOver = false): Markdown[] {
  const { acknowledged, snoozed } = response ?? {};
  const who = (by: string | null) => (by === null ? md`Somebody` : userMention(by));
  const since = acknowledged && timestamp(acknowledged.at, "f");
  return [
    ...(acknowledged
      ? [
          isOver
            ? md`🙋 ${who(acknowledged.by)} was on it, from ${since}.`
            : md`🙋 ${who(acknowledged.by)} is on it, since ${since}.`,
        ]
      : []),
    ...(snoozed && !isOver && isSnoozed(response, now)
      ? [
          md`💤 Snoozed by ${who(snoozed.by)} until ${snoozed.until === null ? md`it is back` : timestamp(snoozed.until, "f")}.`,
        ]
      : []),
  ];
}

/** What is known of a validator beside its silence, and how old that is. */
function fieldsOf({ activity }: Known): Field[] {
  if (!activity) return [];
  const rhythm = rhythmOf(activity);
  return [
    { name: "Explorer says", value: activityWords(activity.active), inline: true },
    { name: "Version", value: version(activity.version), inline: true },
    ...(rhythm === undefined
      ? []
      : [{ name: "Rhythm", value: md`usually reports every ${roughly(rhythm)}`, inline: true }]),
    { name: "Data from", value: timestamp(activity.readAt), inline: true },
  ];
}

/** The one message of a silence, as it stands now. */
export function silenceView(alert: Silent, known: Known, mark: string): View {
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
    // True for as long as it stands there: it is never edited.
    notification: md`${name} went silent: last seen ${timestamp(since, "f")}`,
    body: [
      endedAt === undefined
        ? md`Last seen ${timestampWithAge(since)}, which is more than ${formatDuration(after)} ago.`
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

/** Many that went silent together, with what became of the channel's own. */
export function manyView(alert: ManySilent, known: Known, mark: string): View {
  const { since, silent, total, members, endedAt, toldAt } = alert;
  const { called } = known;
  const nameOf = (party: string) => cut(called(party), 60);
  const names = members.slice(0, MAX_NAMED).map(({ validator }) => nameOf(validator));
  const more = members.length - names.length;
  const what = md`${silent} of ${total} validators went silent at about ${timestamp(since, "t")}: probably the network or the explorer.`;
  const own =
    more > 0 ? md`Of yours: ${names.join(", ")} and ${more} more.` : md`Of yours: ${names.join(", ")}.`;
  const back = members.filter(({ backAt }) => backAt !== undefined).length;
  return {
    title: endedAt === undefined ? md`🔴 ${silent} validators went silent` : md`🟢 Back: all of yours`,
    tone: endedAt === undefined ? "bad" : "good",
    notification: md`${what} ${own}`,
    body: [
      what,
      md``,
      ...members
        .slice(0, MAX_NAMED)
        .map(({ validator, backAt }) =>
          backAt === undefined
            ? md`🔴 ${nameOf(validator)}`
            : md`🟢 ${nameOf(validator)}, back ${timestamp(backAt)}`,
        ),
      ...(more > 0 ? [md`…and ${more} more`] : []),
      md`-# ${back} of ${counted(members.length, "validator")} of yours back`,
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

/** That nobody is called silent, since the explorer itself is behind. */
export function holdView({ newestAt, since, endedAt }: Hold, mark: string): View {
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

/** Which of many are silent still. @param since when they were told of, epoch ms */
function stillSilent(members: readonly string[], since: number, { called }: Known): Markdown {
  const names = members.slice(0, MAX_NAMED).map((party) => cut(called(party), 60));
  const more = members.length > names.length ? ` and ${members.length - names.length} more` : "";
  return md`Of those that went silent together, told ${timestampWithAge(since)}: ${`${names.join(", ")}${more}`}.`;
}

/** News that has a message of its own, and is never edited. */
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
