import { isMember } from "../discord/post.js";
import { filterInTurns, inPieces } from "../util/event-loop.js";
import { addTo } from "../util/groups.js";
import { DAY } from "../util/units.js";
import type { Subscription } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import type { Feed } from "./feed.js";

/** Time after the bot has left a server before the server's subscriptions are removed, in ms. */
const LEFT_MS = 30 * DAY;

/** Channels that are removed in one pass over the state. */
const CHANNELS_PER_REMOVAL = 50;

/** A feed's subscriptions that can receive messages. */
export interface Listeners {
  readonly all: readonly Subscription[];
  readonly byChannel: ReadonlyMap<string, readonly Subscription[]>;
}

/**
 * Creates a function that returns a feed's listeners. It removes the subscriptions of servers that the bot left long ago. It reads
 * all subscriptions, so call it once for many events.
 */
export function createListeners({
  rest,
  subscriptions,
  janitor,
  now,
}: Pick<DeliveryContext, "rest" | "subscriptions" | "janitor" | "now">) {
  /** Removes the channels of servers that the bot left long ago. If it was invited again, they stay paused. */
  const removeAbandoned = async (guilds: ReadonlyMap<string, string | null>) => {
    const byGuild = new Map<string | null, string[]>();
    for (const [channelId, guildId] of guilds) addTo(byGuild, guildId, channelId);
    const left: string[] = [];
    for (const [guildId, channelIds] of byGuild) {
      const isBack = guildId !== null && (await isMember(rest, guildId).catch(() => undefined));
      if (isBack === false) left.push(...channelIds);
      // If Discord does not answer, it is asked again with the next announcement.
      for (const channelId of isBack ? channelIds : []) {
        const { goneSince, ...others } = await subscriptions.health(channelId);
        await subscriptions.setHealth(channelId, others);
      }
    }
    for await (const piece of inPieces(left, CHANNELS_PER_REMOVAL)) await janitor.removeChannels(piece);
  };

  return async (feed: Feed): Promise<Listeners> => {
    const healths = await subscriptions.healths();
    /** Servers by channel. A subscription from the environment does not know its server, but another one in its channel may. */
    const abandoned = new Map<string, string | null>();
    const all = await filterInTurns(
      await subscriptions.toFeed(feed.definition.name),
      ({ channelId, guildId, isPaused }) => {
        const { paused = false, goneSince } = healths.get(channelId) ?? {};
        const isGone = paused && goneSince !== undefined;
        if (isGone && now() - goneSince > LEFT_MS)
          abandoned.set(channelId, guildId ?? abandoned.get(channelId) ?? null);
        // News for a channel that refuses them waits for a day, in case it is resumed.
        return !isPaused && !isGone;
      },
    );
    await removeAbandoned(abandoned);
    const byChannel = new Map<string, Subscription[]>();
    for await (const piece of inPieces(all)) for (const each of piece) addTo(byChannel, each.channelId, each);
    return { all, byChannel };
  };
}
