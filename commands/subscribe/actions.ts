import { GIVE_UP_MS } from "../../src/delivery/decisions.js";
import { type FeedDefinition, needsOf } from "../../src/delivery/feed.js";
import { snoozeEnd } from "../../src/delivery/snoozes.js";
import { lackedIn } from "../../src/discord/access.js";
import type { Click } from "../../src/discord/clicks.js";
import type { ChannelPlace } from "../../src/discord/permissions.js";
import { readerOf, readPlace } from "../../src/discord/places.js";
import type { Networks } from "../../src/networks/network.js";
import {
  answerDeps,
  drillSubscription,
  endPause,
  type OwnedSubscription,
  setPaused,
} from "../../src/subscribe/editor.js";
import { bold, channelMention, join, type Markdown, md } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import { present } from "../../src/util/present.js";
import {
  type Actor,
  checkPermissions,
  noLongerThere,
  OPERATORS_OWN,
  servedOf,
  subscriptionsIn,
  tagFor,
  tagsOf,
} from "./subscription.js";

/** Ends a subscription. @param guildId the server of the person @throws {PersonError} */
export async function endSubscription(found: OwnedSubscription, guildId: string): Promise<void> {
  const { subscription, networkState } = found;
  // The channel may have been deleted, so check the server of the subscription instead.
  if (subscription.guildId !== null && subscription.guildId !== guildId)
    throw new PersonError(`That subscription isn't in this server: <#${subscription.channelId}>.`);
  if (networkState.subscriptions.isFixed(subscription)) throw new PersonError(OPERATORS_OWN);
  const isRemoved = await networkState.janitor.removeSubscription(subscription);
  if (!isRemoved && (await isMoved(found))) throw noLongerThere();
}

/** True if an edit has moved a subscription to another subject. */
async function isMoved({ subscription, networkState }: OwnedSubscription): Promise<boolean> {
  const { channelId, feed, since } = subscription;
  const allSubscriptions = await networkState.subscriptions.all();
  return allSubscriptions.some(
    (each) => each.channelId === channelId && each.feed === feed && each.since === since,
  );
}

/**
 * Returns the tag for a subscription's posts: the stored one while the forum has it, otherwise a new choice.
 * @throws {PersonError} if the forum requires a tag and has none
 */
function currentTag(place: ChannelPlace, feed: FeedDefinition, tagId: string | null): string | null {
  const isThere = tagsOf(place.channel).some(({ id }) => id === tagId);
  return isThere ? tagId : tagFor(place, feed);
}

/** Gives a subscription a tag that its forum still has, because Discord refuses each post with a deleted one. */
async function renewTag(
  place: ChannelPlace,
  { subscription, feed, networkState }: OwnedSubscription,
): Promise<void> {
  const tagId = currentTag(place, feed, subscription.tagId);
  if (tagId !== subscription.tagId)
    await networkState.subscriptions.change(subscription, (kept) => ({ ...kept, tagId }));
}

/** Names the tag of a subscription's posts. Empty if they have none. */
function tagWords({ channel }: ChannelPlace, tagId: string | null): Markdown[] {
  const tag = tagsOf(channel).find(({ id }) => id === tagId);
  return tag ? [md`Posts get the tag **${tag.name}**`] : [];
}

/** A channel that Discord no longer refuses. */
interface Reopened {
  readonly wasRefused: boolean;
  /** Says what has changed for the channel's other subscriptions and for the posts. */
  readonly lines: readonly Markdown[];
}

/**
 * Ends the pause of a channel that Discord refused, on all networks, and gives each of its subscriptions a tag that the forum
 * still has.
 * @throws {PersonError} if the forum requires a tag and has none
 */
export async function reopen(
  place: ChannelPlace,
  { subscription, feed }: Pick<OwnedSubscription, "subscription" | "feed">,
  networks: Networks,
): Promise<Reopened> {
  const { channel, guild } = place;
  const inChannel = await subscriptionsIn(channel.id, guild.id, networks);
  let refusedAt: number | undefined;
  for (const each of inChannel) {
    await renewTag(place, each);
    refusedAt = (await endPause(each.networkState, each.subscription)) ?? refusedAt;
  }
  const wasRefused = refusedAt !== undefined;
  const hasMissedNews = refusedAt !== undefined && Date.now() - refusedAt > GIVE_UP_MS;
  const isForAll = wasRefused && inChannel.length > 1;
  return {
    wasRefused,
    lines: present([
      ...tagWords(place, currentTag(place, feed, subscription.tagId)),
      hasMissedNews &&
        md`Discord refused this channel for more than a day. News waits for a day, so older news won't arrive.`,
      isForAll && md`Posting to ${channelMention(channel.id)} works again, also for its other subscriptions.`,
    ]),
  };
}

/**
 * Checks the permissions again, then ends the pause and the snooze of a subscription, and the pause of its channel.
 * @returns if it was paused or snoozed, and in lines what else has changed and what began during its pause
 * @throws {PersonError}
 */
export async function resumeSubscription(
  person: Actor,
  found: OwnedSubscription,
  place: ChannelPlace,
  networks: Networks,
): Promise<{
  readonly wasPaused: boolean;
  readonly lines: readonly Markdown[];
  readonly standing: readonly Markdown[];
}> {
  const { subscription, feed } = found;
  const network = servedOf(found);
  await checkPermissions(person, place, feed, subscription);
  const { wasRefused, lines } = await reopen(place, found, networks);
  const { isPaused = false } = subscription;
  const isSnoozed = snoozeEnd(subscription, Date.now()) > 0;
  if ((isPaused || isSnoozed) && !(await setPaused(network, subscription, false))) throw noLongerThere();
  // Events during a pause are dropped. Those during a refusal wait for a day, and are announced now.
  // One that is done says how to get another alert.
  const isDone = (await feed.isDone?.(network.state, subscription)) === true;
  const standing = isPaused || isDone ? await feed.standing(answerDeps(person, network), subscription) : [];
  return { wasPaused: wasRefused || isPaused || isSnoozed, lines, standing };
}

/** Requests a drill. @throws {PersonError} if a permission or the forum's required tag is missing, or if the channel is paused */
export async function testSubscription(
  person: Actor,
  found: OwnedSubscription,
  place: ChannelPlace,
): Promise<void> {
  const network = servedOf(found);
  await checkPermissions(person, place, found.feed, found.subscription);
  await renewTag(place, found);
  const which = found.subscription.isPaused ? "That subscription" : `<#${place.channel.id}>`;
  const paused = `${which} is paused. Resume it with \`/subscribe resume\`, then try again.`;
  await drillSubscription(person, found, network, paused);
}

/**
 * Says what keeps a subscription's messages from arriving, or from pinging, by the channel's current permissions. `undefined` if nothing
 * does, or if Discord cannot be asked.
 */
export async function troubleOf(
  click: Click,
  { subscription, feed }: OwnedSubscription,
  guildId: string,
): Promise<Markdown | undefined> {
  const reader = readerOf(click);
  const { channelId, roleId, thread } = subscription;
  try {
    const place = await readPlace(reader, guildId, channelId);
    const wants = { roleId, thread, needs: needsOf(subscription, feed) };
    const lacking = await lackedIn(reader, click.client.user.id, place, wants);
    return lacking.length === 0
      ? undefined
      : md`⚠️ I need ${join(
          lacking.map((name) => bold(name)),
          ", ",
        )} in ${channelMention(channelId)}.`;
  } catch (error) {
    return error instanceof PersonError
      ? md`⚠️ I can't see this channel. It may have been deleted.`
      : undefined;
  }
}
