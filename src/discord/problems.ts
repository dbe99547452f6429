import { DiscordAPIError } from "discord.js";
import { HOUR } from "../util/units.js";
import { ErrorCode, isRateLimit } from "./errors.js";

/** Kind of a failed request to a channel. */
export type PostProblem =
  /** The channel no longer exists. */
  | "channel-deleted"
  /** The bot cannot see the channel: it lost access, or has left the server. */
  | "no-access"
  /** A person must change something first. */
  | "permanent"
  /** Discord will never accept this message. */
  | "invalid"
  /** An earlier message with this nonce was delivered and then deleted. */
  | "deleted-by-somebody"
  /** Discord did not accept the message. It can be sent again. */
  | "refused-for-now"
  /** It is not known if the message arrived. */
  | "unknown";

/** Codes of refusals that end by themselves, as in an incident of Discord. */
const TEMPORARY: ReadonlySet<number | string> = new Set([
  ErrorCode.MaximumActiveThreads,
  ErrorCode.MaximumActiveAnnouncementThreads,
  ErrorCode.OpeningDirectMessagesTooFast,
  ErrorCode.CloudflareIsBlockingYourRequest,
  ErrorCode.SendMessagesHasBeenTemporarilyDisabled,
  ErrorCode.FeatureTemporarilyDisabledServerSide,
  ErrorCode.APIResourceOverloaded,
  // Not in discord-api-types: "the resource is overloaded, try again later".
  110_001,
  ErrorCode.ActionCannotBePerformedDueToSlowmodeRateLimit,
  ErrorCode.AnnouncementEditLimitExceeded,
  ErrorCode.ServiceResourceIsBeingRateLimited,
]);
/** Codes of refusals that concern one message, not its channel. */
const OF_A_MESSAGE: ReadonlySet<number | string> = new Set([
  ErrorCode.InvalidFormBodyOrContentType,
  ErrorCode.RequestEntityTooLarge,
  ErrorCode.MessageWasBlockedByAutomaticModeration,
  ErrorCode.TitleWasBlockedByAutomaticModeration,
  ErrorCode.MessageBlockedByHarmfulLinksFilter,
]);

/** True if the same request may succeed later. */
export const isTemporary = (problem: PostProblem): boolean =>
  problem === "refused-for-now" || problem === "unknown";

/** True if the bot can't write to the channel until a person changes something. */
export const isClosed = (problem: PostProblem): boolean =>
  problem === "channel-deleted" || problem === "no-access" || problem === "permanent";

/** Classifies a failed request to a channel. */
export function problemOf(error: unknown): PostProblem {
  if (!(error instanceof DiscordAPIError)) return isRateLimit(error) ? "refused-for-now" : "unknown";
  switch (error.code) {
    case ErrorCode.UnknownChannel:
      return "channel-deleted";
    case ErrorCode.UnknownMessage:
      return "deleted-by-somebody";
    case ErrorCode.MissingAccess:
      return "no-access";
    default:
      if (error.status >= 500) return "unknown";
      if (OF_A_MESSAGE.has(error.code)) return "invalid";
      // An error without a Discord code concerns the whole bot, not this channel.
      if (error.status === 429 || error.status === 401 || !error.code || TEMPORARY.has(error.code))
        return "refused-for-now";
      return "permanent";
  }
}

/** Maximum wait until a limited request is tried again, in ms. While an address is banned, Discord may ask to wait a day. */
const MAX_RETRY_AFTER_MS = HOUR;

/** Returns the wait that Discord asks for, in ms, at most an hour. 0 if it limits the bot without a wait. `undefined` for other errors. */
export function retryAfterOf(error: unknown): number | undefined {
  if (!isRateLimit(error)) return undefined;
  // A wait that is no number, such as a date in the header, is NaN.
  const waits = [error.timeToReset ?? 0, error.retryAfter ?? 0].filter(Number.isFinite);
  return Math.min(Math.max(0, ...waits), MAX_RETRY_AFTER_MS);
}

/** Describes an error in words for people. */
export function wordsFor(error: unknown): string {
  if (!(error instanceof DiscordAPIError)) return "Discord did not answer";
  const wordsByCode: Partial<Record<number | string, string>> = {
    [ErrorCode.UnknownChannel]: "the channel was deleted",
    [ErrorCode.MissingAccess]: "the bot can't see the channel. Grant it View Channel there",
    [ErrorCode.CannotSendMessagesToThisUser]: "Discord won't let the bot message this person",
    [ErrorCode.MissingPermissions]: "the bot can't post there. Grant it Send Messages and Embed Links",
    [ErrorCode.TagRequiredToCreateAForumPostInThisChannel]:
      "the forum requires a tag. Subscribe again to set one",
    [ErrorCode.UnknownTag]: "the posts' tag was deleted. Resume the subscription to pick another",
    [ErrorCode.MaximumActiveThreads]: "the server has too many active threads",
    [ErrorCode.InvalidActionOnArchivedThread]: "the thread is locked",
    [ErrorCode.ThreadLocked]: "the thread is locked",
  };
  return wordsByCode[error.code] ?? `Discord refused it (${error.code})`;
}
