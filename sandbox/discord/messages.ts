import { DiscordError, missingAccess, missingPermissions, unknownMessage } from "./errors.js";
import { PERMISSION, permissionsIn } from "./permissions.js";
import { checkMessage } from "./validate.js";
import type { ActionRow, Attachment, Channel, Message, User, World } from "./world.js";

/** A file in a request. */
export interface Upload {
  readonly name: string;
  readonly type: string;
  readonly body: Buffer;
}

/** A message as sent by a bot. Its fields are not validated yet. */
export interface Sent {
  content?: string | null;
  embeds?: object[] | null;
  components?: ActionRow[] | null;
  attachments?: { id: string | number; filename?: string; description?: string }[];
  allowed_mentions?: { parse?: string[]; roles?: string[]; users?: string[] };
  flags?: number;
  nonce?: string;
  enforce_nonce?: boolean;
  message_reference?: { message_id: string; fail_if_not_exists?: boolean };
}

const EPHEMERAL = 64;
const NONCE_MS = 5 * 60_000;

/**
 * Returns the people and roles that a message notifies: those that its content mentions and its
 * allowed_mentions permits. Mentions in embeds never notify.
 */
function pingsOf(world: World, sent: Sent, mayMentionAll: boolean, channel: Channel): string[] {
  const content = sent.content ?? "";
  const allowed = sent.allowed_mentions;
  const parses = (kind: string) => allowed === undefined || allowed.parse?.includes(kind);
  const pings: string[] = [];
  if (/@(everyone|here)/.test(content) && parses("everyone") && mayMentionAll) pings.push("@everyone");
  const roles = world.guilds.get(channel.guild_id ?? "")?.roles ?? [];
  for (const [, id = ""] of content.matchAll(/<@&(\d+)>/g)) {
    const role = roles.find((each) => each.id === id);
    if (role && (parses("roles") || allowed?.roles?.includes(id)) && (role.mentionable || mayMentionAll))
      pings.push(`@${role.name}`);
  }
  for (const [, id = ""] of content.matchAll(/<@!?(\d+)>/g)) {
    if (parses("users") || allowed?.users?.includes(id))
      pings.push(`@${world.users.get(id)?.username ?? id}`);
  }
  return pings;
}

function store(world: World, uploads: readonly Upload[], sent: Sent): Attachment[] {
  return uploads.map(({ name, type, body }, at) => {
    const id = world.snowflake();
    world.files.set(id, { body, type });
    const url = `/files/${id}/${encodeURIComponent(name)}`;
    const description = sent.attachments?.find((each) => String(each.id) === String(at))?.description;
    return {
      id,
      filename: name,
      size: body.length,
      url,
      proxy_url: url,
      content_type: type,
      ...(description ? { description } : {}),
    };
  });
}

/** Replaces references to attachments in embeds by their URLs, as in Discord's answers. */
function resolveEmbeds(embeds: readonly object[], attachments: readonly Attachment[]): object[] {
  const text = JSON.stringify(embeds).replace(/attachment:\/\/([^"]+)/g, (whole, name: string) => {
    return attachments.find((each) => each.filename === name)?.url ?? whole;
  });
  return JSON.parse(text);
}

interface CreateOptions {
  readonly author: User;
  readonly uploads?: readonly Upload[];
  readonly more?: Partial<Message>;
}

/**
 * Validates a message and adds it to a channel.
 * @throws {DiscordError}
 */
export function createMessage(world: World, channel: Channel, sent: Sent, options: CreateOptions): Message {
  const { author, uploads = [], more = {} } = options;
  checkMessage(
    { ...sent },
    uploads.map(({ name, body }) => ({ name, bytes: body.length })),
  );
  const attachments = store(world, uploads, sent);
  const mayMentionAll = (permissionsIn(world, channel, author) & PERMISSION.mentionEveryone) !== 0n;
  const message: Message = {
    id: world.snowflake(),
    channel_id: channel.id,
    ...(channel.guild_id ? { guild_id: channel.guild_id } : {}),
    author,
    content: sent.content ?? "",
    notified: sent.content ?? "",
    timestamp: new Date(world.now()).toISOString(),
    edited_timestamp: null,
    embeds: resolveEmbeds(sent.embeds ?? [], attachments),
    components: sent.components ?? [],
    attachments,
    flags: sent.flags ?? 0,
    type: 0,
    tts: false,
    mention_everyone: false,
    mentions: [],
    mention_roles: [],
    pinned: false,
    pings: sent.flags && sent.flags & EPHEMERAL ? [] : pingsOf(world, sent, mayMentionAll, channel),
    ...(sent.nonce === undefined ? {} : { nonce: String(sent.nonce) }),
    ...more,
  };
  world.messages.get(channel.id)?.push(message);
  world.changed();
  return message;
}

/**
 * Edits a message. Missing fields stay the same, but files that are not listed are removed.
 * @throws {DiscordError}
 */
export function editMessage(
  world: World,
  message: Message,
  sent: Sent,
  uploads: readonly Upload[] = [],
): Message {
  const unnamed = uploads.length > 0 ? [] : message.attachments;
  const kept = sent.attachments
    ? message.attachments.filter((each) => sent.attachments?.some(({ id }) => String(id) === each.id))
    : unnamed;
  const next = {
    content: sent.content === undefined ? message.content : sent.content,
    embeds: sent.embeds ?? message.embeds,
    components: sent.components ?? message.components,
  };
  const files = uploads.map(({ name, body }) => ({ name, bytes: body.length }));
  checkMessage(
    { ...sent, ...next },
    files,
    kept.map(({ filename }) => filename),
  );
  const attachments = [...kept, ...store(world, uploads, sent)];
  Object.assign(message, {
    content: next.content ?? "",
    embeds: sent.embeds === undefined ? message.embeds : resolveEmbeds(next.embeds ?? [], attachments),
    components: next.components ?? [],
    attachments,
    edited_timestamp: new Date(world.now()).toISOString(),
  });
  world.changed();
  return message;
}

export function findMessage(world: World, channelId: string, id: string | undefined): Message {
  const message = world.messages.get(channelId)?.find((each) => each.id === id);
  if (!message) throw unknownMessage();
  return message;
}

export function deleteMessage(world: World, message: Message): void {
  const all = world.messages.get(message.channel_id) ?? [];
  const at = all.indexOf(message);
  if (at >= 0) all.splice(at, 1);
  world.changed();
}

/** Recent nonces by author. */
export class Nonces {
  readonly #seen = new Map<string, { message: Message; at: number }>();

  /**
   * Returns the earlier message with the same enforced nonce, or `undefined`.
   * @throws {DiscordError} 10008 if that message was deleted
   */
  find(world: World, sent: Sent): Message | undefined {
    if (!sent.enforce_nonce || sent.nonce === undefined) return undefined;
    const earlier = this.#seen.get(String(sent.nonce));
    if (!earlier || world.now() - earlier.at > NONCE_MS) return undefined;
    return findMessage(world, earlier.message.channel_id, earlier.message.id);
  }

  remember(world: World, message: Message): void {
    if (message.nonce !== undefined) this.#seen.set(message.nonce, { message, at: world.now() });
  }
}

/**
 * Checks that the bot may post a message in a channel.
 * @throws {DiscordError} 50001, 50013, 50083 or 160002
 */
export function checkMayPost(world: World, channel: Channel, sent: Sent, files: number): void {
  const held = permissionsIn(world, channel, world.bot);
  if (!(held & PERMISSION.viewChannel)) throw missingAccess();
  const thread = channel.type >= 10 && channel.type <= 12;
  const needed =
    (thread ? PERMISSION.sendInThreads : PERMISSION.sendMessages) |
    (sent.embeds?.length ? PERMISSION.embedLinks : 0n) |
    (files > 0 ? PERMISSION.attachFiles : 0n);
  if ((held & needed) !== needed) throw missingPermissions();
  if (channel.thread_metadata?.locked) throw new DiscordError(400, 50_083, "Thread is archived");
  const reference = sent.message_reference;
  if (!reference) return;
  if (!(held & PERMISSION.readHistory)) {
    throw new DiscordError(400, 160_002, "Cannot reply without permission to read message history");
  }
  const there = world.messages.get(channel.id)?.some((each) => each.id === reference.message_id);
  if (!there && reference.fail_if_not_exists !== false) {
    throw new DiscordError(400, 50_035, "Invalid Form Body", {
      message_reference: {
        _errors: [{ code: "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", message: "Unknown message" }],
      },
    });
  }
}
