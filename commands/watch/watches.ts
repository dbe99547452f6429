import {
  defaultsOf,
  type FeedDefinition,
  type Named,
  toldBy,
  type WatchChoice,
} from "../../src/delivery/feed.js";
import { openDirectMessages, writeDirectly } from "../../src/discord/direct.js";
import type { MessagePayload } from "../../src/discord/message.js";
import type { NetworkChoices } from "../../src/networks/choices.js";
import { allNetworks, type Network, type NetworkState, type Networks } from "../../src/networks/network.js";
import { type Subscription, subscriptionId } from "../../src/storage/catalogue.js";
import { md } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import { answerDeps, say } from "../subscribe/handlers.js";

/** The most things that a person may watch. */
export const MAX_WATCHES = 20;

/** Something that people can watch: a feed, and how. */
export interface Watchable {
  readonly feed: FeedDefinition;
  readonly watch: WatchChoice;
}

/** What people can watch among these feeds. */
export const watchables = (feeds: readonly FeedDefinition[]): readonly Watchable[] =>
  feeds.flatMap((feed) => (feed.watches ?? []).map((watch) => ({ feed, watch })));

/** What somebody watches, by its feed and its subject. */
export const watchableOf = (
  all: readonly Watchable[],
  { feed: name, subject }: { readonly feed: string; readonly subject: string | null },
): Watchable | undefined =>
  all.find(({ feed, watch }) => feed.name === name && (watch.owns?.(subject ?? "") ?? true));

/** Somebody's watch, with what it is of. */
export interface Watch extends Watchable {
  readonly subscription: Subscription;
  /** What is kept of the network that it is on. */
  readonly of: NetworkState;
  /** That network, where it is served. */
  readonly network: Network | undefined;
}

interface Person {
  readonly user: { readonly id: string };
  /** Of the interaction. */
  readonly id: string;
}

/** What a person watches on all networks, the oldest first. */
export async function watchesOf(
  userId: string,
  networks: Networks,
  all: readonly Watchable[],
): Promise<readonly Watch[]> {
  const watches = (await allNetworks(networks)).map(async (of) =>
    (await of.subscriptions.all()).flatMap((subscription) => {
      const found = subscription.userId === userId && watchableOf(all, subscription);
      const network = networks.served.find(({ id }) => id === of.id);
      return found ? [{ ...found, subscription, of, network }] : [];
    }),
  );
  return (await Promise.all(watches)).flat().sort((a, b) => a.subscription.since - b.subscription.since);
}

type Watched = Watchable & Pick<Watch, "subscription">;

/** What is watched, in words. */
export const titleOf = ({ watch, subscription: { subject } }: Watched, named: Named): string =>
  `${watch.name}: ${subject === null ? "" : watch.subject.nameOf(subject, named)}`;

/** What is told of it, in words. */
export const toldOf = ({ feed, subscription }: Watched): string => toldBy(subscription, feed).join(", ");

/** What a watch is set to where nothing of it is chosen. */
export const settingsFor = ({ feed, watch }: Watchable) => ({ ...defaultsOf(feed), ...watch.settings });

/**
 * Has a person told of something in private. Their direct messages are opened now, with a message that says what will be told:
 * not at the moment of the alarm.
 * @throws {PersonError} where they watch as much as they may, or take no direct messages
 */
export async function startWatch(
  person: Person,
  services: Network,
  all: readonly Watchable[],
  watchable: Watchable,
  settings: ReturnType<typeof settingsFor>,
  wanted: string,
): Promise<MessagePayload> {
  const { subscriptions, state, rest, renderer } = services;
  const { feed, watch } = watchable;
  const deps = answerDeps(person, services);
  const subject = (await watch.subject.check?.(wanted, deps)) ?? wanted;
  const { id: userId } = person.user;
  const own = await watchesOf(userId, services.networks, all);
  const before = own.find(
    (each) => each.network === services && each.feed === feed && each.subscription.subject === subject,
  )?.subscription;
  if (!before && own.length >= MAX_WATCHES)
    throw new PersonError(
      `You watch ${own.length} things, as many as one person may. \`/watch list\` removes what you no longer need.`,
    );
  const known = await state.people.get(userId);
  const channelId = known?.channelId ?? (await openDirectMessages(rest, userId));
  const { snoozedUntil, isPaused, ...fresh } = { ...before, ...settings };
  const subscription: Subscription = {
    ...fresh,
    channelId,
    feed: feed.name,
    subject,
    guildId: null,
    userId,
    forum: false,
    tagId: null,
    since: before?.since ?? Date.now(),
    savedAt: Date.now(),
  };
  const made = { ...watchable, subscription };
  const lines = [
    md`**${titleOf(made, services)}**`,
    md`You are told of: ${toldOf(made)}`,
    ...(await feed.standing(deps, subscription)),
    md`-# \`/watch list\` shows, pauses and removes what you watch.`,
  ];
  const first = say(services, md`🔔 You will hear of this here`, lines, "neutral");
  await writeDirectly(rest, channelId, first, person.id);
  await subscriptions.put(subscription, undefined, [
    state.people.put(userId, { channelId }),
    subscriptions.healthWrite(channelId, {}),
  ]);
  return renderer.message({
    title: before ? md`Watch changed` : md`Watching`,
    tone: "good",
    body: [...lines, md`I have written to you: that is where you will hear of it.`],
    readings: [],
  });
}

const REFUSED =
  "Discord did not let me write to you, so what you watch is paused. Allow direct messages from a server that we share, and resume it in `/watch list`.";

/** Tells a person once that Discord refused a message for them, where it did. */
export async function tellRefusal(
  userId: string,
  say: (word: string) => Promise<void>,
  { served }: Pick<Networks, "served">,
): Promise<void> {
  const people = await Promise.all(
    served.map(async ({ state }) => ({ state, person: await state.people.get(userId) })),
  );
  const refused = people.filter(({ person }) => person?.refusedAt !== undefined);
  if (refused.length === 0) return;
  await say(REFUSED);
  for (const { state, person } of refused) {
    if (!person) continue;
    const { refusedAt, ...known } = person;
    await state.commit([state.people.expect(userId, person), state.people.put(userId, known)]);
  }
}

/** Deletes all that is kept of a person on all networks. @returns how much they watched */
export async function forget(userId: string, networks: Networks, choices: NetworkChoices): Promise<number> {
  let count = 0;
  for (const network of await allNetworks(networks)) count += await forgetOn(userId, network);
  await choices.set({ person: userId }, undefined);
  return count;
}

async function forgetOn(userId: string, network: NetworkState): Promise<number> {
  const { state, subscriptions } = network;
  const own = (await subscriptions.all()).filter((each) => each.userId === userId);
  const known = await state.people.get(userId);
  const channels = new Set([...own.map(({ channelId }) => channelId), ...(known ? [known.channelId] : [])]);
  const isTheirs = ({ channelId }: { readonly channelId: string }) => channels.has(channelId);
  const alerts = [...(await state.alerts.list())].filter(([, each]) => isTheirs(each));
  const waiting = [...(await state.outbox.list())].filter(([, each]) => isTheirs(each));
  const drills = [...(await state.drills.list())].filter(([, each]) => isTheirs(each));
  const mapped = [...(await state.voters.list())].filter(
    ([, { who }]) => who.kind === "member" && who.id === userId,
  );
  const ids = own.map(({ channelId, feed, subject }) => subscriptionId(channelId, feed, subject));
  for (const channelId of channels) await subscriptions.removeChannel(channelId);
  await state.commit([
    state.people.delete(userId),
    ...ids.flatMap((id) => [state.validatorWatches.delete(id), state.priceWatches.delete(id)]),
    ...alerts.flatMap(([id]) => [state.alerts.delete(id), state.responses.delete(id)]),
    ...waiting.map(([id]) => state.outbox.delete(id)),
    ...drills.map(([id]) => state.drills.delete(id)),
    ...mapped.map(([id]) => state.voters.delete(id)),
  ]);
  for (const id of (await state.responses.list()).keys()) await forgetResponse(userId, id, network);
  return own.length;
}

/** What somebody said of a channel's alert stays said, by nobody in particular. */
async function forgetResponse(userId: string, id: string, { state }: NetworkState): Promise<void> {
  const unnamed = <Said extends { readonly by: string | null }>(said: Said): Said =>
    said.by === userId ? { ...said, by: null } : said;
  for (;;) {
    const response = await state.responses.get(id);
    const { acknowledged, snoozed } = response ?? {};
    if (!response || (acknowledged?.by !== userId && snoozed?.by !== userId)) return;
    const next = {
      revision: response.revision + 1,
      ...(acknowledged ? { acknowledged: unnamed(acknowledged) } : {}),
      ...(snoozed ? { snoozed: unnamed(snoozed) } : {}),
    };
    if (await state.commit([state.responses.expect(id, response), state.responses.put(id, next)])) return;
  }
}
