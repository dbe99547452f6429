import { ChannelFlags, ChannelType, type ChatInputCommandInteraction } from "discord.js";
import * as z from "zod";
import type { Subscription } from "../../src/delivery/collections.js";
import { type FeedDefinition, needsOf, toldBy } from "../../src/delivery/feed.js";
import { NO_SERVER } from "../../src/delivery/subscriptions.js";
import { checkSubscription } from "../../src/discord/access.js";
import { type Click, mayAnswer } from "../../src/discord/clicks.js";
import type { MessagePayload } from "../../src/discord/message.js";
import type { ChannelPlace } from "../../src/discord/permissions.js";
import { guildOf, readerOf } from "../../src/discord/places.js";
import { isTemporary, problemOf } from "../../src/discord/problems.js";
import type { Network, Networks } from "../../src/networks/network.js";
import { defineButton } from "../../src/screens/addresses.js";
import { byAge, findSubscriptions, type OwnedSubscription, type Person } from "../../src/subscribe/editor.js";
import { labelOf } from "../../src/subscribe/shown.js";
import { bold, channelMention, join, type Markdown, md, roleMention } from "../../src/text/markdown.js";
import { cut } from "../../src/text/plain.js";
import { FinalError, PersonError } from "../../src/util/person-error.js";
import { present } from "../../src/util/present.js";

/** Shows what the server has set up (/setup). */
export const setupButton = defineButton("setup", { page: z.coerce.number().int().min(1).default(1) });

/** Handles a subcommand of /subscribe. */
export type Subcommand = (
  interaction: ChatInputCommandInteraction,
  services: Network,
) => Promise<MessagePayload>;

/** A person who uses a command or a button in a server. */
export interface Actor extends Person {
  readonly client: { readonly user: { readonly id: string }; readonly rest: Network["rest"] };
}

/** Returns the server of a click. @throws {PersonError} if the person may not manage it */
export function managedServer(click: Click): string {
  if (!click.guildId || !mayAnswer(click, null))
    throw new FinalError("Only people who can manage the server can change its subscriptions.");
  return click.guildId;
}

/** Returns lines with an empty one before them, or none. */
export const paragraph = (lines: readonly Markdown[]): readonly Markdown[] =>
  lines.length > 0 ? [md``, ...lines] : [];

/** Shown for a paused subscription. */
export const PAUSED = md`⏸️ Paused: nothing is posted until you resume it.`;

/** Shown for a subscription without topics. */
export const NOTHING = md`⚠️ Subscribed to nothing: nothing is posted until you edit it.`;

/** Shown for a subscription from the environment. */
export const OPERATORS_OWN = "Set up by the bot's operator. Only they can remove it.";

/** Returns the error for a change of a subscription that was removed, or changed its subject, meanwhile. */
export const noLongerThere = (): PersonError =>
  new FinalError(
    "That subscription no longer exists, or is about something else now. `/subscribe list` shows the current ones.",
  );

/** Returns a forum's tags that anyone may use (Discord: moderated ones need Manage Threads). Empty for other channels. */
export const tagsOf = (channel: ChannelPlace["channel"]) =>
  channel.type === ChannelType.GuildForum
    ? (channel.available_tags ?? []).filter(({ moderated }) => !moderated)
    : [];

/**
 * Returns a tag for posts if the forum requires one: a tag that matches the feed, or else the first.
 * @throws {PersonError} if the forum has no tag that the bot may use
 */
export function tagFor({ channel }: ChannelPlace, feed: FeedDefinition): string | null {
  if (channel.type !== ChannelType.GuildForum || !((channel.flags ?? 0) & ChannelFlags.RequireTag))
    return null;
  const tags = tagsOf(channel);
  const tag = tags.find(({ name }) => feed.tagName.test(name)) ?? tags[0];
  if (!tag)
    throw new PersonError(
      `<#${channel.id}> requires a tag on each post, but has none that everyone may use. Add one in the channel settings, and try again.`,
    );
  return tag.id;
}

/** Checks if the person may subscribe the channel like that, and if the bot can post there. @throws {PersonError} */
export const checkPermissions = (
  person: Actor,
  place: ChannelPlace,
  feed: FeedDefinition,
  settings: Pick<Subscription, "roleId" | "thread" | "topics">,
): Promise<void> => {
  const { client, user } = person;
  const wants = { ...settings, needs: needsOf(settings, feed) };
  return checkSubscription(readerOf(person), client.user.id, user.id, place, wants);
};

/** Shown in place of a role that was deleted. */
export const GONE_ROLE = md`⚠️ pings a role that no longer exists`;

/** Describes a subscription: its topics, role, thread and publishing. @param gone roles that were deleted */
export function described(
  subscription: Subscription,
  feed: FeedDefinition,
  gone: ReadonlySet<string> = new Set(),
): Markdown[] {
  const { roleId, thread, publish, forum } = subscription;
  const names = toldBy(subscription, feed);
  const threads = thread ? [md`A thread under each announcement`] : [];
  return present([
    names.length > 0 ? md`Subscribed to: ${names.join(", ")}` : NOTHING,
    roleId !== null &&
      (gone.has(roleId)
        ? GONE_ROLE
        : md`Pings ${roleMention(roleId)}${feed.pings === undefined ? md`` : md` ${feed.pings}`}`),
    ...(forum ? [md`A post for each ${feed.thing}`] : threads),
    publish && md`Published to channels that follow this one`,
  ]);
}

/** Returns the name of a subscription's subject. Nothing for a subscription without one. */
export const subjectNameOf = async (
  { subscription: { subject }, feed, network }: OwnedSubscription,
  shownBy: Network,
): Promise<string | undefined> =>
  subject === null ? undefined : feed.subject?.nameOf(subject, network ?? shownBy);

/**
 * Summarizes a subscription in one line: its channel, feed, subject and network.
 * @param most maximum length of the subject's name
 */
export async function headline(
  each: OwnedSubscription,
  shownBy: Network,
  most = Number.POSITIVE_INFINITY,
): Promise<Markdown> {
  const { subscription, feed, networkState } = each;
  const subjectName = await subjectNameOf(each, shownBy);
  return join(
    present([
      channelMention(subscription.channelId),
      feed.name,
      subjectName && bold(cut(subjectName, most)),
      labelOf(networkState, shownBy.networks),
    ]).map((part) => md`${part}`),
    " · ",
  );
}

/** Returns a channel's subscriptions on all networks, with their feeds. */
export async function subscriptionsIn(
  channelId: string,
  guildId: string | null,
  networks: Networks,
): Promise<readonly OwnedSubscription[]> {
  // Subscriptions from the environment have no server. Subscriptions with a user id are private watches.
  const isOurs = (each: Subscription) =>
    each.channelId === channelId &&
    each.userId === null &&
    (each.guildId === null || each.guildId === guildId);
  return findSubscriptions(networks, [channelId], isOurs);
}

/** Returns the network of a subscription. @throws {PersonError} if the bot no longer serves it */
export function servedOf({ network, networkState }: OwnedSubscription): Network {
  if (!network)
    throw new PersonError(
      `I no longer cover ${networkState.name}, so this subscription is on hold. You can remove it with \`/subscribe remove\`.`,
    );
  return network;
}

/** Returns a server's subscriptions, including environment subscriptions for its channels. */
export async function serverSubscriptions(
  guildId: string,
  services: Network,
): Promise<readonly OwnedSubscription[]> {
  const candidates = await findSubscriptions(
    services.networks,
    [guildId, NO_SERVER],
    (each) => each.guildId === guildId || (each.guildId === null && each.userId === null),
  );
  const serverOfChannel = (channelId: string) =>
    guildOf(services.rest, channelId).catch((error: unknown) => {
      if (isTemporary(problemOf(error))) throw error;
      return null;
    });
  // An environment subscription does not say in which server its channel is.
  const servers = await Promise.all(
    candidates.map(({ subscription }) => subscription.guildId ?? serverOfChannel(subscription.channelId)),
  );
  return candidates.filter((_, index) => servers[index] === guildId).sort(byAge);
}
