import type { ChatInputCommandInteraction } from "discord.js";
import type { MessagePayload } from "../../src/discord/message.js";
import { readPlace } from "../../src/discord/places.js";
import type { Health } from "../../src/storage/catalogue.js";
import { counted, join, type Markdown, md, timestamp } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import { described, type FeedServices, headline, type SubscribeServices, say, serverOf } from "./handlers.js";

/** Subscriptions on one page of the list: each takes up to eight lines. */
const PER_PAGE = 8;
/** The option that says which page. */
export const PAGE_OPTION = "page";

function healthLines({ deliveredAt, error, erroredAt, paused }: Health): Markdown[] {
  return [
    paused ? md`⏸️ **paused**: \`/subscribe resume\` resumes it` : md`▶️ active`,
    md`Last delivery: ${deliveredAt ? timestamp(deliveredAt) : "none yet"}`,
    ...(error ? [md`Last error ${erroredAt ? timestamp(erroredAt) : ""}: ${error}`] : []),
  ];
}

const nowLines = (now: Markdown | undefined): Markdown[] => (now ? [md`Now: ${now}`] : []);

/** The subscriptions of the server with their state, a page of them. */
export async function list(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
): Promise<MessagePayload> {
  const { subscriptions, feeds, state } = services;
  const own = await subscriptionsOf(serverOf(interaction), services);
  const read = (await Promise.all(feeds.map((feed) => feed.lastRead?.(state)))).flatMap((line) => line ?? []);
  if (own.length === 0) {
    const commands = join(
      feeds.map(({ name }) => md`\`/subscribe ${name}\``),
      ", ",
    );
    return say(services, md`No subscriptions`, [md`${commands} subscribes a channel.`, ...read], "neutral");
  }
  const pages = Math.ceil(own.length / PER_PAGE);
  const page = Math.min(interaction.options.getInteger(PAGE_OPTION) ?? 1, pages);
  const shown = own.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const entries = await Promise.all(
    shown.map(async ({ subscription, feed }) => [
      headline(subscription, feed, services),
      ...described(subscription, feed),
      ...nowLines(await feed.nowOf?.(state, subscription)),
      ...(subscriptions.isFixed(subscription)
        ? [md`Set in the bot's environment; it cannot be removed by a command.`]
        : []),
      ...healthLines(await subscriptions.health(subscription.channelId)),
      md``,
    ]),
  );
  const extent =
    pages > 1
      ? [md`-# ${counted(own.length, "subscription")}, page ${page} of ${pages}: \`page\` shows another`]
      : [];
  return say(services, md`Subscriptions`, [...entries.flat(), ...read, ...extent], "neutral");
}

async function subscriptionsOf(guildId: string, services: FeedServices) {
  const { subscriptions, feeds } = services;
  const all = await Promise.all(
    (await subscriptions.all()).map(async (subscription) => {
      const feed = feeds.find(({ name }) => name === subscription.feed);
      const isOurs =
        subscription.guildId === guildId ||
        (subscription.guildId === null && (await isHere(services, subscription.channelId, guildId)));
      return feed && isOurs ? [{ subscription, feed }] : [];
    }),
  );
  return all.flat();
}

/** Whether the environment's channel is in this server. */
async function isHere({ rest }: SubscribeServices, channelId: string, guildId: string): Promise<boolean> {
  return readPlace(rest, guildId, channelId).then(
    ({ channel }) => "guild_id" in channel && channel.guild_id === guildId,
    (error: unknown) => {
      if (error instanceof PersonError) return false;
      throw error;
    },
  );
}
