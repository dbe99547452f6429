import {
  Client,
  Events,
  type GuildMember,
  GuildMemberManager,
  MessageManager,
  Options,
  PermissionFlagsBits,
  type REST,
  type User,
  UserManager,
} from "discord.js";
import type { Config } from "../config.js";
import type { Redis } from "../storage/redis.js";
import { requestOnce } from "./first-response.js";
import { createIdentifyThrottler } from "./identify.js";
import { MANY_REFUSALS } from "./pacer.js";

/**
 * Creates a Discord client for slash commands: without intents and mentions, and with almost no caches.
 * @param identify coordinates identifies between processes that share a token
 */
export function createDiscordClient(
  { apiUrl, shards }: Config["discord"],
  identify?: { readonly redis: Redis; readonly key: string },
): Client {
  const client = new Client({
    intents: [],
    allowedMentions: { parse: [] },
    // Reject a request instead of waiting for a long rate limit: a person gets an answer, and the login logs the wait.
    rest: {
      api: apiUrl,
      handlerSweepInterval: 0,
      invalidRequestWarningInterval: MANY_REFUSALS,
      makeRequest: requestOnce,
      rejectOnRateLimit: ({ retryAfter, timeToReset }) => Math.max(retryAfter, timeToReset) > MAX_LIMIT_MS,
    },
    ...(shards === "auto" ? { shards } : { shards: [...shards.ids], shardCount: shards.count }),
    ...(identify && {
      ws: {
        buildIdentifyThrottler: async (manager) => {
          const { session_start_limit } = await manager.fetchGatewayInformation();
          return createIdentifyThrottler(identify.redis, identify.key, session_start_limit.max_concurrency);
        },
      },
    }),
    // Request bodies already use Discord's names (snake_case).
    jsonTransformer: (sent) => sent,
    // No sweepers: the caches are empty.
    sweepers: {},
    // discord.js looks up limits by class name, and a bundler may rename classes.
    makeCache: Options.cacheWithLimits({
      [MessageManager.name]: 0,
      [GuildMemberManager.name]: {
        maxSize: 0,
        keepOverLimit: (member: GuildMember) => member.id === member.client.user.id,
      },
      [UserManager.name]: { maxSize: 0, keepOverLimit: (user: User) => user.id === user.client.user?.id },
    }),
  });
  // READY caches a stub of every server, even without intents. It is not needed, because interactions contain the server's data.
  client.on(Events.ShardReady, () => client.guilds.cache.clear());
  keepToken(client.rest);
  return client;
}

/** Maximum time for which a request waits for Discord's limits, in ms. */
const MAX_LIMIT_MS = 10_000;

/** Time for which a REST client sends nothing after an answer 401, in ms. Discord bans an address after too many of them. */
const AFTER_401_MS = 10_000;

/**
 * Gives a REST client its token back after an answer 401, which may have come from a proxy. @discordjs/rest forgets it, and would
 * refuse every later request. If the token was really reset, the gateway says so.
 */
export function keepToken(rest: REST): REST {
  const setToken = rest.setToken.bind(rest);
  let known = "";
  rest.setToken = (token: string | null) => {
    if (token === null) setTimeout(() => known && setToken(known), AFTER_401_MS).unref();
    else known = token;
    // discord.js clears the token with null, too, which the types do not say.
    return setToken(token ?? "");
  };
  return rest;
}

const PERMISSIONS =
  PermissionFlagsBits.ViewChannel |
  PermissionFlagsBits.SendMessages |
  PermissionFlagsBits.SendMessagesInThreads |
  PermissionFlagsBits.CreatePublicThreads |
  PermissionFlagsBits.EmbedLinks |
  PermissionFlagsBits.AttachFiles |
  PermissionFlagsBits.ReadMessageHistory;

/** Returns the link that adds the bot to a server, with the minimum permissions that it needs. */
export function inviteLink(applicationId: string): string {
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: "bot applications.commands",
    permissions: String(PERMISSIONS),
  });
  return `https://discord.com/oauth2/authorize?${query}`;
}
