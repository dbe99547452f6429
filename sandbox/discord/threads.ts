import { isDeepStrictEqual } from "node:util";
import { DiscordError, invalidForm, missingPermissions } from "./errors.js";
import { createMessage, type Sent, type Upload } from "./messages.js";
import { PERMISSION, permissionsIn } from "./permissions.js";
import type { Channel, Message, World } from "./world.js";

const THREAD = 11;
const FORUM = 15;
const REQUIRE_TAG = 1 << 4;

interface ThreadBody {
  readonly name: string;
  readonly auto_archive_duration?: number;
  readonly applied_tags?: string[];
}

function addThread(world: World, parent: Channel, body: ThreadBody, id: string): Channel {
  const length = [...(body.name ?? "").trim()].length;
  if (length < 1 || length > 100)
    throw invalidForm(new Map([["name", "Must be between 1 and 100 in length."]]));
  if (!(permissionsIn(world, parent, world.bot) & PERMISSION.createPublicThreads) && parent.type !== FORUM) {
    throw missingPermissions();
  }
  const thread: Channel = {
    id,
    type: THREAD,
    name: body.name,
    ...(parent.guild_id ? { guild_id: parent.guild_id } : {}),
    parent_id: parent.id,
    permission_overwrites: [],
    owner_id: world.bot.id,
    position: 0,
    applied_tags: body.applied_tags ?? [],
    thread_metadata: {
      archived: false,
      locked: false,
      auto_archive_duration: body.auto_archive_duration ?? 4_320,
      archive_timestamp: new Date(world.now()).toISOString(),
    },
  };
  world.channels.set(id, thread);
  world.messages.set(id, []);
  world.changed();
  return thread;
}

/**
 * Opens a thread under a message. The thread has the message's id.
 * @throws {DiscordError} 160004 if there is one
 */
export function createThread(world: World, parent: Channel, message: Message, body: ThreadBody): Channel {
  if (message.thread)
    throw new DiscordError(400, 160_004, "A thread has already been created for this message");
  message.thread = addThread(world, parent, body, message.id);
  return message.thread;
}

/**
 * Opens a forum's post, a thread with its first message.
 * @throws {DiscordError} 40067 if a tag is missing
 */
export function createForumPost(
  world: World,
  forum: Channel,
  body: ThreadBody & { message?: Sent },
  uploads: readonly Upload[],
): object {
  if (forum.type !== FORUM) throw new DiscordError(400, 50_024, "Cannot execute action on this channel type");
  const held = permissionsIn(world, forum, world.bot);
  if (!(held & PERMISSION.sendMessages)) throw missingPermissions();
  if (forum.flags && forum.flags & REQUIRE_TAG && !body.applied_tags?.length) {
    throw new DiscordError(400, 40_067, "A tag is required to create a forum post in this channel");
  }
  for (const id of body.applied_tags ?? []) {
    const tag = forum.available_tags?.find((each) => each.id === id);
    if (!tag) throw new DiscordError(404, 10_087, "Unknown Tag");
    if (tag.moderated && !(held & PERMISSION.manageThreads)) throw missingPermissions();
  }
  const thread = addThread(world, forum, body, world.snowflake());
  const message = createMessage(world, thread, body.message ?? {}, {
    author: world.bot,
    uploads,
    more: { id: thread.id },
  });
  const { visibleTo, pings, notified, ...shown } = message;
  return { ...thread, message: shown };
}

/** Archives, reopens or renames a thread. */
export function editThread(
  world: World,
  thread: Channel,
  body: { archived?: boolean; name?: string; auto_archive_duration?: number },
): Channel {
  if (!thread.thread_metadata) throw missingPermissions();
  const own = thread.owner_id === world.bot.id;
  const held = permissionsIn(world, thread, world.bot);
  const manages = (held & PERMISSION.manageThreads) !== 0n;
  // A thread that is not locked may be opened again, and only that, by anyone who may write in it (Discord: Modify Channel).
  const reopens = isDeepStrictEqual(body, { archived: false }) && (held & PERMISSION.sendInThreads) !== 0n;
  if ((thread.thread_metadata.locked || !(own || reopens)) && !manages) throw missingPermissions();
  if (thread.thread_metadata.archived && body.archived !== false)
    throw new DiscordError(400, 50_083, "Thread is archived");
  if (body.archived !== undefined) {
    thread.thread_metadata.archived = body.archived;
    thread.thread_metadata.archive_timestamp = new Date(world.now()).toISOString();
  }
  if (body.name !== undefined) thread.name = body.name;
  world.changed();
  return thread;
}

/** Deletes a thread or a forum's post. Even its owner needs Manage Threads. */
export function deleteThread(world: World, thread: Channel): Channel {
  const manages = (permissionsIn(world, thread, world.bot) & PERMISSION.manageThreads) !== 0n;
  if (!thread.thread_metadata || !manages) throw missingPermissions();
  world.channels.delete(thread.id);
  world.changed();
  return thread;
}

/** Returns a channel's archived threads, newest first. */
export function listArchived(world: World, parent: Channel): object {
  const threads = [...world.channels.values()].filter(
    (each) => each.parent_id === parent.id && each.thread_metadata?.archived,
  );
  return { threads: threads.reverse(), members: [], has_more: false };
}
