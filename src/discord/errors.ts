import { DiscordAPIError, RESTJSONErrorCodes as ErrorCode, HTTPError } from "discord.js";
import { ExplorerError, type ExplorerProblem } from "../explorer/errors.js";
import type { Log } from "../log.js";
import { StateError } from "../storage/store.js";
import { errorCode } from "../util/error-code.js";
import { PersonError } from "../util/person-error.js";

const EXPLORER_SAYS: Readonly<Record<ExplorerProblem, string>> = {
  missing: "Can't find that id on the explorer. Check that you copied all of it.",
  refused:
    "The explorer isn't accepting this bot's key at the moment. Only the bot's operator can change that. Please try again later.",
  withheld:
    "This bot can't get that information from the explorer at the moment. If you need it, tell the bot's operator.",
  rejected:
    "The explorer doesn't accept that request. Check what you typed. If it's right, tell the bot's operator.",
  limited: "The explorer is limiting requests at the moment. Please try again in a minute.",
  failing: "The explorer isn't answering at the moment. Please try again in a minute.",
  slow: "The explorer is too slow at the moment. Please try again in a minute.",
  unreadable:
    "The explorer sent an answer that I can't read, or that's too large. Please try again in a minute.",
  busy: "Many requests are waiting for the explorer at the moment. Please try again in a minute.",
  spent: "You've sent a lot of requests in a short time. Please try again in a minute.",
};

/**
 * Returns an error message for the person. Unexpected errors are logged in full, with the interaction's id, which the message
 * contains too.
 */
export function explain(error: unknown, log: Pick<Log, "error" | "warn">, interaction: string): string {
  if (error instanceof PersonError) return error.message;
  if (error instanceof ExplorerError) return EXPLORER_SAYS[error.problem];
  if (error instanceof StateError)
    return "I can't reach my storage at the moment. Please try again in a minute.";
  const code = connectionCode(error);
  if (code !== undefined) {
    log.warn({ interaction, code }, "The connection to Discord broke while an answer was sent");
    return "The connection to Discord broke while I was answering. Please try again.";
  }
  if (isOutage(error)) {
    log.warn({ interaction, err: error }, "Discord did not answer a request");
    return "Discord isn't answering all of my requests at the moment. Please try again in a minute.";
  }
  log.error({ err: error, interaction }, "Unexpected error");
  return `Something went wrong, and it's been logged. If it happens again, send this id to the bot's operator: \`${interaction}\``;
}

/** Codes of undici and Node for a connection that failed. The explorer's and Redis' errors are converted before they get here. */
const CONNECTION_CODES = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNREFUSED", "ETIMEDOUT"]);

/** Returns the code of a failed connection, or `undefined` for any other error. */
function connectionCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = errorCode(error);
  return CONNECTION_CODES.has(code) ? code : connectionCode(error.cause);
}

/**
 * Messages of errors for requests that were not sent: it timed out while it was queued (@sapphire/async-queue in @discordjs/rest), or
 * an answer 401 came shortly before it (`keepToken`).
 */
const NOT_SENT = new Set([
  "Request aborted manually",
  "Expected token to be set for this request, but none was present",
]);

/** True if @discordjs/rest did not send a request, because Discord asked to wait. */
export const isRateLimit = (error: unknown): error is Error & { timeToReset?: number; retryAfter?: number } =>
  error instanceof Error && /RateLimit/.test(error.name);

/** True if Discord failed (5xx), limited the request (429), did not answer in time, or a proxy answered, without a code of Discord. */
function isOutage(error: unknown): boolean {
  if (error instanceof HTTPError) return true;
  if (error instanceof DiscordAPIError) return error.status >= 500 || error.status === 429 || !error.code;
  const isTimeout = error instanceof Error && (error.name === "AbortError" || NOT_SENT.has(error.message));
  return isTimeout || isRateLimit(error) || (error instanceof Error && isOutage(error.cause));
}

/** Returns the kind of an error, for the metrics. */
export function kindOf(error: unknown): string {
  if (error instanceof PersonError) return error.kind;
  if (error instanceof ExplorerError) return error.problem;
  return error instanceof StateError ? "storage" : "error";
}

/** Discord's error codes. */
export { ErrorCode };

/** True if an interaction can no longer be answered. Its token, which is a webhook to Discord, is valid for 15 minutes. */
export const isTooLate = (error: unknown): boolean =>
  hasCode(error, ErrorCode.UnknownInteraction, ErrorCode.UnknownWebhook, ErrorCode.UnknownMessage);

/** True if an error is Discord's answer with one of these JSON error codes. */
export const hasCode = (error: unknown, ...codes: readonly ErrorCode[]): boolean =>
  error instanceof DiscordAPIError && codes.some((code) => code === error.code);
