import type { APIEmbed } from "discord-api-types/v10";
import type { ExplorerProblem } from "../explorer/errors.js";
import type { Field, Tone, View } from "../screens/view.js";
import { withCoin } from "../text/coin.js";
import { escapeText, type Markdown, md, timestamp } from "../text/markdown.js";
import { cut, cutEscaped, NOTHING, oneLine } from "../text/plain.js";
import { LIMITS } from "./limits.js";
import { withMentions } from "./mentions.js";

const COLOURS: Readonly<Record<Tone, number>> = {
  neutral: 0x5865f2,
  good: 0x2f9e58,
  bad: 0xd83c3e,
  warning: 0xe0a021,
};

/** Parts of a message's text besides the view's own words. */
export interface MessageWords {
  readonly commands: ReadonlyMap<string, string>;
  readonly coin: string;
  readonly label: string | undefined;
}

/** Returns a file's name. Files of different networks have different names. */
export const fileName = (name: string, label: string | undefined): string =>
  label === undefined ? name : `${label.replace(/[^\w-]+/g, "-")}-${name}`;

/** Appends the network's name to a title. If the result is too long, only the title is cut. */
export function withLabel(
  title: string,
  label: string | undefined,
  most: number,
  shorten = cutEscaped,
): string {
  const labelSuffix = label === undefined ? "" : ` · ${label}`;
  return `${shorten(title, most - labelSuffix.length)}${labelSuffix}`;
}

/** Joins as many whole lines as fit, with "…" in place of the rest. If the first line does not fit, it is cut. */
function fitLines(lines: readonly string[], most: number): string {
  let text = "";
  for (const line of lines) {
    const nextText = text ? `${text}\n${line}` : line;
    if (nextText.length > most - 2) return text ? `${text}\n…` : cut(line, most);
    text = nextText;
  }
  return text;
}

/** Short reasons why the newest data is not available. */
const WHY: Partial<Record<ExplorerProblem, string>> = {
  busy: "many requests are waiting",
  spent: "you sent a lot of requests in the last minute",
  slow: "the explorer is slow",
  limited: "the explorer is limiting requests",
  refused: "the explorer rejects this bot's key",
  withheld: "this bot has no access to newer data",
  unreadable: "I can't read the explorer's newer data",
  rejected: "the explorer rejects the request",
};

/** Returns the age of the data as one line of small print. Discord keeps the relative time up to date. */
function ageLine({ readings = [] }: View, hasRefresh: boolean): Markdown | undefined {
  if (readings.length === 0) return undefined;
  const oldestReading = timestamp(Math.min(...readings.map((reading) => reading.fetchedAt)));
  const problem = readings.find((reading) => reading.problem)?.problem;
  if (problem)
    return md`-# ⚠️ Older data, from ${oldestReading}: ${WHY[problem] ?? "the explorer isn't answering"}`;
  // Newer data is being fetched, but this message does not change by itself.
  const isStale = readings.some((reading) => reading.stale);
  return isStale && hasRefresh
    ? md`-# Explorer data from ${oldestReading}; press Refresh to update`
    : md`-# Explorer data from ${oldestReading}`;
}

/** Space reserved for the age, so that it is never cut off. */
const AGE_ROOM = 200;

/**
 * Returns a view's title, fields and text as an embed within Discord's limits, with the age of the data.
 *
 * It is raw JSON, not made with discord.js's builders. They would validate text again that is already within the limits, at several
 * times the cost of everything else (docs/benchmarks.md). The sandbox validates every message of every test.
 */
export function toEmbed(view: View, words: MessageWords, hasRefresh: boolean): APIEmbed {
  const label = words.label && escapeText(words.label).toString();
  const title =
    view.title &&
    (withLabel(withCoin(view.title.toString(), words.coin).trim(), label, LIMITS.title).trim() || NOTHING);
  let remainingRoom = LIMITS.embedTotal - (title?.length ?? 0) - AGE_ROOM;

  const fields: ReturnType<typeof fitField>[] = [];
  for (const field of (view.fields ?? []).slice(0, LIMITS.fields)) {
    const fitted = fitField(field, words);
    remainingRoom -= fitted.name.length + fitted.value.length;
    if (remainingRoom < 0) break;
    fields.push(fitted);
  }

  const bodyLines = (view.body ?? []).flatMap((line) => linesOf(line, words));
  const text = fitLines(
    bodyLines,
    Math.min(LIMITS.description - AGE_ROOM, Math.max(remainingRoom, 0)),
  ).trim();
  const description = [text, ageLine(view, hasRefresh)?.toString()].filter(Boolean).join("\n");
  const embed: APIEmbed = { color: COLOURS[view.tone ?? "neutral"] };
  if (title) embed.title = title;
  if (description) embed.description = description;
  if (fields.length > 0) embed.fields = fields;
  if (view.thumbnail) embed.thumbnail = { url: view.thumbnail };
  if (view.picture) embed.image = { url: `attachment://${fileName(view.picture.name, words.label)}` };
  return embed;
}

/** Returns a text's lines, with command mentions and the coin's unit filled in. */
const linesOf = (text: Markdown, { commands, coin }: MessageWords): string[] =>
  withCoin(withMentions(text.toString(), commands), coin).split("\n");

function fitField({ name, value, inline = false }: Field, words: MessageWords) {
  return {
    name: oneLine(withCoin(name, words.coin), LIMITS.fieldName),
    value: fitLines(linesOf(value, words), LIMITS.fieldValue).trim() || NOTHING,
    inline,
  };
}
