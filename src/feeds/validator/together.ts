import type { View } from "../../screens/view.js";
import { type Markdown, md, timestamp } from "../../text/markdown.js";
import { cut } from "../../text/plain.js";
import { addTo } from "../../util/groups.js";
import { present } from "../../util/present.js";
import type { ValidatorEvent } from "./events.js";
import { type Known, listLink, MAX_IN_NEWS, MAX_NAMED, namesOf, validatorMenu } from "./message-parts.js";
import { rescheduledWords, upgradeIn, upgradeLines } from "./messages.js";

/** Minimum number of validators about which the same news is one message. */
const LEAST_TOGETHER = 5;

/** News that a poll may find about many validators at the same time, and that is not part of an alert. */
const SHAREABLE = ["gone", "listed", "version", "upgrade", "rescheduled"] as const;
type ShareableEvent = Extract<ValidatorEvent, { kind: (typeof SHAREABLE)[number] }>;

/** The same news about several validators. */
type SharedEvent = ShareableEvent & { readonly members: readonly string[] };

const isShareable = (event: ValidatorEvent): event is ShareableEvent =>
  SHAREABLE.some((kind) => kind === event.kind);

/** True if an event is about several validators and belongs to no alert. */
export const isShared = (event: ValidatorEvent): event is SharedEvent =>
  isShareable(event) && event.members !== undefined;

/** Returns what news about several validators must have in common to be the same. */
function newsKey(event: ShareableEvent): string {
  const { channelId, kind } = event;
  switch (event.kind) {
    case "gone":
      // An alert that somebody has taken must not ping because of another one.
      return JSON.stringify([channelId, kind, event.isCalm === true]);
    case "version":
      return JSON.stringify([channelId, kind, event.target]);
    case "upgrade":
      return JSON.stringify([channelId, kind, event.upgradeAt, event.days, event.movedFrom, event.target]);
    case "rescheduled":
      return JSON.stringify([channelId, kind, event.warnedOf, event.decidedAt]);
    default:
      return JSON.stringify([channelId, kind]);
  }
}

/** True if a channel watches a validator as one of all super validators. */
type IsOfAll = (channelId: string, validator: string) => boolean;

/** Returns the versions that validators run, each once. */
const runningIn = (events: readonly ShareableEvent[]): string =>
  [...new Set(events.map((event) => ("running" in event && event.running) || "an unknown version"))].join(
    ", ",
  );

/** Returns one event for the same news about several validators. Earlier versions take it for news about the first one. */
function merged(first: ShareableEvent, all: readonly ShareableEvent[], isOfAll: IsOfAll, now: number) {
  const members = all.map(({ validator }) => validator);
  const sharedFields = {
    members,
    toldAt: now,
    isOfAll: members.some((party) => isOfAll(first.channelId, party)),
  };
  return "running" in first
    ? { ...first, ...sharedFields, running: runningIn(all) }
    : { ...first, ...sharedFields };
}

/** Returns the events of a poll, with one for the same news about `LEAST_TOGETHER` validators or more of a channel. */
export function together(events: readonly ValidatorEvent[], isOfAll: IsOfAll, now: number): ValidatorEvent[] {
  const groups = new Map<string, ShareableEvent[]>();
  for (const event of events) if (isShareable(event)) addTo(groups, newsKey(event), event);
  return events.flatMap((event) => {
    const all = isShareable(event) ? (groups.get(newsKey(event)) ?? []) : [];
    const [first] = all;
    if (!first || all.length < LEAST_TOGETHER) return [event];
    return event === first ? [merged(first, all, isOfAll, now)] : [];
  });
}

/** Returns the headline, the tone and the lines of news about several validators. */
function wordsOf(
  event: SharedEvent,
  names: string,
  now: number,
): readonly [headline: Markdown, tone: View["tone"], lines: readonly Markdown[]] {
  switch (event.kind) {
    case "gone":
      return [
        md`⚪ No longer listed: ${names}`,
        "neutral",
        [
          md`The explorer hasn't listed them for at least half an hour. You'll get no alerts about them until they're listed again.`,
        ],
      ];
    case "listed":
      return [
        md`🟢 Listed again: ${names}`,
        "good",
        [md`The explorer hadn't listed them for a while. You'll get alerts about them again.`],
      ];
    case "version":
      return [
        md`⚠️ Old versions: ${names}. Most run ${event.target}`,
        "warning",
        [
          md`They've been behind for a day, and run ${cut(event.running ?? "", 200)}. Their operators should update them.`,
        ],
      ];
    case "upgrade":
      return [
        md`${upgradeIn(event, now)}: ${names} still run old versions`,
        "warning",
        [md`They run ${cut(event.running, 200)}.`, ...upgradeLines(event)],
      ];
    case "rescheduled":
      return [
        rescheduledWords(event),
        event.upgradeAt === undefined ? "neutral" : "warning",
        [
          event.upgradeAt === undefined
            ? md`You were warned that ${names} were behind before it. It was scheduled for ${timestamp(event.warnedOf, "f")}.`
            : md`You were warned that ${names} were behind before it. You'll be warned again if they still are.`,
        ],
      ];
  }
}

/** Returns the message about the same news of several validators, which is never edited. */
export function sharedView(event: SharedEvent, known: Known, mark: string): View {
  const { members } = event;
  const [notification, tone, lines] = wordsOf(event, namesOf(members, MAX_IN_NEWS, known), known.now);
  return {
    notification,
    tone,
    body: present([
      ...lines,
      // The headline has the first names already.
      members.length > MAX_IN_NEWS && md`-# All ${members.length}: ${namesOf(members, MAX_NAMED, known)}`,
    ]),
    // The explorer has no details of validators that it no longer lists.
    menus: event.kind === "gone" ? [] : [validatorMenu(members, known)],
    links: [listLink(mark)],
  };
}
