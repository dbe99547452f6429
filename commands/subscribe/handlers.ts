import { isDeepStrictEqual } from "node:util";
import { ChannelType, type ChatInputCommandInteraction } from "discord.js";
import type { Subscription } from "../../src/delivery/collections.js";
import type { FeedDefinition } from "../../src/delivery/feed.js";
import { NETWORK_OPTION } from "../../src/discord/command.js";
import type { MessagePayload } from "../../src/discord/message.js";
import type { ChannelPlace } from "../../src/discord/permissions.js";
import { readPlace } from "../../src/discord/places.js";
import { say, serverOf } from "../../src/discord/say.js";
import { allNetworks, type Network } from "../../src/networks/network.js";
import { answerDeps, type OwnedSubscription, saveSubscription } from "../../src/subscribe/editor.js";
import { readId } from "../../src/text/ids.js";
import { channelMention, md } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import { endSubscription, resumeSubscription, testSubscription } from "./actions.js";
import { checkOptions, chosenSettings, chosenSubject, FEED_OPTION, SUBJECT_OPTION } from "./choice.js";
import {
  byAge,
  check,
  described,
  headline,
  type SubscribeServices,
  servedOf,
  subscriptionsIn,
  tagFor,
} from "./subscription.js";

/** Maximum number of subscriptions to one feed per channel. */
const MAX_PER_CHANNEL = 25;

const channelIdOf = ({ options, channelId }: ChatInputCommandInteraction): string =>
  options.getChannel("channel")?.id ?? channelId;

const placeOf = (interaction: ChatInputCommandInteraction, { rest }: Network): Promise<ChannelPlace> =>
  readPlace(rest, serverOf(interaction), channelIdOf(interaction));

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
      `<#${channelId}> already has ${alike.length} subscriptions to ${feed.name}, which is the maximum per channel. Remove one with \`/subscribe remove\` first.`,
    );
  if (serverSubscriptions.length >= maxSubscriptions)
    throw new PersonError(
      `This server already has ${serverSubscriptions.length} subscriptions, which is the maximum. Remove one with \`/subscribe remove\` first.`,
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
      `<#${channel.id}> isn't an announcement channel, so messages can't be published there. Leave out \`publish\`.`,
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
        throw new PersonError(`<#${channel.id}> already has that subscription. Edit or remove it instead.`);
      if (!existing && !(await subscriptions.get(subscription)))
        await checkRoom(services, place.guild.id, channel.id, feed);
    },
  });
  const title = !existing
    ? md`Subscribed`
    : isDeepStrictEqual({ ...existing, savedAt: 0 }, { ...subscription, savedAt: 0 })
      ? md`Nothing changed: it already has these settings`
      : md`Subscription changed`;
  const standing = existing && !feed.subject ? [] : [md``, ...(await feed.standing(deps, subscription))];
  return say(services, title, [
    await headline(subscription, feed, services),
    ...described(subscription, feed),
    ...standing,
  ]);
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

/** Thrown if a command's options match several subscriptions. The person chooses one from a menu. */
export class SeveralMatch extends Error {
  constructor(readonly subscriptions: readonly OwnedSubscription[]) {
    super("Several subscriptions match");
  }
}

/**
 * Returns the channel's subscription that a command refers to.
 * @throws {PersonError} if the options match no subscription
 * @throws {SeveralMatch}
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
      `<#${channelId}> isn't subscribed${subject === null ? "" : " to that"}. \`/subscribe ${wantedFeed ?? services.feeds[0]?.name}\` sets it up.`,
    );
  }
  if (others.length > 0) throw new SeveralMatch([only, ...others].toSorted(byAge));
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
  const found = await chosenIn(interaction, services, channelIdOf(interaction));
  await endSubscription(found, serverOf(interaction));
  const { subscription, feed, of, network = services.networks.served[0] } = found;
  const label = found.network ? undefined : of.name;
  return say(network, md`Subscription removed`, [await headline(subscription, feed, network, label)]);
}

/** Handles `/subscribe resume`. */
export async function resume(
  interaction: ChatInputCommandInteraction,
  services: SubscribeServices,
): Promise<MessagePayload> {
  const place = await placeOf(interaction, services);
  const found = await chosenIn(interaction, services, place.channel.id);
  const { wasPaused, tagLines } = await resumeSubscription(interaction, found, place, services);
  return say(servedOf(found), wasPaused ? md`Resumed` : md`It wasn't paused`, [
    channelMention(place.channel.id),
    ...described(found.subscription, found.feed),
    ...tagLines,
  ]);
}

/** Handles `/subscribe test`: requests a drill, which is delivered like an announcement. */
export async function test(
  interaction: ChatInputCommandInteraction,
  services: SubscribeServices,
): Promise<MessagePayload> {
  const place = await placeOf(interaction, services);
  const found = await chosenIn(interaction, services, place.channel.id);
  await testSubscription(interaction, found, place);
  return say(servedOf(found), md`A test announcement is on its way`, [
    channelMention(place.channel.id),
    md`It pings the same role as a real announcement. If it can't be posted, \`/subscribe list\` shows why.`,
  ]);
}
