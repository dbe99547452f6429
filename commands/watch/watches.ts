import { type Subscription, watchers } from "../../src/delivery/collections.js";
import {
  defaultsOf,
  draftOf,
  type FeedDefinition,
  type NameSources,
  toldBy,
  type WatchChoice,
  watchOf,
} from "../../src/delivery/feed.js";
import { openDirectMessages, writeDirectly } from "../../src/discord/direct.js";
import type { MessagePayload } from "../../src/discord/message.js";
import { say } from "../../src/discord/say.js";
import type { NetworkChoices } from "../../src/networks/choices.js";
import { allNetworks, type Network, type Networks } from "../../src/networks/network.js";
import { watchCommands } from "../../src/screens/help.js";
import {
  answerDeps,
  byAge,
  currentSubscriptions,
  endPause,
  findSubscriptions,
  isSameSubscription,
  type OwnedSubscription,
  type Person,
  saveSubscription,
  untilSaved,
} from "../../src/subscribe/editor.js";
import { type Markdown, md } from "../../src/text/markdown.js";
import { ageOf } from "../../src/util/clock.js";
import { PersonError } from "../../src/util/person-error.js";
import { present } from "../../src/util/present.js";
import { createSequences } from "../../src/util/single-flight.js";
import { SECOND } from "../../src/util/units.js";

/** Maximum number of watches per person. */
export const MAX_WATCHES = 20;

/** A kind of watch that people can create, with its feed. */
export interface Watchable {
  readonly feed: FeedDefinition;
  readonly watch: WatchChoice;
}

/** Returns the kinds of watches that these feeds offer. */
export const watchables = (feeds: readonly FeedDefinition[]): readonly Watchable[] =>
  feeds.flatMap((feed) => (feed.watches ?? []).map((watch) => ({ feed, watch })));

/**
 * Returns the advice for a person who has no watches on a network.
 * @param count number of their watches on all networks
 */
export const nothingListed = (count: number, all: readonly Watchable[]): Markdown =>
  count === 0
    ? md`You aren't watching anything yet. Start with one of ${watchCommands(all.map(({ watch }) => watch.name))}.`
    : md`You aren't watching anything on this network. \`/watch list\` without \`network\` shows what you watch on others.`;

/** Returns the watchable that a subscription belongs to. */
export const watchableOf = (
  all: readonly Watchable[],
  { feed: name, subject }: { readonly feed: string; readonly subject: string | null },
): Watchable | undefined =>
  all.find(({ feed, watch }) => feed.name === name && watchOf(feed, subject) === watch);

/** A person's watch. */
export type Watch = OwnedSubscription & Watchable;

/** Returns a person's watches on all networks, oldest first. */
export async function watchesOf(userId: string, networks: Networks): Promise<readonly Watch[]> {
  const all = watchables(networks.feeds);
  const ownWatches = await findSubscriptions(networks, [userId], (each) => each.userId === userId);
  return ownWatches
    .flatMap((each) => {
      const found = watchableOf(all, each.subscription);
      return found ? [{ ...each, ...found }] : [];
    })
    .sort(byAge);
}

type WatchedThing = Watchable & Pick<Watch, "subscription">;

/** Names a watch, such as "price: above 0.2 USD". */
export async function titleOf(
  { watch, subscription: { subject } }: WatchedThing,
  named: NameSources,
): Promise<string> {
  return `${watch.name}: ${subject === null ? "" : await watch.subject.nameOf(subject, named)}`;
}

/** Names a person's watch. If its network is no longer served, another network's names and directory are used. */
export const titleOfWatch = (watch: Watch, { names, directory }: NameSources): Promise<string> =>
  titleOf(watch, watch.network ?? { names, directory, state: watch.networkState.state });

/** Describes the topics of a watch. */
export const topicList = ({ feed, subscription }: WatchedThing): string =>
  toldBy(subscription, feed).join(", ");

/** Returns the default settings of a watch. */
export const settingsFor = ({ feed, watch }: Watchable) => ({ ...defaultsOf(feed), ...watch.settings });

/** A watch as a person wants it. */
interface WantedWatch {
  readonly watchable: Watchable;
  readonly subject: string;
  /** Returns its settings, given those of the existing watch of the same thing. @throws {PersonError} */
  readonly settingsOf: (existing: Subscription | undefined) => ReturnType<typeof settingsFor>;
  /** True for a button, which may be pressed twice. */
  readonly isPressed?: boolean;
}

/** Checks the limit of a person's watches. @throws {PersonError} if a new one exceeds it */
async function checkRoom({ networks, id }: Network, userId: string, feed: string, subject: string) {
  const ownWatches = await currentSubscriptions(networks, (each) => each.userId === userId);
  const isNew = !ownWatches.some(
    ({ networkState, subscription }) =>
      networkState.id === id && subscription.feed === feed && subscription.subject === subject,
  );
  if (isNew && ownWatches.length >= MAX_WATCHES)
    throw new PersonError(
      `You already watch ${ownWatches.length} things, which is the maximum. Remove one in \`/watch list\` first.`,
    );
}

const perPerson = createSequences();
/** Time within which a second press of a button counts as the first one, in ms. */
const PRESSED_MS = 10 * SECOND;

/**
 * Starts a watch, or changes the existing watch of the same thing. It opens the person's direct messages and sends a confirmation,
 * so that a refusal shows up now and not with the first alert. If Discord refuses it, nothing has changed. It is sent after the
 * limit was checked, because it promises alerts. Simultaneous ones of a person run one after another, because the second would take
 * the first for confirmed.
 * @throws {PersonError} if they already have the maximum number of watches, or do not accept direct messages
 */
export const startWatch = (person: Person, services: Network, wanted: WantedWatch): Promise<MessagePayload> =>
  perPerson(person.user.id, () => saveWatch(person, services, wanted));

async function saveWatch(
  person: Person,
  services: Network,
  { watchable, subject: wanted, settingsOf, isPressed = false }: WantedWatch,
): Promise<MessagePayload> {
  const { subscriptions, janitor, state, rest, renderer } = services;
  const { feed, watch } = watchable;
  const deps = answerDeps(person, services);
  // Report an invalid value before anything is sent.
  settingsOf(undefined);
  const subject = (await watch.subject.check?.(wanted, deps)) ?? wanted;
  const { id: userId } = person.user;
  const hasRoom = () => checkRoom(services, userId, feed.name, subject);
  await hasRoom();
  const knownPerson = await state.open(watchers).get(userId);
  const channelId = knownPerson?.channelId ?? (await openDirectMessages(rest, userId));
  const key = { channelId, feed: feed.name, subject };
  const health = await subscriptions.health(channelId);
  const { existing, wasDone, subscription, messageLines, isRepeated } = await untilSaved(async () => {
    const existing = await subscriptions.get(key);
    const wasDone = existing !== undefined && (await feed.isDone?.(state, existing)) === true;
    // A watch that is set again is neither paused nor snoozed.
    const { snoozedUntil, isPaused, ...settings } = { ...existing, ...settingsOf(existing) };
    const since = existing?.since ?? Date.now();
    const subscription = { ...draftOf(feed), ...settings, ...key, userId, since, savedAt: Date.now() };
    const madeWatch = { ...watchable, subscription };
    const messageLines = [
      md`**${await titleOf(madeWatch, services)}**`,
      md`You'll get alerts for: ${topicList(madeWatch)}`,
      ...(await feed.standing(deps, subscription)),
      md`-# Pause or remove your watches in \`/watch list\`.`,
    ];
    const isRepeated =
      isPressed &&
      isSameSubscription(existing, subscription) &&
      ageOf(existing?.savedAt ?? 0, Date.now()) < PRESSED_MS;
    const saved = { existing, wasDone, subscription, messageLines, isRepeated };
    if (isRepeated) return saved;
    await saveSubscription(services, subscription, {
      replaces: { key, version: existing },
      more: [state.open(watchers).put(userId, { channelId }), subscriptions.healthWrite(channelId, {})],
      checkRoom: hasRoom,
    });
    return saved;
  });
  const firstMessage = say(services, md`🔔 Your alerts will arrive here`, messageLines, "neutral");
  const sending = isRepeated ? Promise.resolve() : writeDirectly(rest, channelId, firstMessage, person.id);
  const isSent = await sending.then(
    () => true,
    async (error: unknown) => {
      // Discord may only be slow: a person may get five messages in five seconds.
      if (!(error instanceof PersonError)) return false;
      const unchanged = await subscriptions.expectation(key);
      // Another command of the same person may have changed or removed the watch meanwhile.
      if ((await subscriptions.get(key))?.savedAt !== subscription.savedAt) throw error;
      const pausedWrites = health.paused ? [subscriptions.healthWrite(channelId, health)] : [];
      if (existing)
        await state.commit([unchanged, ...subscriptions.writes(existing, subscription), ...pausedWrites]);
      else {
        await janitor.removeSubscription(subscription);
        await state.commit([await subscriptions.expectation(key), ...pausedWrites]);
      }
      throw error;
    },
  );
  if (isSent) await endRefusals(userId, services.networks);
  const unchangedTitle =
    wasDone || health.paused ? md`Watching again` : md`Nothing changed: you already watch this`;
  const changed = isSameSubscription(existing, subscription) ? unchangedTitle : md`Watch changed`;
  return renderer.message({
    title: existing && !isRepeated ? changed : md`Watching`,
    tone: "good",
    body: present([
      ...messageLines,
      existing?.isPaused === true && md`▶️ It's no longer paused.`,
      isSent
        ? md`I've sent you a DM. Alerts will arrive there.`
        : md`Alerts will arrive as DMs. I couldn't send you one just now.`,
    ]),
  });
}

/** Tells a person that Discord refused a message to them. Each refusal is reported once. */
export async function tellRefusal(
  userId: string,
  say: (word: string) => Promise<void>,
  { served }: Pick<Networks, "served">,
): Promise<void> {
  const people = await Promise.all(
    served.map(async ({ state, name }) => ({ state, name, person: await state.open(watchers).get(userId) })),
  );
  const refusedPeople = people.filter(({ person }) => person?.refusedAt !== undefined);
  if (refusedPeople.length === 0) return;
  const onNetworks = served.length > 1 ? ` on ${refusedPeople.map(({ name }) => name).join(" and ")}` : "";
  await say(
    `Discord didn't let me message you, so your watches${onNetworks} are paused. Allow direct messages from a server we share, then resume them in \`/watch list\`.`,
  );
  for (const { state } of refusedPeople) await clearRefusal(userId, state);
}

/** Ends the pauses of a person's watches after refused messages, on all networks. Called once a message has arrived. */
export async function endRefusals(userId: string, networks: Networks): Promise<void> {
  for (const { networkState, subscription } of await watchesOf(userId, networks)) {
    await endPause(networkState, subscription);
    await clearRefusal(userId, networkState.state);
  }
}

/** Notes that a person knows that Discord refused a message to them. */
async function clearRefusal(userId: string, state: Network["state"]): Promise<void> {
  const people = state.open(watchers);
  const person = await people.get(userId);
  if (person?.refusedAt === undefined) return;
  const { refusedAt, ...known } = person;
  await state.commit([people.expect(userId, person), people.put(userId, known)]);
}

/**
 * Deletes everything about a person on all networks. It waits for the person's watches that are being created. Returns the number of
 * watches that have ended.
 */
export const forget = (userId: string, networks: Networks, choices: NetworkChoices): Promise<number> =>
  perPerson(userId, async () => {
    await choices.settled({ person: userId });
    let count = 0;
    for (const { janitor } of await allNetworks(networks)) count += await janitor.forgetPerson(userId);
    choices.release({ person: userId });
    return count;
  });
