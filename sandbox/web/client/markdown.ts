import { html, type TemplateResult } from "lit";

/** Data for rendering mentions and times. */
export interface Context {
  readonly now: number;
  readonly names: Readonly<Record<string, string>>;
  /** Called with the name of a command that was clicked. */
  readonly onCommand: (name: string) => void;
}

type Piece = string | TemplateResult;

const UNITS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** Formats the distance to a time in words. */
export function relative(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1_000);
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? (["second", 1] as const);
  return new Intl.RelativeTimeFormat("en").format(Math.trunc(seconds / size), unit);
}

function time(seconds: string, style: string | undefined, now: number): TemplateResult {
  const date = new Date(Number(seconds) * 1_000);
  // Discord shows a time that no date can have as it was typed.
  if (Number.isNaN(date.getTime())) return html`&lt;t:${seconds}${style ? `:${style}` : ""}&gt;`;
  const whole = date.toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
  const day = style === "d" ? date.toLocaleDateString("en-GB") : whole;
  const shown = style === "R" ? relative(date.getTime(), now) : day;
  return html`<discord-time title=${whole}>${shown}</discord-time>`;
}

const mention = (type: "channel" | "role" | "user", name: string | undefined) =>
  html`<discord-mention type=${type}>${name ?? "unknown"}</discord-mention>`;

interface Rule {
  readonly pattern: RegExp;
  readonly render: (groups: readonly string[], context: Context) => Piece;
}

/** Rules of Discord's inline formatting, in matching order. */
const RULES: readonly Rule[] = [
  { pattern: /\\([^A-Za-z0-9\s])/y, render: ([character = ""]) => character },
  { pattern: /`([^`\n]+)`/y, render: ([text = ""]) => html`<discord-code>${text}</discord-code>` },
  {
    pattern: /\*\*((?:\\.|[^\\])+?)\*\*/y,
    render: ([text = ""], at) => html`<strong>${inline(text, at)}</strong>`,
  },
  {
    pattern: /(?<!\w)_([^_\n]+)_(?!\w)/y,
    render: ([text = ""], at) => html`<em>${inline(text, at)}</em>`,
  },
  {
    pattern: /\[((?:\\.|[^\\\]])+)\]\((https?:[^)\s]+)\)/y,
    render: ([label = "", url = ""], at) =>
      html`<discord-link href=${url} target="_blank" rel="noopener noreferrer">${inline(label, at)}</discord-link>`,
  },
  { pattern: /<t:(\d+)(?::(\w))?>/y, render: ([seconds = "0", style], { now }) => time(seconds, style, now) },
  { pattern: /<#(\d+)>/y, render: ([id = ""], { names }) => mention("channel", names[id]) },
  { pattern: /<@&(\d+)>/y, render: ([id = ""], { names }) => mention("role", names[id]) },
  { pattern: /<@!?(\d+)>/y, render: ([id = ""], { names }) => mention("user", names[id]) },
  {
    pattern: /<\/([^:>]+):\d+>/y,
    render: ([name = ""], { onCommand }) =>
      html`<button class="command" type="button" @click=${() => onCommand(name)}>/${name}</button>`,
  },
];

/** Renders the inline formatting of a line. */
export function inline(text: string, context: Context): Piece[] {
  const pieces: Piece[] = [];
  let plain = "";
  for (let at = 0; at < text.length; ) {
    const rule = RULES.find(({ pattern }) => {
      pattern.lastIndex = at;
      return pattern.test(text);
    });
    if (!rule) {
      plain += text[at];
      at += 1;
      continue;
    }
    rule.pattern.lastIndex = at;
    const [whole = "", ...groups] = rule.pattern.exec(text) ?? [];
    if (plain) pieces.push(plain);
    plain = "";
    pieces.push(rule.render(groups, context));
    at += whole.length;
  }
  return plain ? [...pieces, plain] : pieces;
}

function line(text: string, context: Context): TemplateResult {
  const [, hashes, heading = ""] = /^(#{1,3}) (.*)$/.exec(text) ?? [];
  if (hashes)
    return html`<discord-header level=${hashes.length}>${inline(heading, context)}</discord-header>`;
  if (text.startsWith("-# "))
    return html`<discord-subscript>${inline(text.slice(3), context)}</discord-subscript>`;
  if (text.startsWith("> ")) return html`<discord-quote>${inline(text.slice(2), context)}</discord-quote>`;
  return html`<div class="line">${inline(text, context)}</div>`;
}

/** Renders Discord's Markdown: code blocks, headings, small print, quotes, and inline formatting. */
export function markdown(text: string, context: Context): TemplateResult[] {
  return text.split(/(```[\s\S]*?```)/).flatMap((part) => {
    const [, code] = /^```\n?([\s\S]*?)\n?```$/.exec(part) ?? [];
    if (code !== undefined) return [html`<discord-code multiline embed>${code}</discord-code>`];
    const lines = part.replace(/^\n|\n$/g, "");
    return lines ? lines.split("\n").map((each) => line(each, context)) : [];
  });
}

/** Removes formatting, for places that only show text. */
export const withoutMarks = (text: string): string => text.replace(/\\([^A-Za-z0-9\s])|\*\*/g, "$1");
