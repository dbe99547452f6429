import { SlashCommandBuilder } from "@discordjs/builders";
import type {
  AutocompleteInteraction,
  ChatInputCommandInteraction,
  RESTPostAPIChatInputApplicationCommandsJSONBody,
} from "discord.js";
import {
  ApplicationIntegrationType,
  InteractionContextType,
  PermissionFlagsBits,
} from "discord-api-types/v10";
import type { Kind } from "../directory/directory.js";
import type { ScreenName } from "../screens/addresses.js";
import type { OfferedChoice } from "./autocomplete.js";
import type { MessagePayload } from "./message.js";

/** The body that registers a command. */
export type CommandDefinition = RESTPostAPIChatInputApplicationCommandsJSONBody;

/** Creates the builder of a command that works in servers, in direct messages and as a user-installed app. */
export const commandEverywhere = (name: string, description: string): SlashCommandBuilder =>
  new SlashCommandBuilder()
    .setName(name)
    .setDescription(description)
    .setIntegrationTypes(ApplicationIntegrationType.GuildInstall, ApplicationIntegrationType.UserInstall)
    .setContexts(
      InteractionContextType.Guild,
      InteractionContextType.BotDM,
      InteractionContextType.PrivateChannel,
    );

/** Creates the builder of a command for people who can manage the server. */
export const commandForManagers = (name: string, description: string): SlashCommandBuilder =>
  new SlashCommandBuilder()
    .setName(name)
    .setDescription(description)
    .setDefaultMemberPermissions(PermissionFlagsBits.ManageGuild)
    .setContexts(InteractionContextType.Guild)
    .setIntegrationTypes(ApplicationIntegrationType.GuildInstall);

/** Groups of commands in /help, in its order. */
export const COMMAND_GROUPS = [
  "Network",
  "Validators",
  "Governance",
  "Parties and coin",
  "Ledger",
  "This bot",
] as const;
export type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** A read-only slash command: its definition, and the screen that each of its subcommands opens. */
export interface ReadingCommand {
  readonly definition: CommandDefinition;
  readonly group: CommandGroup;
  /**
   * Screens by subcommand, or under "" for a command without subcommands. Options have the names of the screen's parameters,
   * except for `idOption`.
   */
  readonly opens: Readonly<Record<string, ScreenName>>;
  /** Screens by subcommand, for use without options. `private` and `network` do not count as options. */
  readonly bare?: Readonly<Record<string, ScreenName>>;
  /** Name of the option for the screen's `id` parameter, if it has a more specific name. */
  readonly idOption?: string;
  /** Kinds of things that the option autocompletes and accepts by name. */
  readonly suggests?: readonly Kind[];
  /** True if its answers are always private. */
  readonly isPrivate?: boolean;
}

/** A slash command that changes something. Its answers are private. */
export interface ActingCommand<Services> {
  readonly definition: CommandDefinition;
  readonly group: CommandGroup;
  /** Subcommands that apply to all networks. They have no network option. */
  readonly ofAllNetworks?: readonly string[];
  /** Subcommands whose network option also accepts networks that are no longer served. */
  readonly ofPastNetworks?: readonly string[];
  /** Kinds of things to autocomplete, by option, or by subcommand and option if it is one of several ("set sv"). */
  readonly suggests?: Readonly<Record<string, readonly Kind[]>>;
  /** Returns autocomplete choices for all other options. */
  complete?(interaction: AutocompleteInteraction, services: Services): Promise<readonly OfferedChoice[]>;
  /** @throws {PersonError} with a sentence for the person */
  run(interaction: ChatInputCommandInteraction, services: Services): Promise<MessagePayload>;
}

export type Command<Services> = ReadingCommand | ActingCommand<Services>;

/** Answer to a command that this version does not have. */
export const OTHER_VERSION = "This command is from another version of the bot. Try again in a minute.";

/** The option that every reading command has. */
export const PRIVATE_OPTION = "private";

/** The option that every command has if the bot serves several networks. */
export const NETWORK_OPTION = "network";

/** The option's value that removes a choice. */
export const NO_NETWORK = "-";
