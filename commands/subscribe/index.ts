import { SlashCommandBuilder, SlashCommandSubcommandBuilder } from "@discordjs/builders";
import {
  ApplicationIntegrationType,
  ChannelType,
  InteractionContextType,
  PermissionFlagsBits,
} from "discord-api-types/v10";
import type { FeedDefinition } from "../../src/delivery/feed.js";
import { type ActingCommand, OTHER_VERSION } from "../../src/discord/command.js";
import { PersonError } from "../../src/util/person-error.js";
import { FEED_OPTION, switchesOf } from "./choice.js";
import { edit, remove, resume, type SubscribeServices, subscribe, test } from "./handlers.js";
import { list, PAGE_OPTION } from "./list.js";

const CHANNELS = [
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
  ChannelType.GuildForum,
] as const;

/** Switches that every feed's subscriptions have. */
const DELIVERY_FLAGS = {
  thread: "Open a thread under each announcement",
  publish: "Publish in announcement channels",
} as const;

const ofChannel = (name: string, description: string) =>
  new SlashCommandSubcommandBuilder()
    .setName(name)
    .setDescription(description)
    .addChannelOption((option) =>
      option
        .setName("channel")
        .setDescription("Which channel (this one)")
        .addChannelTypes(...CHANNELS),
    );

/** Adds what a subscription to these feeds can be set to; what several of them share stands once. */
function withOptions(builder: SlashCommandSubcommandBuilder, feeds: readonly FeedDefinition[]) {
  builder.addRoleOption((option) =>
    option.setName("role").setDescription("A role to ping with each announcement"),
  );
  const topics = Object.assign({}, ...feeds.map(switchesOf)) as FeedDefinition["topics"];
  const flags = [
    ...Object.entries(topics).map(([name, topic]) => [name, topic.description, topic.byDefault] as const),
    ...Object.entries(DELIVERY_FLAGS)
      .filter(([name]) => name !== "thread" || feeds.some(({ threads }) => threads))
      .map(([name, description]) => [name, description, false] as const),
  ];
  for (const [name, description, byDefault] of flags) {
    builder.addBooleanOption((option) =>
      option.setName(name).setDescription(`${description} (${byDefault ? "on" : "off"})`),
    );
  }
  const options = Object.assign({}, ...feeds.map((feed) => feed.options)) as FeedDefinition["options"];
  for (const [name, { description, maxLength }] of Object.entries(options)) {
    builder.addStringOption((option) =>
      option.setName(name).setDescription(description).setMaxLength(maxLength),
    );
  }
  return builder;
}

/** Where a channel may be subscribed to several feeds, a subcommand wants to know which. */
function ofSubscription(builder: SlashCommandSubcommandBuilder, feeds: readonly FeedDefinition[]) {
  if (feeds.length < 2) return builder;
  return builder.addStringOption((option) =>
    option
      .setName(FEED_OPTION)
      .setDescription("Which of the channel's subscriptions, where it has several")
      .addChoices(...feeds.map(({ name }) => ({ name, value: name }))),
  );
}

/** /subscribe, with a subcommand for each feed. */
export function createSubscribe(feeds: readonly FeedDefinition[]): ActingCommand<SubscribeServices> {
  const builder = new SlashCommandBuilder()
    .setName("subscribe")
    .setDescription(`Announce in a channel: ${feeds.map(({ name }) => name).join(", ")}`)
    .setDefaultMemberPermissions(PermissionFlagsBits.ManageGuild)
    .setContexts(InteractionContextType.Guild)
    .setIntegrationTypes(ApplicationIntegrationType.GuildInstall);
  for (const feed of feeds)
    builder.addSubcommand(withOptions(ofChannel(feed.name, feed.description), [feed]));
  builder
    .addSubcommand(
      withOptions(
        ofSubscription(ofChannel("edit", "Change what is announced in a subscribed channel"), feeds),
        feeds,
      ).addBooleanOption((option) => option.setName("no-role").setDescription("Ping nobody any more")),
    )
    .addSubcommand((sub) =>
      sub
        .setName("list")
        .setDescription("This server's subscriptions, and how they are doing")
        .addIntegerOption((option) =>
          option
            .setName(PAGE_OPTION)
            .setDescription("Which page, where there are several (1)")
            .setMinValue(1),
        ),
    )
    .addSubcommand(ofSubscription(ofChannel("remove", "End a channel's subscription"), feeds))
    .addSubcommand(
      ofSubscription(ofChannel("test", "Post a drill: an announcement as it would be, with its ping"), feeds),
    )
    .addSubcommand(ofSubscription(ofChannel("resume", "Resume a paused subscription"), feeds));

  const actions = new Map(Object.entries({ edit, list, remove, test, resume }));
  return {
    definition: builder.toJSON(),
    group: "This bot",
    async run(interaction, services) {
      const name = interaction.options.getSubcommand();
      const feed = feeds.find((each) => each.name === name);
      const action = actions.get(name);
      if (feed) return subscribe(interaction, services, feed);
      if (!action) throw new PersonError(OTHER_VERSION);
      return action(interaction, { ...services, feeds });
    },
  };
}
