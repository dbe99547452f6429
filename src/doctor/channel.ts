import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  type APIChannel,
  type APIMessage,
  type APIUser,
  ChannelType,
  ComponentType,
  DiscordAPIError,
  MessageFlags,
  REST,
  Routes,
} from "discord.js";
import type { Config } from "../config.js";
import { lackedIn } from "../discord/access.js";
import { findByMark, findPostByMark } from "../discord/find-message.js";
import { createLinks } from "../discord/links.js";
import { createRenderer } from "../discord/message.js";
import { isThread } from "../discord/permissions.js";
import { readPlace } from "../discord/places.js";
import {
  editMessage,
  openThread,
  type Post,
  postMessage,
  postToForum,
  setArchived,
} from "../discord/post.js";
import { address } from "../screens/addresses.js";
import type { View } from "../screens/view.js";
import { md } from "../text/markdown.js";
import { present } from "../util/present.js";
import { type Finding, fail, isTimeout, pass, warn, wordsOf } from "./finding.js";

/** Timeout for requests to Discord, in ms. */
const WAIT_MS = 10_000;

/** Maximum difference between Discord's clock and ours, in ms. */
const CLOCKS_MS = 10 * 60_000;

/** Pauses before each search for a message that Discord did not confirm in time, in ms. */
const LATE_MS = [0, 2_000, 4_000];

const TITLE = "A test of this channel";
const EDITED = "A test of this channel, edited";
const FILE = { name: "test.json", content: Buffer.from('{ "test": true }\n') };

const NO_KEYS = { remember() {}, hold() {}, resolve: async () => undefined };

/** Returns a message with all features that the bot's messages use. */
const viewOf = (title: string, mark?: string): View => ({
  title: md`${title}`,
  notification: md`A test message. It'll be removed in a moment`,
  body: [md`\`npm run doctor -- --channel\` checks how Discord shows a message, then removes it.`],
  fields: [
    { name: "A field", value: md`beside`, inline: true },
    { name: "Another", value: md`**bold**, \`code\``, inline: true },
  ],
  files: [FILE],
  menus: [
    { placeholder: "A menu", choices: [{ label: "Help", hint: "All commands", to: address("help", {}) }] },
  ],
  links: [{ label: "A button", emoji: "🔎", to: address("help", {}), mark }],
});

const renderer = createRenderer(createLinks(NO_KEYS, () => undefined));

/** Describes the parts of a message that Discord changed. */
function lostIn(message: APIMessage): string[] {
  const { embeds, components = [], attachments, flags = 0 } = message;
  const kinds = components.flatMap((row) =>
    row.type === ComponentType.ActionRow ? row.components.map(({ type }) => type) : [],
  );
  const sentMessage = renderer.message(viewOf(TITLE));
  const [embed, own] = [embeds[0], sentMessage.embeds[0]];
  const isWhole =
    embed?.title === own?.title &&
    embed?.fields?.length === own?.fields?.length &&
    embed?.color === own?.color;
  const [file] = attachments;
  return present([
    !isWhole && "the embed",
    !kinds.includes(ComponentType.Button) && "the button",
    !kinds.includes(ComponentType.StringSelect) && "the menu",
    !(file?.filename === FILE.name && file.size === FILE.content.length) && "the file",
    flags & MessageFlags.SuppressNotifications ? undefined : "that it is silent",
  ]);
}

/** Returns advice for an error from Discord. */
async function fixFor(rest: REST, channel: APIChannel | undefined, error: unknown): Promise<string> {
  if (!(error instanceof DiscordAPIError))
    return `Check that this machine can reach Discord, then run it again. Delete “${TITLE}” if it was left there.`;
  if (error.status === 401) return "Set DISCORD_TOKEN to the bot's token.";
  if (error.status === 404 || error.status === 400)
    return "Give the id of a channel of a server that the bot is in: right-click it, Copy Channel ID.";
  const grant = (what: string) =>
    `Grant the bot ${what} in the channel's settings → Permissions, and run it again.`;
  if (!channel || !("guild_id" in channel) || !channel.guild_id) return grant("View Channel");
  const channelPlace = await readPlace(rest, channel.guild_id, channel.id);
  const { id } = (await rest.get(Routes.user())) as APIUser;
  const lacking = await lackedIn(rest, id, channelPlace, { roleId: null, thread: true, needs: [] });
  return grant(lacking.length > 0 ? lacking.join(", ") : "the missing permissions");
}

/** Returns a client that does not retry, because Discord would create a second forum post if the answer to the first one was late. */
export const createChannelRest = ({ apiUrl, token }: Config["discord"]): REST =>
  new REST({ api: apiUrl, retries: 0, timeout: 8_000 }).setToken(token);

/**
 * Sends a message with every feature that the bot uses to a channel or forum, checks the result, and removes the message. It is
 * silent and pings no one.
 * @param stopped if it aborts, no more messages are sent and the test message is removed
 */
export async function* checkChannel(
  rest: REST,
  channelId: string,
  stopped: AbortSignal,
): AsyncGenerator<Finding> {
  const checkName = `Channel ${channelId}`;
  let channel: APIChannel | undefined;
  /** Removals to run in reverse order. Each returns a finding if something could not be removed. */
  const removals: (() => Promise<Finding | undefined>)[] = [];
  try {
    channel = (await rest.get(Routes.channel(channelId))) as APIChannel;
    yield pass(checkName, `the bot sees ${"name" in channel && channel.name ? `#${channel.name}` : "it"}`);
    yield* tryMessage(rest, channel, removals, stopped);
  } catch (error) {
    if (stopped.aborted) yield fail(checkName, "it was stopped", "Run it again.");
    else {
      const fix = await fixFor(rest, channel, error).catch(() => "Run it again.");
      yield fail(checkName, wordsOf(error, "Discord"), fix);
    }
  } finally {
    for (const remove of removals.reverse()) {
      const stays = await remove();
      if (stays) yield stays;
    }
  }
}

const newMark = (): string => randomBytes(9).toString("base64url");

async function* tryMessage(
  rest: REST,
  channel: APIChannel,
  made: (() => Promise<Finding | undefined>)[],
  stopped: AbortSignal,
): AsyncGenerator<Finding> {
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(6 * WAIT_MS)]);
  const startedAt = Date.now();
  /** Marks by which the message and the reply are found if their answers are lost. */
  const [mark, replyMark] = [newMark(), newMark()];
  const isForum = channel.type === ChannelType.GuildForum;
  const post = (ownMark: string, replyTo?: string): Post => ({
    payload: renderer.message(viewOf(TITLE, ownMark)),
    nonce: randomBytes(12).toString("hex"),
    isSilent: true,
    replyTo,
  });
  const removing = (name: string, route: `/${string}`, otherwise?: () => Promise<string>) => {
    made.push(() => remove(rest, name, route, otherwise));
  };

  const tag =
    "available_tags" in channel
      ? (channel.available_tags.find(({ moderated }) => !moderated)?.id ?? null)
      : null;
  const since = startedAt - CLOCKS_MS;
  /** Removes a message that was sent although its answer was lost. */
  const removingLost =
    (find: () => Promise<{ readonly id: string } | undefined>, removeFound: (id: string) => void) =>
    async (error: unknown): Promise<never> => {
      if (error instanceof DiscordAPIError) throw error;
      // Discord may carry out a request after the bot has stopped waiting for it.
      const pauses = isTimeout(error) ? LATE_MS : [0];
      for (const pauseMs of pauses) {
        await delay(pauseMs);
        const foundMessage = await find().catch(() => undefined);
        if (!foundMessage) continue;
        removeFound(foundMessage.id);
        break;
      }
      throw error;
    };
  // In a forum, the post is a thread. Its id is the same as that of its first message.
  const removingFirst = (id: string) => {
    if (isForum) removing("the post", Routes.channel(id), () => archive(rest, id));
    else removing("the message", Routes.channelMessage(channel.id, id));
  };
  const findFirst = () =>
    channel.type === ChannelType.GuildForum
      ? findPostByMark(rest, channel.id, channel.guild_id ?? "", mark, since, async () => {})
      : findByMark(rest, channel.id, mark, since);
  const messageId = await (isForum
    ? postToForum(rest, channel.id, TITLE, post(mark), tag, signal)
    : postMessage(rest, channel.id, post(mark), signal)
  ).catch(removingLost(findFirst, removingFirst));
  removingFirst(messageId);
  const home = isForum ? messageId : channel.id;
  const readBack = async (id: string) => {
    signal.throwIfAborted();
    return (await rest.get(Routes.channelMessage(home, id))) as APIMessage;
  };
  const lostParts = lostIn(await readBack(messageId));
  yield lostParts.length === 0
    ? pass("Message", "embed, buttons, menu, file: as sent, and without a sound")
    : warn("Message", `Discord did not keep ${lostParts.join(", ")}`, "Report it, with this line.");

  const nothing = renderer.message({ ...viewOf(EDITED), files: [] });
  await editMessage(rest, home, messageId, nothing);
  const edited = await readBack(messageId);
  yield edited.embeds[0]?.title === EDITED && edited.attachments.length === 0
    ? pass("Edit", "the embed was replaced and the file removed")
    : warn("Edit", "Discord applied only part of the edit", "Report it, with this line.");

  const removingReply = (id: string) => removing("the reply", Routes.channelMessage(home, id));
  const replyId = await postMessage(rest, home, post(replyMark, messageId), signal).catch(
    removingLost(() => findByMark(rest, home, replyMark, since), removingReply),
  );
  removingReply(replyId);
  const reply = await readBack(replyId);
  yield reply.message_reference?.message_id === messageId
    ? pass("Reply", "refers to the message")
    : warn("Reply", "does not refer to the message", "Grant Read Message History there.");

  if (isForum || isThread(channel)) return;
  yield await tryThread(rest, channel.id, messageId, removing).catch((error: unknown) =>
    warn(
      "Thread",
      wordsOf(error, "Discord"),
      "Grant Create Public Threads there, where subscriptions open threads.",
    ),
  );
}

async function tryThread(
  rest: REST,
  channelId: string,
  messageId: string,
  removing: (name: string, route: `/${string}`, otherwise?: () => Promise<string>) => void,
): Promise<Finding> {
  // Register the removal before the thread is opened, because the answer may come too late or not at all.
  removing("the thread", Routes.channel(messageId), () => archive(rest, messageId));
  await openThread(rest, channelId, messageId, TITLE);
  const thread = (await rest.get(Routes.channel(messageId))) as APIChannel;
  return "parent_id" in thread && thread.parent_id === channelId
    ? pass("Thread", "opened under the message")
    : warn("Thread", "it is not under the message", "Report it, with this line.");
}

/** Archives a thread that the bot is not allowed to delete. */
async function archive(rest: REST, threadId: string): Promise<string> {
  await setArchived(rest, threadId, true);
  return "archived instead, because deleting it needs Manage Threads, which the bot doesn't ask for";
}

/** Removes something that was sent. Returns a finding if it could not be removed. */
async function remove(
  rest: REST,
  name: string,
  route: `/${string}`,
  otherwise?: () => Promise<string>,
): Promise<Finding | undefined> {
  // After a failed connection, it is unknown whether it was removed, so try once more.
  const removeOnce = () => rest.delete(route);
  try {
    await removeOnce().catch((error: unknown) => {
      if (error instanceof DiscordAPIError) throw error;
      return removeOnce();
    });
    return undefined;
  } catch (error) {
    if (error instanceof DiscordAPIError && error.status === 404) return undefined;
    const isForbidden = error instanceof DiscordAPIError && error.status === 403;
    const otherwiseDone = isForbidden ? await otherwise?.().catch(() => undefined) : undefined;
    return warn(
      "Removal",
      `${name} stays: ${otherwiseDone ?? wordsOf(error, "Discord")}`,
      "Delete it by hand.",
    );
  }
}
