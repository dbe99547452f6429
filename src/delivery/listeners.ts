import { filterInTurns, inPieces } from "../util/event-loop.js";
import { addTo } from "../util/groups.js";
import type { Subscription } from "./collections.js";
import type { DeliveryContext } from "./context.js";
import { createRemoval, isAbandoned } from "./departures.js";
import type { Feed } from "./feed.js";

/** A feed's subscriptions that can receive messages. */
export interface Listeners {
  readonly all: readonly Subscription[];
  readonly byChannel: ReadonlyMap<string, readonly Subscription[]>;
}

/**
 * Creates a function that returns a feed's listeners. It removes the subscriptions of servers that the bot left long ago. It reads
 * all subscriptions, so call it once for many events.
 */
export function createListeners(
  context: Pick<DeliveryContext, "rest" | "subscriptions" | "janitor" | "now">,
) {
  const { subscriptions, now } = context;
  const removeAbandoned = createRemoval(context);
  return async (feed: Feed): Promise<Listeners> => {
    const healths = await subscriptions.healths();
    const abandoned: Subscription[] = [];
    const listening = await filterInTurns(await subscriptions.toFeed(feed.definition.name), (each) => {
      const health = healths.get(each.channelId) ?? {};
      if (isAbandoned(health, now())) abandoned.push(each);
      // News for a channel that refuses them waits for a day, in case it is resumed.
      return !each.isPaused && !(health.paused && health.goneSince !== undefined);
    });
    await removeAbandoned(abandoned);
    const byChannel = new Map<string, Subscription[]>();
    for await (const piece of inPieces(listening))
      for (const each of piece) addTo(byChannel, each.channelId, each);
    return { all: listening, byChannel };
  };
}
