import { isDeleted, isMember } from "../discord/post.js";
import { ageOf } from "../util/clock.js";
import { filterInTurns } from "../util/event-loop.js";
import { DAY } from "../util/units.js";
import type { Health, Subscription } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { lineOf } from "./send.js";

/** Time without a delivery after which a channel is looked up, in ms. */
const QUIET_MS = 7 * DAY;
/** Maximum number of channels that are looked up at a time. Which ones is up to chance, so that each has its turn. */
const MAX_CHECKED = 200;

/** True if no delivery would show soon that a channel is gone: it is paused, or has been quiet for a week. */
const isQuiet = ({ since }: Subscription, { paused, deliveredAt = 0, goneSince }: Health, now: number) =>
  goneSince === undefined && (paused === true || ageOf(Math.max(since, deliveredAt), now) > QUIET_MS);

/**
 * Creates the daily job that looks up quiet channels. It removes the subscriptions of those that were deleted, and notes when the bot
 * has left a server, whose subscriptions are removed later (listeners.ts).
 */
export function createDepartures({
  state,
  rest,
  subscriptions,
  janitor,
  pacer,
  log,
  now,
}: Pick<DeliveryContext, "state" | "rest" | "subscriptions" | "janitor" | "pacer" | "log" | "now">) {
  /** Notes that the bot has left a channel's server, unless the subscription was removed meanwhile. */
  const noteLeft = async (subscription: Subscription) => {
    const { channelId } = subscription;
    const unchanged = await subscriptions.unchanged(subscription);
    const health = { ...(await subscriptions.health(channelId)), paused: true, goneSince: now() };
    if (unchanged) await state.commit([unchanged, subscriptions.healthWrite(channelId, health)]);
  };

  /** Looks channels up, and returns those that Discord does not know. */
  const deletedAmong = async (all: readonly Subscription[]): Promise<readonly Subscription[]> => {
    const deleted: Subscription[] = [];
    for (const each of all) {
      await pacer.turn(lineOf(each), "edit");
      if (await isDeleted(rest, each.channelId)) deleted.push(each);
      else if (each.guildId !== null && !(await isMember(rest, each.guildId).catch(() => true)))
        await noteLeft(each);
    }
    return deleted;
  };

  return async (): Promise<void> => {
    const [all, healths] = await Promise.all([subscriptions.all(), subscriptions.healths()]);
    const quiet = await filterInTurns(
      all,
      (each) =>
        each.userId === null &&
        !subscriptions.isFixed(each) &&
        isQuiet(each, healths.get(each.channelId) ?? {}, now()),
    );
    const byChannel = new Map(quiet.map((each) => [each.channelId, each]));
    const chosen = [...byChannel.values()]
      .map((each) => ({ each, chance: Math.random() }))
      .sort((a, b) => a.chance - b.chance)
      .slice(0, MAX_CHECKED);
    // In an incident, Discord may not know a channel for a moment.
    for (const { channelId } of await deletedAmong(await deletedAmong(chosen.map(({ each }) => each)))) {
      await janitor.removeChannels([channelId]);
      log.info({ channel: channelId }, "A subscribed channel was deleted; removed its subscriptions");
    }
  };
}
