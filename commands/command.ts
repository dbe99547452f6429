import type { SlashCommandBuilder, SlashCommandSubcommandBuilder } from "@discordjs/builders";
import type { RESTPostAPIChatInputApplicationCommandsJSONBody } from "discord-api-types/v10";
import type { ScreenName } from "../src/screens/addresses.js";

/** A slash command that reads: its definition, and the screen that each of its subcommands opens. */
export interface Command {
  readonly definition: RESTPostAPIChatInputApplicationCommandsJSONBody;
  /** By subcommand; under "" for a command without any. Options are named as the screen's parameters, or mapped. */
  readonly opens: Readonly<Record<string, ScreenName>>;
  /** The option that holds the screen's id, where it has a name that says more. */
  readonly idOption?: string;
}

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
