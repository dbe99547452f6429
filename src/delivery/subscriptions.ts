import { changeDocument, type State } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import { inPieces, yieldIfBusy } from "../util/event-loop.js";
import { addTo } from "../util/groups.js";
import { present } from "../util/present.js";
import { lazy, sharedRun } from "../util/single-flight.js";
import {
  channelHealths,
  type Health,
  type Subscription,
  subscriptionDocuments,
  subscriptionId,
} from "./collections.js";
import { draftOf, type FeedDefinition } from "./feed.js";

/** Identifies a subscription: a channel, a feed, and a subject if the feed offers several. */
export type SubscriptionKey = Pick<Subscription, "channelId" | "feed" | "subject">;

/** All subscriptions of a network and the health of their channels. The janitor removes subscriptions. */
export interface Subscriptions {
  all(): Promise<readonly Subscription[]>;
  /** Returns all subscriptions to a feed. */
  toFeed(feed: string): Promise<readonly Subscription[]>;
  /**
   * Returns the subscriptions of some places: channels, servers and people. They are current as far as this process changes
   * them, and a few seconds old otherwise. `NO_SERVER` stands for those whose server is unknown because the environment sets them.
   */
  of(places: readonly string[]): Promise<readonly Subscription[]>;
  get(key: SubscriptionKey): Promise<Subscription | undefined>;
  /** Returns the recipients of a delivery. Without a subject, these are all subscriptions of its channel to its feed. */
  recipients(delivery: SubscriptionKey): Promise<readonly Subscription[]>;
  /** Returns a server's subscriptions to a feed that are not paused, oldest first. */
  activeIn(guildId: string, feed: string): Promise<readonly Subscription[]>;
  /**
   * Returns the writes that save a subscription.
   * @param replaced a subscription that it replaces
   */
  writes(subscription: Subscription, replaced?: Subscription): readonly Write[];
  /** Changes the latest version of a stored subscription. Returns the new one, `undefined` if it was removed. */
  change(
    key: SubscriptionKey,
    change: (subscription: Subscription) => Subscription,
  ): Promise<Subscription | undefined>;
  health(channelId: string): Promise<Health>;
  /** Returns an expectation that fails a commit if the stored subscription, or its absence, has changed. */
  expectation(key: SubscriptionKey): Promise<Write>;
  /**
   * Returns that expectation, or `undefined` if the subscription was removed. It prevents recording a delivery
   * for a subscription that the janitor has just removed.
   */
  unchanged(key: SubscriptionKey): Promise<Write | undefined>;
  /** Returns the health of channels, by channel id. */
  healths(): Promise<ReadonlyMap<string, Health>>;
  healthWrite(channelId: string, health: Health): Write;
  setHealth(channelId: string, health: Health): Promise<void>;
  /** True if the environment sets the subscription, so that no command can remove it. */
  isFixed(key: SubscriptionKey): boolean;
  /** Returns the variable that sets the subscription, or `undefined` if a command does. */
  variableOf(key: SubscriptionKey): string | undefined;
}

/** A subscription that is set in the environment. */
export interface FixedSubscription {
  readonly channelId: string;
  /** The variable that sets it, such as OPERATOR_CHANNEL_ID. */
  readonly variable: string;
  readonly feed: FeedDefinition;
}

/** Returns a subscription's id. */
export const idOf = ({ channelId, feed, subject }: SubscriptionKey): string =>
  subscriptionId(channelId, feed, subject);

/** Maximum age of the index of subscriptions, in ms. Other processes may have changed them. */
const KNOWN_MS = 5_000;
/** The place of subscriptions that have neither a server nor a person. */
export const NO_SERVER = "";

/** Returns the channel of a subscription, and its server or person. */
const placesOf = ({ channelId, guildId, userId }: Subscription): readonly string[] => [
  channelId,
  guildId ?? userId ?? NO_SERVER,
];

/** Indexes subscriptions by place, and by `<place>/<feed>`. Discord's ids are unique across channels, servers and people. */
async function byPlaceAndFeed(all: readonly Subscription[]): Promise<ReadonlyMap<string, Subscription[]>> {
  const index = new Map<string, Subscription[]>();
  for (const each of all) {
    await yieldIfBusy();
    for (const place of placesOf(each))
      for (const key of [place, `${place}/${each.feed}`]) addTo(index, key, each);
  }
  return index;
}

/** All subscriptions, and what follows from them until a document changes. */
interface Listing {
  readonly documents: ReadonlyMap<string, Subscription>;
  readonly fixedCount: number;
  readonly all: readonly Subscription[];
  readonly byFeed: ReadonlyMap<string, readonly Subscription[]>;
  byPlace(): ReturnType<typeof byPlaceAndFeed>;
}

/**
 * Creates the subscriptions of a network: stored ones, and those from the environment.
 * @param environment called each time, because the oldest network is only known once the state has been read
 */
export function createSubscriptions(
  state: State,
  environment: () => readonly FixedSubscription[] = () => [],
): Subscriptions {
  const stored = state.open(subscriptionDocuments);
  const healths = state.open(channelHealths);
  const fixed = (): ReadonlyMap<string, Subscription> =>
    new Map(
      environment().map(({ channelId, feed }) => [
        subscriptionId(channelId, feed.name, null),
        draftOf(feed, channelId),
      ]),
    );

  // A command may change the settings of a subscription from the environment.
  const merged = (base: Subscription | undefined, own: Subscription | undefined): Subscription | undefined =>
    base ? { ...base, ...own } : own;

  let lastListing: Listing | undefined;
  // Shared, because many people may list their subscriptions at the same time.
  const listing = sharedRun(async (): Promise<Listing> => {
    const documents = await stored.list();
    const bases = fixed();
    if (lastListing?.documents === documents && lastListing.fixedCount === bases.size) return lastListing;
    const found: Subscription[] = [];
    const byFeed = new Map<string, Subscription[]>();
    for await (const ids of inPieces(new Set([...bases.keys(), ...documents.keys()])))
      for (const id of ids) {
        const subscription = merged(bases.get(id), documents.get(id));
        if (!subscription) continue;
        found.push(subscription);
        addTo(byFeed, subscription.feed, subscription);
      }
    lastListing = {
      documents,
      fixedCount: bases.size,
      all: found,
      byFeed,
      byPlace: lazy(() => byPlaceAndFeed(found)),
    };
    return lastListing;
  });

  /** Index from a few seconds ago, because thousands of deliveries may need it at once. */
  let cachedIndex:
    | {
        readonly at: number;
        readonly commits: number;
        readonly index: Promise<ReadonlyMap<string, Subscription[]>>;
      }
    | undefined;
  const subscriptionsByPlace = () => {
    const now = performance.now();
    const commits = stored.commits();
    if (cachedIndex && cachedIndex.commits === commits && now - cachedIndex.at < KNOWN_MS)
      return cachedIndex.index;
    const index = listing().then(({ byPlace }) => byPlace());
    cachedIndex = { at: now, commits, index };
    index.catch(() => {
      cachedIndex = undefined;
    });
    return index;
  };
  /** Returns the current subscriptions of a channel or server to a feed. */
  const currentIn = async (place: string, feed: string): Promise<readonly Subscription[]> => {
    const candidates = (await subscriptionsByPlace()).get(`${place}/${feed}`) ?? [];
    return (await Promise.all(candidates.map(get))).filter((each) => each !== undefined);
  };

  const get = async (key: SubscriptionKey) => merged(fixed().get(idOf(key)), await stored.get(idOf(key)));

  return {
    all: async () => (await listing()).all,
    toFeed: async (feed) => (await listing()).byFeed.get(feed) ?? [],
    async of(places) {
      const index = await subscriptionsByPlace();
      return [...new Set(places.flatMap((place) => index.get(place) ?? []))];
    },
    get,
    async recipients(key) {
      const exactMatch = await get(key);
      if (exactMatch || key.subject !== null) return exactMatch ? [exactMatch] : [];
      // A channel that has just subscribed is not in the index yet.
      if (!(await subscriptionsByPlace()).has(`${key.channelId}/${key.feed}`)) cachedIndex = undefined;
      return currentIn(key.channelId, key.feed);
    },
    async activeIn(guildId, feed) {
      const subscribed = await currentIn(guildId, feed);
      const paused = await Promise.all(
        subscribed.map(
          async (each) => each.isPaused || ((await healths.get(each.channelId))?.paused ?? false),
        ),
      );
      return subscribed
        .filter((_, index) => !paused[index])
        .sort((a, b) => a.since - b.since || (idOf(a) < idOf(b) ? -1 : 1));
    },
    writes(subscription, replaced) {
      const id = idOf(subscription);
      const isMoved = replaced !== undefined && idOf(replaced) !== id;
      return present([isMoved && stored.delete(idOf(replaced)), stored.put(id, subscription)]);
    },
    change: (key, change) =>
      changeDocument(state, subscriptionDocuments, idOf(key), (own) => {
        const current = merged(fixed().get(idOf(key)), own);
        return current && change(current);
      }),
    health: async (channelId) => (await healths.get(channelId)) ?? {},
    expectation: async (key) => stored.expect(idOf(key), await stored.get(idOf(key))),
    async unchanged(key) {
      const storedSubscription = await stored.get(idOf(key));
      return storedSubscription || fixed().has(idOf(key))
        ? stored.expect(idOf(key), storedSubscription)
        : undefined;
    },
    healths: () => healths.list(),
    healthWrite: (channelId, health) => healths.put(channelId, health),
    async setHealth(channelId, health) {
      await state.commit([healths.put(channelId, health)]);
    },
    isFixed: (key) => fixed().has(idOf(key)),
    variableOf: (key) =>
      environment().find(({ channelId, feed }) => subscriptionId(channelId, feed.name, null) === idOf(key))
        ?.variable,
  };
}
