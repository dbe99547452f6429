import {
  type APIApplicationCommandOption,
  type APIApplicationCommandSubcommandOption,
  ApplicationCommandOptionType,
} from "discord-api-types/v10";
import { type CommandDefinition, NETWORK_OPTION } from "../src/discord/command.js";

/** A network as commands offer it; several of them have ids. */
export interface NetworkName {
  readonly id: string | undefined;
  readonly name: string;
}

/** Networks as the choices of an option. */
export const choicesOf = (networks: readonly NetworkName[]) =>
  networks.flatMap(({ id, name }) => (id === undefined ? [] : [{ name, value: id }]));

const isSubcommand = (option: APIApplicationCommandOption): option is APIApplicationCommandSubcommandOption =>
  option.type === ApplicationCommandOptionType.Subcommand;

/** A command, each of whose subcommands can name a network. */
export function withNetwork(
  definition: CommandDefinition,
  networks: readonly NetworkName[],
): CommandDefinition {
  const option = {
    type: ApplicationCommandOptionType.String,
    name: NETWORK_OPTION,
    description: "Which network (the one set here)",
    choices: choicesOf(networks),
  } as const;
  const options = definition.options ?? [];
  const subcommands = options.filter(isSubcommand);
  return {
    ...definition,
    options:
      subcommands.length > 0
        ? subcommands.map((each) => ({ ...each, options: [...(each.options ?? []), option] }))
        : [...options, option],
  };
}
