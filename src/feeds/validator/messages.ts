import { pauseWords } from "../../ledger/upgrades.js";
import type { View } from "../../screens/view.js";
import { spanWords } from "../../text/durations.js";
import {
  code,
  join,
  type Markdown,
  md,
  timestamp,
  timestampWithAge,
  utcDate,
  utcDay,
  utcTime,
} from "../../text/markdown.js";
import { bytes, countedWords } from "../../text/numbers.js";
import { present } from "../../util/present.js";
import { HOUR } from "../../util/units.js";
import { type GroupAlert, isSnoozed, type SilentAlert } from "./collections.js";
import { MANY, type ValidatorEvent } from "./events.js";
import {
  acknowledgeLink,
  detailsLink,
  factLines,
  type Known,
  listLink,
  MAX_IN_NEWS,
  MAX_NAMED,
  namesOf,
  responseLines,
  silentWords,
  snoozeMenu,
  validatorMenu,
} from "./message-parts.js";

/** When a silence began and ended, as far as that is known. */
interface SilenceTimes extends Pick<SilentAlert, "since" | "endedAt" | "isGone"> {
  readonly isBackEarlier?: boolean | undefined;
}

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
      // The explorer has no details of a validator that it no longer lists, and a drill may have none.
      alert.isGone || validator === "" ? listLink(mark) : detailsLink(validator, mark),
    ]),
    explorerPage: validator === "" ? undefined : { kind: "validator", id: validator },
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
      validatorMenu(parties, known),
    ]),
    links: present([endedAt === undefined && acknowledgeLink(known, MANY, toldAt), listLink(mark)]),
  };
}

type UpgradeWarning = Extract<ValidatorEvent, { kind: "upgrade" }>;

/** Returns the first words of a warning before an upgrade of the network. */
export const upgradeIn = ({ upgradeAt }: UpgradeWarning, now: number): Markdown =>
  md`⚠️ Network upgrade in ${spanWords(Math.max(HOUR, Math.round((upgradeAt - now) / HOUR) * HOUR))}`;

/** Returns the lines of a warning before an upgrade of the network. */
export const upgradeLines = ({ upgradeAt, movedFrom, target }: UpgradeWarning): Markdown[] =>
  present([
    md`Transactions pause on ${timestampWithAge(upgradeAt)}. A validator without a compatible version can't send or receive any afterwards.`,
    movedFrom !== undefined && md`-# Moved. It was scheduled for ${timestamp(movedFrom, "f")}.`,
    md`-# Compared with ${code(target, 40)}, the newest version in common use. The vote doesn't say which version is needed.`,
  ]);

/** Returns the headline about an upgrade that is now at another time, or cancelled. */
export const rescheduledWords = ({
  warnedOf,
  upgradeAt,
}: Extract<ValidatorEvent, { kind: "rescheduled" }>): Markdown =>
  upgradeAt === undefined
    ? md`⚪ Network upgrade of ${utcDay(warnedOf)} cancelled`
    : md`🛠️ Network upgrade moved: ${pauseWords(upgradeAt)}, not on ${utcDate(warnedOf)}`;

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
    link = detailsLink(event.validator, mark),
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
      const screenLink = members ? listLink(mark) : detailsLink(validator, mark);
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
        md`${upgradeIn(event, known.now)}: ${name} still runs ${event.running}`,
        "warning",
        upgradeLines(event),
      );
    case "rescheduled":
      return event.upgradeAt === undefined
        ? news(rescheduledWords(event), "neutral", [
            md`You were warned that ${name} was behind before it. It was scheduled for ${timestamp(event.warnedOf, "f")}.`,
          ])
        : news(rescheduledWords(event), "warning", [
            md`You were warned that ${name} was behind before it. You'll be warned again if it still is.`,
          ]);
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
