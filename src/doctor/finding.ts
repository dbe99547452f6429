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

/** What stands before a line about it. */
export const SIGN: Readonly<Record<Finding["result"], string>> = { pass: "✔", warn: "!", fail: "✖" };

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

/** What the network says where nobody is there, or on the way. */
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const codesOf = (error: unknown): readonly string[] =>
  error instanceof Error
    ? [
        ...("code" in error ? [String(error.code)] : []),
        ...("errors" in error && Array.isArray(error.errors) ? error.errors.flatMap(codesOf) : []),
        ...codesOf(error.cause),
      ]
    : [];

/**
 * An error in few words, without addresses, which may hold secrets.
 * @param host whom was asked
 */
export function wordsOf(error: unknown, host?: string): string {
  if (error instanceof DiscordAPIError) return `Discord answered ${error.status}: ${error.message}`;
  const code = codesOf(error).find((each) => UNREACHABLE.has(each));
  if (code !== undefined && host !== undefined) return `cannot be reached at ${host} (${code})`;
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  const [own = ""] = codesOf(error);
  return error instanceof Error ? `${error.name}${own ? ` (${own})` : ""}${cause}` : "unknown error";
}
