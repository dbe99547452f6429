import { randomBytes } from "node:crypto";
import {
  type APIChannel,
  type APIMessage,
  ChannelType,
  ComponentType,
  DiscordAPIError,
  MessageFlags,
  type REST,
  Routes,
} from "discord.js";
import { createLinks } from "../discord/links.js";
import { createRenderer } from "../discord/message.js";
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
import { type Finding, fail, pass, warn, wordsOf } from "./finding.js";

/** Discord answers within this, in ms, or it is not waited for. */
const WAIT_MS = 10_000;

const TITLE = "A test of this channel";
const EDITED = "A test of this channel, edited";
const FILE = { name: "test.json", content: Buffer.from('{ "test": true }\n') };

const NO_KEYS = { remember() {}, hold() {}, resolve: async () => undefined };

/** A message with everything that the bot's messages are made of. */
const viewOf = (title: string): View => ({
  title: md`${title}`,
  tone: "neutral",
  notification: md`A test, which is removed at once`,
  body: [md`\`npm run doctor -- --channel\` looks at what Discord makes of a message, and removes it.`],
  fields: [
    { name: "A field", value: md`beside`, inline: true },
    { name: "Another", value: md`**bold**, \`code\``, inline: true },
  ],
  files: [FILE],
  menus: [
    { placeholder: "A menu", choices: [{ label: "Help", hint: "All commands", to: address("help", {}) }] },
  ],
  links: [{ label: "A button", emoji: "🔎", to: address("help", {}) }],
  readings: [],
});

const renderer = createRenderer(createLinks(NO_KEYS, () => undefined));

/** What Discord kept of it otherwise than it was sent, in words; empty where nothing. */
function lostIn(message: APIMessage): string[] {
  const { embeds, components = [], attachments, flags = 0 } = message;
  const kinds = components.flatMap((row) =>
    row.type === ComponentType.ActionRow ? row.components.map(({ type }) => type) : [],
  );
  const sent = renderer.message(viewOf(TITLE));
  const [embed, own] = [embeds[0], sent.embeds[0]];
  const isWhole =
    embed?.title === own?.title &&
    embed?.fields?.length === own?.fields?.length &&
    embed?.color === own?.color;
  const [file] = attachments;
  return [
    ...(isWhole ? [] : ["the embed"]),
    ...(kinds.includes(ComponentType.Button) ? [] : ["the button"]),
    ...(kinds.includes(ComponentType.StringSelect) ? [] : ["the menu"]),
    ...(file?.filename === FILE.name && file.size === FILE.content.length ? [] : ["the file"]),
    ...(flags & MessageFlags.SuppressNotifications ? [] : ["that it is silent"]),
  ];
}

const FIX = "Grant the bot what it lacks in the channel's settings → Permissions, and run it again.";

/**
 * Sends one message with everything that the bot uses to a channel or a forum, looks at what Discord made of it, and removes it.
 * It makes no sound, and pings nobody.
 */
export async function* checkChannel(rest: REST, channelId: string): AsyncGenerator<Finding> {
  const what = `Channel ${channelId}`;
  /** What is to be removed, the last first; each says what stays where it cannot be. */
  const made: (() => Promise<Finding | undefined>)[] = [];
  try {
    const channel = (await rest.get(Routes.channel(channelId))) as APIChannel;
    yield pass(what, `the bot sees ${"name" in channel && channel.name ? `#${channel.name}` : "it"}`);
    yield* tryMessage(rest, channel, made);
  } catch (error) {
    yield fail(what, wordsOf(error, "Discord"), FIX);
  } finally {
    for (const remove of made.reverse()) {
      const stays = await remove();
      if (stays) yield stays;
    }
  }
}

async function* tryMessage(
  rest: REST,
  channel: APIChannel,
  made: (() => Promise<Finding | undefined>)[],
): AsyncGenerator<Finding> {
  const signal = AbortSignal.timeout(6 * WAIT_MS);
  const isForum = channel.type === ChannelType.GuildForum;
  const post = (replyTo?: string): Post => ({
    payload: renderer.message(viewOf(TITLE)),
    nonce: randomBytes(12).toString("hex"),
    isSilent: true,
    replyTo,
  });
  const removing = (name: string, route: `/${string}`, otherwise?: () => Promise<string>) => {
    made.push(() => remove(rest, name, route, otherwise));
  };

  const tag = "available_tags" in channel ? (channel.available_tags[0]?.id ?? null) : null;
  const messageId = isForum
    ? await postToForum(rest, channel.id, TITLE, post(), tag, signal)
    : await postMessage(rest, channel.id, post(), signal);
  // In a forum, the post is a thread whose first message has its id.
  const home = isForum ? messageId : channel.id;
  if (isForum) removing("the post", Routes.channel(home), () => archive(rest, home));
  else removing("the message", Routes.channelMessage(home, messageId));
  const read = async (id: string) => (await rest.get(Routes.channelMessage(home, id))) as APIMessage;
  const lost = lostIn(await read(messageId));
  yield lost.length === 0
    ? pass("Message", "embed, buttons, menu, file: as sent, and without a sound")
    : warn("Message", `Discord did not keep ${lost.join(", ")}`, "Report it, with this line.");

  const nothing = renderer.message({ ...viewOf(EDITED), files: [] });
  await editMessage(rest, home, messageId, nothing);
  const edited = await read(messageId);
  yield edited.embeds[0]?.title === EDITED && edited.attachments.length === 0
    ? pass("Edit", "the embed is another, and the file is gone")
    : warn("Edit", "Discord did not take it over whole", "Report it, with this line.");

  const replyId = await postMessage(rest, home, post(messageId), signal);
  removing("the reply", Routes.channelMessage(home, replyId));
  const reply = await read(replyId);
  yield reply.message_reference?.message_id === messageId
    ? pass("Reply", "refers to the message")
    : warn("Reply", "refers to nothing", "Grant Read Message History there.");

  if (isForum || channel.type === ChannelType.PublicThread) return;
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
  await openThread(rest, channelId, messageId, TITLE);
  removing("the thread", Routes.channel(messageId), () => archive(rest, messageId));
  const thread = (await rest.get(Routes.channel(messageId))) as APIChannel;
  return "parent_id" in thread && thread.parent_id === channelId
    ? pass("Thread", "opened under the message")
    : warn("Thread", "it is not under the message", "Report it, with this line.");
}

/** A thread that may not be deleted is archived. */
async function archive(rest: REST, threadId: string): Promise<string> {
  await setArchived(rest, threadId, true);
  return "archived instead: it takes Manage Threads, which the bot does without, to delete it";
}

/** Removes one thing; gives what stays, and why. */
async function remove(
  rest: REST,
  name: string,
  route: `/${string}`,
  otherwise?: () => Promise<string>,
): Promise<Finding | undefined> {
  try {
    await rest.delete(route);
    return undefined;
  } catch (error) {
    const isForbidden = error instanceof DiscordAPIError && error.status === 403;
    const done = isForbidden ? await otherwise?.().catch(() => undefined) : undefined;
    return warn("Removal", `${name} stays: ${done ?? wordsOf(error, "Discord")}`, "Delete it by hand.");
  }
}
