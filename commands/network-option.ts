import {
  type APIApplicationCommandOption,
  type APIApplicationCommandSubcommandOption,
  ApplicationCommandOptionType,
} from "discord-api-types/v10";
import { type Command, type CommandDefinition, NETWORK_OPTION } from "../src/discord/command.js";

/** A network as offered in command options. `id` is undefined if the only network has no name. */
export interface NetworkName {
  readonly id: string | undefined;
  readonly name: string;
}

/** Returns the networks as option choices, without those that have no id. */
export const choicesOf = (networks: readonly NetworkName[]) =>
  networks.flatMap(({ id, name }) => (id === undefined ? [] : [{ name, value: id }]));

/** True if a typed network is this one: by its id, which suggestions have, or by its name, in any case. */
export const isNetwork = ({ id, name }: NetworkName, typed: string): boolean =>
  [id, name].some((each) => each?.toLowerCase() === typed.trim().toLowerCase());

const isSubcommand = (option: APIApplicationCommandOption): option is APIApplicationCommandSubcommandOption =>
  option.type === ApplicationCommandOptionType.Subcommand;

/**
 * Returns a command's definition with a network option on each subcommand, or on the command itself. Subcommands in
 * `ofAllNetworks` do not get one. For those in `ofPastNetworks`, the option autocompletes instead of listing choices.
 */
export function withNetwork(
  { definition, ...command }: Command<never>,
  networks: readonly NetworkName[],
): CommandDefinition {
  const ofAll = "run" in command ? (command.ofAllNetworks ?? []) : [];
  const ofPast = "run" in command ? (command.ofPastNetworks ?? []) : [];
  const option = {
    type: ApplicationCommandOptionType.String,
    name: NETWORK_OPTION,
    description: "Network (default: the one set for this channel or server)",
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
