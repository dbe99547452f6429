import type {
  AutocompleteInteraction,
  ChatInputCommandInteraction,
  RESTPostAPIChatInputApplicationCommandsJSONBody,
} from "discord.js";
import type { Kind } from "../directory/directory.js";
import type { ScreenName } from "../screens/addresses.js";
import type { OfferedChoice } from "./autocomplete.js";
import type { MessagePayload } from "./message.js";

/** A command as it is registered. */
export type CommandDefinition = RESTPostAPIChatInputApplicationCommandsJSONBody;

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

/** A slash command that reads: its definition, and the screen that each of its subcommands opens. */
export interface ReadingCommand {
  readonly definition: CommandDefinition;
  readonly group: CommandGroup;
  /** By subcommand; under "" for a command without any. Options are named as the screen's parameters, or mapped. */
  readonly opens: Readonly<Record<string, ScreenName>>;
  /** Screens for a subcommand without options. */
  readonly bare?: Readonly<Record<string, ScreenName>>;
  /** The option that holds the screen's id, if it has a name that says more. */
  readonly idOption?: string;
  /** Kinds of things that this option is completed with and can be named by. */
  readonly suggests?: readonly Kind[];
}

/** A slash command that changes something, with what it needs; its answers are private. */
export interface ActingCommand<Services> {
  readonly definition: CommandDefinition;
  readonly group: CommandGroup;
  /** The subcommands that are about all networks at once. */
  readonly ofAllNetworks?: readonly string[];
  /** The subcommands that can also name a network which is no longer served. */
  readonly ofPastNetworks?: readonly string[];
  /** By option, what it is completed with. */
  readonly suggests?: Readonly<Record<string, readonly Kind[]>>;
  /** Returns the choices of its other completed options. */
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
