import type { SlashCommandSubcommandBuilder } from "@discordjs/builders";
import type { AutocompleteInteraction } from "discord.js";
import type { FeedDefinition, SubjectChoice } from "../../src/delivery/feed.js";
import type { Kind } from "../../src/directory/directory.js";
import { matchingChoices, type OfferedChoice } from "../../src/discord/autocomplete.js";
import {
  type ActingCommand,
  commandForManagers,
  NETWORK_OPTION,
  OTHER_VERSION,
} from "../../src/discord/command.js";
import { LIMITS } from "../../src/discord/limits.js";
import { allNetworks, type Network } from "../../src/networks/network.js";
import { cut, unbroken } from "../../src/text/plain.js";
import { PersonError } from "../../src/util/person-error.js";
import { choicesOf } from "../network-option.js";
import { subcommand } from "../options.js";
import { FEED_OPTION, SUBJECT_OPTION } from "./choice.js";
import { CHANNELS, DELIVERY_FLAGS } from "./form.js";
import { edit, remove, resume, SeveralMatch, selectedSubscriptions, subscribe, test } from "./handlers.js";
import { listSubscriptions, PAGE_OPTION } from "./list.js";
import { whichSubscription } from "./menu.js";
import { addRequired, addSettings } from "./options.js";

const withChannel = (builder: SlashCommandSubcommandBuilder) =>
  builder.addChannelOption((option) =>
    option
      .setName("channel")
      .setDescription("Channel (default: this one)")
      .addChannelTypes(...CHANNELS),
  );

const ofChannel = (name: string, description: string) => withChannel(subcommand(name, description));

/** Adds the options for the settings of these feeds. */
function withSettings(
  builder: SlashCommandSubcommandBuilder,
  feeds: readonly FeedDefinition[],
  isNew: boolean,
) {
  if (feeds.some(({ isQuiet }) => !isQuiet))
    builder.addRoleOption((option) =>
      option.setName("role").setDescription("Role to ping with important announcements"),
    );
  addSettings(builder, feeds, isNew);
  for (const [name, description] of Object.entries(DELIVERY_FLAGS))
    if (name !== "thread" || feeds.some(({ threads }) => threads))
      builder.addBooleanOption((option) =>
        option.setName(name).setDescription(isNew ? `${description} (default: off)` : description),
      );
  return builder;
}

/** Creates the subcommand that subscribes a channel to a feed. */
const ofFeed = (feed: FeedDefinition) =>
  withSettings(
    withChannel(addRequired(subcommand(feed.name, feed.description), feed.subject, feed.options)),
    [feed],
    true,
  );

/** Adds the options that select one of a channel's subscriptions. */
function ofSubscription(builder: SlashCommandSubcommandBuilder, feeds: readonly FeedDefinition[]) {
  if (feeds.length > 1)
    builder.addStringOption((option) =>
      option
        .setName(FEED_OPTION)
        .setDescription("Which feed, if the channel has several subscriptions")
        .addChoices(...feeds.map(({ name }) => ({ name, value: name }))),
    );
  if (feeds.some(({ subject }) => subject))
    builder.addStringOption((option) =>
      option
        .setName(SUBJECT_OPTION)
        .setDescription("Which of the feed's subscriptions, if the channel has several")
        .setAutocomplete(true),
    );
  return builder;
}

/** Suggests the subjects that the channel is subscribed to. */
async function completeSubject(
  interaction: AutocompleteInteraction,
  services: Network,
): Promise<OfferedChoice[]> {
  const { options, channelId } = interaction;
  const chosenChannel = options.get("channel")?.value;
  const wantedChannel = typeof chosenChannel === "string" ? chosenChannel : channelId;
  const candidates = await selectedSubscriptions(interaction, services, wantedChannel);
  const choices = candidates.map(async ({ subscription: { subject }, feed, networkState, network }) => {
    if (subject === null || !feed.subject) return [];
    const name = unbroken(await feed.subject.nameOf(subject, network ?? services));
    const title = network
      ? network.renderer.title(name)
      : cut(`${name} · ${networkState.name}`, LIMITS.choiceText);
    return [{ name: title, value: services.links.choiceValue(subject) }];
  });
  return matchingChoices((await Promise.all(choices)).flat(), options.getFocused());
}

/** Returns the kinds of things to autocomplete, by option name. */
export const suggestionsOf = (
  choices: readonly (SubjectChoice | undefined)[],
): Readonly<Record<string, readonly Kind[]>> =>
  Object.fromEntries(
    choices.flatMap((each) => (each?.option ? [[each.option.name, each.option.kinds]] : [])),
  );

/** Creates /subscribe, with a subcommand for each feed. */
export function createSubscribe(feeds: readonly FeedDefinition[]): ActingCommand<Network> {
  const builder = commandForManagers("subscribe", "Set up announcements in a channel, or change them");
  for (const feed of feeds) builder.addSubcommand(ofFeed(feed));
  builder
    .addSubcommand(
      withSettings(
        ofSubscription(ofChannel("edit", "Change what is announced in a subscribed channel"), feeds),
        feeds,
        false,
      ).addBooleanOption((option) => option.setName("no-role").setDescription("Stop pinging a role")),
    )
    .addSubcommand(
      subcommand("list", "This server's subscriptions and their status").addIntegerOption((option) =>
        option.setName(PAGE_OPTION).setDescription("Page (default: 1)").setMinValue(1),
      ),
    )
    .addSubcommand(ofSubscription(ofChannel("remove", "End a channel's subscription"), feeds))
    .addSubcommand(ofSubscription(ofChannel("test", "Post a test announcement, with its ping"), feeds))
    .addSubcommand(ofSubscription(ofChannel("resume", "Resume a paused subscription"), feeds));

  const actions = new Map(Object.entries({ edit, list: listSubscriptions, remove, test, resume }));
  return {
    definition: builder.toJSON(),
    group: "This bot",
    ofPastNetworks: ["remove"],
    suggests: suggestionsOf(feeds.map(({ subject }) => subject)),
    async complete(interaction, services) {
      const { name, value } = interaction.options.getFocused(true);
      return name === NETWORK_OPTION
        ? matchingChoices(choicesOf(await allNetworks(services.networks)), value)
        : completeSubject(interaction, services);
    },
    async run(interaction, services) {
      const name = interaction.options.getSubcommand();
      const feed = feeds.find((each) => each.name === name);
      const action = actions.get(name);
      if (feed) return subscribe(interaction, services, feed);
      if (!action) throw new PersonError(OTHER_VERSION);
      return action(interaction, services).catch((error: unknown) => {
        if (error instanceof SeveralMatch) return whichSubscription(error.subscriptions, services);
        throw error;
      });
    },
  };
}
