import {
  channelMention as mentionChannel,
  chatInputApplicationCommandMention as mentionCommand,
  roleMention as mentionRole,
  userMention as mentionUser,
  time,
} from "@discordjs/formatters";
import { UNREADABLE_AT } from "../util/clock.js";
import { COIN } from "./coin.js";
import { shortId } from "./ids.js";
import { fixed, grouped } from "./numbers.js";
import { clean, cut, NOTHING, unbroken } from "./plain.js";

/**
 * Text for Discord: our own Markdown, with untrusted text escaped. Only the functions below create it, so a screen that forgets
 * to escape does not compile.
 */
export class Markdown {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Only for this module: marks text as safe. */
  static trusted(text: string): Markdown {
    return new Markdown(text);
  }

  toString(): string {
    return this.#text;
  }
}

const trusted = Markdown.trusted;

/** A value in a template. Text is untrusted and is escaped; a missing value becomes a dash. */
export type Piece = string | number | Markdown | null | undefined;

/** Matches characters with a meaning anywhere in a line: formatting, mentions, links, emoji. A time of day, 15:00, has none. */
const SPECIAL = /[\\`*_~|<>[\]#@]|:(?=[\w/])(?!(?<=\d:)\d\d(?![\w:]))/g;
/** Matches the beginning of a list item. A space may follow the text in its line. */
const LIST_START = /^(\s*\d*)([-+.)])(?=\s|$)/;

/** Matches text that Discord shows as an invitation. */
const INVITE = /(discord(?:app)?)\.(?=gg|com|me|io)/gi;

/** Matches plain words and numbers, which need no escaping. */
const WORDS = /^[a-z\d]+(?:(?:[ ,]|\.(?=\d))[a-z\d]+)*$/i;

/** Returns untrusted text on one line, cleaned and with all formatting escaped. */
export function escapeText(text: string): Markdown {
  if (WORDS.test(text)) return trusted(text);
  const escaped = unbroken(text).replace(SPECIAL, "\\$&").replace(LIST_START, "$1\\$2");
  return trusted(escaped.replace(INVITE, "$1\\."));
}

/** Returns our own text without escapes, where Discord shows plain text: in the names of threads. */
export const withoutEscapes = (text: Markdown): string =>
  text.toString().replace(/\\([\\`*_~|<>[\]#@:+\-.)])/g, "$1");

function toPiece(value: Piece): string {
  if (value === null || value === undefined || value === "") return NOTHING;
  if (value instanceof Markdown) return value.toString();
  return typeof value === "number" ? String(value) : escapeText(value).toString();
}

/** Template tag for Markdown. The template's own text is trusted. Values are escaped unless they are Markdown. */
export function md([first = "", ...strings]: TemplateStringsArray, ...values: readonly Piece[]): Markdown {
  let text = first;
  for (const [index, after] of strings.entries()) text += toPiece(values[index]) + after;
  return trusted(text);
}

export const bold = (value: Piece): Markdown => trusted(`**${toPiece(value)}**`);

/** Joins pieces and skips empty ones. */
export function join(pieces: readonly (Markdown | null | undefined | false)[], separator: string): Markdown {
  return trusted(pieces.filter((each) => each instanceof Markdown).join(separator));
}

/** Returns text in a code span, where formatting, emoji and mentions do not work. Backticks are replaced by a look-alike. */
export function code(text: string | null, most = 120): Markdown {
  const line = clean(text ?? "")
    .replace(/\s+/g, " ")
    .replaceAll("`", "ˋ")
    .trim();
  // The bot's own commands in code spans become clickable (src/discord/mentions.ts). Untrusted ones must not.
  const inert = line.startsWith("/") ? `\u2060${line}` : line;
  return trusted(line ? `\`${cut(inert, most)}\`` : NOTHING);
}

/** Returns a shortened id in a code span. */
export const idCode = (id: string | null): Markdown => (id === null ? trusted(NOTHING) : code(shortId(id)));

/** Returns text in a code block, which people can copy with one tap. */
export function codeBlock(text: string | null, most = 900): Markdown {
  const block = clean(text ?? "")
    .replaceAll("`", "ˋ")
    .trim();
  return trusted(block ? `\`\`\`\n${cut(block, most)}\n\`\`\`` : NOTHING);
}

/** Quotes and escapes untrusted paragraphs, up to this many UTF-16 units. */
export function quote(text: string, most: number): Markdown {
  const quotedLines = cut(clean(text).trim(), most)
    .split(/\n+/)
    .map((line) => `> ${escapeText(line.trim())}`);
  return trusted(quotedLines.join("\n"));
}

/** Returns a link. Its URL must come from `toUrl`. */
export function linkTo(label: Piece, url: string): Markdown {
  const safe = url.replace(
    /[()<>\s\\*_~|`]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return trusted(`[${toPiece(label)}](${safe})`);
}

/** Mentions of trusted ids. Inside an embed they notify no one. */
export const channelMention = (id: string): Markdown => trusted(mentionChannel(id));
/**
 * Returns a clickable command mention.
 * @param name the command's path, with its subcommand
 * @param id Discord's id of the command
 */
export const commandMention = (name: string, id: string): Markdown => trusted(mentionCommand(name, id));
export const roleMention = (id: string): Markdown => trusted(mentionRole(id));

export const userMention = (id: string): Markdown => trusted(mentionUser(id));

/** Returns a time that Discord shows in each reader's time zone: R "2 hours ago", f date and time, d date, t time. */
export function timestamp(ms: number | null, style: "R" | "f" | "d" | "t" = "R"): Markdown {
  return trusted(ms === null || ms >= UNREADABLE_AT ? "unknown" : time(Math.floor(ms / 1_000), style));
}

/** Formats a time of day for a notification, which is plain text: "15:00 UTC". */
export const utcTime = (ms: number): string => `${new Date(ms).toISOString().slice(11, 16)} UTC`;

const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });

/** Formats a day in UTC: "12 December". */
export const utcDay = (ms: number): string => dayFormat.format(ms);
/** Formats a day and time for a notification: "12 December at 15:00 UTC". */
export const utcDate = (ms: number): string => `${utcDay(ms)} at ${utcTime(ms)}`;

/** Returns a date with its distance from now: "21 November 2026 10:00 (in 2 hours)". */
export const timestampWithAge = (ms: number | null): Markdown =>
  ms === null || ms >= UNREADABLE_AT ? trusted("unknown") : md`${timestamp(ms, "f")} (${timestamp(ms)})`;

/** Formats an amount of Canton Coin for a column, with two fraction digits. */
export const columnCoins = (decimal: string | null): Markdown =>
  decimal === null ? trusted("unknown") : md`${fixed(decimal, 2)} ${trusted(COIN)}`;

/** Formats an amount of Canton Coin. */
export const coins = (decimal: string | null, mostFraction = 10): Markdown =>
  decimal === null ? trusted("unknown") : md`${grouped(decimal, mostFraction)} ${trusted(COIN)}`;
