import {
  type APIApplicationCommandOption,
  type APIApplicationCommandSubcommandOption,
  ApplicationCommandOptionType,
} from "discord-api-types/v10";
import { type Command, type CommandDefinition, NETWORK_OPTION } from "../src/discord/command.js";

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

/** A command, each of whose subcommands can name a network, except for those that are about all of them. */
export function withNetwork(
  { definition, ...command }: Command<never>,
  networks: readonly NetworkName[],
): CommandDefinition {
  const ofAll = "run" in command ? (command.ofAllNetworks ?? []) : [];
  const ofPast = "run" in command ? (command.ofPastNetworks ?? []) : [];
  const option = {
    type: ApplicationCommandOptionType.String,
    name: NETWORK_OPTION,
    description: "Which network (the one set here)",
    choices: choicesOf(networks),
  } as const;
  const { choices, ...open } = option;
  const optionsFor = (name: string) =>
    ofAll.includes(name) ? [] : [ofPast.includes(name) ? ({ ...open, autocomplete: true } as const) : option];
  const options = definition.options ?? [];
  const subcommands = options.filter(isSubcommand);
  return {
    ...definition,
    options:
      subcommands.length > 0
        ? subcommands.map((each) => ({
            ...each,
            options: [...(each.options ?? []), ...optionsFor(each.name)],
          }))
        : [...options, option],
  };
}
