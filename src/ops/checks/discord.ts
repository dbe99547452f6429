import { randomBytes } from "node:crypto";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import {
  DiscordAPIError,
  type REST,
  type RESTPostAPIChatInputApplicationCommandsJSONBody,
  Routes,
} from "discord.js";
import type { Config } from "../../config.js";
import { PersonError } from "../../discord/errors.js";
import { lackedIn, readPlace } from "../../discord/permissions.js";
import { forGuild, isRegistered } from "../../discord/registration.js";
import type { State } from "../../storage/state.js";
import { createSubscriptions } from "../../watch/subscriptions.js";
import { type Finding, fine, notice, wordsOf, wrong } from "./finding.js";

/** A command as it is registered. */
export type Definition = RESTPostAPIChatInputApplicationCommandsJSONBody;

/** The bot, as Discord knows it. */
export interface Me {
  readonly id: string;
  readonly username: string;
}

interface GatewayInfo {
  readonly url: string;
  readonly shards: number;
  readonly session_start_limit: { readonly remaining: number; readonly total: number };
}

/** Whether a WebSocket can be opened there: the handshake alone, without identifying. */
function handshake(url: string): Promise<boolean> {
  const address = new URL(url.replace(/^ws/, "http"));
  const send = address.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const sent = send(address, {
      timeout: 5_000,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
      },
    });
    const settle = (opened: boolean) => {
      sent.destroy();
      resolve(opened);
    };
    sent.on("upgrade", () => settle(true));
    sent.on("response", () => settle(false));
    sent.on("timeout", () => settle(false));
    sent.on("error", () => settle(false));
    sent.end();
  });
}

/** Token, application, commands, gateway; gives the bot where the token is accepted. */
export async function* checkDiscord(
  rest: REST,
  { guildId, shards }: Config["discord"],
  definitions: readonly Definition[],
): AsyncGenerator<Finding, Me | undefined> {
  let me: Me;
  try {
    me = (await rest.get(Routes.user())) as Me;
    yield fine("Token", `accepted: the bot is ${me.username}`);
  } catch (error) {
    const refused = error instanceof DiscordAPIError && error.status === 401;
    yield refused
      ? wrong(
          "Token",
          "refused by Discord",
          "Set DISCORD_TOKEN to the token on the application's Bot page (Reset Token).",
        )
      : wrong(
          "Token",
          wordsOf(error),
          "Check that this machine reaches DISCORD_API_URL, also through its firewall.",
        );
    return undefined;
  }
  let id: string;
  try {
    ({ id } = (await rest.get(Routes.currentApplication())) as { id: string });
    yield fine("Application", `its id is ${id}`);
  } catch (error) {
    yield wrong("Application", wordsOf(error), "Try again in a minute; look at Discord's status page.");
    return me;
  }

  const route =
    guildId === undefined ? Routes.applicationCommands(id) : Routes.applicationGuildCommands(id, guildId);
  const where = guildId === undefined ? "everywhere" : `in the server ${guildId}`;
  try {
    const registered = (await rest.get(route)) as unknown[];
    const ours = guildId === undefined ? definitions : definitions.map(forGuild);
    yield isRegistered(ours, registered)
      ? fine("Commands", `${registered.length} registered ${where}`)
      : notice(
          "Commands",
          `those registered ${where} are of another version`,
          "Start the bot: it registers them.",
        );
  } catch (error) {
    yield wrong(
      "Commands",
      wordsOf(error),
      "Check DISCORD_GUILD_ID: the bot must have been invited to that server.",
    );
  }

  try {
    yield await checkGateway(rest, shards);
  } catch (error) {
    yield wrong("Gateway", wordsOf(error), "Try again in a minute; look at Discord's status page.");
  }
  return me;
}

async function checkGateway(rest: REST, shards: Config["discord"]["shards"]): Promise<Finding> {
  const gateway = (await rest.get(Routes.gatewayBot())) as GatewayInfo;
  const { remaining, total } = gateway.session_start_limit;
  const own = shards === "auto" ? gateway.shards : shards.count;
  if (remaining < own)
    return wrong(
      "Gateway",
      `only ${remaining} of ${total} starts are left today`,
      "Wait until tomorrow, and find out what restarts the bot so often.",
    );
  if (!(await handshake(gateway.url)))
    return wrong(
      "Gateway",
      "its address takes no WebSocket",
      "Check that a firewall or proxy lets WebSockets through.",
    );
  if (own < gateway.shards)
    return notice(
      "Gateway",
      `reachable; ${own} shards, where Discord recommends ${gateway.shards}`,
      "Raise the count in DISCORD_SHARDS on every process.",
    );
  return fine("Gateway", `reachable; ${own} shards; ${remaining} of ${total} starts left today`);
}

/** Each subscription's channel: that the bot may do there what is asked. */
export async function* checkSubscriptions(
  rest: REST,
  me: Me,
  state: State,
  channelId: string | undefined,
): AsyncGenerator<Finding> {
  const subscriptions = createSubscriptions(state, channelId);
  const all = await subscriptions.all();
  if (all.length === 0) yield fine("Subscriptions", "none yet: `/subscribe governance` makes one");
  for (const { channelId: id, guildId, roleId, thread } of all) {
    const what = `Channel ${id}`;
    try {
      const guild = guildId ?? ((await rest.get(Routes.channel(id))) as { guild_id?: string }).guild_id ?? "";
      const place = await readPlace(rest, guild, id);
      const lacking = await lackedIn(rest, me.id, place, { roleId, thread });
      const name = `${"name" in place.channel ? `#${place.channel.name}` : id} in ${place.guild.name}`;
      const { paused, error } = await subscriptions.health(id);
      if (lacking.length > 0)
        yield wrong(
          what,
          `${name}: the bot lacks ${lacking.join(", ")}`,
          "Grant it in the channel's settings, then `/subscribe resume`.",
        );
      else if (paused)
        yield wrong(
          what,
          `${name}: paused${error ? ` (${error})` : ""}`,
          "Take it up again with `/subscribe resume` there.",
        );
      else yield fine(what, name);
    } catch (error) {
      const words = error instanceof PersonError ? "the bot cannot see it" : wordsOf(error);
      yield wrong(what, words, "Grant View Channel there, or end it with `/subscribe remove`.");
    }
  }
}
