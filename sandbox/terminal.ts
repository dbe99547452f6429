import type { Component, Message } from "./discord/world.js";

/** Renders messages as text for a terminal, similar to Discord. */

interface Embed {
  readonly title?: string;
  readonly description?: string;
  readonly color?: number;
  readonly fields?: readonly { readonly name: string; readonly value: string; readonly inline?: boolean }[];
  readonly image?: { readonly url: string };
}

const WIDTH = 84;

/** True if text is colored: only in a terminal, and unless NO_COLOR is set (no-color.org). */
const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR;
const painted = (code: string, text: string) => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
const dim = (text: string) => painted("2", text);
const strong = (text: string) => painted("1", text);

/** Names by id, for mentions. */
export type Names = (id: string) => string | undefined;
let nameOf: Names = () => undefined;
/** Sets the function that returns the name for a mentioned id. */
export const nameBy = (names: Names): void => {
  nameOf = names;
};
const RULES: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/<t:(\d+):R>/g, (_, seconds = "0") => relative(Number(seconds) * 1_000)],
  [
    /<t:(\d+):\w>/g,
    (_, seconds = "0") =>
      new Date(Number(seconds) * 1_000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }),
  ],
  [/<#(\d+)>/g, (_, id = "") => `#${nameOf(id) ?? "unknown"}`],
  [/<@[&!]?(\d+)>/g, (_, id = "") => `@${nameOf(id) ?? "unknown"}`],
  [/<\/([^:>]+):\d+>/g, (_, name = "") => `/${name}`],
  [/\*\*(.+?)\*\*/g, (_, text = "") => strong(text)],
  [/\[([^\]]+)\]\(([^)]+)\)/g, (_, text = "", url = "") => `${text} <${url}>`],
  [/`([^`\n]+)`/g, (_, text = "") => text],
  [/\\([^a-zA-Z0-9\s])/g, (_, character = "") => character],
];

function relative(ms: number): string {
  const seconds = Math.round((ms - Date.now()) / 1_000);
  const [unit, size] = (
    [
      ["day", 86_400],
      ["hour", 3_600],
      ["minute", 60],
      ["second", 1],
    ] as const
  ).find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  return new Intl.RelativeTimeFormat("en").format(Math.trunc(seconds / size), unit);
}

const render = (text: string) =>
  RULES.reduce((rendered, [pattern, replace]) => rendered.replace(pattern, replace), text);

function block(text: string): string[] {
  return text
    .replace(/```\n?([\s\S]*?)\n?```/g, "$1")
    .split("\n")
    .map((line) => {
      if (line.startsWith("-# ")) return dim(render(line.slice(3)));
      return line.startsWith("# ") ? strong(render(line.slice(2))) : render(line);
    });
}

function fields(all: NonNullable<Embed["fields"]>): string[] {
  const lines: string[] = [];
  let inline: string[] = [];
  const flush = () => {
    if (inline.length > 0) lines.push(inline.join(dim("  │  ")));
    inline = [];
  };
  for (const { name, value, inline: beside } of all) {
    if (beside && !value.includes("\n")) {
      inline.push(`${dim(name)} ${render(value)}`);
      if (inline.length === 2) flush();
      continue;
    }
    flush();
    lines.push(dim(name), ...block(value).map((line) => `  ${line}`));
  }
  flush();
  return lines;
}

function component({ type, label, emoji, placeholder, options, disabled }: Component): string {
  if (type === 3)
    return `▾ ${placeholder} (${options?.length === 1 ? "1 choice" : `${options?.length} choices`})`;
  const text = [emoji?.name, label].filter(Boolean).join(" ");
  return disabled ? dim(`( ${text} )`) : `[ ${text} ]`;
}

/** Renders a message as lines. */
export function draw(message: Message): string {
  const lines: string[] = [];
  if (message.visibleTo) lines.push(dim("only you can see this"));
  if (message.content) lines.push(render(message.content));
  for (const embed of message.embeds as Embed[]) {
    const colour = embed.color ?? 0;
    const bar = `${painted(`38;2;${(colour >> 16) & 255};${(colour >> 8) & 255};${colour & 255}`, "▌")} `;
    const inside = [
      ...(embed.title ? [strong(render(embed.title))] : []),
      ...(embed.description ? block(embed.description) : []),
      ...fields(embed.fields ?? []),
      ...(embed.image ? [`(picture: ${embed.image.url.split("/").at(-1)})`] : []),
    ];
    lines.push(...inside.map((line) => bar + line));
  }
  for (const row of message.components) lines.push(row.components.map(component).join(" "));
  return lines.map((line) => `  ${line}`).join("\n");
}

export const rule = (title: string): string => `\n${strong(title)}\n${dim("─".repeat(WIDTH))}`;
