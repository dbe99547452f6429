import { isDeepStrictEqual } from "node:util";
import { type REST, Routes } from "discord.js";
import type { Log } from "../log.js";
import type { State } from "../storage/state.js";
import type { CommandDefinition } from "./command.js";

/** What Discord fills in by itself, or what is the same left out: null, false and empty. */
function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(
      ([, each]) =>
        each !== null && each !== undefined && each !== false && !(Array.isArray(each) && !each.length),
    )
    .map(([key, each]) => [key, withoutDefaults(each)]);
  return Object.fromEntries(entries);
}

/** The keys of a command that we state; what else Discord answers (ids, versions, localized names) is its own. */
const STATED = [
  "name",
  "description",
  "options",
  "default_member_permissions",
  "contexts",
  "integration_types",
  "nsfw",
] as const;

function same(ours: CommandDefinition, theirs: Record<string, unknown>): boolean {
  const mine: Readonly<Record<string, unknown>> = { ...ours };
  // Where a command may be used is the application's own setting unless we say it.
  const ownSetting = (key: string) =>
    (key === "contexts" || key === "integration_types") && mine[key] === undefined;
  const stated = (command: Readonly<Record<string, unknown>>) =>
    withoutDefaults(
      Object.fromEntries(STATED.filter((key) => !ownSetting(key)).map((key) => [key, command[key]])),
    );
  return isDeepStrictEqual(stated(mine), stated(theirs));
}

/** Whether Discord has exactly these commands. */
export function isRegistered(ours: readonly CommandDefinition[], theirs: readonly unknown[]): boolean {
  const byName = new Map(
    theirs
      .filter((each) => typeof each === "object" && each !== null)
      .map((each) => [String("name" in each && each.name), { ...each }]),
  );
  return (
    theirs.length === ours.length &&
    ours.every((each) => {
      const registered = byName.get(each.name);
      return registered !== undefined && same(each, registered);
    })
  );
}

/** Where a command may be used is for global commands only. */
export const forGuild = ({ contexts, integration_types, ...rest }: CommandDefinition): CommandDefinition =>
  rest;

/** Commands that an earlier setting may have left in servers are looked for in so many servers at the most. */
const MAX_OTHER_GUILDS = 25;

interface RegistrationDeps {
  readonly rest: REST;
  readonly applicationId: string;
  readonly definitions: readonly CommandDefinition[];
  /** The one server to register in; undefined for everywhere. */
  readonly guildId: string | undefined;
  /** The servers the bot is in. */
  readonly guildIds: readonly string[];
  /** Remembers the server that the commands were last registered in. */
  readonly state: State;
  readonly log: Log;
}

/** Discord's ids of the commands, by name. */
function idsOf(registered: unknown): Map<string, string> {
  const rows: unknown[] = Array.isArray(registered) ? registered : [];
  return new Map(
    rows.flatMap((row) =>
      typeof row === "object" && row !== null && "name" in row && "id" in row
        ? [[String(row.name), String(row.id)]]
        : [],
    ),
  );
}

/**
 * Registers the commands, if they differ from what Discord has, and removes those of the other scope.
 * @returns Discord's ids of the commands, by name
 */
export async function registerCommands(options: RegistrationDeps): Promise<ReadonlyMap<string, string>> {
  const { rest, applicationId, definitions, guildId, guildIds, state, log } = options;
  const everywhere = Routes.applicationCommands(applicationId);
  const inGuild = (id: string) => Routes.applicationGuildCommands(applicationId, id);

  const bringTo = async (route: `/${string}`, wanted: readonly CommandDefinition[], scope: string) => {
    const current = await rest.get(route);
    if (isRegistered(wanted, Array.isArray(current) ? current : [])) return idsOf(current);
    const registered = await rest.put(route, { body: wanted });
    log.info({ scope, commands: wanted.length }, "Commands registered");
    return idsOf(registered);
  };

  const { settings } = state;
  const last = await settings.get("registration").catch(() => undefined);
  // A small bot's servers are looked at too: the state may be another than when they were registered.
  const looked = guildIds.length <= MAX_OTHER_GUILDS ? guildIds : [];
  const others = new Set([...(last?.guildId ? [last.guildId] : []), ...looked]);
  let ids: ReadonlyMap<string, string>;
  if (guildId === undefined) ids = await bringTo(everywhere, definitions, "everywhere");
  else {
    others.delete(guildId);
    ids = await bringTo(inGuild(guildId), definitions.map(forGuild), guildId);
    await bringTo(everywhere, [], "everywhere");
  }
  await Promise.all(
    [...others].map((id) =>
      bringTo(inGuild(id), [], id).catch((err: unknown) =>
        log.debug({ err, guild: id }, "A server's commands could not be read"),
      ),
    ),
  );
  // Without it, a later change of scope looks at the servers instead.
  await state
    .commit([settings.put("registration", { guildId: guildId ?? null })])
    .catch((err: unknown) => log.debug({ err }, "The commands' scope could not be kept"));
  return ids;
}
