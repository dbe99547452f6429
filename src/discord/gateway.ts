import { setTimeout as delay } from "node:timers/promises";
import { type Client, DiscordAPIError, Events, GatewayCloseCodes, HTTPError, Status } from "discord.js";
import { ConfigError } from "../config.js";
import type { Log } from "../log.js";
import { errorCode } from "../util/error-code.js";
import { unlessAborted } from "../util/timeouts.js";
import { retryAfterOf } from "./problems.js";

/** Returns the number of shards that this process runs, and how many of them are connected. */
export function gatewayOf(client: Client): { ready: number; all: number } {
  const shards = [...client.ws.shards.values()];
  return { ready: shards.filter(({ status }) => status === Status.Ready).length, all: shards.length };
}

/** Says how many of this process's shards are connected, if not all are. */
export function missingShards(client: Client): readonly string[] {
  const { ready, all } = gatewayOf(client);
  return all === 0 || ready < all ? [`${ready} of ${all || "?"} shards are connected`] : [];
}

/** Logs errors and state changes of the gateway connections. */
export function watchGateway(client: Client, log: Log): void {
  client.on(Events.Error, (err) => log.error({ err }, "The Discord client reported an error"));
  client.on(Events.Warn, (reason) => log.warn({ reason }, "The Discord client warned"));
  client.on(Events.ShardError, (err, shard) => log.warn({ err, shard }, "A gateway connection failed"));
  client.on(Events.ShardReconnecting, (shard) => log.info({ shard }, "A shard is reconnecting"));
  const connected = (shard: number) => log.info({ shard }, "A shard is connected");
  client.on(Events.ShardReady, connected);
  client.on(Events.ShardResume, connected);
}

/** Explains why Discord closed a gateway connection for good, and what to do (Discord: Gateway Close Event Codes). */
export function explainClose(code: number): string {
  if (code === GatewayCloseCodes.AuthenticationFailed)
    return "Discord's gateway rejects DISCORD_TOKEN. Was it reset? Set it to the bot's token, from the application's Bot page";
  if (code === GatewayCloseCodes.InvalidShard || code === GatewayCloseCodes.ShardingRequired)
    return `DISCORD_SHARDS does not fit the bot (Discord closed with ${code}): set it to auto, or raise the total in every process`;
  return `Discord closed the connection for good (${code}, ${GatewayCloseCodes[code] ?? "unknown"}). Is there a newer version of the bot?`;
}

/** Retry delay after the gateway closed for good, in ms. Each attempt counts: after 1,000 a day, Discord resets the token. */
const AFTER_CLOSE_MS = 10 * 60_000;

/**
 * Logs in. Retries while Discord cannot be reached, or closes the connections for good.
 * @throws {ConfigError} if Discord refuses the token, or closes a connection for good although the login succeeded
 */
export async function logIn(client: Client, token: string, log: Log, stopped: AbortSignal): Promise<void> {
  let closedWith: number | undefined;
  const noteClose = ({ code }: { code: number }) => {
    closedWith = code;
  };
  client.on(Events.ShardDisconnect, noteClose);
  for (let attempt = 0; ; attempt += 1) {
    try {
      closedWith = undefined;
      // A failed login sets this flag, and discord.js never resets it. If the next login failed too, discord.js would then skip
      // its cleanup, and the shards would keep identifying.
      Reflect.set(client.ws, "destroyed", false);
      // It resolves once all shards are connected, which may take minutes.
      await unlessAborted(client.login(token), stopped);
      stopped.throwIfAborted();
      client.off(Events.ShardDisconnect, noteClose);
      if (closedWith !== undefined) throw new ConfigError([explainClose(closedWith)]);
      return;
    } catch (error) {
      if (error instanceof ConfigError || stopped.aborted) throw error;
      if (isRefusal(error)) {
        throw new ConfigError([
          "Discord rejects DISCORD_TOKEN. Set it to the bot's token, from the application's Bot page",
        ]);
      }
      const backoffMs = retryAfterOf(error) || Math.min(1_000 * 2 ** attempt, 60_000);
      const retryInMs = closedWith === undefined ? backoffMs : AFTER_CLOSE_MS;
      if (closedWith === undefined)
        log.warn({ err: error, retryInMs }, "Discord cannot be reached; retrying");
      else
        log.error(
          { reason: explainClose(closedWith), retryInMs },
          "Discord closed the connection for good; retrying later",
        );
      await delay(retryInMs, undefined, { signal: stopped });
    }
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof DiscordAPIError || error instanceof HTTPError) return error.status === 401;
  return errorCode(error) === "TokenInvalid";
}
