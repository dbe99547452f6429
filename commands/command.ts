import type { SlashCommandBuilder, SlashCommandSubcommandBuilder } from "@discordjs/builders";
import type { ChatInputCommandInteraction, REST } from "discord.js";
import type { RESTPostAPIChatInputApplicationCommandsJSONBody } from "discord-api-types/v10";
import type { MessagePayload } from "../src/discord/message.js";
import type { ExplorerService } from "../src/explorer/service.js";
import type { ScreenName } from "../src/screens/addresses.js";
import type { State } from "../src/storage/state.js";
import type { Subscriptions } from "../src/watch/subscriptions.js";

type Definition = RESTPostAPIChatInputApplicationCommandsJSONBody;

/** A slash command that reads: its definition, and the screen that each of its subcommands opens. */
export interface ReadingCommand {
  readonly definition: Definition;
  /** By subcommand; under "" for a command without any. Options are named as the screen's parameters, or mapped. */
  readonly opens: Readonly<Record<string, ScreenName>>;
  /** The option that holds the screen's id, where it has a name that says more. */
  readonly idOption?: string;
}

/** What a command that changes something works with. */
export interface Services {
  readonly explorer: ExplorerService;
  readonly subscriptions: Subscriptions;
  readonly state: State;
  /** For what is not the answer to the interaction. */
  readonly rest: REST;
}

/** A slash command that changes something; its answers are private. */
export interface ActingCommand {
  readonly definition: Definition;
  /** @throws {PersonError} with a sentence for the person */
  run(asked: ChatInputCommandInteraction, services: Services): Promise<MessagePayload>;
}

export type Command = ReadingCommand | ActingCommand;

/** The option that every reading command has. */
export const PRIVATE_OPTION = "private";

/** Adds the `private` option. */
export function withPrivate<Builder extends SlashCommandBuilder | SlashCommandSubcommandBuilder>(
  builder: Builder,
): Builder {
  builder.addBooleanOption((option) =>
    option.setName(PRIVATE_OPTION).setDescription("Only you see the answer"),
  );
  return builder;
}
