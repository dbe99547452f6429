import { isDeepStrictEqual } from "node:util";
import type { Subscription } from "../delivery/collections.js";
import { requestDrill } from "../delivery/drill.js";
import { retryEdits } from "../delivery/edits.js";
import type { AnswerDeps, FeedDefinition } from "../delivery/feed.js";
import { commitWithin, ownerOf } from "../delivery/limits.js";
import type { SubscriptionKey } from "../delivery/subscriptions.js";
import { folded } from "../directory/search.js";
import type { Links } from "../discord/links.js";
import {
  allNetworks,
  type Network,
  type NetworkState,
  type Networks,
  type StoredNetworks,
} from "../networks/network.js";
import type { Write } from "../storage/store.js";
import { readId } from "../text/ids.js";
import { clean } from "../text/plain.js";
import { filterInTurns, inPieces } from "../util/event-loop.js";
import { PersonError } from "../util/person-error.js";

/** A person who uses a command or a button. */
export interface Person {
  /** Id of their interaction. It is also the nonce of a direct message to them. */
  readonly id: string;
  readonly user: { readonly id: string };
}

/** A channel's or a person's subscription, with its feed and network. */
export interface OwnedSubscription {
  readonly subscription: Subscription;
  readonly feed: FeedDefinition;
  /** State of the subscription's network. */
  readonly networkState: NetworkState;
  /** The subscription's network, if the bot serves it. */
  readonly network: Network | undefined;
}

/** True if two subscriptions have the same settings, whenever they were saved. */
export const isSameSubscription = (a: Subscription | undefined, b: Subscription): boolean =>
  isDeepStrictEqual({ ...a, savedAt: 0 }, { ...b, savedAt: 0 });

/** Sorts subscriptions by age, oldest first. */
export const byAge = (a: OwnedSubscription, b: OwnedSubscription): number =>
  a.subscription.since - b.subscription.since;

/** Returns the subscriptions of some places on all networks that a filter selects, in no particular order. */
export async function findSubscriptions(
  networks: Networks,
  places: readonly string[],
  isWanted: (subscription: Subscription) => boolean,
): Promise<readonly OwnedSubscription[]> {
  const lists = (await allNetworks(networks)).map(async (networkState) => {
    const network = networks.served.find(({ id }) => id === networkState.id);
    const found: OwnedSubscription[] = [];
    // Many people may wait for the same list, which may be long.
    for await (const piece of inPieces(await networkState.subscriptions.of(places)))
      for (const subscription of piece) {
        const feed = networks.feeds.find(({ name }) => name === subscription.feed);
        if (feed && isWanted(subscription)) found.push({ subscription, feed, networkState, network });
      }
    return found;
  });
  return (await Promise.all(lists)).flat();
}

/** Finds a subscription by its feed, its subject and its network. */
export const findAmong = <Owned extends OwnedSubscription>(
  all: readonly Owned[],
  wanted: { readonly feed: string; readonly subject: string | null; readonly network: string | undefined },
): Owned | undefined =>
  all.find(
    ({ subscription: { feed, subject }, networkState }) =>
      networkState.id === wanted.network && feed === wanted.feed && subject === wanted.subject,
  );

/**
 * Returns the subscriptions on all networks that a filter selects, as all processes have stored them. Limits are checked with it.
 * Lists use `findSubscriptions`, which reads less and may be some seconds old.
 */
export async function currentSubscriptions(
  networks: StoredNetworks,
  isWanted: (subscription: Subscription) => boolean,
): Promise<readonly { readonly subscription: Subscription; readonly networkState: NetworkState }[]> {
  const lists = (await allNetworks(networks)).map(async (networkState) =>
    (await filterInTurns(await networkState.subscriptions.all(), isWanted)).map((subscription) => ({
      subscription,
      networkState,
    })),
  );
  return (await Promise.all(lists)).flat();
}

/** Thrown if another person has changed, made or removed a subscription meanwhile. */
class SubscriptionChanged extends Error {}

interface Save {
  /** The version that it replaces, `undefined` for a new subscription. It must still be the stored one. */
  readonly replaces: { readonly key: SubscriptionKey; readonly version: Subscription | undefined };
  /** Other writes for the same commit. */
  readonly more?: readonly Write[];
  /**
   * Throws PersonError if the owner has reached a limit. It is called again if another of the owner's
   * commands is committed first.
   */
  readonly checkRoom: () => Promise<void>;
}

/**
 * Saves a subscription. Checking its owner's limits and writing it are one commit.
 * @throws {PersonError}
 * @throws {SubscriptionChanged} if the version that it replaces is not stored any more
 */
export const saveSubscription = (
  { state, subscriptions }: NetworkState,
  subscription: Subscription,
  { replaces, more = [], checkRoom }: Save,
): Promise<void> =>
  commitWithin(state, ownerOf(subscription), async () => {
    // The expectation comes first: if another person changes the subscription after the comparison, the commit fails.
    const expectation = await subscriptions.expectation(replaces.key);
    const current = await subscriptions.get(replaces.key);
    if (!isDeepStrictEqual(current, replaces.version)) throw new SubscriptionChanged();
    await checkRoom();
    return [expectation, ...subscriptions.writes(subscription, replaces.version), ...more];
  });

/** Repeats an attempt to save a subscription while another person changes it, so that both changes are kept. */
export async function untilSaved<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof SubscriptionChanged)) throw error;
    }
}

/** Returns a subscription without its pause and its snooze. */
export const awake = ({ isPaused: _, snoozedUntil: __, ...others }: Subscription): Subscription => others;

/** Pauses a subscription, or ends its pause and its snooze. */
export const setPaused = (
  { subscriptions }: NetworkState,
  subscription: Subscription,
  isPaused: boolean,
): Promise<Subscription | undefined> =>
  subscriptions.change(subscription, (kept) => (isPaused ? { ...awake(kept), isPaused } : awake(kept)));

/**
 * Ends the pause of a channel that Discord refused, and clears its last error. Returns since when it was paused, epoch ms; `undefined`
 * if it was not.
 */
export async function endPause(
  { state, subscriptions }: Pick<Network, "state" | "subscriptions">,
  subscription: Subscription,
): Promise<number | undefined> {
  const { channelId } = subscription;
  for (;;) {
    const { paused = false, error, erroredAt, goneSince, ...rest } = await subscriptions.health(channelId);
    // The other subscriptions of a channel share its health.
    if (!paused && error === undefined && erroredAt === undefined && goneSince === undefined)
      return undefined;
    // If the subscription was removed meanwhile, so was the channel's health.
    const unchanged = await subscriptions.unchanged(subscription);
    if (unchanged && !(await state.commit([unchanged, subscriptions.healthWrite(channelId, rest)]))) continue;
    if (paused) await retryEdits(state, channelId);
    return paused ? (erroredAt ?? 0) : undefined;
  }
}

/** Creates the dependencies with which a feed answers a person. */
export const answerDeps = (
  { user }: Pick<Person, "user">,
  { explorer, names, directory, subscriptions, renderer, state, screens }: Network,
): AnswerDeps => ({
  explorer: explorer.for({ person: user.id }),
  state,
  names,
  directory,
  subscriptions,
  renderer,
  rhythms: screens.rhythms,
  now: Date.now(),
});

/** Requests a drill of a subscription. @throws {PersonError} if it or its channel is paused */
export async function drillSubscription(
  person: Person,
  { subscription, feed }: Pick<OwnedSubscription, "subscription" | "feed">,
  network: Network,
  pausedWords: string,
): Promise<void> {
  const { paused } = await network.subscriptions.health(subscription.channelId);
  if (paused || subscription.isPaused) throw new PersonError(pausedWords);
  const deps = answerDeps(person, network);
  await requestDrill(network.state, network.renderer, subscription, person.id, (mark) =>
    feed.sample(deps, subscription, mark),
  );
}

/** Minimum number of characters of a part of a name, unless it is a whole word of it, such as "5%". */
const MIN_PART = 3;

/**
 * Returns the items whose id or name was typed in any case, or chosen from a list (`isWhole`), or else those whose name contains it.
 * @param namesOf returns an item's id and name
 */
export async function matchingNames<Item>(
  items: readonly Item[],
  typedText: string,
  links: Pick<Links, "readChoice">,
  namesOf: (item: Item) => Promise<{ readonly id: string; readonly name: string }>,
): Promise<{ readonly isWhole: boolean; readonly items: readonly Item[] }> {
  const wanted = folded(readId((await links.readChoice(typedText)) ?? typedText));
  const named = await Promise.all(
    items.map(async (item) => {
      const { id, name } = await namesOf(item);
      return { item, id: folded(id), name: folded(clean(name)) };
    }),
  );
  const equal = named.filter(({ id, name }) => wanted !== "" && (id === wanted || name === wanted));
  if (equal.length > 0) return { isWhole: true, items: equal.map(({ item }) => item) };
  const isLong = [...wanted].length >= MIN_PART;
  const isPart = (name: string) =>
    isLong ? name.includes(wanted) : wanted !== "" && name.split(" ").includes(wanted);
  return { isWhole: false, items: named.flatMap(({ item, name }) => (isPart(name) ? [item] : [])) };
}
