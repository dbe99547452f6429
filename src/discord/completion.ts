import type { AutocompleteInteraction } from "discord.js";
import type { Kind } from "../directory/directory.js";
import type { ScreenServices } from "../screens/view.js";
import { LINK } from "../text/ids.js";
import { type OfferedChoice, type Offering, toChoices } from "./autocomplete.js";
import type { Command } from "./command.js";

/** Returns the kinds of things that an option of a command suggests. */
function suggestedKinds<Services>(
  { options }: Pick<AutocompleteInteraction, "options">,
  command: Command<Services>,
): readonly Kind[] | undefined {
  if ("opens" in command) return command.suggests;
  const { name } = options.getFocused(true);
  return command.suggests?.[`${options.getSubcommand(false)} ${name}`] ?? command.suggests?.[name];
}

/** Returns the choices for what a person types into an option: things from the directory, or those of the command. */
export async function choicesFor<
  Services extends Pick<Offering, "links" | "renderer"> & { readonly screens: ScreenServices },
>(
  interaction: AutocompleteInteraction,
  command: Command<Services> | undefined,
  services: Services,
): Promise<readonly OfferedChoice[]> {
  if (!command) return [];
  const kinds = suggestedKinds(interaction, command);
  if (!kinds) return "run" in command ? ((await command.complete?.(interaction, services)) ?? []) : [];
  const { directory, names, rhythms, others } = services.screens;
  const { value: typed } = interaction.options.getFocused(true);
  // A choice does not name a network. A link that is left as typed opens on its own.
  if (others.length > 0 && LINK.test(typed)) return [];
  return toChoices(kinds, typed, { ...services, directory, names, intervals: await rhythms.intervals() });
}
