import { isDeepStrictEqual } from "node:util";
import { ChannelType } from "discord.js";
import type { Subscription } from "../../src/delivery/collections.js";
import { type FeedDefinition, hasTopic } from "../../src/delivery/feed.js";
import type { SubscriptionKey } from "../../src/delivery/subscriptions.js";
import type { MessagePayload } from "../../src/discord/message.js";
import type { ChannelPlace } from "../../src/discord/permissions.js";
import type { Network } from "../../src/networks/network.js";
import type { Link } from "../../src/screens/view.js";
import {
  answerDeps,
  awake,
  currentSubscriptions,
  isSameSubscription,
  saveSubscription,
  untilSaved,
} from "../../src/subscribe/editor.js";
import { type Markdown, md } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import { defined, present } from "../../src/util/present.js";
import { reopen } from "./actions.js";
import { chosenSettings, type GivenSettings } from "./choice.js";
import {
  type Actor,
  checkPermissions,
  described,
  headline,
  noLongerThere,
  PAUSED,
  paragraph,
  tagFor,
} from "./subscription.js";

/** Maximum number of subscriptions to one feed per channel. */
const MAX_PER_CHANNEL = 25;

/** Checks the limits of a server and of a channel. @throws {PersonError} */
async function checkRoom(
  { networks, maxSubscriptions }: Network,
  guildId: string,
  channelId: string,
  feed: FeedDefinition,
) {
  const serverSubscriptions = await currentSubscriptions(networks, (each) => each.guildId === guildId);
  const alike = serverSubscriptions.filter(
    ({ subscription }) => subscription.channelId === channelId && subscription.feed === feed.name,
  );
  if (alike.length >= MAX_PER_CHANNEL)
    throw new PersonError(
      `<#${channelId}> already has ${alike.length} subscriptions to ${feed.name}, which is the maximum per channel. Remove one with \`/subscribe remove\` first.`,
    );
  if (serverSubscriptions.length >= maxSubscriptions)
    throw new PersonError(
      `This server already has ${serverSubscriptions.length} subscriptions, which is the maximum. Remove one with \`/subscribe remove\` first.`,
    );
}

/** Types of channels whose messages can have a thread (Discord: Start Thread from Message), and forums, whose posts are threads. */
const THREADED: ReadonlySet<ChannelType> = new Set([
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
  ChannelType.GuildForum,
]);

/** A saved subscription in words. */
interface SavedWords {
  readonly title: Markdown;
  readonly headline: Markdown;
  readonly described: readonly Markdown[];
  /** The feed's current state for it, such as vote requests that are already open. */
  readonly standing: readonly Markdown[];
}

/** A person's wish to make or change a channel's subscription. */
interface SaveRequest {
  readonly person: Actor;
  readonly services: Network;
  readonly place: ChannelPlace;
  readonly feed: FeedDefinition;
  readonly given: GivenSettings;
  /** The subject that the person named. `null` if it is the earlier one, or follows from the settings. */
  readonly named: string | null;
  /** True if the person saw defaults, and not the settings of an existing subscription. */
  readonly isNew?: boolean;
  /** The subscription that is changed. Missing for one that may be new. */
  readonly edited?: SubscriptionKey;
}

/**
 * Saves a channel's subscription, after checking that the person may have it like that, that the bot can post, and that no limit
 * is exceeded. If somebody else changes it meanwhile, both changes are kept.
 * @throws {PersonError}
 */
export const saveUntilKept = (request: SaveRequest): Promise<SavedWords> =>
  untilSaved(() => saveOnce(request));

/**
 * True if a feed's state of a subscription survives the change, such as one of its role. A change of the subject resets it, or of one
 * of the topics and options in `restartedBy` (by default, any of them). Without `restartedBy`, typing the same settings again resets
 * it, too, if the feed has `/subscribe edit`.
 */
function isContinued(
  feed: FeedDefinition,
  before: Subscription,
  after: Subscription,
  isEdit: boolean,
): boolean {
  const matters = (name: string) => feed.restartedBy?.includes(name) ?? true;
  const names = ["subject", "isPaused", ...Object.keys(feed.options).filter(matters)];
  const topics = Object.keys(feed.topics).filter(matters);
  const isAlike =
    names.every((name) => isDeepStrictEqual(before[name], after[name])) &&
    topics.every((name) => hasTopic(before, feed, name) === hasTopic(after, feed, name));
  return isAlike && (isEdit || feed.isTypedAgain === true || feed.restartedBy !== undefined);
}

/** Returns settings as the type of a channel allows them. @throws {PersonError} if the person asked for what it doesn't allow */
function fittingSettings(
  wanted: ReturnType<typeof chosenSettings>,
  given: GivenSettings,
  { id, type }: ChannelPlace["channel"],
) {
  const mayPublish = type === ChannelType.GuildAnnouncement;
  if (given.flag("publish") === true && !mayPublish)
    throw new PersonError(
      `<#${id}> isn't an announcement channel, so messages can't be published there. Turn off “Publish in announcement channels” (\`publish\`).`,
    );
  const mayThread = THREADED.has(type);
  if (given.flag("thread") === true && !mayThread)
    throw new PersonError(
      `<#${id}> can't have threads under its messages. Turn off “Open a thread under each announcement” (\`thread\`).`,
    );
  // The channel's type may have changed.
  return { ...wanted, publish: wanted.publish && mayPublish, thread: wanted.thread && mayThread };
}

/** Returns a subscription as it is saved. One that continues keeps its snooze and the time of its last change. */
function savedVersion(
  feed: FeedDefinition,
  existing: Subscription | undefined,
  wanted: Subscription,
  isEdit: boolean,
): Subscription {
  const { savedAt: _, snoozedUntil, ...restarted } = wanted;
  if (!existing || !isContinued(feed, existing, wanted, isEdit)) return { ...restarted, savedAt: Date.now() };
  const { savedAt } = existing;
  return { ...wanted, ...defined({ savedAt }) };
}

/** Changes the current version of a subscription, or makes one. Used with `untilSaved`. */
async function saveOnce(request: SaveRequest): Promise<SavedWords> {
  const { person, services, place, feed, given, named, isNew = false, edited } = request;
  const { subscriptions } = services;
  const { channel } = place;
  const deps = answerDeps(person, services);
  const checked = named === null ? null : ((await feed.subject?.check?.(named, deps)) ?? named);
  const implied = () => checked ?? feed.subject?.of?.(chosenSettings(given, feed, undefined)) ?? null;
  const key = edited ?? { channelId: channel.id, feed: feed.name, subject: implied() };
  const existing = await subscriptions.get(key);
  if (edited && !existing) throw noLongerThere();
  // Subscribing again ends a pause, as with `/watch`. An edit does not.
  const before = edited || !existing ? existing : awake(existing);
  const settings = fittingSettings(chosenSettings(given, feed, isNew ? undefined : before), given, channel);
  const subject = checked ?? feed.subject?.of?.(settings, existing) ?? key.subject;
  await checkPermissions(person, place, feed, settings);
  const wantedSubscription = {
    ...settings,
    channelId: channel.id,
    feed: feed.name,
    subject,
    guildId: place.guild.id,
    userId: null,
    forum: channel.type === ChannelType.GuildForum,
    tagId: tagFor(place, feed),
    since: existing?.since ?? Date.now(),
  };
  const subscription = savedVersion(feed, existing, wantedSubscription, edited !== undefined);
  const wasDone = existing !== undefined && (await feed.isDone?.(services.state, existing)) === true;
  // A dialog may be submitted twice. Otherwise, its defaults must not replace another person's settings.
  if (isNew && existing && !isSameSubscription(before, subscription))
    throw new PersonError(
      `<#${channel.id}> already has that subscription, with other settings. Edit or remove it instead.`,
    );
  // The subject can follow from the options, such as a price limit. If it changes, the new subscription replaces the old one.
  await saveSubscription(services, subscription, {
    replaces: { key, version: existing },
    async checkRoom() {
      const other = existing && subject !== existing.subject && (await subscriptions.get(subscription));
      if (other)
        throw new PersonError(`<#${channel.id}> already has that subscription. Edit or remove it instead.`);
      if (!existing) await checkRoom(services, place.guild.id, channel.id, feed);
    },
  });
  const { lines } = await reopen(place, { subscription, feed }, services.networks);
  const isResumed = existing?.isPaused === true && !subscription.isPaused;
  const isRestarted = wasDone && subscription.savedAt !== existing.savedAt;
  const unchangedTitle = isRestarted
    ? md`Subscribed again`
    : md`Nothing changed: it already has these settings`;
  const changed = isSameSubscription(existing, subscription) ? unchangedTitle : md`Subscription changed`;
  // Such as when the next digest comes, if its hour has changed.
  const isStandingShown =
    !existing ||
    feed.subject !== undefined ||
    isResumed ||
    (feed.isTypedAgain === true && subscription.savedAt !== existing.savedAt);
  return {
    title: existing ? changed : md`Subscribed`,
    headline: await headline({ subscription, feed, network: services, networkState: services }, services),
    described: present([
      ...described(subscription, feed),
      subscription.isPaused && PAUSED,
      isResumed && md`▶️ It's no longer paused.`,
      ...lines,
    ]),
    standing: isStandingShown ? await feed.standing(deps, subscription) : [],
  };
}

/** Saves a channel's subscription, and returns the answer. @param links its buttons @throws {PersonError} */
export async function save(request: SaveRequest, links: readonly Link[] = []): Promise<MessagePayload> {
  const { title, headline: summary, described: settings, standing } = await saveUntilKept(request);
  const body = [summary, ...settings, ...paragraph(standing)];
  return request.services.renderer.message({ title, tone: "good", body, links });
}
