import { type Dialog, initialValues } from "../discord/interactions.js";
import type { Component, Message } from "../discord/world.js";

/** Converts ids and times in messages to text. */
export interface Reader {
  /** Returns the name of a person, role or channel. */
  nameOf(id: string): string | undefined;
  /** The reader's time, epoch ms. */
  now(): number;
}

interface Embed {
  readonly title?: string;
  readonly description?: string;
  readonly fields?: readonly { readonly name: string; readonly value: string }[];
  readonly footer?: { readonly text: string };
  readonly image?: { readonly url: string };
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** Formats a time like Discord's style R, such as "3 hours ago". */
function relative(seconds: number): string {
  // Discord shows "now" or a few seconds, depending on the reader's clock.
  if (Math.abs(seconds) < 2) return "now";
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? UNITS[3];
  return new Intl.RelativeTimeFormat("en").format(Math.round(seconds / size), unit);
}

const dateTime = (seconds: number): string =>
  new Date(seconds * 1_000).toLocaleString("en-GB", {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  });

/** Start of a private Unicode area, to which escaped characters are moved while Markdown is removed. */
const ESCAPED = 0xe000;

/** Returns text without Markdown, as people see it in UTC. */
function plain(text: string, { nameOf, now }: Reader): string {
  const seconds = Math.floor(now() / 1_000);
  return (
    text
      // Escaped characters are not Markdown.
      .replace(/\\([^a-zA-Z0-9\s])/g, (_, each: string) => String.fromCodePoint(ESCAPED + each.charCodeAt(0)))
      // The time of the last read depends on the machine's speed.
      .replace(
        /((?:Explorer data from|last checked|Last delivery to the channel:) )<t:\d+:R>/g,
        "$1a moment ago",
      )
      .replace(/<t:(\d+):R>/g, (_, at) => relative(Number(at) - seconds))
      .replace(/<t:(\d+):\w>/g, (_, at) => dateTime(Number(at)))
      .replace(/<#(\d+)>/g, (_, id) => `#${nameOf(id) ?? "deleted"}`)
      .replace(/<@[&!]?(\d+)>/g, (_, id) => `@${nameOf(id) ?? "unknown"}`)
      .replace(/<\/([^:>]+):\d+>/g, "/$1")
      .replace(/```\w*\n?([\s\S]*?)\n?```/g, "$1")
      .replace(/\*\*(.+?)\*\*/g, "$1")
      .replace(/\[([^\]]+)\]\((\S+?)\)/g, "$1 <$2>")
      .replace(/`([^`\n]+)`/g, "$1")
      .replace(/^-# /gm, "")
      .replace(/https?:\/\/127\.0\.0\.1:\d+/g, "https://explorer.example")
      .replace(/127\.0\.0\.1:\d+/g, "explorer.example")
      // Error ids are random.
      .replace(/\b[0-9a-f]{8}\b(?=[^0-9a-f-]*$)/g, (id) => (/error/i.test(text) ? "0a1b2c3d" : id))
      .replace(/[\u{e000}-\u{e07f}]/gu, (each) => String.fromCharCode((each.codePointAt(0) ?? 0) - ESCAPED))
  );
}

const nameOfButton = ({ emoji, label, disabled }: Component): string => {
  const words = [emoji?.name, label].filter(Boolean).join(" ");
  return disabled ? `(${words})` : `[${words}]`;
};

/** Returns a message as the lines of a page of the book. */
export function pageOf(message: Message, reader: Reader): string[] {
  const read = (text: string) => plain(text, reader);
  const lines: string[] = [];
  if (message.content) lines.push(`Notification: ${read(message.content)}`);
  // The sandbox stores embeds as they were sent, without a type.
  for (const embed of message.embeds as Embed[]) {
    if (embed.title) lines.push(`# ${read(embed.title)}`);
    if (embed.description) lines.push(...read(embed.description).split("\n"));
    for (const { name, value } of embed.fields ?? []) {
      const text = read(value).split("\n");
      lines.push(...(text.length === 1 ? [`${read(name)}: ${text}`] : [`${read(name)}:`, ...text]));
    }
    if (embed.image) lines.push("(picture)");
    if (embed.footer) lines.push(read(embed.footer.text));
  }
  for (const { filename } of message.attachments ?? []) lines.push(`File: ${filename}`);
  for (const { components } of message.components) {
    const buttons = components.filter(({ type }) => type === 2);
    if (buttons.length > 0) lines.push(buttons.map(nameOfButton).join(" "));
    for (const { placeholder, options = [] } of components.filter(({ type }) => type === 3))
      lines.push(`▾ ${placeholder}: ${options.map(({ label }) => label).join(" · ")}`);
  }
  return lines.map((line) => line.trimEnd());
}

/** Returns a dialog as the lines of a page of the book. */
export const dialogLines = ({ title, components }: Dialog): string[] => [
  `# ${title}`,
  ...components.flatMap(({ label, description, component }) => {
    const values = initialValues(component);
    const { options = [], type } = component;
    const mark = (value: string) => `${values.includes(value) ? "☑" : "☐"}`;
    const picker = { 6: "▾ a role", 8: "▾ a channel" }[type];
    const shown = picker ?? (values[0] || "____");
    return [
      `${label}:${options.length > 0 ? "" : ` ${shown}`}`,
      ...options.map((each) => `  ${mark(each.value)} ${each.label}`),
      ...(description ? [`  (${description})`] : []),
    ];
  }),
];
