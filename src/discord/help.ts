import { ApplicationCommandOptionType } from "discord-api-types/v10";
import type { CommandHelp } from "../screens/view.js";
import { code, commandMention } from "../text/markdown.js";
import type { CommandDefinition } from "./command.js";

/**
 * The commands one by one, subcommands apart, as they are called.
 * @param ids Discord's ids of the commands by name, without which a mention cannot be clicked
 */
export function commandHelp(
  definitions: readonly CommandDefinition[],
  ids: ReadonlyMap<string, string>,
): CommandHelp[] {
  return definitions.flatMap((definition) => {
    const id = ids.get(definition.name);
    const restricted = definition.default_member_permissions ? " (for those who manage the server)" : "";
    const say = (name: string, description: string): CommandHelp => ({
      mention: id === undefined ? code(`/${name}`) : commandMention(name, id),
      description: description + restricted,
    });
    const subcommands = (definition.options ?? []).filter(
      ({ type }) => type === ApplicationCommandOptionType.Subcommand,
    );
    if (subcommands.length === 0) return [say(definition.name, definition.description)];
    return subcommands.map(({ name, description }) => say(`${definition.name} ${name}`, description));
  });
}
