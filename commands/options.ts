import {
  SlashCommandBuilder,
  type SlashCommandOptionsOnlyBuilder,
  SlashCommandSubcommandBuilder,
} from "@discordjs/builders";
import { ApplicationIntegrationType, InteractionContextType } from "discord-api-types/v10";
import { PRIVATE_OPTION, type ReadingCommand } from "../src/discord/command.js";
import type { ScreenName } from "../src/screens/addresses.js";

/** Creates the builder of a read-only command. It works in servers, in direct messages and as a user-installed app. */
export const readingCommand = (name: string, description: string): SlashCommandBuilder =>
  new SlashCommandBuilder()
    .setName(name)
    .setDescription(description)
    .setIntegrationTypes(ApplicationIntegrationType.GuildInstall, ApplicationIntegrationType.UserInstall)
    .setContexts(
      InteractionContextType.Guild,
      InteractionContextType.BotDM,
      InteractionContextType.PrivateChannel,
    );

export const subcommand = (name: string, description: string): SlashCommandSubcommandBuilder =>
  new SlashCommandSubcommandBuilder().setName(name).setDescription(description);

type Optionable = SlashCommandBuilder | SlashCommandSubcommandBuilder | SlashCommandOptionsOnlyBuilder;

/** Maximum length of a pasted id, including a link around it */
const MAX_PASTE = 600;

/**
 * Adds a required option for an id.
 * @param completed true if the option autocompletes
 */
export function withId<Builder extends Optionable>(
  builder: Builder,
  name: string,
  description: string,
  completed: boolean,
): Builder {
  builder.addStringOption((option) =>
    option
      .setName(name)
      .setDescription(description)
      .setRequired(true)
      .setMaxLength(MAX_PASTE)
      .setAutocomplete(completed),
  );
  return builder;
}

/** Adds the `order` option: which end of a list comes first. */
export function withOrder<Builder extends Optionable>(
  builder: Builder,
  latest = "newest first",
  earliest = "oldest first",
): Builder {
  builder.addStringOption((option) =>
    option
      .setName("order")
      .setDescription(`Sort order (default: ${latest.replace(" first", "")})`)
      .addChoices({ name: latest, value: "DESC" }, { name: earliest, value: "ASC" }),
  );
  return builder;
}

/** Adds the `private` option. */
export function withPrivate<Builder extends Optionable>(builder: Builder): Builder {
  builder.addBooleanOption((option) =>
    option.setName(PRIVATE_OPTION).setDescription("Only you see the answer"),
  );
  return builder;
}

interface ListAndShow {
  readonly description: string;
  readonly list: string;
  readonly show: string;
  /** Description of the option that holds the id. */
  readonly id: string;
  readonly opens: { readonly list: ScreenName; readonly show: ScreenName };
}

/** Creates a command with two subcommands: `list` shows things by age, `show` shows one of them. */
export const listAndShow = (
  name: string,
  { description, list, show, id, opens }: ListAndShow,
): ReadingCommand => ({
  definition: readingCommand(name, description)
    .addSubcommand(withPrivate(withOrder(subcommand("list", list))))
    .addSubcommand(withPrivate(withId(subcommand("show", show), name, id, false)))
    .toJSON(),
  group: "Ledger",
  opens: { ...opens },
  idOption: name,
});
