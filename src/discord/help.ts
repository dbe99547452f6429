import { ApplicationCommandOptionType } from "discord-api-types/v10";
import type { CommandHelp } from "../screens/view.js";
import { commandMention, md } from "../text/markdown.js";
import { COMMAND_GROUPS, type CommandDefinition, type ReadingCommand } from "./command.js";

/** Returns a command's paths, one for each subcommand: "validator list". */
function pathsOf({ name, options = [] }: CommandDefinition): string[] {
  const subcommands = options.filter(({ type }) => type === ApplicationCommandOptionType.Subcommand);
  return subcommands.length === 0 ? [name] : subcommands.map((each) => `${name} ${each.name}`);
}

/**
 * Returns Discord's ids by command path.
 * @param ids Discord's ids by command name
 */
export const commandPaths = (
  definitions: readonly CommandDefinition[],
  ids: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> =>
  new Map(
    definitions.flatMap((definition) => {
      const id = ids.get(definition.name);
      return id === undefined ? [] : pathsOf(definition).map((path) => [path, id] as const);
    }),
  );

/** True if a person with these permissions can see a command (Discord: null outside of servers). */
const isOffered = (
  { default_member_permissions: needed }: CommandDefinition,
  permissions: bigint | null,
): boolean => !needed || (permissions !== null && (permissions & BigInt(needed)) === BigInt(needed));

/**
 * Returns the commands that a person can use, by group.
 * @param paths Discord's ids, without which a mention cannot be clicked
 * @param permissions the person's permissions in the channel; null outside of servers
 */
export const commandHelp = (
  commands: readonly Pick<ReadingCommand, "definition" | "group">[],
  paths: ReadonlyMap<string, string>,
  permissions: bigint | null,
): CommandHelp[] =>
  COMMAND_GROUPS.flatMap((wanted) => commands.filter(({ group }) => group === wanted))
    .filter(({ definition }) => isOffered(definition, permissions))
    .map(({ definition, group }) => ({
      group,
      description: definition.description,
      isForManagers: Boolean(definition.default_member_permissions),
      mentions: pathsOf(definition).map((path) => {
        const id = paths.get(path);
        return id === undefined ? md`\`/${path}\`` : commandMention(path, id);
      }),
    }));
