import { ErrorCode, hasCode, isRateLimit } from "../discord/errors.js";
import { createOwnId, guildOf, isTimedOut } from "../discord/places.js";
import { channelState, isMember } from "../discord/post.js";
import { isTemporary, problemOf, retryAfterOf, wordsFor } from "../discord/problems.js";
import {
  type Announced,
  announcedId,
  announcements,
  type Delivery,
  type Health,
  watchers,
} from "./collections.js";
import { backoffMs, GIVE_UP_MS, resultOf } from "./decisions.js";
import {
  type Attempt,
  type createRecord,
  givenUpWrites,
  type SendingContext,
  whileSubscribed,
} from "./recording.js";

/** Interval at which a paused channel is checked again, in ms. */
export const PAUSED_MS = 8_000;

/** The last error of a channel whose server the bot has left. People can only read it once the bot is back. */
export const LEFT_SERVER = "the bot was removed from the server";

/** True if a failed attempt was about a thread that may be missing or locked, and not about the whole channel. */
function concernsThread({ delivery, subscription, stage, known }: Attempt, error: unknown): boolean {
  const { channelId, claim } = delivery;
  // The search for a message that may have been sent fails where it was sent.
  const searchedId = stage === "finding" ? claim?.placeId : undefined;
  const placeId = searchedId ?? known?.threadId ?? channelId;
  // The bot may lack the permission in the whole channel. The thread still exists, so wait for the permission.
  const isForbidden =
    problemOf(error) === "no-access" || (subscription.forum && hasCode(error, ErrorCode.MissingPermissions));
  return placeId !== channelId && !isForbidden;
}

/** Returns an announcement whose thread or post takes no more news. A message in the channel itself can still be replied to. */
function withoutPlace(known: Announced): Announced {
  const { threadId, ...others } = known;
  return threadId !== undefined && known.in === known.channelId ? others : { ...known, gone: true };
}

/** Creates the function that writes the result of a failed delivery. */
export function createFail(context: SendingContext, record: ReturnType<typeof createRecord>) {
  const { state, rest, subscriptions, janitor, commit, waitingFor, onDelivered, log, now } = context;
  const announced = state.open(announcements);
  const ownId = createOwnId(rest);

  const recordError = (delivery: Delivery, error: string, more: Health = {}) =>
    whileSubscribed(subscriptions, delivery, async (unchanged) => {
      const { channelId } = delivery;
      const health = { ...(await subscriptions.health(channelId)), error, erroredAt: now(), ...more };
      return state.commit([unchanged, subscriptions.healthWrite(channelId, health)]);
    });

  /** Returns the writes that record that the person refuses direct messages. Their next command tells them. */
  const refusalWrites = async (userId: string | null, channelId: string) => {
    const people = state.open(watchers);
    const person = userId === null ? undefined : await people.get(userId);
    return userId !== null && person
      ? [people.expect(userId, person), people.put(userId, { channelId, refusedAt: now() })]
      : [];
  };

  /**
   * Returns in words why a refusal may end by itself, so that the channel is not paused: the bot is timed out in its server, or
   * Discord does not say if it is.
   */
  const passingReason = async (
    { subscription: { guildId, channelId } }: Attempt,
    error: unknown,
  ): Promise<string | undefined> => {
    if (!hasCode(error, ErrorCode.MissingPermissions)) return undefined;
    try {
      const serverId = guildId ?? (await guildOf(rest, channelId));
      const isForTimeout = serverId !== null && (await isTimedOut(rest, serverId, await ownId()));
      return isForTimeout ? "the bot is timed out in the server" : undefined;
    } catch (cause) {
      return isTemporary(problemOf(cause)) ? wordsFor(cause) : undefined;
    }
  };

  /** Pauses a channel that the bot can't write to. Its deliveries wait until it is resumed or a day has passed. */
  const pause = async ({ id, subscription }: Attempt, waiting: Delivery, error: unknown) => {
    const { guildId, userId, channelId } = subscription;
    const hasLeftServer =
      problemOf(error) === "no-access" &&
      guildId !== null &&
      !(await isMember(rest, guildId).catch(() => true));
    const isWaiting = await whileSubscribed(subscriptions, waiting, async (unchanged) =>
      commit(id, waiting, [unchanged, ...(await refusalWrites(userId, channelId))]),
    );
    if (!isWaiting) {
      await commit(id, undefined);
      return;
    }
    // The operator cannot change what a person refuses.
    onDelivered(waiting.feed, userId === null ? "paused" : "refused", now() - waiting.at);
    if (hasLeftServer) await recordError(waiting, LEFT_SERVER, { paused: true, goneSince: now() });
    else await recordError(waiting, wordsFor(error), { paused: true });
  };

  /** Removes a deleted channel. One that the environment sets is paused instead. */
  const dropChannel = async (attempt: Attempt, later: (ms: number) => Delivery, error: unknown) => {
    const { id, subscription, delivery } = attempt;
    const { channelId } = delivery;
    if ((await channelState(rest, channelId)) !== "deleted") {
      await commit(id, later(backoffMs(delivery.attempts, Math.random())));
      return;
    }
    const variable = subscriptions.variableOf(subscription);
    if (variable !== undefined) {
      await pause(attempt, later(PAUSED_MS), error);
      log.error({ channel: channelId, variable }, "Discord knows no channel with the id in this variable");
      return;
    }
    for (const waitingId of [id, ...(await waitingFor(channelId)).keys()]) await commit(waitingId, undefined);
    await janitor.removeChannels([channelId]);
    log.info({ channel: channelId }, "A subscribed channel was deleted; removed its subscriptions");
  };

  return async (attempt: Attempt, error: unknown): Promise<void> => {
    const { id, feed, delivery, stage, known } = attempt;
    const { channelId, event, at, attempts } = delivery;
    // Rendering asks about other channels, people and roles, so its errors do not concern this channel.
    const problem = stage === "rendering" ? "unknown" : problemOf(error);
    log.warn({ err: error, delivery: id, channel: channelId, problem }, "A delivery failed");
    const isSending = stage === "sending";
    const hasThread = concernsThread(attempt, error);
    const { claim, ...unclaimed } = delivery;
    // If the message may have been sent, keep the claim, so that the next attempt looks for it first.
    const isDoubtful = claim !== undefined && (problem === "unknown" || !isSending);
    const later = (ms: number): Delivery => ({
      ...(isDoubtful ? delivery : unclaimed),
      attempts: attempts + 1,
      notBefore: now() + ms,
    });
    const result = resultOf({ problem, isSending, hasThread, ageMs: now() - at });
    // News that is a day old is given up in its thread as well.
    const isLasting = (result === "pause" || result === "stand-alone") && now() - at <= GIVE_UP_MS;
    const reason = isLasting ? await passingReason(attempt, error) : undefined;
    if (reason !== undefined) {
      await commit(id, later(backoffMs(attempts, Math.random())));
      await recordError(delivery, reason);
      return;
    }
    switch (result) {
      case "arrived":
        return record(attempt, { messageId: "", in: channelId, gone: true, pings: "" });
      case "stand-alone": {
        const [subject = ""] = feed.subjectsOf(event);
        const knownId = announcedId(delivery.feed, subject, channelId);
        const reachedWrites = known
          ? [announced.expect(knownId, known), announced.put(knownId, withoutPlace(known))]
          : [];
        await commit(id, unclaimed, reachedWrites);
        return;
      }
      case "drop-channel":
        return dropChannel(attempt, later, error);
      case "give-up":
        await commit(id, undefined, await givenUpWrites(feed, delivery));
        onDelivered(delivery.feed, "given-up", now() - at);
        log.error({ err: error, delivery: id, channel: channelId }, "Gave up a delivery");
        await recordError(
          delivery,
          problem === "invalid" ? wordsFor(error) : "given up after a day of trying",
        );
        return;
      case "pause":
        return pause(attempt, later(PAUSED_MS), error);
      case "retry":
        await commit(id, later(retryAfterOf(error) || backoffMs(attempts, Math.random())));
        // Waiting for a turn is no error.
        if (stage !== "rendering" && !isRateLimit(error)) await recordError(delivery, wordsFor(error));
    }
  };
}
