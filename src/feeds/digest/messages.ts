import { percentChange } from "../../ledger/prices.js";
import { address } from "../../screens/addresses.js";
import { usdText } from "../../screens/price.js";
import type { Field, View } from "../../screens/view.js";
import { ENDED_UNKNOWN, statusText, tallySuffix } from "../../screens/vote-parts.js";
import { COIN } from "../../text/coin.js";
import { spanWords } from "../../text/durations.js";
import {
  bold,
  code,
  join,
  type Markdown,
  md,
  timestamp,
  timestampWithAge,
  utcDay,
} from "../../text/markdown.js";
import { countedWords, percentOf } from "../../text/numbers.js";
import { cut, namesAndMore } from "../../text/plain.js";
import { present } from "../../util/present.js";
import { HOUR } from "../../util/units.js";
import type { Facts } from "./facts.js";

/** Period that a digest covers, epoch ms. */
export interface Period {
  readonly since: number;
  readonly until: number;
  readonly every: "day" | "week";
  /** True if the digest is sent later than planned. */
  readonly isLate: boolean;
  /** True if the digest is late because the bot was not running. */
  readonly wasOffline?: boolean | undefined;
}

type Several<T> = { readonly count: number; readonly named: readonly T[] };

/** Returns a line for each named item, and a line with the number of others. */
function linesOf<T>({ count, named }: Several<T>, toLine: (each: T) => Markdown): Markdown[] {
  const moreCount = count - named.length;
  return present([
    ...named.map((each) => md`• ${toLine(each)}`),
    moreCount > 0 && md`• and ${moreCount} more`,
  ]);
}

function requestFields({ opened, closed, decided, overdue, soon, participation }: Facts): Field[] {
  const title = (each: { readonly title: string }) => bold(cut(each.title, 100));
  const turnoutLine =
    participation &&
    md`-# ${percentOf(participation.cast, participation.all)}% of the possible votes were cast`;
  return [
    { name: "Opened", lines: linesOf(opened, (each) => md`${title(each)}`) },
    {
      name: "Ended",
      lines: present([
        ...linesOf(closed, (each) => {
          const outcomeWords = each.status === null ? ENDED_UNKNOWN : statusText(each.status);
          return md`${outcomeWords} · ${title(each)}${tallySuffix(each)}`;
        }),
        turnoutLine,
      ]),
    },
    {
      name: "Waiting to be closed",
      lines: linesOf(decided, (each) => md`${title(each)}: ${each.words}`),
    },
    { name: "Overdue", lines: linesOf(overdue, (each) => title(each)) },
    {
      name: "Due before the next digest",
      lines: linesOf(
        soon,
        (each) => md`${title(each)}, ${each.date ?? "until"} ${timestamp(each.until, "f")}`,
      ),
    },
  ].flatMap(({ name, lines }) => (lines.length > 0 ? [{ name, value: join(lines, "\n") }] : []));
}

function namesLine(sign: string, words: string, { count, named }: Several<string>): Markdown | false {
  if (count === 0) return false;
  return md`${sign} ${words}: ${namesAndMore(named, count)}`;
}

function validatorFields({ validators, version }: Facts): Field[] {
  const bodyLines = [
    ...(validators
      ? [
          namesLine("🆕", "Joined", validators.joined),
          namesLine("🔴", "Went silent", validators.silent),
          namesLine("🟢", "Came back", validators.back),
        ]
      : []),
    version?.before != null &&
      md`${version.percent > 50 ? "Most now run" : "The most common version is now"} ${code(version.now, 40)} (${version.percent}%); previously ${code(version.before, 40)}`,
  ].filter((line) => line !== false && line !== undefined);
  return bodyLines.length > 0 ? [{ name: "Validators", value: join(bodyLines, "\n") }] : [];
}

function networkFields({ upgradeAt, stillSince }: Facts, until: number): Field[] {
  const lines = present([
    stillSince !== undefined && md`🧊 Stands still: no new round since ${timestamp(stillSince, "f")}.`,
    upgradeAt !== undefined &&
      (upgradeAt > until
        ? md`🛠️ Upgrade: transactions pause on ${timestampWithAge(upgradeAt)}.`
        : md`🛠️ Upgrade: transactions were due to pause on ${timestamp(upgradeAt, "f")}.`),
  ]);
  return lines.length > 0 ? [{ name: "The network", value: join(lines, "\n") }] : [];
}

/** Returns the news about the network itself, for a notification. */
const networkNews = ({ upgradeAt, stillSince }: Facts): string[] =>
  present([
    stillSince !== undefined && "the network stands still",
    upgradeAt !== undefined && `network upgrade of ${utcDay(upgradeAt)}`,
  ]);

/**
 * Returns the news about the network, and counts of the events, such as "2 vote requests opened, 1 ended, 3 validators joined".
 * Empty if nothing happened except price changes.
 */
function newsOf(of: Facts): string {
  const { opened, closed, decided, overdue, soon, validators, version } = of;
  const voteCounts = [
    [opened.count, "opened"],
    [closed.count, "ended"],
    [decided.count, "waiting to be closed"],
    [overdue.count, "overdue"],
    [soon.count, "due soon"],
  ] as const;
  const validatorCounts = [
    [validators?.joined.count ?? 0, "joined"],
    [validators?.silent.count ?? 0, "went silent"],
    [validators?.back.count ?? 0, "came back"],
  ] as const;
  // Only the first count of its kind has the noun.
  const words = (counts: readonly (readonly [number, string])[], noun: string) =>
    counts
      .filter(([count]) => count > 0)
      .map(([count, verb], index) => `${index === 0 ? countedWords(count, noun) : count} ${verb}`);
  const versionWords = version?.before == null ? [] : ["a new most common version"];
  return [
    ...networkNews(of),
    ...words(voteCounts, "vote request"),
    ...words(validatorCounts, "validator"),
    ...versionWords,
  ].join(", ");
}

/** Returns a line for each part of the period for which data is missing. */
function unknownLines({ validators, votesSince, votesReadAt, stillSince }: Facts): Markdown[] {
  const lines: Markdown[] = [];
  if (votesSince !== undefined)
    lines.push(
      md`Vote requests that ended before ${timestamp(votesSince, "f")} aren't included: I wasn't here yet.`,
    );
  if (votesReadAt !== undefined)
    lines.push(md`Votes are included up to ${timestamp(votesReadAt, "f")}. Since then I couldn't read them.`);
  if (!validators) return [...lines, md`I haven't read the validators yet.`];
  const { since, unreadMs } = validators;
  if (since !== undefined)
    lines.push(md`Outages and new validators are included from ${timestamp(since, "f")} on.`);
  // While the network stands still, the validators can be read, but missing reports say nothing about them.
  if (unreadMs !== undefined)
    lines.push(
      stillSince === undefined
        ? md`I couldn't read the validators for ${spanWords(unreadMs)}. Short outages may be missing.`
        : md`For ${spanWords(unreadMs)}, I couldn't tell which validators were silent. Short outages may be missing.`,
    );
  return lines;
}

/** Minimum time that a price change must cover to be shown, in ms. */
const SHORT_MS = HOUR;

/** Returns the price and its change. If the first price is later than the start of the period, says since when. */
function priceWords({ from, to, since }: NonNullable<Facts["price"]>, until: number): Markdown {
  const now = md`${usdText(to)} for one ${COIN}`;
  if (since === undefined) return md`${now}, ${percentChange(from, to)}`;
  return until - since < SHORT_MS
    ? now
    : md`${now}, ${percentChange(from, to)} since ${timestamp(since, "f")}`;
}

/** Returns the message of a digest. */
export function digestView(
  of: Facts,
  { since, until, every, isLate, wasOffline }: Period,
  mark: string,
): View {
  const latenessLine = isLate
    ? [md`-# Late because ${wasOffline ? "I was offline" : "I couldn't read the explorer"} when it was due.`]
    : [];
  const unknown = unknownLines(of).map((line) => md`-# ${line}`);
  const news = newsOf(of);
  const isQuiet = news === "" && unknown.length === 0;
  const price = of.price && priceWords(of.price, until);
  const period = md`From ${timestamp(since, "f")} to ${timestamp(until, "f")}`;
  return {
    notification: md`📰 ${every === "week" ? "Weekly" : "Daily"} digest: ${news || (isQuiet ? "no news" : "no news that I know of")}`,
    body: isQuiet
      ? [
          join([md`No news between ${timestamp(since, "f")} and ${timestamp(until, "f")}.`, price], " "),
          ...latenessLine,
        ]
      : present([period, ...latenessLine, news === "" && md`No news, but some data is missing.`, ...unknown]),
    fields: isQuiet
      ? []
      : present([
          ...networkFields(of, until),
          ...requestFields(of),
          ...validatorFields(of),
          price && { name: "Price", value: price },
        ]),
    menus: [
      {
        placeholder: "Open a vote request…",
        choices: [of.opened, of.closed, of.decided, of.overdue, of.soon]
          .flatMap(({ named }): readonly { readonly id: string; readonly title: string }[] => named)
          .filter((each, index, all) => all.findIndex(({ id }) => id === each.id) === index)
          .map(({ id, title }) => ({ label: title, to: address("voteRequest", { id }) })),
      },
    ],
    links: [
      { label: "Vote requests", emoji: "📋", to: address("proposals", {}), mark },
      { label: "Validators", emoji: "🖥️", to: address("overview", {}) },
    ],
  };
}
