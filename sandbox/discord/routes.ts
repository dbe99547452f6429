import { DiscordError, missingAccess, unknownInteraction, unknownMessage, unknownWebhook } from "./errors.js";
import { type Gateway, MAX_CONCURRENCY } from "./gateway.js";
import { deleteOriginal, editOriginal, followUp, type Interaction, respond } from "./interactions.js";
import {
  checkMayPost,
  createMessage,
  deleteMessage,
  editMessage,
  findMessage,
  Nonces,
  type Sent,
  type Upload,
} from "./messages.js";
import { PERMISSION, permissionsIn } from "./permissions.js";
import type { RateLimits } from "./rate-limits.js";
import { createScheduledEvent, editScheduledEvent, listScheduledEvents } from "./scheduled-events.js";
import { createForumPost, createThread, deleteThread, editThread, listArchived } from "./threads.js";
import { checkCommands } from "./validate.js";
import type { Channel, Message, World } from "./world.js";

/** A parsed request. */
export interface ParsedRequest {
  readonly parameters: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly uploads: readonly Upload[];
}

/** JSON body of the answer, or none. */
export type Answer = object | undefined;

/** The parts of the sandbox that the routes use. */
export interface RouteParts {
  readonly world: World;
  readonly gateway: Gateway;
  readonly interactions: ReadonlyMap<string, Interaction>;
  readonly limits: RateLimits;
}

type Route = (request: ParsedRequest) => Answer;

/** Creates the routes of Discord's REST API that the bot needs, by method and path. @throws {DiscordError} */
export function createRoutes({
  world,
  gateway,
  interactions,
  limits,
}: RouteParts): Readonly<Record<string, Route>> {
  const nonces = new Nonces();

  const interactionAt = (value: string | undefined): Interaction => {
    const interaction = interactions.get(value ?? "");
    if (!interaction) throw unknownWebhook();
    return interaction;
  };
  /** Returns a channel that the bot can see. */
  const visible = (id: string | undefined): Channel => {
    const channel = world.channel(id);
    if (!(permissionsIn(world, channel, world.bot) & PERMISSION.viewChannel)) throw missingAccess();
    return channel;
  };
  const guildAt = (id: string | undefined) => {
    const guild = world.guilds.get(id ?? "");
    if (!guild) throw new DiscordError(404, 10_004, "Unknown Guild");
    return guild;
  };
  const publicMessage = ({ visibleTo, pings, notified, ...message }: Message): object => message;
  const webhookMessage = (interaction: Interaction, id: string | undefined): Message => {
    const message =
      id === "@original" ? interaction.original : interaction.messages.find((each) => each.id === id);
    if (!message) throw unknownMessage();
    return message;
  };
  const ownMessage = (channelId: string | undefined, id: string | undefined): Message => {
    const message = findMessage(world, visible(channelId).id, id);
    if (message.author.id !== world.bot.id)
      throw new DiscordError(403, 50_005, "Cannot edit a message authored by another user");
    return message;
  };
  const commandsOf = (scope: string) => world.commands.get(scope) ?? [];
  const setCommands = (scope: string, body: unknown): object => {
    const list = Array.isArray(body) ? body : [];
    checkCommands(list);
    const kept = list.map((each) => ({
      id: world.snowflake(),
      application_id: world.bot.id,
      version: world.snowflake(),
      default_member_permissions: null,
      type: 1,
      nsfw: false,
      dm_permission: true,
      contexts: null,
      integration_types: [0],
      name_localizations: null,
      description_localizations: null,
      ...each,
    }));
    world.commands.set(scope, kept);
    world.changed();
    return kept;
  };

  const postMessage = ({ parameters, body, uploads }: ParsedRequest): object => {
    const channel = visible(parameters.channel);
    const sent = body as Sent;
    if (channel.type === 15)
      throw new DiscordError(400, 50_008, "Cannot send messages in a non-text channel");
    if (channel.recipients?.some(({ id }) => world.refusing.has(id)))
      throw new DiscordError(403, 50_007, "Cannot send messages to this user");
    checkMayPost(world, channel, sent, uploads.length);
    const earlier = nonces.find(world, sent);
    if (earlier) return publicMessage(earlier);
    if (channel.thread_metadata) channel.thread_metadata.archived = false;
    const reference = sent.message_reference;
    const replies =
      reference && world.messages.get(channel.id)?.some((each) => each.id === reference.message_id);
    const more = replies ? { type: 19, message_reference: { channel_id: channel.id, ...reference } } : {};
    const message = createMessage(world, channel, sent, { author: world.bot, uploads, more });
    nonces.remember(world, message);
    return publicMessage(message);
  };

  const readMessages = ({ parameters, query }: ParsedRequest): object => {
    const channel = visible(parameters.channel);
    // Without Read Message History, the list is empty, and there is no error.
    if (!(permissionsIn(world, channel, world.bot) & PERMISSION.readHistory)) return [];
    const after = BigInt(query.after ?? 0);
    const before = query.before === undefined ? undefined : BigInt(query.before);
    const limit = Number(query.limit ?? 50);
    const all = world
      .read(channel)
      .filter((each) => BigInt(each.id) > after && (before === undefined || BigInt(each.id) < before));
    const chosen = query.after === undefined ? all.slice(-limit) : all.slice(0, limit);
    return chosen.reverse().map(({ nonce, ...message }) => publicMessage(message as Message));
  };

  return {
    "GET /gateway/bot": () => ({
      url: gateway.url,
      shards: limits.recommendedShards,
      session_start_limit: {
        total: 1_000,
        remaining: 1_000,
        reset_after: 0,
        max_concurrency: MAX_CONCURRENCY,
      },
    }),
    "GET /users/@me": () => world.bot,
    "GET /applications/@me": () => ({ id: world.bot.id, name: world.bot.username, flags: 0 }),
    "GET /applications/:app/commands": () => commandsOf(""),
    "PUT /applications/:app/commands": ({ body }) => setCommands("", body),
    "GET /applications/:app/guilds/:guild/commands": ({ parameters }) =>
      commandsOf(guildAt(parameters.guild).id),
    "PUT /applications/:app/guilds/:guild/commands": ({ parameters, body }) =>
      setCommands(guildAt(parameters.guild).id, body),
    "POST /interactions/:id/:token/callback": ({ parameters, body, uploads }) => {
      const interaction = interactions.get(parameters.token ?? "");
      if (!interaction || interaction.id !== parameters.id) throw unknownInteraction();
      respond(world, interaction, body as never, uploads);
      return undefined;
    },
    "GET /webhooks/:app/:token/messages/:message": ({ parameters }) =>
      publicMessage(webhookMessage(interactionAt(parameters.token), parameters.message)),
    "PATCH /webhooks/:app/:token/messages/:message": ({ parameters, body, uploads }) => {
      const interaction = interactionAt(parameters.token);
      if (parameters.message === "@original")
        return publicMessage(editOriginal(world, interaction, body as Sent, uploads));
      return publicMessage(
        editMessage(world, webhookMessage(interaction, parameters.message), body as Sent, uploads),
      );
    },
    "DELETE /webhooks/:app/:token/messages/:message": ({ parameters }) => {
      const interaction = interactionAt(parameters.token);
      const message =
        parameters.message === "@original"
          ? deleteOriginal(world, interaction)
          : webhookMessage(interaction, parameters.message);
      if (message) deleteMessage(world, message);
      return undefined;
    },
    "POST /webhooks/:app/:token": ({ parameters, body, uploads }) =>
      publicMessage(followUp(world, interactionAt(parameters.token), body as Sent, uploads)),
    "POST /users/@me/channels": ({ body }) => {
      const user = world.users.get(String((body as { recipient_id?: unknown }).recipient_id));
      if (!user || user.bot) throw new DiscordError(400, 50_033, "Invalid Recipient(s)");
      return world.directChannel(user);
    },
    "GET /channels/:channel": ({ parameters }) => visible(parameters.channel),
    "PATCH /channels/:channel": ({ parameters, body }) =>
      editThread(world, visible(parameters.channel), body as object),
    "DELETE /channels/:channel": ({ parameters }) => deleteThread(world, visible(parameters.channel)),
    "GET /channels/:channel/messages": readMessages,
    "GET /channels/:channel/messages/:message": ({ parameters }) =>
      publicMessage(findMessage(world, visible(parameters.channel).id, parameters.message)),
    "POST /channels/:channel/messages": postMessage,
    "PATCH /channels/:channel/messages/:message": ({ parameters, body, uploads }) => {
      const message = ownMessage(parameters.channel, parameters.message);
      limits.checkEdit(message, world.now());
      return publicMessage(editMessage(world, message, body as Sent, uploads));
    },
    "DELETE /channels/:channel/messages/:message": ({ parameters }) => {
      deleteMessage(world, ownMessage(parameters.channel, parameters.message));
      return undefined;
    },
    "POST /channels/:channel/messages/:message/crosspost": ({ parameters }) => {
      const message = ownMessage(parameters.channel, parameters.message);
      if (world.channel(parameters.channel).type !== 5)
        throw new DiscordError(400, 50_024, "Cannot execute action on this channel type");
      if (message.flags & 1)
        throw new DiscordError(400, 40_033, "This message has already been crossposted.");
      message.flags |= 1;
      world.changed();
      return publicMessage(message);
    },
    "POST /channels/:channel/messages/:message/threads": ({ parameters, body }) =>
      createThread(
        world,
        visible(parameters.channel),
        ownMessage(parameters.channel, parameters.message),
        body as { name: string },
      ),
    "POST /channels/:channel/threads": ({ parameters, body, uploads }) =>
      createForumPost(world, visible(parameters.channel), body as never, uploads),
    "GET /channels/:channel/threads/archived/public": ({ parameters }) =>
      listArchived(world, visible(parameters.channel)),
    "GET /guilds/:guild": ({ parameters }) => {
      const { members, timeouts, ...guild } = guildAt(parameters.guild);
      if (!members.has(world.bot.id)) throw missingAccess();
      return { ...guild, emojis: [], stickers: [], features: [] };
    },
    "GET /guilds/:guild/roles": ({ parameters }) => guildAt(parameters.guild).roles,
    "GET /guilds/:guild/channels": ({ parameters }) =>
      [...world.channels.values()].filter(
        (each) => each.guild_id === parameters.guild && (each.type < 10 || each.type > 12),
      ),
    "GET /guilds/:guild/threads/active": ({ parameters }) => ({
      threads: [...world.channels.values()].filter(
        (each) =>
          each.guild_id === parameters.guild && each.thread_metadata && !each.thread_metadata.archived,
      ),
      members: [],
    }),
    "GET /guilds/:guild/scheduled-events": ({ parameters }) =>
      listScheduledEvents(world, guildAt(parameters.guild)),
    "POST /guilds/:guild/scheduled-events": ({ parameters, body }) =>
      createScheduledEvent(world, guildAt(parameters.guild), body as Record<string, unknown>),
    "PATCH /guilds/:guild/scheduled-events/:event": ({ parameters, body }) =>
      editScheduledEvent(world, guildAt(parameters.guild), parameters.event, body as Record<string, unknown>),
    "GET /guilds/:guild/members/:user": ({ parameters }) => {
      const roles = guildAt(parameters.guild).members.get(parameters.user ?? "");
      const user = world.users.get(parameters.user ?? "");
      if (!roles || !user) throw new DiscordError(404, 10_007, "Unknown Member");
      const timeout = guildAt(parameters.guild).timeouts?.get(user.id);
      const communication_disabled_until = timeout === undefined ? null : new Date(timeout).toISOString();
      return {
        user,
        roles,
        communication_disabled_until,
        joined_at: new Date(0).toISOString(),
        deaf: false,
        mute: false,
        flags: 0,
      };
    },
  };
}
