import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { DiscordAPIError, HTTPError, type REST, Routes } from "discord.js";
import * as z from "zod";
import type { Log } from "../log.js";
import { defineCollection } from "../storage/collection.js";
import type { State } from "../storage/state.js";
import { createNotice } from "../util/notice.js";
import { present } from "../util/present.js";
import { MINUTE, SECOND } from "../util/units.js";
import type { CommandDefinition } from "./command.js";
import { ErrorCode, hasCode, isRateLimit } from "./errors.js";

/** The server that the commands were last registered in, or null if they are registered everywhere. */
export const registrations = defineCollection({
  name: "settings",
  schema: z.object({ guildId: z.string().nullable() }),
  lifetime: "forever: where the commands were last registered",
  isShared: true,
});

/** Removes values that Discord fills in, and values that mean the same as a missing one: null, false and empty. */
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

/** Keys of a command that are compared. Discord adds others to its answer (ids, versions, localized names). */
const STATED = [
  "name",
  "description",
  "options",
  "default_member_permissions",
  "contexts",
  "integration_types",
  "nsfw",
] as const;

function isSameDefinition(ours: CommandDefinition, theirs: Record<string, unknown>): boolean {
  const mine: Readonly<Record<string, unknown>> = { ...ours };
  // If a command does not say where it may be used, the application's own setting applies.
  const ownSetting = (key: string) =>
    (key === "contexts" || key === "integration_types") && mine[key] === undefined;
  const stated = (command: Readonly<Record<string, unknown>>) =>
    withoutDefaults(
      Object.fromEntries(STATED.filter((key) => !ownSetting(key)).map((key) => [key, command[key]])),
    );
  return isDeepStrictEqual(stated(mine), stated(theirs));
}

/** True if Discord has exactly these commands. */
export function isRegistered(ours: readonly CommandDefinition[], theirs: readonly unknown[]): boolean {
  const byName = new Map(
    theirs
      .filter((each) => typeof each === "object" && each !== null)
      .map((each) => [String("name" in each && each.name), { ...each }]),
  );
  return (
    theirs.length === ours.length &&
    ours.every((each) => {
      const registeredCommand = byName.get(each.name);
      return registeredCommand !== undefined && isSameDefinition(each, registeredCommand);
    })
  );
}

/** Removes contexts and integration types, which apply to global commands only. */
export const forGuild = ({ contexts, integration_types, ...rest }: CommandDefinition): CommandDefinition =>
  rest;

/** Bots in more servers than this do not check them for commands of an earlier setting. */
const MAX_OTHER_GUILDS = 25;

interface RegistrationDeps {
  /** A client that rejects at once if Discord limits it, because the registration is retried as a whole. */
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

/** Returns the commands in an answer of Discord. @throws if it is no list, such as a proxy's page */
function commandsIn(answer: unknown): readonly unknown[] {
  if (!Array.isArray(answer)) throw new Error("Discord's answer is not a list of commands");
  return answer;
}

/** Returns Discord's ids of the commands, by name. */
function idsOf(rows: readonly unknown[]): Map<string, string> {
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
 * @returns Discord's ids of the commands, by name, and the server of an earlier setting that still has them
 */
async function registerCommands(
  options: RegistrationDeps,
): Promise<{ readonly ids: ReadonlyMap<string, string>; readonly leftIn?: string | undefined }> {
  const { rest, applicationId, definitions, guildId, guildIds, state, log } = options;
  const everywhere = Routes.applicationCommands(applicationId);
  const inGuild = (id: string) => Routes.applicationGuildCommands(applicationId, id);

  const putCommands = async (route: `/${string}`, wanted: readonly CommandDefinition[], scope: string) => {
    const currentCommands = commandsIn(await rest.get(route));
    if (isRegistered(wanted, currentCommands)) return idsOf(currentCommands);
    const registeredCommands = commandsIn(await rest.put(route, { body: wanted }));
    log.info({ scope, commands: wanted.length }, "Commands registered");
    return idsOf(registeredCommands);
  };

  const settings = state.open(registrations);
  const lastRegistration = await settings.get("registration").catch(() => undefined);
  // For a small bot, check its servers too. The state may not be the one that recorded the last registration.
  const inspectedGuilds = guildIds.length <= MAX_OTHER_GUILDS ? guildIds : [];
  const otherGuilds = new Set(present([lastRegistration?.guildId, ...inspectedGuilds]));
  let ids: ReadonlyMap<string, string>;
  if (guildId === undefined) ids = await putCommands(everywhere, definitions, "everywhere");
  else {
    otherGuilds.delete(guildId);
    ids = await putCommands(inGuild(guildId), definitions.map(forGuild), guildId);
    await putCommands(everywhere, [], "everywhere");
  }
  let isLeftOver = false;
  await Promise.all(
    [...otherGuilds].map((id) =>
      putCommands(inGuild(id), [], id).catch((err: unknown) => {
        const hasLeft = hasCode(err, ErrorCode.MissingAccess, ErrorCode.UnknownGuild);
        isLeftOver ||= id === lastRegistration?.guildId && !hasLeft;
        log.debug({ err, guild: id }, "A server's commands could not be read");
      }),
    ),
  );
  if (isLeftOver) return { ids, leftIn: lastRegistration?.guildId ?? undefined };
  // If this fails, a later change of scope checks the servers instead.
  await state
    .commit([settings.put("registration", { guildId: guildId ?? null })])
    .catch((err: unknown) => log.debug({ err }, "The commands' scope could not be kept"));
  return { ids };
}

/**
 * True if a retry may succeed. Discord always answers malformed commands the same way. A bot that is not in its server yet, or a
 * proxy that answers 403, may work later.
 */
const mayRetry = (error: unknown): boolean => !hasCode(error, ErrorCode.InvalidFormBodyOrContentType);

/** Returns what keeps the bot from registering the commands. */
function obstacleIn(error: unknown, guildId: string | undefined): string {
  if (guildId !== undefined && hasCode(error, ErrorCode.MissingAccess, ErrorCode.UnknownGuild))
    return "The bot isn't in the server of DISCORD_GUILD_ID. Invite it, or correct the id.";
  if (isRateLimit(error)) return "Discord asks the bot to wait.";
  if (error instanceof DiscordAPIError) {
    // discord.js repeats the status if Discord gives no code, and adds a line for each field.
    const [message = ""] = error.message.split("\n");
    return `Discord answered ${error.status}: ${message.replace(/^\d+: /, "").replace(/\.+$/, "")}.`;
  }
  return error instanceof HTTPError ? `Discord answered ${error.status}.` : "Discord couldn't be reached.";
}

/** Backoff between attempts, in ms. It doubles each time, up to the maximum. */
const FIRST_PAUSE_MS = 2 * SECOND;
const MAX_PAUSE_MS = 5 * MINUTE;

/** The registration of the commands, which is retried until Discord has accepted or refused them. */
export interface Registration {
  /** Resolves after the first attempt, successful or not. */
  readonly tried: Promise<void>;
  /** True once Discord has the commands, or has refused them for good. */
  isSettled(): boolean;
  /** Returns why Discord does not have the commands. `undefined` if it has them, or was not asked yet. */
  problem(): string | undefined;
  stop(): void;
}

/**
 * Registers the commands. Retries with backoff while Discord does not answer, also to remove those of an earlier setting.
 * @param onDone receives Discord's ids of the commands
 */
export function keepRegistering(
  options: RegistrationDeps,
  onDone: (ids: ReadonlyMap<string, string>) => void,
): Registration {
  const { log } = options;
  const stopping = new AbortController();
  let isSettled = false;
  let problem: string | undefined;
  const failureNotice = createNotice<unknown>(
    (err) => log.error({ err }, "The commands could not be registered; retrying until they are"),
    () => log.info({}, "The commands are registered"),
  );
  // Until they are removed, that server shows every command twice.
  const leftOverNotice = createNotice<string>(
    (guild) =>
      log.warn({ guild }, "The commands in an earlier DISCORD_GUILD_ID could not be removed; retrying"),
    () => log.info({}, "The commands in an earlier DISCORD_GUILD_ID are removed"),
  );
  /** Returns false if another attempt is needed. */
  const attempt = async (): Promise<boolean> => {
    try {
      const { ids, leftIn } = await registerCommands(options);
      onDone(ids);
      isSettled = true;
      problem = undefined;
      failureNotice.ends();
      if (leftIn === undefined) leftOverNotice.ends();
      else leftOverNotice.begins(leftIn);
      return leftIn === undefined;
    } catch (err) {
      // The commands are registered. This attempt was only for those of the earlier setting.
      if (isSettled) {
        log.debug({ err }, "The commands of an earlier setting could not be read");
        return false;
      }
      if (!mayRetry(err)) {
        log.error({ err }, "Discord refused the commands; the registered ones stay in use");
        isSettled = true;
        problem = "Discord refused them. The log says why. Look for a new version of the bot.";
        return true;
      }
      problem = `${obstacleIn(err, options.guildId)} The bot keeps trying, at least every five minutes.`;
      failureNotice.begins(err);
      return false;
    }
  };
  const firstAttempt = attempt();
  const goOn = async () => {
    for (let pause = FIRST_PAUSE_MS; !stopping.signal.aborted; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
      await delay(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      if (stopping.signal.aborted || (await attempt())) return;
    }
  };
  void firstAttempt.then((isOver) => (isOver ? undefined : goOn()));
  return {
    tried: firstAttempt.then(() => {}),
    isSettled: () => isSettled,
    problem: () => problem,
    stop: () => stopping.abort(),
  };
}
