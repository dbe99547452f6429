import { channelState, isMember } from "../discord/post.js";
import { ageOf } from "../util/clock.js";
import { filterInTurns } from "../util/event-loop.js";
import { DAY } from "../util/units.js";
import type { Health, Subscription } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { LEFT_SERVER } from "./deliver.js";
import { lineOf } from "./send.js";

/** Time without a delivery after which a channel is looked up, in ms. */
const QUIET_MS = 7 * DAY;
/** Maximum number of channels looked up in one run. They are chosen at random, so that each is checked at some time. */
const MAX_CHECKED = 20;

/** True if no delivery would show soon that a channel is gone: it is paused, or has been quiet for a week. */
const isQuiet = ({ since }: Subscription, { paused, deliveredAt = 0, goneSince }: Health, now: number) =>
  goneSince === undefined && (paused === true || ageOf(Math.max(since, deliveredAt), now) > QUIET_MS);

interface DeparturesContext
  extends Pick<
    DeliveryContext,
    "state" | "lease" | "rest" | "subscriptions" | "janitor" | "pacer" | "log" | "now"
  > {
  readonly stopping: AbortSignal;
}

/**
 * Creates the job that looks up some quiet channels. It removes the subscriptions of those that were deleted, and notes when the bot
 * has left a server, whose subscriptions are removed later (listeners.ts).
 */
export function createDepartures(context: DeparturesContext) {
  const { state, lease, rest, subscriptions, janitor, pacer, log, now, stopping } = context;

  /** Notes that the bot has left a channel's server, unless the subscription was removed meanwhile. */
  const noteLeft = async (subscription: Subscription) => {
    const { channelId } = subscription;
    const unchanged = await subscriptions.unchanged(subscription);
    const left = { paused: true, goneSince: now(), error: LEFT_SERVER, erroredAt: now() };
    const health = { ...(await subscriptions.health(channelId)), ...left };
    if (unchanged) await state.commit([unchanged, subscriptions.healthWrite(channelId, health)]);
  };

  /** Looks a channel up. @returns how it is gone; `undefined` if it is there, or Discord does not answer */
  const departureOf = async ({
    channelId,
    guildId,
  }: Subscription): Promise<"deleted" | "left" | undefined> => {
    const found = await channelState(rest, channelId);
    if (found === "deleted") return "deleted";
    const mayHaveLeft = found === "closed" && guildId !== null;
    return mayHaveLeft && !(await isMember(rest, guildId).catch(() => true)) ? "left" : undefined;
  };

  /** Returns those of some channels that are gone. */
  const goneAmong = async (all: readonly Subscription[]) => {
    const gone: { readonly each: Subscription; readonly how: "deleted" | "left" }[] = [];
    for (const each of all) {
      if (stopping.aborted || lease.validUntil() <= now()) return [];
      await pacer.turn(lineOf(each), "edit");
      const how = await departureOf(each);
      if (how) gone.push({ each, how });
    }
    return gone;
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
    const seemGone = await goneAmong(chosen.map(({ each }) => each));
    // In an incident, Discord may not know a channel or a server for a moment.
    for (const { each, how } of await goneAmong(seemGone.map((gone) => gone.each))) {
      const { channelId } = each;
      if (how === "left") await noteLeft(each);
      else {
        await janitor.removeChannels([channelId]);
        log.info({ channel: channelId }, "A subscribed channel was deleted; removed its subscriptions");
      }
    }
  };
}
