import { type APIUser, DiscordAPIError, type REST, Routes } from "discord.js";
import type { Config } from "../config.js";
import type { CommandDefinition } from "../discord/command.js";
import { forGuild, isRegistered } from "../discord/registration.js";
import { type Finding, fail, pass, warn, wordsOf } from "./finding.js";

/** Checks the token, the application and its commands. Returns the bot's account if the token is accepted. */
export async function* checkDiscord(
  rest: REST,
  { guildId, apiUrl }: Config["discord"],
  definitions: readonly CommandDefinition[],
): AsyncGenerator<Finding, APIUser | undefined> {
  const { host } = new URL(apiUrl);
  const somethingElse = fail(
    "Token",
    `${host} answers something else than Discord`,
    "Check DISCORD_API_URL. Without it, the bot uses Discord's own address.",
  );
  let botAccount: APIUser;
  try {
    botAccount = (await rest.get(Routes.user())) as APIUser;
    if (typeof botAccount?.username !== "string") {
      yield somethingElse;
      return undefined;
    }
    yield pass("Token", `accepted: the bot is ${botAccount.username}`);
  } catch (error) {
    const status = error instanceof DiscordAPIError ? error.status : undefined;
    if (status === 401)
      yield fail(
        "Token",
        "refused by Discord",
        "Set DISCORD_TOKEN to the token on the application's Bot page (Reset Token).",
      );
    else if (status === 404) yield somethingElse;
    else
      yield fail(
        "Token",
        wordsOf(error, host),
        "Check that this machine reaches DISCORD_API_URL, also through its firewall.",
      );
    return undefined;
  }
  let id: string;
  try {
    ({ id } = (await rest.get(Routes.currentApplication())) as { id: string });
    yield pass("Application", `its id is ${id}`);
  } catch (error) {
    yield fail("Application", wordsOf(error, host), "Try again in a minute; look at Discord's status page.");
    return botAccount;
  }

  const route =
    guildId === undefined ? Routes.applicationCommands(id) : Routes.applicationGuildCommands(id, guildId);
  const where = guildId === undefined ? "everywhere" : `in the server ${guildId}`;
  try {
    const registeredCommands = (await rest.get(route)) as unknown[];
    const ours = guildId === undefined ? definitions : definitions.map(forGuild);
    yield isRegistered(ours, registeredCommands)
      ? pass("Commands", `${registeredCommands.length} registered ${where}`)
      : warn(
          "Commands",
          registeredCommands.length === 0
            ? `none are registered ${where} yet`
            : `those registered ${where} are of another version`,
          "Start the bot: it registers them.",
        );
  } catch (error) {
    yield fail(
      "Commands",
      wordsOf(error, host),
      guildId === undefined
        ? "Try again in a minute; look at Discord's status page."
        : "Check DISCORD_GUILD_ID: the bot must have been invited to that server.",
    );
  }

  return botAccount;
}
