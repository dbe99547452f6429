import { filterInTurns, inPieces } from "../util/event-loop.js";
import { addTo } from "../util/groups.js";
import { type Bundle, type Delivery, deliveryId, type FanOut, type Subscription } from "./collections.js";
import { GIVE_UP_MS } from "./decisions.js";
import { type Feed, receives } from "./feed.js";
import type { Subscriptions } from "./subscriptions.js";

/** Maximum number of deliveries that one commit writes. SQLite blocks the process for about 10 ms meanwhile. */
export const BUNDLE = 200;

/** A feed's subscriptions that can receive messages. */
export interface Listeners {
  readonly all: readonly Subscription[];
  readonly byChannel: ReadonlyMap<string, readonly Subscription[]>;
}

/**
 * Returns a feed's listeners. It reads all subscriptions, so call it once for many events.
 * @param now epoch ms
 */
export async function readListeners(
  subscriptions: Pick<Subscriptions, "healths" | "toFeed">,
  feed: string,
  now: number,
): Promise<Listeners> {
  const healths = await subscriptions.healths();
  const all = await filterInTurns(await subscriptions.toFeed(feed), ({ isPaused, channelId }) => {
    const { paused, goneSince } = healths.get(channelId) ?? {};
    // News for a channel that refuses it waits for a day, in case it is resumed, or the bot invited again.
    const isAbandoned = paused === true && goneSince !== undefined && now - goneSince > GIVE_UP_MS;
    return !isPaused && !isAbandoned;
  });
  const byChannel = new Map<string, Subscription[]>();
  for await (const piece of inPieces(all)) for (const each of piece) addTo(byChannel, each.channelId, each);
  return { all, byChannel };
}

/** Sorts subscriptions so that servers take turns: one with hundreds of channels must not be served before all others. */
function inTurns(subscriptions: readonly Subscription[]): readonly Subscription[] {
  const counts = new Map<string, number>();
  const placed = subscriptions.map((each) => {
    const owner = each.guildId ?? each.channelId;
    const turn = counts.get(owner) ?? 0;
    counts.set(owner, turn + 1);
    return { each, turn };
  });
  return placed.sort((a, b) => a.turn - b.turn).map(({ each }) => each);
}

/**
 * Returns the channels that each event goes to.
 * @param nextOrder returns the next position in the queue
 */
export async function fanOut(
  feed: Pick<Feed, "definition" | "idOf" | "topicOf" | "channelOf" | "wants">,
  events: readonly unknown[],
  { all, byChannel }: Listeners,
  { nextOrder, now }: { readonly nextOrder: () => number; readonly now: () => number },
): Promise<readonly FanOut[]> {
  const { name } = feed.definition;
  const fanOuts: FanOut[] = [];
  const known = new Set<string>();
  for (const event of events) {
    const eventId = feed.idOf(event);
    const onlyChannelId = feed.channelOf?.(event);
    const wanting = new Map<string, Subscription>();
    for await (const piece of inPieces(
      onlyChannelId === undefined ? all : (byChannel.get(onlyChannelId) ?? []),
    ))
      for (const subscription of piece) {
        const { channelId } = subscription;
        if (!receives(subscription, feed, event)) continue;
        const shared = wanting.get(channelId);
        const id = deliveryId(name, eventId, channelId);
        // If several of the channel's subscriptions want the event, it is delivered once for the channel.
        if (shared) wanting.set(channelId, { ...shared, subject: null });
        else if (!known.has(id)) wanting.set(channelId, subscription);
        known.add(id);
      }
    const channels = inTurns([...wanting.values()]).map(({ channelId, subject }) => ({
      channelId,
      subject,
      order: nextOrder(),
    }));
    fanOuts.push({ feed: name, eventId, event, at: now(), channels });
  }
  return fanOuts;
}

/** Divides the deliveries of events into bundles, in their order. */
export function bundlesOf(fanOuts: Iterable<FanOut>): readonly Bundle[] {
  const bundles: FanOut[][] = [];
  let room = 0;
  for (const { channels, ...event } of fanOuts)
    for (let from = 0; from < channels.length; ) {
      if (room === 0) {
        bundles.push([]);
        room = BUNDLE;
      }
      const part = channels.slice(from, from + room);
      bundles.at(-1)?.push({ ...event, channels: part });
      from += part.length;
      room -= part.length;
    }
  return bundles.map((each) => ({ fanOuts: each }));
}

/** Returns the deliveries of a bundle by id, in their order. */
export const deliveriesIn = ({ fanOuts }: Bundle): ReadonlyMap<string, Delivery> =>
  new Map(
    fanOuts.flatMap(({ feed, eventId, event, at, channels }) =>
      channels.map(({ channelId, subject, order }) => [
        deliveryId(feed, eventId, channelId),
        { feed, event, at, channelId, subject, order, attempts: 0, notBefore: 0 },
      ]),
    ),
  );

/** Returns a bundle's id: the id of its first delivery. */
export function bundleId({ fanOuts: [first] }: Bundle): string {
  const [channel] = first?.channels ?? [];
  return first && channel ? deliveryId(first.feed, first.eventId, channel.channelId) : "";
}
