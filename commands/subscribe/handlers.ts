import { isDeepStrictEqual } from "node:util";
import { ChannelType, type ChatInputCommandInteraction } from "discord.js";
import type { Subscription } from "../../src/delivery/collections.js";
import { type FeedDefinition, type NameSources, needsOf, toldBy } from "../../src/delivery/feed.js";
import { NETWORK_OPTION } from "../../src/discord/command.js";
import type { MessagePayload } from "../../src/discord/message.js";
import type { ChannelPlace } from "../../src/discord/permissions.js";
import { checkSubscription, readPlace } from "../../src/discord/places.js";
import { say, serverOf } from "../../src/discord/say.js";
import { allNetworks, type Network } from "../../src/networks/network.js";
import {
  answerDeps,
  drillSubscription,
  findSubscriptions,
  type OwnedSubscription,
  saveSubscription,
} from "../../src/subscribe/editor.js";
import { readId } from "../../src/text/ids.js";
import { bold, channelMention, join, type Markdown, md, roleMention } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import { checkOptions, chosenSettings, chosenSubject, FEED_OPTION, SUBJECT_OPTION } from "./choice.js";

/** Maximum number of subscriptions to one feed per channel. */
const MAX_PER_CHANNEL = 25;

/** A network with the feeds that channels can subscribe to. */
export interface SubscribeServices extends Network {
  readonly feeds: readonly FeedDefinition[];
}

const channelIdOf = ({ options, channelId }: ChatInputCommandInteraction): string =>
  options.getChannel("channel")?.id ?? channelId;

const placeOf = (interaction: ChatInputCommandInteraction, { rest }: Network): Promise<ChannelPlace> =>
  readPlace(rest, serverOf(interaction), channelIdOf(interaction));

const REQUIRE_TAG = 1 << 4;

/**
 * Returns a tag for posts if the forum requires one: a tag that matches the feed, or else the first.
 * @throws {PersonError} if the forum has no tags
 */
function tagFor({ channel }: ChannelPlace, feed: FeedDefinition): string | null {
  if (channel.type !== ChannelType.GuildForum || !((channel.flags ?? 0) & REQUIRE_TAG)) return null;
  const tag = channel.available_tags.find(({ name }) => feed.tagName.test(name)) ?? channel.available_tags[0];
  if (!tag)
    throw new PersonError(
      `<#${channel.id}> demands a tag on each post and has none. Add a tag to it, and try again.`,
    );
  return tag.id;
}

/**
 * Returns the tag for a subscription's posts: the stored one while the forum has it, otherwise a new choice.
 * @throws {PersonError} if the forum requires a tag and has none
 */
function currentTag(place: ChannelPlace, feed: FeedDefinition, tagId: string | null): string | null {
  const { channel } = place;
  const isThere =
    channel.type === ChannelType.GuildForum && channel.available_tags.some(({ id }) => id === tagId);
  return isThere ? tagId : tagFor(place, feed);
}

/** Names the tag of a subscription's posts. Empty if they have none. */
function tagWords({ channel }: ChannelPlace, tagId: string | null): Markdown[] {
  if (channel.type !== ChannelType.GuildForum) return [];
  const tag = channel.available_tags.find(({ id }) => id === tagId);
  return tag ? [md`Posts get the tag **${tag.name}**`] : [];
}

const check = (
  { client, user }: ChatInputCommandInteraction,
  { rest }: Network,
  place: ChannelPlace,
  feed: FeedDefinition,
  settings: Pick<Subscription, "roleId" | "thread" | "topics">,
): Promise<void> => {
  const { roleId, thread } = settings;
  const needs = needsOf(settings, feed);
  return checkSubscription(rest, client.user.id, user.id, { place, roleId, thread, needs });
};

/** Describes a subscription: its topics, role, thread and publishing. */
export function described(subscription: Subscription, feed: FeedDefinition): Markdown[] {
  const { roleId, thread, publish, forum } = subscription;
  const names = toldBy(subscription, feed);
  return [
    md`Subscribed to: ${names.length > 0 ? names.join(", ") : "nothing"}`,
    ...(roleId ? [md`Pings ${roleMention(roleId)}`] : []),
    ...(forum ? [md`A post for each ${feed.thing}`] : thread ? [md`A thread under each announcement`] : []),
    ...(publish ? [md`Published to following channels`] : []),
  ];
}

/** Checks the limits of a server and of a channel. @throws {PersonError} */
async function checkRoom(
  { networks, maxSubscriptions }: Network,
  guildId: string,
  channelId: string,
  feed: FeedDefinition,
) {
  const subscriptionLists = (await allNetworks(networks)).map(({ subscriptions }) => subscriptions.all());
  const serverSubscriptions = (await Promise.all(subscriptionLists))
    .flat()
    .filter((each) => each.guildId === guildId);
  const alike = serverSubscriptions.filter((each) => each.channelId === channelId && each.feed === feed.name);
  if (alike.length >= MAX_PER_CHANNEL)
    throw new PersonError(
      `<#${channelId}> has ${alike.length} subscriptions to ${feed.name}, as many as a channel may have. \`/subscribe remove\` ends one that is no longer needed.`,
    );
  if (serverSubscriptions.length >= maxSubscriptions)
    throw new PersonError(
      `This server has ${serverSubscriptions.length} subscriptions, as many as it may have. \`/subscribe remove\` ends one that is no longer needed.`,
    );
}

async function save(
  interaction: ChatInputCommandInteraction,
  services: Network,
  place: ChannelPlace,
  feed: FeedDefinition,
  before: Subscription | undefined,
): Promise<MessagePayload> {
  const { subscriptions } = services;
  const { channel } = place;
  const settings = chosenSettings(interaction, feed, before);
  const deps = answerDeps(interaction, services);
  const wantedSubject = await chosenSubject(interaction, feed.subject, settings, services);
  const checked =
    wantedSubject === null ? null : ((await feed.subject?.check?.(wantedSubject, deps)) ?? wantedSubject);
  const subject = checked ?? before?.subject ?? null;
  const existing = before ?? (await subscriptions.get({ channelId: channel.id, feed: feed.name, subject }));
  if (settings.publish && channel.type !== ChannelType.GuildAnnouncement) {
    throw new PersonError(
      `<#${channel.id}> is not an announcement channel: only there can messages be published. Leave \`publish\` out.`,
    );
  }
  await check(interaction, services, place, feed, settings);
  const subscription: Subscription = {
    ...settings,
    channelId: channel.id,
    feed: feed.name,
    subject,
    guildId: place.guild.id,
    userId: null,
    forum: channel.type === ChannelType.GuildForum,
    tagId: tagFor(place, feed),
    since: existing?.since || Date.now(),
    savedAt: Date.now(),
  };
  const health = { ...(await subscriptions.health(channel.id)), paused: false };
  // The subject can follow from the options, such as a price limit. If it changes, the new subscription replaces the old one.
  await saveSubscription(services, subscription, {
    replaced: before,
    more: [subscriptions.healthWrite(channel.id, health)],
    async checkRoom() {
      const other = before && subject !== before.subject && (await subscriptions.get(subscription));
      if (other)
        throw new PersonError(`<#${channel.id}> is subscribed to that already: edit or remove that one.`);
      if (!existing && !(await subscriptions.get(subscription)))
        await checkRoom(services, place.guild.id, channel.id, feed);
    },
  });
  const title = !existing
    ? md`Subscribed`
    : isDeepStrictEqual({ ...existing, savedAt: 0 }, { ...subscription, savedAt: 0 })
      ? md`No change: these are the settings already`
      : md`Subscription changed`;
  const standing = existing && !feed.subject ? [] : [md``, ...(await feed.standing(deps, subscription))];
  return say(services, title, [
    await headline(subscription, feed, services),
    ...described(subscription, feed),
    ...standing,
  ]);
}

/** Summarizes a subscription in one line: its channel, feed and subject. */
export async function headline(
  { channelId, subject }: Subscription,
  feed: FeedDefinition,
  named: NameSources,
  label?: string,
): Promise<Markdown> {
  const subjectName = subject === null ? undefined : await feed.subject?.nameOf(subject, named);
  return join(
    [channelMention(channelId), feed.name, subjectName && bold(subjectName), label].flatMap((each) =>
      each ? [md`${each}`] : [],
    ),
    " · ",
  );
}

/** Subscribes a channel to a feed, or edits the existing subscription. */
export async function subscribe(
  interaction: ChatInputCommandInteraction,
  services: Network,
  feed: FeedDefinition,
): Promise<MessagePayload> {
  const place = await placeOf(interaction, services);
  const settings = chosenSettings(interaction, feed, undefined);
  const subject = await chosenSubject(interaction, feed.subject, settings, services);
  const key = { channelId: place.channel.id, feed: feed.name, subject };
  return save(interaction, services, place, feed, await services.subscriptions.get(key));
}

/** Returns a channel's subscriptions on all networks, with their feeds. */
export async function subscriptionsIn(
  channelId: string,
  guildId: string | null,
  { networks, feeds }: Pick<SubscribeServices, "networks" | "feeds">,
): Promise<readonly OwnedSubscription[]> {
  // Subscriptions from the environment have no server. Subscriptions with a user id are private watches.
  const isOurs = (each: Subscription) =>
    each.channelId === channelId &&
    each.userId === null &&
    (each.guildId === null || each.guildId === guildId);
  return findSubscriptions(networks, feeds, isOurs);
}

/** Returns the network of a subscription. @throws {PersonError} if the bot no longer serves it */
function servedOf({ network, of }: OwnedSubscription): Network {
  if (!network)
    throw new PersonError(
      `I do not serve ${of.name} any more, so this subscription rests. \`/subscribe remove\` ends it.`,
    );
  return network;
}

/**
 * Returns the channel's subscription that a command refers to.
 * @throws {PersonError} if the options match no subscription, or more than one
 */
async function chosenIn(
  { options, guildId }: ChatInputCommandInteraction,
  services: SubscribeServices,
  channelId: string,
): Promise<OwnedSubscription> {
  const wantedFeed = options.getString(FEED_OPTION);
  const typedSubject = options.getString(SUBJECT_OPTION);
  const subject =
    typedSubject === null ? null : readId((await services.links.readChoice(typedSubject)) ?? typedSubject);
  const wantedNetwork = options.getString(NETWORK_OPTION);
  const isAbout = async ({ subscription, feed, network }: OwnedSubscription): Promise<boolean> =>
    subject === null ||
    subscription.subject === subject ||
    (subscription.subject !== null &&
      (await feed.subject?.nameOf(subscription.subject, network ?? services)) === subject);
  const fitting = (await subscriptionsIn(channelId, guildId, services))
    .filter(
      ({ feed, of }) =>
        (wantedNetwork === null || of.id === wantedNetwork) &&
        (wantedFeed === null || feed.name === wantedFeed),
    )
    .map(async (each) => ((await isAbout(each)) ? [each] : []));
  const candidates = (await Promise.all(fitting)).flat();
  // Prefer subscriptions on networks that are still served.
  const servedOnes = candidates.filter(({ network }) => network);
  const [only, ...others] = servedOnes.length > 0 ? servedOnes : candidates;
  if (!only) {
    throw new PersonError(
      `<#${channelId}> is not subscribed${subject === null ? "" : " to that"}. \`/subscribe ${wantedFeed ?? services.feeds[0]?.name}\` subscribes it.`,
    );
  }
  if (others.length > 0)
    throw new PersonError(
      `<#${channelId}> has several subscriptions: choose one with ${services.networks.served.length > 1 ? `\`${NETWORK_OPTION}\`, ` : ""}\`${FEED_OPTION}\` and \`${SUBJECT_OPTION}\`.`,
    );
  return only;
}

/** Handles `/subscribe edit`: changes the given options and keeps the others. */
export async function edit(
  interaction: ChatInputCommandInteraction,
  services: SubscribeServices,
): Promise<MessagePayload> {
  const place = await placeOf(interaction, services);
  const chosenOne = await chosenIn(interaction, services, place.channel.id);
  const { feed, subscription } = chosenOne;
  checkOptions(interaction, feed, services.feeds);
  return save(interaction, servedOf(chosenOne), place, feed, subscription);
}

/** Handles `/subscribe remove`. It also works for deleted channels. */
export async function remove(
  interaction: ChatInputCommandInteraction,
  services: SubscribeServices,
): Promise<MessagePayload> {
  const guildId = serverOf(interaction);
  const channelId = channelIdOf(interaction);
  // The channel may have been deleted, so check the server of the subscription instead.
  const { subscription, feed, of, network: own } = await chosenIn(interaction, services, channelId);
  const isServed = own !== undefined;
  const network = own ?? services.networks.served[0];
  if (subscription.guildId !== null && subscription.guildId !== guildId)
    throw new PersonError(`<#${channelId}> is not subscribed.`);
  if (of.subscriptions.isFixed(subscription)) {
    throw new PersonError(
      "This subscription is set in the bot's environment (GOVERNANCE_CHANNEL_ID) and cannot be removed by a command: its operator can.",
    );
  }
  await of.janitor.removeSubscription(subscription);
  const label = isServed ? undefined : of.name;
  return say(network, md`Subscription ended`, [await headline(subscription, feed, network, label)]);
}

/** Handles `/subscribe resume`: checks the permissions again, then clears the pause and the last error. */
export async function resume(
  interaction: ChatInputCommandInteraction,
  services: SubscribeServices,
): Promise<MessagePayload> {
  const place = await placeOf(interaction, services);
  const { channel } = place;
  const chosenOne = await chosenIn(interaction, services, channel.id);
  const { subscription, feed } = chosenOne;
  const network = servedOf(chosenOne);
  const { subscriptions } = network;
  await check(interaction, network, place, feed, subscription);
  // A tag that was deleted meanwhile would make Discord refuse every post, of all subscriptions in the forum.
  for (const each of await subscriptionsIn(channel.id, place.guild.id, services)) {
    const tagId = currentTag(place, each.feed, each.subscription.tagId);
    if (tagId !== each.subscription.tagId)
      await each.of.subscriptions.change(each.subscription, (kept) => ({ ...kept, tagId }));
  }
  const { paused, error, erroredAt, goneSince, ...rest } = await subscriptions.health(channel.id);
  await subscriptions.setHealth(channel.id, rest);
  return say(network, paused ? md`Resumed` : md`It was not paused`, [
    channelMention(channel.id),
    ...described(subscription, feed),
    ...tagWords(place, currentTag(place, feed, subscription.tagId)),
  ]);
}

/** Handles `/subscribe test`: requests a drill, which is delivered like an announcement. */
export async function test(
  interaction: ChatInputCommandInteraction,
  services: SubscribeServices,
): Promise<MessagePayload> {
  const place = await placeOf(interaction, services);
  const { channel } = place;
  const chosenOne = await chosenIn(interaction, services, channel.id);
  const { subscription, feed } = chosenOne;
  const network = servedOf(chosenOne);
  await check(interaction, network, place, feed, subscription);
  await drillSubscription(
    interaction,
    chosenOne,
    network,
    `<#${channel.id}> is paused: \`/subscribe resume\` resumes it.`,
  );
  return say(network, md`A drill is on its way`, [
    channelMention(channel.id),
    md`It pings whom an announcement would. \`/subscribe list\` says so if it cannot be posted.`,
  ]);
}
