import { channelState, isMember } from "../discord/post.js";
import { ageOf } from "../util/clock.js";
import { filterInTurns, inPieces } from "../util/event-loop.js";
import { addTo } from "../util/groups.js";
import { DAY } from "../util/units.js";
import type { Health, Subscription } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { LEFT_SERVER } from "./failing.js";
import { lineOf } from "./send.js";

/** Time without a delivery after which a channel is looked up, in ms. */
const QUIET_MS = 7 * DAY;
/** The last error of a channel whose server has invited the bot again. */
const INVITED_AGAIN = "the bot was removed from the server, and has been invited again";
/** Maximum number of channels, and of servers, looked up in one run. They are chosen at random, so that each is checked at some time. */
const MAX_CHECKED = 20;

/** True if no delivery would show soon that a channel is gone: it is paused, or has been quiet for a week. */
const isQuiet = ({ since }: Subscription, { paused, deliveredAt = 0, goneSince }: Health, now: number) =>
  goneSince === undefined && (paused === true || ageOf(Math.max(since, deliveredAt), now) > QUIET_MS);

/** Time after the bot has left a server before the server's subscriptions are removed, in ms. */
const LEFT_MS = 30 * DAY;

/** Time after which the watches of a person who refuses messages are removed, in ms. Without a common server, they can't do it. */
const REFUSED_MS = 365 * DAY;

/** Channels that are removed in one pass over the state. */
const CHANNELS_PER_REMOVAL = 50;

/**
 * True if a channel's subscriptions are removed, because the bot left its server long ago, or a person has refused messages for a year.
 * @param now epoch ms
 */
function isAbandoned(
  { userId }: Pick<Subscription, "userId">,
  { paused = false, goneSince, erroredAt }: Health,
  now: number,
): boolean {
  if (!paused) return false;
  if (userId !== null) return erroredAt !== undefined && now - erroredAt > REFUSED_MS;
  return goneSince !== undefined && now - goneSince > LEFT_MS;
}

/** Returns channels by their server. A subscription from the environment does not know it, but another one in its channel may. */
function byServer(subscribed: readonly Subscription[]): ReadonlyMap<string | null, readonly string[]> {
  const guilds = new Map<string, string | null>();
  for (const { channelId, guildId } of subscribed)
    guilds.set(channelId, guildId ?? guilds.get(channelId) ?? null);
  const byGuild = new Map<string | null, string[]>();
  for (const [channelId, guildId] of guilds) addTo(byGuild, guildId, channelId);
  return byGuild;
}

/** Returns those that are looked up in one run. */
const atRandom = <T>(all: Iterable<T>): T[] =>
  [...all]
    .map((each) => ({ each, chance: Math.random() }))
    .sort((a, b) => a.chance - b.chance)
    .slice(0, MAX_CHECKED)
    .map(({ each }) => each);

interface DeparturesContext
  extends Pick<
    DeliveryContext,
    "state" | "lease" | "rest" | "subscriptions" | "janitor" | "pacer" | "log" | "now"
  > {
  readonly stopping: AbortSignal;
}

/**
 * Creates the job that looks up some quiet channels. It removes the subscriptions of those that were deleted, and notes when the bot
 * has left a server, whose subscriptions it removes 30 days later.
 */
export function createDepartures(context: DeparturesContext) {
  const { state, lease, rest, subscriptions, janitor, pacer, log, now, stopping } = context;

  /**
   * Notes which of some servers have invited the bot again: their channels stay paused, and news waits for them again. Returns the
   * channels of the others. If Discord does not answer, a server is left for the next run.
   */
  const noteReturned = async (
    byGuild: Iterable<readonly [string | null, readonly string[]]>,
  ): Promise<string[]> => {
    const leftChannelIds: string[] = [];
    for (const [guildId, channelIds] of byGuild) {
      if (stopping.aborted || lease.validUntil() <= now()) break;
      const isBack = guildId !== null && (await isMember(rest, guildId).catch(() => undefined));
      if (isBack === false) leftChannelIds.push(...channelIds);
      for (const channelId of isBack ? channelIds : []) {
        const { goneSince, ...others } = await subscriptions.health(channelId);
        // People may have resumed it meanwhile.
        if (goneSince !== undefined)
          await subscriptions.setHealth(channelId, { ...others, error: INVITED_AGAIN });
      }
    }
    return leftChannelIds;
  };

  /** Removes abandoned channels. */
  const removeAbandoned = async (abandoned: readonly Subscription[]): Promise<void> => {
    const leftChannelIds = await noteReturned(byServer(abandoned));
    for await (const piece of inPieces(leftChannelIds, CHANNELS_PER_REMOVAL)) {
      // People may have resumed some of them meanwhile.
      const healths = await subscriptions.healths();
      await janitor.removeChannels(piece.filter((channelId) => healths.get(channelId)?.paused));
    }
  };

  /** Notes that the bot has left a channel's server, unless the subscription was removed meanwhile. */
  const noteLeft = async (subscription: Subscription) => {
    const { channelId } = subscription;
    const unchanged = await subscriptions.unchanged(subscription);
    const pausedHealth = { paused: true, goneSince: now(), error: LEFT_SERVER, erroredAt: now() };
    const health = { ...(await subscriptions.health(channelId)), ...pausedHealth };
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
    const endedSubscriptions: { readonly each: Subscription; readonly how: "deleted" | "left" }[] = [];
    for (const each of all) {
      if (stopping.aborted || lease.validUntil() <= now()) return [];
      await pacer.turn(lineOf(each), "edit");
      const how = await departureOf(each);
      if (how) endedSubscriptions.push({ each, how });
    }
    return endedSubscriptions;
  };

  return async (): Promise<void> => {
    const [all, healths] = await Promise.all([subscriptions.all(), subscriptions.healths()]);
    const healthOf = ({ channelId }: Subscription) => healths.get(channelId) ?? {};
    const isRemoved = (each: Subscription) => isAbandoned(each, healthOf(each), now());
    const left = await filterInTurns(
      all,
      (each) => healthOf(each).goneSince !== undefined && !isRemoved(each),
    );
    await noteReturned(atRandom(byServer(left)));
    await removeAbandoned(await filterInTurns(all, isRemoved));
    const quiet = await filterInTurns(
      all,
      (each) => each.userId === null && !subscriptions.isFixed(each) && isQuiet(each, healthOf(each), now()),
    );
    const byChannel = new Map(quiet.map((each) => [each.channelId, each]));
    const seemGone = await goneAmong(atRandom(byChannel.values()));
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
