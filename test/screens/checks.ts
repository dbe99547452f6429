import type { APIEmbed } from "discord-api-types/v10";
import { expect } from "vitest";

/** Hostile and odd text that strangers may enter. */
export const HOSTILE = [
  "@everyone",
  "<@123456789012345678>",
  "<@&123456789012345678>",
  "**bold** __x__ ~~y~~ ||z||",
  "`code` ```block",
  "[x](https://evil.example)",
  "https://evil.example/phish",
  "<:e:123456789012345678>",
  ":smile:",
  "\u202eevil\u0000",
  "# big",
  "> quote",
  "- item\n- item",
  "1. one",
  "\\",
  "x".repeat(5_000),
  "🧨".repeat(3_000),
  "\ud800",
  "\n\n\n",
  " ",
  "",
  "-0",
  "1e999",
  "99999999999999999999.5",
  "javascript:alert(1)",
  "http://",
  "https://x.example/`)(",
];

/** Unescaped markup that Discord would act on. Code spans and the bot's own links are removed before the check. */
const LIVE = [
  /(?<!\\)<@/,
  /(?<!\\)<:e/,
  /(?<!\\)\*\*bold/,
  /(?<!\\)\[x\]/,
  /(?<!\\):smile:/,
  /https:\/\/evil\.example\/phish/,
  /\u202e/,
  /^# big/m,
  /^- item/m,
  /^> quote(?!$)/m,
];

/** Fails if a message contains live markup from untrusted text, or an undefined, invalid or implausible value. */
export function expectSafe({ embeds, components }: { embeds: readonly object[]; components: unknown }): void {
  expect(JSON.stringify([embeds, components])).not.toMatch(/undefined|NaN|\[object |Invalid Date|Infinity|∞/);
  const shown = embeds.flatMap((each) => {
    const embed = each as APIEmbed;
    return [embed.title ?? "", embed.description ?? "", ...(embed.fields ?? []).map(({ value }) => value)];
  });
  for (const [, seconds] of shown.join().matchAll(/<t:(-?\d+)/g))
    expect(Number(seconds)).toBeGreaterThan(Date.UTC(2020) / 1_000);
  const prose = shown
    .map((each) => each.replace(/```[\s\S]*?```|(?<!\\)`[^`\n]*`|\]\(https?:[^)\s]*\)/g, ""))
    .join("\n");
  for (const live of LIVE) expect(prose).not.toMatch(live);
}
