import { DiscordAPIError } from "discord.js";

/** One thing the bot needs, and how it stands. */
export interface Finding {
  readonly what: string;
  /** "warn": it works, but the operator should know something. */
  readonly result: "pass" | "warn" | "fail";
  readonly detail: string;
  /** What to do about it. */
  readonly fix?: string;
}

/** What is as it should be. */
export const pass = (what: string, detail: string): Finding => ({ what, result: "pass", detail });
/** What works, but had better be mended. */
export const warn = (what: string, detail: string, fix: string): Finding => ({
  what,
  result: "warn",
  detail,
  fix,
});
/** What the bot cannot work with. */
export const fail = (what: string, detail: string, fix: string): Finding => ({
  what,
  result: "fail",
  detail,
  fix,
});

/** An error in few words, without addresses, which may hold secrets. */
export function wordsOf(error: unknown): string {
  if (error instanceof DiscordAPIError) return `Discord answered ${error.status}: ${error.message}`;
  const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return error instanceof Error ? `${error.name}${code}${cause}` : "unknown error";
}
