import {
  channelMention as mentionChannel,
  chatInputApplicationCommandMention as mentionCommand,
  roleMention as mentionRole,
  userMention as mentionUser,
  time,
} from "@discordjs/formatters";
import { COIN } from "./coin.js";
import { shortId } from "./ids.js";
import { clean, cut } from "./plain.js";

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

/** Characters that Discord gives a meaning anywhere in a line: formatting, mentions, links, emoji. */
const SPECIAL = /[\\`*_~|<>[\]#@]|:(?=[\w/])/g;
/** Matches the beginning of a list item. */
const LIST_START = /^(\s*\d*)([-+.)])(?=\s)/;

/** Matches text that Discord shows as an invitation. */
const INVITE = /(discord(?:app)?)\.(?=gg|com|me|io)/gi;

/** Matches plain words and numbers, which need no escaping. */
const WORDS = /^[a-z\d]+(?:(?:[ ,]|\.(?=\d))[a-z\d]+)*$/i;

/** A stranger's text on one line, cleaned and with every mark of formatting escaped. */
export function escapeText(text: string): Markdown {
  if (WORDS.test(text)) return trusted(text);
  const line = clean(text).replace(/\s+/g, " ");
  const escaped = line.replace(SPECIAL, "\\$&").replace(LIST_START, "$1\\$2");
  return trusted(escaped.replace(INVITE, "$1\\."));
}

const NOTHING = "—";

function toPiece(value: Piece): string {
  if (value === null || value === undefined || value === "") return NOTHING;
  if (value instanceof Markdown) return value.toString();
  return typeof value === "number" ? String(value) : escapeText(value).toString();
}

/** A template whose text is ours and whose values are escaped, unless they are Markdown already. */
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

/** Text in a code span, if no formatting, emoji or mention works; a backtick is replaced by its look-alike. */
export function code(text: string | null, most = 120): Markdown {
  const line = clean(text ?? "")
    .replace(/\s+/g, " ")
    .replaceAll("`", "ˋ")
    .trim();
  // Ours are made clickable by their look (src/discord/mentions.ts); a stranger's are not.
  const inert = line.startsWith("/") ? `\u2060${line}` : line;
  return trusted(line ? `\`${cut(inert, most)}\`` : NOTHING);
}

/** An id, short, in a code span: for a line. */
export const idCode = (id: string | null): Markdown => (id === null ? trusted(NOTHING) : code(shortId(id)));

/** Text in a code block, to be copied whole with one tap. */
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

/** A link; the address must be one that toUrl gave. */
export function linkTo(label: Piece, url: string): Markdown {
  const safe = url.replace(
    /[()<>\s\\*_~|`]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return trusted(`[${toPiece(label)}](${safe})`);
}

/** Mentions of trusted ids. Inside an embed they notify no one. */
export const channelMention = (id: string): Markdown => trusted(mentionChannel(id));
/** A command that can be clicked: its name with its subcommand, and Discord's id of it. */
export const commandMention = (name: string, id: string): Markdown => trusted(mentionCommand(name, id));
export const roleMention = (id: string): Markdown => trusted(mentionRole(id));

export const userMention = (id: string): Markdown => trusted(mentionUser(id));

/** A point in time that each reader sees in their own zone: R "2 hours ago", f date and time, d date, t time. */
export function timestamp(ms: number | null, style: "R" | "f" | "d" | "t" = "R"): Markdown {
  return trusted(ms === null ? "unknown" : time(Math.floor(ms / 1_000), style));
}

/** A date with how far off it is: "21 November 2026 10:00 (in 2 hours)". */
export const timestampWithAge = (ms: number | null): Markdown =>
  ms === null ? trusted("unknown") : md`${timestamp(ms, "f")} (${timestamp(ms)})`;

const formats = new Map<string, Intl.NumberFormat>();

function formatOf(maxFraction: number, minFraction = 0): Intl.NumberFormat {
  const key = `${minFraction}-${maxFraction}`;
  const format =
    formats.get(key) ??
    new Intl.NumberFormat("en-US", {
      minimumFractionDigits: minFraction,
      maximumFractionDigits: maxFraction,
      roundingMode: "halfExpand",
    });
  formats.set(key, format);
  return format;
}

// Since ECMA-402 NumberFormat v3 a decimal string is formatted exactly; the type wants a literal.
const exactly = (format: Intl.NumberFormat, decimal: string | number): string =>
  format.format(decimal as Intl.StringNumericLiteral);

const isZero = (decimal: string): boolean => !/[1-9]/.test(decimal.replace(/e.*$/i, ""));

/**
 * Formats a decimal string with thousands separators and a maximum number of fraction digits, without using floats. A value that
 * is not zero is never shown as zero: "under 0.01", "just below 0".
 */
export function grouped(decimal: string | number | null, maxFraction = 10): string {
  if (decimal === null) return NOTHING;
  if (isZero(String(decimal))) return "0";
  const text = exactly(formatOf(maxFraction), decimal);
  if (text === "-0") return "just below 0";
  return text === "0" ? `under ${formatOf(maxFraction).format(10 ** -maxFraction)}` : text;
}

/**
 * Formats a decimal with a fixed number of fraction digits, for columns and percentages. A value that is not zero is never shown
 * as zero.
 */
export function fixed(decimal: string | number, digits: number): string {
  const text = exactly(formatOf(digits, digits), decimal);
  if (/[1-9]/.test(text)) return text;
  return isZero(String(decimal)) ? text.replace("-", "") : grouped(decimal, digits);
}

/** Returns a share in percent: "62.3 %"; a dash if the whole is zero. */
export const share = (part: number, whole: number): string =>
  whole === 0 ? NOTHING : `${fixed((part / whole) * 100, 1)} %`;

/** A count with its noun, in the plural if it is not one: "1 vote", "1,109 votes". */
export const countedWords = (count: number, one: string, several = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : several}`;

/** A change with its direction, and "unchanged" for none: "▲ 0.3", "▼ 2", "▲ under 0.01". */
export function changeWords(
  decimal: string,
  maxFraction: number,
  format: (decimal: string, digits: number) => string = grouped,
): string {
  if (isZero(decimal)) return "unchanged";
  const isDown = decimal.startsWith("-");
  const size = format(decimal.replace(/^-/, ""), maxFraction);
  return `${isDown ? "▼" : "▲"} ${size}`;
}

const BYTES = [
  ["GB", 1e9],
  ["MB", 1e6],
  ["kB", 1e3],
] as const;

/** A number of bytes in the largest unit that leaves something before the point. */
export function bytes(count: string | null): string {
  if (count === null) return "not known";
  const [unit, size] = BYTES.find(([, least]) => Math.abs(Number(count)) >= least) ?? ["bytes", 1];
  return `${grouped(Number(count) / size, 1)} ${unit}`;
}

/** An amount of Canton Coin in a column: with two digits. */
export const columnCoins = (decimal: string | null): Markdown =>
  decimal === null ? trusted("unknown") : md`${fixed(decimal, 2)} ${trusted(COIN)}`;

/** Formats an approximate amount of USD, with fewer digits for larger amounts; null if it is unknown. */
export function aboutUsd(usd: number | null): string | null {
  if (usd === null) return null;
  if (usd === 0) return "$0";
  return usd < 0.01 ? "under $0.01" : `about $${fixed(usd, usd < 100 ? 2 : 0)}`;
}

/** An amount of Canton Coin. */
export const coins = (decimal: string | null, mostFraction = 10): Markdown =>
  decimal === null ? trusted("unknown") : md`${grouped(decimal, mostFraction)} ${trusted(COIN)}`;
