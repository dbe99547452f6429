import type { AutocompleteInteraction, ChatInputCommandInteraction } from "discord.js";
import type { FeedDefinition } from "../../src/delivery/feed.js";
import { NETWORK_OPTION } from "../../src/discord/command.js";
import type { MessagePayload } from "../../src/discord/message.js";
import type { ChannelPlace } from "../../src/discord/permissions.js";
import { readerOf, readPlace } from "../../src/discord/places.js";
import { say, serverOf } from "../../src/discord/say.js";
import type { Network } from "../../src/networks/network.js";
import { byAge, matchingNames, type OwnedSubscription } from "../../src/subscribe/editor.js";
import { isWholeId, readId, shortId } from "../../src/text/ids.js";
import { channelMention, escapeText, md } from "../../src/text/markdown.js";
import { cut } from "../../src/text/plain.js";
import { PersonError } from "../../src/util/person-error.js";
import { isNetwork } from "../network-option.js";
import { endSubscription, resumeSubscription, testSubscription } from "./actions.js";
import { FEED_OPTION, foreignOption, namedSubject, SUBJECT_OPTION, settingsIn } from "./choice.js";
import { save } from "./save.js";
import {
  described,
  headline,
  paragraph,
  type Subcommand,
  servedOf,
  subscriptionsIn,
} from "./subscription.js";

const channelIdOf = ({ options, channelId }: ChatInputCommandInteraction): string =>
  options.getChannel("channel")?.id ?? channelId;

const placeOf = (interaction: ChatInputCommandInteraction): Promise<ChannelPlace> =>
  readPlace(readerOf(interaction), serverOf(interaction), channelIdOf(interaction));

/** Subscribes a channel to a feed, or edits the existing subscription. */
export async function subscribe(
  interaction: ChatInputCommandInteraction,
  services: Network,
  feed: FeedDefinition,
): Promise<MessagePayload> {
  const place = await placeOf(interaction);
  const given = settingsIn(interaction);
  const named = await namedSubject(interaction, feed.subject, services);
  return save({ person: interaction, services, place, feed, given, named });
}

/** Thrown if a command's options match several subscriptions. The person chooses one from a menu. */
export class SeveralMatch extends Error {
  constructor(readonly subscriptions: readonly OwnedSubscription[]) {
    super("Several subscriptions match");
  }
}

/** Returns the items that fit, or all if none does. */
function preferred<Item>(items: readonly Item[], fits: (item: Item) => boolean): readonly Item[] {
  const fitting = items.filter(fits);
  return fitting.length > 0 ? fitting : items;
}

/** Returns the channel's subscriptions to the feed and on the network that a command names. */
export async function selectedSubscriptions(
  { options, guildId }: ChatInputCommandInteraction | AutocompleteInteraction,
  { networks }: Network,
  channelId: string,
): Promise<readonly OwnedSubscription[]> {
  const wantedFeed = options.getString(FEED_OPTION);
  const wantedNetwork = options.getString(NETWORK_OPTION);
  return (await subscriptionsIn(channelId, guildId, networks)).filter(
    ({ feed, networkState }) =>
      (wantedNetwork === null || isNetwork(networkState, wantedNetwork)) &&
      (wantedFeed === null || feed.name === wantedFeed),
  );
}

/**
 * Returns the channel's subscription that a command refers to. The subject may be typed in any case, or in part.
 * @param fits true for the feeds to prefer
 * @throws {PersonError} if the options match no subscription
 * @throws {SeveralMatch}
 */
async function chosenIn(
  interaction: ChatInputCommandInteraction,
  services: Network,
  channelId: string,
  fits: (feed: FeedDefinition) => boolean = () => true,
): Promise<OwnedSubscription> {
  const wantedFeed = interaction.options.getString(FEED_OPTION);
  const typedSubject = interaction.options.getString(SUBJECT_OPTION);
  const inChannel = await selectedSubscriptions(interaction, services, channelId);
  const { isWhole, items: candidates } =
    typedSubject === null
      ? { isWhole: true, items: inChannel }
      : await matchingNames(inChannel, typedSubject, services.links, subjectWords(services));
  // Prefer subscriptions on networks that are still served, and to feeds that have the given options.
  const served = preferred(candidates, ({ network }) => network !== undefined);
  const [only, ...others] = preferred(served, ({ feed }) => fits(feed));
  if (!only) {
    const wanted = wantedFeed === null ? "subscription" : `${wantedFeed} subscription`;
    // A suggestion's value is a code for its id.
    const id = readId((typedSubject && (await services.links.readChoice(typedSubject))) ?? "");
    const named = isWholeId(id) ? shortId(id) : typedSubject;
    const about = named === null ? "" : ` to “${escapeText(cut(named, 100))}”`;
    throw new PersonError(
      `<#${channelId}> has no ${wanted}${about}. \`/subscribe list\` shows what there is. Add one with \`/setup\` or \`/subscribe ${wantedFeed ?? services.networks.feeds[0]?.name}\`.`,
    );
  }
  // A part of a name may mean another one.
  if (others.length > 0 || !isWhole) throw new SeveralMatch([only, ...others].toSorted(byAge));
  return only;
}

/** Returns the id and the name of a subscription's subject. */
const subjectWords =
  (services: Network) =>
  async ({ subscription: { subject }, feed, network }: OwnedSubscription) => ({
    id: subject ?? "",
    name: (subject !== null && (await feed.subject?.nameOf(subject, network ?? services))) || "",
  });

/** Handles `/subscribe edit`: changes the given options and keeps the others. */
export const edit: Subcommand = async (interaction, services) => {
  const place = await placeOf(interaction);
  const { feeds } = services.networks;
  const fits = (each: FeedDefinition) => foreignOption(interaction, each, feeds) === undefined;
  const chosenOne = await chosenIn(interaction, services, place.channel.id, fits);
  const { feed, subscription } = chosenOne;
  const foreignName = foreignOption(interaction, feed, feeds);
  if (foreignName !== undefined)
    throw new PersonError(`\`${foreignName}\` doesn't apply to ${feed.name}. Leave it out.`);
  const network = servedOf(chosenOne);
  const named = await namedSubject(interaction, feed.subject, network);
  const given = settingsIn(interaction);
  return save({ person: interaction, services: network, place, feed, given, named, edited: subscription });
};

/** Handles `/subscribe remove`. It also works for deleted channels. */
export const remove: Subcommand = async (interaction, services) => {
  const found = await chosenIn(interaction, services, channelIdOf(interaction));
  await endSubscription(found, serverOf(interaction));
  const { network = services.networks.served[0] } = found;
  return say(network, md`Subscription removed`, [await headline(found, network)]);
};

/** Handles `/subscribe resume`. */
export const resume: Subcommand = async (interaction, services) => {
  const place = await placeOf(interaction);
  const found = await chosenIn(interaction, services, place.channel.id);
  const { wasPaused, lines, standing } = await resumeSubscription(
    interaction,
    found,
    place,
    services.networks,
  );
  const network = servedOf(found);
  return say(network, wasPaused ? md`Resumed` : md`It wasn't paused`, [
    await headline(found, network),
    ...described(found.subscription, found.feed),
    ...lines,
    ...paragraph(standing),
  ]);
};

/** Handles `/subscribe test`: requests a drill, which is delivered like an announcement. */
export const test: Subcommand = async (interaction, services) => {
  const place = await placeOf(interaction);
  const found = await chosenIn(interaction, services, place.channel.id);
  await testSubscription(interaction, found, place);
  return say(servedOf(found), md`A test announcement is on its way`, [
    channelMention(place.channel.id),
    md`It pings the subscription's role, if it has one. If it can't be posted, \`/subscribe list\` shows why.`,
  ]);
};
