import { Client, Options, PermissionFlagsBits } from "discord.js";
import type { Config } from "../config.js";

/** A Discord client for slash commands: no intents, mentions nobody, and keeps next to nothing in memory. */
export function createDiscordClient(config: Config["discord"]): Client {
  return new Client({
    intents: [],
    allowedMentions: { parse: [] },
    rest: { api: config.apiUrl },
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      MessageManager: 0,
      GuildMemberManager: { maxSize: 0, keepOverLimit: (member) => member.id === member.client.user.id },
      UserManager: { maxSize: 0, keepOverLimit: (user) => user.id === user.client.user?.id },
    }),
  });
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
