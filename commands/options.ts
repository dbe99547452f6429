import {
  type SlashCommandBuilder,
  type SlashCommandOptionsOnlyBuilder,
  SlashCommandSubcommandBuilder,
} from "@discordjs/builders";
import { PRIVATE_OPTION } from "../src/discord/command.js";

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
