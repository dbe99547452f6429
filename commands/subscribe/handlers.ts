import { isDeepStrictEqual } from "node:util";
import { ChannelType, type ChatInputCommandInteraction } from "discord.js";
import { requestDrill } from "../../src/delivery/drill.js";
import {
  type AnswerDeps,
  type FeedDefinition,
  type Named,
  needsOf,
  toldBy,
} from "../../src/delivery/feed.js";
import { NETWORK_OPTION } from "../../src/discord/command.js";
import type { MessagePayload } from "../../src/discord/message.js";
import type { Place } from "../../src/discord/permissions.js";
import { checkSubscription, readPlace } from "../../src/discord/places.js";
import { allNetworks, type Network, type Networks } from "../../src/networks/network.js";
import type { Subscription } from "../../src/storage/catalogue.js";
import { readId } from "../../src/text/ids.js";
import { bold, channelMention, join, type Markdown, md, roleMention } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import {
  type Chosen,
  checkOptions,
  chosenSettings,
  chosenSubject,
  FEED_OPTION,
  SUBJECT_OPTION,
} from "./choice.js";

/** The most subscriptions of one feed that a channel may have. */
const MAX_OF_A_FEED = 25;

/** What /subscribe works with: a network, with what can be subscribed to. */
export interface FeedServices extends Network {
  readonly feeds: readonly FeedDefinition[];
}

/** An answer of a command that changes something. */
export const say = (
  { renderer }: Network,
  title: Markdown,
  body: readonly Markdown[],
  tone: "good" | "neutral" = "good",
): MessagePayload => renderer.message({ title, tone, body, readings: [] });

/** The server that a command was typed in. @throws {PersonError} outside of servers */
export function serverOf({ guildId }: ChatInputCommandInteraction): string {
  if (!guildId) throw new PersonError("Subscriptions belong to a server: use this command in one.");
  return guildId;
}

const channelIdOf = ({ options, channelId }: ChatInputCommandInteraction): string =>
  options.getChannel("channel")?.id ?? channelId;

const placeOf = (interaction: ChatInputCommandInteraction, { rest }: Network): Promise<Place> =>
  readPlace(rest, serverOf(interaction), channelIdOf(interaction));

const REQUIRE_TAG = 1 << 4;

/** The tag that a forum demands: one that suits the feed, else its first. @throws {PersonError} where it has none */
function tagFor({ channel }: Place, feed: FeedDefinition): string | null {
  if (channel.type !== ChannelType.GuildForum || !((channel.flags ?? 0) & REQUIRE_TAG)) return null;
  const tag = channel.available_tags.find(({ name }) => feed.tagName.test(name)) ?? channel.available_tags[0];
  if (!tag)
    throw new PersonError(
      `<#${channel.id}> demands a tag on each post and has none. Add a tag to it, and try again.`,
    );
  return tag.id;
}

const check = (
  { client, user }: ChatInputCommandInteraction,
  { rest }: Network,
  place: Place,
  feed: FeedDefinition,
  settings: Pick<Subscription, "roleId" | "thread" | "topics">,
): Promise<void> => {
  const { roleId, thread } = settings;
  const needs = needsOf(settings, feed);
  return checkSubscription(rest, client.user.id, user.id, { place, roleId, thread, needs });
};

/** What a subscription announces, in words. */
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

export const answerDeps = (
  { user }: { readonly user: { readonly id: string } },
  { explorer, names, renderer, state }: Network,
): AnswerDeps => ({ explorer: explorer.for({ person: user.id }), state, names, renderer, now: Date.now() });

/** @throws {PersonError} where the server, or the channel, has as many subscriptions as it may have */
async function checkRoom(
  { networks, maxSubscriptions }: Network,
  guildId: string,
  channelId: string,
  feed: FeedDefinition,
) {
  const all = (await allNetworks(networks)).map(({ subscriptions }) => subscriptions.all());
  const own = (await Promise.all(all)).flat().filter((each) => each.guildId === guildId);
  const alike = own.filter((each) => each.channelId === channelId && each.feed === feed.name);
  if (alike.length >= MAX_OF_A_FEED)
    throw new PersonError(
      `<#${channelId}> has ${alike.length} subscriptions to ${feed.name}, as many as a channel may have. \`/subscribe remove\` ends one that is no longer needed.`,
    );
  if (own.length >= maxSubscriptions)
    throw new PersonError(
      `This server has ${own.length} subscriptions, as many as it may have. \`/subscribe remove\` ends one that is no longer needed.`,
    );
}

async function save(
  interaction: ChatInputCommandInteraction,
  services: Network,
  place: Place,
  feed: FeedDefinition,
  before: Subscription | undefined,
): Promise<MessagePayload> {
  const { subscriptions } = services;
  const { channel } = place;
  const settings = chosenSettings(interaction, feed, before);
  const deps = answerDeps(interaction, services);
  const wanted = await chosenSubject(interaction, feed.subject, settings, services);
  const checked = wanted === null ? null : ((await feed.subject?.check?.(wanted, deps)) ?? wanted);
  const subject = checked ?? before?.subject ?? null;
  const existing = before ?? (await subscriptions.get({ channelId: channel.id, feed: feed.name, subject }));
  if (settings.publish && channel.type !== ChannelType.GuildAnnouncement) {
    throw new PersonError(
      `<#${channel.id}> is not an announcement channel: only there can messages be published. Leave \`publish\` out.`,
    );
  }
  await check(interaction, services, place, feed, settings);
  if (!existing) await checkRoom(services, place.guild.id, channel.id, feed);
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
  const other = subject === before?.subject ? undefined : await subscriptions.get(subscription);
  if (before && other)
    throw new PersonError(`<#${channel.id}> is subscribed to that already: edit or remove that one.`);
  const health = { ...(await subscriptions.health(channel.id)), paused: false };
  // A condition is what a subscription is about: another one takes its place.
  await subscriptions.put(subscription, before, [subscriptions.healthWrite(channel.id, health)]);
  const title = !existing
    ? md`Subscribed`
    : isDeepStrictEqual({ ...existing, savedAt: 0 }, { ...subscription, savedAt: 0 })
      ? md`No change: these are the settings already`
      : md`Subscription changed`;
  const standing = existing && !feed.subject ? [] : [md``, ...(await feed.standing(deps, subscription))];
  return say(services, title, [
    headline(subscription, feed, services),
    ...described(subscription, feed),
    ...standing,
  ]);
}

/** A subscription in a few words: its channel, and what it is about. */
export function headline(
  { channelId, subject }: Subscription,
  feed: FeedDefinition,
  named: Named,
  label?: string,
): Markdown {
  const of = subject === null ? undefined : feed.subject?.nameOf(subject, named);
  return join(
    [channelMention(channelId), feed.name, of && bold(of), label].flatMap((each) =>
      each ? [md`${each}`] : [],
    ),
    " · ",
  );
}

/** Subscribes a channel to a feed; one that is subscribed already is edited. */
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

/** A channel's subscriptions to whichever network, with their feeds. */
export async function subscriptionsIn(
  channelId: string,
  guildId: string | null,
  { networks, feeds }: Pick<FeedServices, "networks" | "feeds">,
): Promise<readonly Chosen[]> {
  // The environment's does not say whose it is; a person's is nobody else's.
  const isOurs = (each: Subscription) =>
    each.channelId === channelId &&
    each.userId === null &&
    (each.guildId === null || each.guildId === guildId);
  return (await subscriptionsOf(networks, feeds)).filter(({ subscription }) => isOurs(subscription));
}

/** All subscriptions to all networks, with their feeds. */
export async function subscriptionsOf(
  networks: Networks,
  feeds: readonly FeedDefinition[],
): Promise<readonly Chosen[]> {
  const all = (await allNetworks(networks)).map(async (of) =>
    (await of.subscriptions.all()).flatMap((subscription) => {
      const feed = feeds.find(({ name }) => name === subscription.feed);
      const network = networks.served.find(({ id }) => id === of.id);
      return feed ? [{ subscription, feed, of, network }] : [];
    }),
  );
  return (await Promise.all(all)).flat();
}

/** The network of a subscription. @throws {PersonError} where it is no longer served */
function servedOf({ network, of }: Chosen): Network {
  if (!network)
    throw new PersonError(
      `I do not serve ${of.name} any more, so this subscription rests. \`/subscribe remove\` ends it.`,
    );
  return network;
}

/**
 * The subscription of a channel that a command is about.
 * @throws {PersonError} where there is none, or where there are several and none is named
 */
async function chosenIn(
  { options, guildId }: ChatInputCommandInteraction,
  services: FeedServices,
  channelId: string,
): Promise<Chosen> {
  const wanted = options.getString(FEED_OPTION);
  const typed = options.getString(SUBJECT_OPTION);
  const subject = typed === null ? null : readId((await services.links.readChoice(typed)) ?? typed);
  const on = options.getString(NETWORK_OPTION);
  const own = (await subscriptionsIn(channelId, guildId, services)).filter(
    ({ subscription, feed, of, network }) =>
      (on === null || of.id === on) &&
      (wanted === null || feed.name === wanted) &&
      (subject === null ||
        subscription.subject === subject ||
        (subscription.subject !== null &&
          feed.subject?.nameOf(subscription.subject, network ?? services) === subject)),
  );
  // One to a network that is no longer served is meant where there is no other.
  const served = own.filter(({ network }) => network);
  const [only, ...others] = served.length > 0 ? served : own;
  if (!only) {
    throw new PersonError(
      `<#${channelId}> is not subscribed${subject === null ? "" : " to that"}. \`/subscribe ${wanted ?? services.feeds[0]?.name}\` subscribes it.`,
    );
  }
  if (others.length > 0)
    throw new PersonError(
      `<#${channelId}> has several subscriptions: choose one with ${services.networks.served.length > 1 ? `\`${NETWORK_OPTION}\`, ` : ""}\`${FEED_OPTION}\` and \`${SUBJECT_OPTION}\`.`,
    );
  return only;
}

/** `/subscribe edit`: the options given, and the rest as it was. */
export async function edit(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
): Promise<MessagePayload> {
  const place = await placeOf(interaction, services);
  const chosen = await chosenIn(interaction, services, place.channel.id);
  const { feed, subscription } = chosen;
  checkOptions(interaction, feed, services.feeds);
  return save(interaction, servedOf(chosen), place, feed, subscription);
}

/** `/subscribe remove`. A channel that is gone can still be unsubscribed. */
export async function remove(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
): Promise<MessagePayload> {
  const guildId = serverOf(interaction);
  const channelId = channelIdOf(interaction);
  // The channel itself may be gone: what counts is whose subscription it is.
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
  await of.subscriptions.remove(subscription);
  const label = isServed ? undefined : of.name;
  return say(network, md`Subscription ended`, [headline(subscription, feed, network, label)]);
}

/** `/subscribe resume`: checks the channel again, and clears what paused it. */
export async function resume(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
): Promise<MessagePayload> {
  const place = await placeOf(interaction, services);
  const { channel } = place;
  const chosen = await chosenIn(interaction, services, channel.id);
  const { subscription, feed } = chosen;
  const network = servedOf(chosen);
  const { subscriptions } = network;
  await check(interaction, network, place, feed, subscription);
  const { paused, error, erroredAt, goneSince, ...rest } = await subscriptions.health(channel.id);
  await subscriptions.setHealth(channel.id, rest);
  return say(network, paused ? md`Resumed` : md`It was not paused`, [
    channelMention(channel.id),
    ...described(subscription, feed),
  ]);
}

/** Has a drill sent, the way an announcement is. */
export async function test(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
): Promise<MessagePayload> {
  const place = await placeOf(interaction, services);
  const { channel } = place;
  const chosen = await chosenIn(interaction, services, channel.id);
  const { subscription, feed } = chosen;
  const network = servedOf(chosen);
  const { state, renderer } = network;
  await check(interaction, network, place, feed, subscription);
  if ((await network.subscriptions.health(channel.id)).paused)
    throw new PersonError(`<#${channel.id}> is paused: \`/subscribe resume\` resumes it.`);
  const deps = answerDeps(interaction, network);
  await requestDrill(state, renderer, subscription, (mark) => feed.sample(deps, subscription, mark));
  return say(network, md`A drill is on its way`, [
    channelMention(channel.id),
    md`It pings whom an announcement would. \`/subscribe list\` says so if it cannot be posted.`,
  ]);
}
