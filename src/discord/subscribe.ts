import { ChannelType, type ChatInputCommandInteraction } from "discord.js";
import type { Services } from "../../commands/command.js";
import { ifAnswered } from "../explorer/errors.js";
import { toTitle } from "../explorer/governance.js";
import { cut } from "../explorer/values.js";
import type { Field } from "../screens/view.js";
import { collectionOf } from "../storage/state.js";
import { isOpen } from "../watch/requests.js";
import {
  DEFAULT_OPTIONS,
  formatBefore,
  type Health,
  parseBefore,
  type Subscription,
} from "../watch/subscriptions.js";
import { PersonError } from "./errors.js";
import type { IdKeys } from "./links.js";
import { type MessagePayload, toMessage } from "./message.js";
import { checkSubscription, type Place, readPlace } from "./permissions.js";
import { postMessage, postToForum, setArchived, wordsFor } from "./post.js";
import { channelMention, type Markdown, md, roleMention, timestamp } from "./text.js";

type Asked = ChatInputCommandInteraction;

/** Answers to these commands have no links. */
const NO_KEYS: IdKeys = { remember: () => {}, resolve: async () => undefined };

const say = (
  title: Markdown,
  body: readonly Markdown[],
  fields: readonly Field[] = [],
  tone: "good" | "neutral" = "good",
): MessagePayload => toMessage({ title, tone, body, fields, readings: [] }, undefined, undefined, NO_KEYS);

function serverOf(asked: Asked): string {
  if (!asked.guildId) throw new PersonError("Subscriptions belong to a server: use this command in one.");
  return asked.guildId;
}

const channelOf = (asked: Asked): string => asked.options.getChannel("channel")?.id ?? asked.channelId;

/** A channel's subscription, where it is this server's. @throws {PersonError} where there is none */
async function existing(services: Services, place: Place): Promise<Subscription> {
  const subscription = await services.subscriptions.get(place.channel.id);
  if (!subscription)
    throw new PersonError(
      `<#${place.channel.id}> is not subscribed. \`/subscribe governance\` subscribes it.`,
    );
  return subscription;
}

/** What was asked for, on top of what a subscription is already set to. */
function chosen(asked: Asked, before: Subscription | undefined) {
  const old = before ?? DEFAULT_OPTIONS;
  const flag = (name: string, otherwise: boolean) => asked.options.getBoolean(name) ?? otherwise;
  const text = asked.options.getString("before");
  const times = text === null ? old.before : parseBefore(text);
  if (!times)
    throw new PersonError(
      "I cannot read those reminder times. Type up to five, such as `24h 6h` or `2d 90m`, each from 5m to 30d.",
    );
  return {
    topics: {
      new: flag("new", old.topics.new),
      outcome: flag("outcome", old.topics.outcome),
      reminders: flag("reminders", old.topics.reminders),
      changes: flag("changes", old.topics.changes),
      votes: flag("votes", old.topics.votes),
    },
    roleId: asked.options.getBoolean("no-role") ? null : (asked.options.getRole("role")?.id ?? old.roleId),
    thread: flag("thread", old.thread),
    publish: flag("publish", old.publish),
    before: times,
  };
}

const REQUIRE_TAG = 1 << 4;

/** The tag that a forum demands: one that sounds like governance, else its first. @throws {PersonError} where it has none */
function tagFor({ channel }: Place): string | null {
  if (channel.type !== ChannelType.GuildForum || !((channel.flags ?? 0) & REQUIRE_TAG)) return null;
  const tag =
    channel.available_tags.find(({ name }) => /govern|vote|proposal/i.test(name)) ??
    channel.available_tags[0];
  if (!tag)
    throw new PersonError(
      `<#${channel.id}> demands a tag on each post and has none. Add a tag to it, and try again.`,
    );
  return tag.id;
}

async function check(
  asked: Asked,
  { rest }: Services,
  place: Place,
  wish: { roleId: string | null; thread: boolean },
): Promise<void> {
  await checkSubscription(rest, asked.client.user.id, asked.user.id, { place, ...wish });
}

/** What a subscription hears, in words. */
function described({ topics, roleId, thread, publish, before, forum }: Subscription): Markdown[] {
  const names = [
    topics.new && "new vote requests",
    topics.outcome && "outcomes",
    topics.reminders && `reminders (${formatBefore(before)} before the deadline)`,
    topics.changes && "changes",
    topics.votes && "votes",
  ].filter((name) => name !== false);
  return [
    md`Hears of: ${names.length > 0 ? names.join(", ") : "nothing"}`,
    ...(roleId ? [md`Pings ${roleMention(roleId)}`] : []),
    ...(forum ? [md`A post for each vote request`] : thread ? [md`A thread under each announcement`] : []),
    ...(publish ? [md`Published to following channels`] : []),
  ];
}

/** What is open now: none of it is announced, only reminded of and closed. */
async function openNow(asked: Asked, { explorer }: Services): Promise<Markdown[]> {
  const list = explorer.for({ person: asked.user.id }).voteRequests({ page: 0, size: 100 });
  const rows = (await ifAnswered(list))?.data.content;
  if (!rows) return [md`The explorer cannot be read right now, so I cannot say what is open.`];
  const open = rows.filter((row) => isOpen(row, Date.now()));
  if (open.length === 0) return [md`Nothing is open at the moment.`];
  return [
    md`Open now, and not announced again:`,
    ...open
      .slice(0, 10)
      .map(
        (row) =>
          md`• ${cut(toTitle(row.title) ?? "without a title", 120)}, until ${timestamp(row.voteBefore, "f")}`,
      ),
    ...(open.length > 10 ? [md`…and ${open.length - 10} more`] : []),
  ];
}

async function save(
  asked: Asked,
  services: Services,
  place: Place,
  before: Subscription | undefined,
): Promise<MessagePayload> {
  const options = chosen(asked, before);
  if (options.publish && place.channel.type !== ChannelType.GuildAnnouncement) {
    throw new PersonError(
      `<#${place.channel.id}> is no announcement channel: only there can messages be published. Leave \`publish\` out.`,
    );
  }
  await check(asked, services, place, options);
  const { channel } = place;
  const subscription: Subscription = {
    ...options,
    channelId: channel.id,
    guildId: place.guild.id,
    forum: channel.type === ChannelType.GuildForum,
    tagId: tagFor(place),
    since: before?.since || Date.now(),
  };
  await services.subscriptions.put(subscription);
  await services.subscriptions.setHealth(channel.id, {
    ...(await services.subscriptions.health(channel.id)),
    paused: false,
  });
  const title = before ? md`Subscription changed` : md`Subscribed`;
  const open = before ? [] : [md``, ...(await openNow(asked, services))];
  return say(title, [channelMention(channel.id), ...described(subscription), ...open]);
}

const placeOf = (asked: Asked, services: Services): Promise<Place> =>
  readPlace(services.rest, serverOf(asked), channelOf(asked));

/** Subscribes a channel; one that is subscribed already is edited. */
export async function subscribe(asked: Asked, services: Services): Promise<MessagePayload> {
  const place = await placeOf(asked, services);
  return save(asked, services, place, await services.subscriptions.get(place.channel.id));
}

export async function edit(asked: Asked, services: Services): Promise<MessagePayload> {
  const place = await placeOf(asked, services);
  return save(asked, services, place, await existing(services, place));
}

export async function remove(asked: Asked, services: Services): Promise<MessagePayload> {
  const guildId = serverOf(asked);
  const channelId = channelOf(asked);
  // The channel itself may be gone: what counts is whose subscription it is.
  const subscription = await services.subscriptions.get(channelId);
  if (!subscription || (subscription.guildId !== null && subscription.guildId !== guildId)) {
    throw new PersonError(`<#${channelId}> is not subscribed.`);
  }
  if (subscription.fromEnvironment) {
    throw new PersonError(
      "This subscription is set in the bot's environment (GOVERNANCE_CHANNEL_ID) and cannot be removed by a command: its operator can.",
    );
  }
  await services.subscriptions.remove(channelId);
  return say(md`Subscription ended`, [channelMention(channelId)]);
}

export async function resume(asked: Asked, services: Services): Promise<MessagePayload> {
  const place = await placeOf(asked, services);
  const subscription = await existing(services, place);
  await check(asked, services, place, subscription);
  const { paused, error, erroredAt, goneSince, ...rest } = await services.subscriptions.health(
    place.channel.id,
  );
  await services.subscriptions.setHealth(place.channel.id, rest);
  return say(paused ? md`Taken up again` : md`It was not paused`, [
    channelMention(place.channel.id),
    ...described(subscription),
  ]);
}

const SEND_MS = 8_000;

/** Posts a sample, marked as one. */
export async function test(asked: Asked, services: Services): Promise<MessagePayload> {
  const place = await placeOf(asked, services);
  const subscription = await existing(services, place);
  await check(asked, services, place, subscription);
  const payload = say(
    md`🧪 Sample: New vote request: Offboard Member`,
    [md`This is how an announcement will look. Nothing has happened on the ledger; nobody is pinged.`],
    [
      { name: "Votes", value: md`🟩🟩🟩⬛⬛⬛⬛⬛⬛⬛⬛⬛\n**3** yes · **0** no · **10** not voted yet` },
      { name: "Threshold deadline", value: timestamp(Date.now() + 7 * 86_400_000, "f"), inline: true },
    ],
    "neutral",
  );
  const post = { payload, nonce: asked.id };
  const signal = AbortSignal.timeout(SEND_MS);
  try {
    if (subscription.forum) {
      const threadId = await postToForum(
        services.rest,
        place.channel.id,
        "🧪 Sample",
        post,
        subscription.tagId,
        signal,
      );
      await setArchived(services.rest, threadId, true);
    } else await postMessage(services.rest, place.channel.id, post, signal);
  } catch (error) {
    throw new PersonError(`The sample could not be posted: ${wordsFor(error)}.`);
  }
  return say(md`Sample posted`, [channelMention(place.channel.id)]);
}

function healthLines({ deliveredAt, error, erroredAt, paused }: Health): Markdown[] {
  return [
    paused ? md`⏸️ **paused**: \`/subscribe resume\` takes it up again` : md`▶️ active`,
    md`Last delivery: ${deliveredAt ? timestamp(deliveredAt) : "none yet"}`,
    ...(error ? [md`Last error ${erroredAt ? timestamp(erroredAt) : ""}: ${error}`] : []),
  ];
}

/** Every subscription of the server with its state. */
export async function list(asked: Asked, services: Services): Promise<MessagePayload> {
  const guildId = serverOf(asked);
  const own: Subscription[] = [];
  for (const each of await services.subscriptions.all()) {
    if (
      each.guildId === guildId ||
      (each.guildId === null && (await isHere(services, each.channelId, guildId)))
    )
      own.push(each);
  }
  const progress = await collectionOf<{ completeAt: number }>(services.state, "progress").get("governance");
  const read = progress
    ? md`The explorer was last read completely ${timestamp(progress.completeAt)}.`
    : md`The explorer has not been read completely yet.`;
  if (own.length === 0)
    return say(
      md`No subscriptions`,
      [md`\`/subscribe governance\` subscribes a channel.`, read],
      [],
      "neutral",
    );
  const entries = await Promise.all(
    own.map(async (each) => {
      const origin = each.fromEnvironment
        ? [md`Set in the bot's environment; it cannot be removed by a command.`]
        : [];
      return [
        channelMention(each.channelId),
        ...described(each),
        ...origin,
        ...healthLines(await services.subscriptions.health(each.channelId)),
        md``,
      ];
    }),
  );
  return say(md`Subscriptions`, [...entries.flat(), read], [], "neutral");
}

/** Whether the environment's channel is in this server. */
async function isHere({ rest }: Services, channelId: string, guildId: string): Promise<boolean> {
  return readPlace(rest, guildId, channelId).then(
    ({ channel }) => "guild_id" in channel && channel.guild_id === guildId,
    (error: unknown) => {
      if (error instanceof PersonError) return false;
      throw error;
    },
  );
}
