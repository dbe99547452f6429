import { defaultsOf, type FeedDefinition, hasTopic, type WatchChoice } from "../../src/delivery/feed.js";
import { openDirectMessages, writeDirectly } from "../../src/discord/direct.js";
import type { MessagePayload } from "../../src/discord/message.js";
import { alertId, type Subscription } from "../../src/storage/catalogue.js";
import { join, type Markdown, md } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import { answerDeps, type SubscribeServices, say } from "../subscribe/handlers.js";

/** The most things that a person may watch. */
const MAX_WATCHES = 20;

/** Something that people can watch: a feed, and how. */
export interface Watchable {
  readonly feed: FeedDefinition;
  readonly watch: WatchChoice;
}

/** What people can watch among these feeds. */
export const watchables = (feeds: readonly FeedDefinition[]): readonly Watchable[] =>
  feeds.flatMap((feed) => (feed.watch ? [{ feed, watch: feed.watch }] : []));

/** Somebody's watch, with what it is of. */
export interface Watch extends Watchable {
  readonly subscription: Subscription;
}

interface Person {
  readonly user: { readonly id: string };
  /** Of the interaction. */
  readonly id: string;
}

/** What a person watches, the oldest first. */
export async function watchesOf(
  userId: string,
  { subscriptions }: SubscribeServices,
  all: readonly Watchable[],
): Promise<readonly Watch[]> {
  return (await subscriptions.all())
    .filter((each) => each.userId === userId)
    .sort((a, b) => a.since - b.since)
    .flatMap((subscription) => {
      const found = all.find(({ feed }) => feed.name === subscription.feed);
      return found ? [{ ...found, subscription }] : [];
    });
}

/** What is watched, in words. */
export const titleOf = ({ watch, subscription: { subject } }: Watch, named: SubscribeServices): Markdown =>
  md`${watch.name}: ${subject === null ? "" : watch.subject.words(subject, named)}`;

/** What is told of it, in words. */
export const toldOf = ({ feed, subscription }: Watch): Markdown =>
  join(
    Object.entries(feed.topics)
      .filter(([name]) => hasTopic(subscription, feed, name))
      .map(([, { words }]) => md`${words(subscription)}`),
    ", ",
  );

/** What a watch is set to where nothing of it is chosen. */
export const settingsFor = ({ feed, watch }: Watchable) => ({ ...defaultsOf(feed), ...watch.settings });

/**
 * Has a person told of something in private. Their direct messages are opened now, with a message that says what will be told:
 * not at the moment of the alarm.
 * @throws {PersonError} where they watch as much as they may, or take no direct messages
 */
export async function startWatch(
  person: Person,
  services: SubscribeServices,
  all: readonly Watchable[],
  watchable: Watchable,
  settings: ReturnType<typeof settingsFor>,
  subject: string,
): Promise<MessagePayload> {
  const { subscriptions, state, rest, renderer } = services;
  const { feed, watch } = watchable;
  const { id: userId } = person.user;
  const own = await watchesOf(userId, services, all);
  const before = own.find(
    (each) => each.feed === feed && each.subscription.subject === subject,
  )?.subscription;
  if (!before && own.length >= MAX_WATCHES)
    throw new PersonError(
      `You watch ${own.length} things, as many as one person may. \`/watch list\` removes what you no longer need.`,
    );
  const deps = answerDeps(person, services);
  if (!before) await watch.subject.check?.(subject, deps);
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
  };
  const made: Watch = { ...watchable, subscription };
  const lines = [
    md`**${titleOf(made, services)}**`,
    md`You are told of: ${toldOf(made)}`,
    ...(await feed.standing(deps, subscription)),
    md`-# \`/watch list\` shows, pauses and removes what you watch.`,
  ];
  const first = say(services, md`🔔 You will hear of this here`, lines, "neutral");
  await writeDirectly(rest, channelId, first, person.id);
  await state.commit([state.people.put(userId, { channelId })]);
  await subscriptions.put(subscription);
  await subscriptions.setHealth(channelId, {});
  return renderer.message({
    title: before ? md`Watch changed` : md`Watching`,
    tone: "good",
    body: [...lines, md`I have written to you: that is where you will hear of it.`],
    readings: [],
  });
}

/** That Discord refused a message for a person, once; undefined where it did not. */
export async function refusalOf(
  userId: string,
  { state }: Pick<SubscribeServices, "state">,
): Promise<string | undefined> {
  const person = await state.people.get(userId);
  if (person?.refusedAt === undefined) return undefined;
  const { refusedAt, ...known } = person;
  await state.commit([state.people.expect(userId, person), state.people.put(userId, known)]);
  return "Discord did not let me write to you, so what you watch is paused. Allow direct messages from a server that we share, and resume it in `/watch list`.";
}

/** Deletes all that is kept of a person. */
export async function forget(userId: string, services: SubscribeServices): Promise<number> {
  const { state, subscriptions } = services;
  const own = (await subscriptions.all()).filter((each) => each.userId === userId);
  const known = await state.people.get(userId);
  const channels = new Set([...own.map(({ channelId }) => channelId), ...(known ? [known.channelId] : [])]);
  for (const channelId of channels) {
    await subscriptions.removeChannel(channelId);
    const alerts = [...(await state.alerts.list())].filter(([, each]) => each.channelId === channelId);
    await state.commit(
      alerts.flatMap(([, { subject }]) => {
        const id = alertId(channelId, subject);
        return [state.alerts.delete(id), state.responses.delete(id)];
      }),
    );
    const waiting = [...(await state.outbox.list())].filter(([, each]) => each.channelId === channelId);
    await state.commit(waiting.map(([id]) => state.outbox.delete(id)));
  }
  // What they said of other channels' alerts stays said, by somebody.
  for (const [id, response] of await state.responses.list()) {
    const { acknowledged, snoozed } = response;
    if (acknowledged?.by !== userId && snoozed?.by !== userId) continue;
    const unnamed = <Said extends { readonly by: string | null }>(said: Said): Said =>
      said.by === userId ? { ...said, by: null } : said;
    await state.commit([
      state.responses.expect(id, response),
      state.responses.put(id, {
        revision: response.revision + 1,
        ...(acknowledged ? { acknowledged: unnamed(acknowledged) } : {}),
        ...(snoozed ? { snoozed: unnamed(snoozed) } : {}),
      }),
    ]);
  }
  await state.commit([state.people.delete(userId)]);
  return own.length;
}
