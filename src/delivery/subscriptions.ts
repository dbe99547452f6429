import { type Health, type Subscription, subscriptionId } from "../storage/catalogue.js";
import type { State } from "../storage/state.js";
import type { Write } from "../storage/store.js";
import { defaultsOf, type FeedDefinition } from "./feed.js";

/** Which subscription: a channel's to one feed, and to one subject of it where the feed has subjects to choose. */
export type SubscriptionKey = Pick<Subscription, "channelId" | "feed" | "subject">;

/** All subscriptions, and how their channels are doing: those from commands in the state, and the environment's. */
export interface Subscriptions {
  all(): Promise<readonly Subscription[]>;
  get(key: SubscriptionKey): Promise<Subscription | undefined>;
  /** Whom a delivery is for; with no subject of its own, all subscriptions of its channel to its feed. */
  recipients(delivery: SubscriptionKey): Promise<readonly Subscription[]>;
  /**
   * Keeps a subscription as it is from now on.
   * @param replaces one that it takes the place of
   * @param more what belongs to it
   */
  put(subscription: Subscription, replaces?: Subscription, more?: readonly Write[]): Promise<void>;
  /** Forgets a subscription and which messages it was sent. */
  remove(key: SubscriptionKey): Promise<void>;
  /** Forgets all of a channel. */
  removeChannel(channelId: string): Promise<void>;
  health(channelId: string): Promise<Health>;
  healthWrite(channelId: string, health: Health): Write;
  setHealth(channelId: string, health: Health): Promise<void>;
  /** Whether it is set in the environment, and not to be removed by a command. */
  isFixed(key: SubscriptionKey): boolean;
}

/** A subscription that the environment makes: its channel, and what it is subscribed to. */
export interface FixedSubscription {
  readonly channelId: string;
  readonly feed: FeedDefinition;
}

const idOf = ({ channelId, feed, subject }: SubscriptionKey): string =>
  subscriptionId(channelId, feed, subject);

/**
 * The stored subscriptions, and those that the environment makes beside them.
 * @param environment looked at anew each time: whose it is may be known only once the state has been read
 */
export function createSubscriptions(
  state: State,
  environment: () => readonly FixedSubscription[] = () => [],
): Subscriptions {
  const { subscriptions: stored, health: healths, announced } = state;
  const fixed = (): ReadonlyMap<string, Subscription> =>
    new Map(
      environment().map(({ channelId, feed }) => {
        const subscription: Subscription = {
          ...defaultsOf(feed),
          channelId,
          feed: feed.name,
          subject: null,
          guildId: null,
          userId: null,
          forum: false,
          tagId: null,
          since: 0,
        };
        return [idOf(subscription), subscription];
      }),
    );

  // Edited by a command, the environment's keeps what was chosen.
  const withFixed = (own: Subscription | undefined, id: string): Subscription | undefined => {
    const base = fixed().get(id);
    return base ? { ...base, ...own } : own;
  };

  /** The deletion of what a channel was sent, of one feed or of all. */
  const forgetMessages = async (channelId: string, feed?: string): Promise<Write[]> => {
    const own: string[] = [];
    for await (const [id, each] of announced.entries())
      if (each.channelId === channelId && (feed === undefined || each.feed === feed)) own.push(id);
    return own.map((id) => announced.delete(id));
  };

  const all = async () => {
    const own = await stored.list();
    return [...new Set([...fixed().keys(), ...own.keys()])].flatMap((id) => withFixed(own.get(id), id) ?? []);
  };

  const get = async (key: SubscriptionKey) => withFixed(await stored.get(idOf(key)), idOf(key));

  return {
    all,
    get,
    async recipients(key) {
      const exact = await get(key);
      if (exact || key.subject !== null) return exact ? [exact] : [];
      return (await all()).filter((each) => each.channelId === key.channelId && each.feed === key.feed);
    },
    async put(subscription, replaces, more = []) {
      await state.commit([
        ...(replaces && idOf(replaces) !== idOf(subscription) ? [stored.delete(idOf(replaces))] : []),
        stored.put(idOf(subscription), subscription),
        ...more,
      ]);
    },
    async remove(key) {
      const { channelId, feed } = key;
      const others = (await all()).filter((each) => each.channelId === channelId && idOf(each) !== idOf(key));
      const sameFeed = others.some((each) => each.feed === feed);
      await state.commit([
        stored.delete(idOf(key)),
        ...(others.length === 0 ? [healths.delete(channelId)] : []),
        ...(sameFeed ? [] : await forgetMessages(channelId, feed)),
      ]);
    },
    async removeChannel(channelId) {
      const own = [...(await stored.list())].filter(([, each]) => each.channelId === channelId);
      await state.commit([
        ...own.map(([id]) => stored.delete(id)),
        healths.delete(channelId),
        ...(await forgetMessages(channelId)),
      ]);
    },
    health: async (channelId) => (await healths.get(channelId)) ?? {},
    healthWrite: (channelId, health) => healths.put(channelId, health),
    async setHealth(channelId, health) {
      await state.commit([healths.put(channelId, health)]);
    },
    isFixed: (key) => fixed().has(idOf(key)),
  };
}
