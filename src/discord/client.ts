import {
  Client,
  Events,
  type GuildMember,
  GuildMemberManager,
  MessageManager,
  Options,
  PermissionFlagsBits,
  type User,
  UserManager,
} from "discord.js";
import type { Config } from "../config.js";
import type { Redis } from "../storage/redis.js";
import { createIdentifyThrottler } from "./identify.js";

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
    rest: { api: apiUrl, handlerSweepInterval: 0 },
    ...(shards === "auto" ? { shards } : { shards: [...shards.ids], shardCount: shards.count }),
    ...(identify && {
      ws: {
        buildIdentifyThrottler: async (manager) => {
          const { session_start_limit } = await manager.fetchGatewayInformation();
          return createIdentifyThrottler(identify.redis, identify.key, session_start_limit.max_concurrency);
        },
      },
    }),
    // All that is sent is in Discord's own spelling already.
    jsonTransformer: (sent) => sent,
    // Caches are empty, so there is nothing to sweep.
    sweepers: {},
    // discord.js looks them up by their classes' names, which a bundler may change.
    makeCache: Options.cacheWithLimits({
      [MessageManager.name]: 0,
      [GuildMemberManager.name]: {
        maxSize: 0,
        keepOverLimit: (member: GuildMember) => member.id === member.client.user.id,
      },
      [UserManager.name]: { maxSize: 0, keepOverLimit: (user: User) => user.id === user.client.user?.id },
    }),
  });
  // READY leaves a stub of every server, whatever the intents. Interactions bring all that is needed of theirs.
  client.on(Events.ShardReady, () => client.guilds.cache.clear());
  return client;
}

const PERMISSIONS =
  PermissionFlagsBits.ViewChannel |
  PermissionFlagsBits.SendMessages |
  PermissionFlagsBits.SendMessagesInThreads |
  PermissionFlagsBits.CreatePublicThreads |
  PermissionFlagsBits.EmbedLinks |
  PermissionFlagsBits.AttachFiles |
  PermissionFlagsBits.ReadMessageHistory;

/** The link by which an administrator adds the bot to a server, with the least permissions it works with. */
export function inviteLink(applicationId: string): string {
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: "bot applications.commands",
    permissions: String(PERMISSIONS),
  });
  return `https://discord.com/oauth2/authorize?${query}`;
}
