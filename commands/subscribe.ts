import { SlashCommandBuilder, type SlashCommandSubcommandBuilder } from "@discordjs/builders";
import {
  ApplicationIntegrationType,
  ChannelType,
  InteractionContextType,
  PermissionFlagsBits,
} from "discord-api-types/v10";
import { edit, list, remove, resume, subscribe, test } from "../src/discord/subscribe.js";
import type { ActingCommand } from "./command.js";

const CHANNELS = [
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
  ChannelType.GuildForum,
] as const;

const ofChannel = (builder: SlashCommandSubcommandBuilder, name: string, description: string) =>
  builder
    .setName(name)
    .setDescription(description)
    .addChannelOption((option) =>
      option
        .setName("channel")
        .setDescription("Which channel (this one)")
        .addChannelTypes(...CHANNELS),
    );

const FLAGS = [
  ["new", "Vote requests that open (on)"],
  ["outcome", "How they end (on)"],
  ["reminders", "Before their deadline (on)"],
  ["changes", "Changed titles, actions and dates (off)"],
  ["votes", "Each vote that is cast or changed (off)"],
  ["thread", "Open a thread under each announcement (off)"],
  ["publish", "Publish in announcement channels (off)"],
] as const;

const withOptions = (builder: SlashCommandSubcommandBuilder) => {
  builder.addRoleOption((option) =>
    option.setName("role").setDescription("A role to ping with each announcement"),
  );
  for (const [name, description] of FLAGS)
    builder.addBooleanOption((option) => option.setName(name).setDescription(description));
  return builder.addStringOption((option) =>
    option
      .setName("before")
      .setDescription("When to remind, before the deadline: 24h 6h, or 2d 90m")
      .setMaxLength(60),
  );
};

export const subscription: ActingCommand = {
  definition: new SlashCommandBuilder()
    .setName("subscribe")
    .setDescription("Have a channel hear of governance")
    .setDefaultMemberPermissions(PermissionFlagsBits.ManageGuild)
    .setContexts(InteractionContextType.Guild)
    .setIntegrationTypes(ApplicationIntegrationType.GuildInstall)
    .addSubcommand((sub) =>
      withOptions(ofChannel(sub, "governance", "Subscribe a channel to governance, or change what it hears")),
    )
    .addSubcommand((sub) =>
      withOptions(ofChannel(sub, "edit", "Change what a subscribed channel hears")).addBooleanOption(
        (option) => option.setName("no-role").setDescription("Ping nobody any more"),
      ),
    )
    .addSubcommand((sub) =>
      sub.setName("list").setDescription("This server's subscriptions, and how they are doing"),
    )
    .addSubcommand((sub) => ofChannel(sub, "remove", "End a channel's subscription"))
    .addSubcommand((sub) => ofChannel(sub, "test", "Post a sample announcement, marked as one"))
    .addSubcommand((sub) => ofChannel(sub, "resume", "Take up a paused subscription again"))
    .toJSON(),
  run(asked, services) {
    const actions = { governance: subscribe, edit, list, remove, test, resume };
    const name = asked.options.getSubcommand();
    return actions[name as keyof typeof actions](asked, services);
  },
};
