import { DiscordAPIError } from "discord.js";
import { errorCode } from "../util/error-code.js";
import { present } from "../util/present.js";

/** The result of a check. */
export interface Finding {
  readonly what: string;
  /** "warn" means that it works, but the operator should know something. */
  readonly result: "pass" | "warn" | "fail";
  readonly detail: string;
  /** Advice for the operator. */
  readonly fix?: string;
}

/** Symbol at the start of a finding's line. */
export const SIGN: Readonly<Record<Finding["result"], string>> = { pass: "✔", warn: "!", fail: "✖" };

/** Returns a finding without a problem. */
export const pass = (what: string, detail: string): Finding => ({ what, result: "pass", detail });
const problem =
  (result: Finding["result"]) =>
  (what: string, detail: string, fix: string): Finding => ({ what, result, detail, fix });
/** Returns a finding that should be fixed. */
export const warn = problem("warn");
/** Returns a finding for a problem that prevents the bot from working. */
export const fail = problem("fail");

/** Error codes of an unreachable host. */
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
    ? present([
        errorCode(error) || undefined,
        ...("errors" in error && Array.isArray(error.errors) ? error.errors.flatMap(codesOf) : []),
        ...codesOf(error.cause),
      ])
    : [];

/** True if a request had no answer in time. It may still be carried out. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");

/**
 * Describes an error briefly. Addresses are left out because they may contain secrets.
 * @param host the host that the request was sent to
 */
export function wordsOf(error: unknown, host?: string): string {
  if (error instanceof DiscordAPIError) return `Discord answered ${error.status}: ${error.message}`;
  const code = codesOf(error).find((each) => UNREACHABLE.has(each));
  if (code !== undefined && host !== undefined) return `cannot be reached at ${host} (${code})`;
  const tlsCode = codesOf(error).find((each) => each.startsWith("ERR_SSL"));
  if (tlsCode !== undefined && host !== undefined) return `${host} does not answer with TLS (${tlsCode})`;
  if (isTimeout(error)) return `${host ?? "it"} did not answer in time`;
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  const [own = ""] = codesOf(error);
  return error instanceof Error ? `${error.name}${own ? ` (${own})` : ""}${cause}` : "unknown error";
}
