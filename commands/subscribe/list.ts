import type { ChatInputCommandInteraction } from "discord.js";
import type { FeedDefinition } from "../../src/delivery/feed.js";
import { NETWORK_OPTION } from "../../src/discord/command.js";
import type { MessagePayload } from "../../src/discord/message.js";
import { readPlace } from "../../src/discord/places.js";
import type { Network } from "../../src/networks/network.js";
import type { Health } from "../../src/storage/catalogue.js";
import { counted, join, type Markdown, md, timestamp } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import type { Chosen } from "./choice.js";
import { described, type FeedServices, headline, say, serverOf, subscriptionsOf } from "./handlers.js";

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

/** A subscription as the list shows it. */
async function entryOf(
  { subscription, feed, of, network }: Chosen,
  services: FeedServices,
  said: string | undefined,
): Promise<readonly Markdown[]> {
  const now = network && (await feed.nowOf?.(of.state, subscription));
  return [
    headline(subscription, feed, network ?? services, unlessSaid(network ? network.label : of.name, said)),
    ...described(subscription, feed),
    ...(now ? [md`Now: ${now}`] : []),
    ...(of.subscriptions.isFixed(subscription)
      ? [md`Set in the bot's environment; it cannot be removed by a command.`]
      : []),
    ...(network
      ? healthLines(await of.subscriptions.health(subscription.channelId))
      : [
          md`💤 **resting**: I do not serve ${of.name} any more. It goes on when my operator brings it back.`,
        ]),
    md``,
  ];
}

/** A network's name, where the message itself does not say it. */
const unlessSaid = (label: string | undefined, said: string | undefined): string | undefined =>
  label === said ? undefined : label;

/** When what is announced was last read, network by network. */
async function readLines(
  networks: readonly Network[],
  feeds: readonly FeedDefinition[],
  said: string | undefined,
): Promise<readonly Markdown[]> {
  const read = networks.flatMap(({ state, ...network }) =>
    feeds.map(async (feed) => {
      const line = await feed.lastRead?.(state);
      const label = unlessSaid(network.label, said);
      return line ? [label ? md`${line} · ${label}` : line] : [];
    }),
  );
  return (await Promise.all(read)).flat();
}

/** The subscriptions of the server with their state, a page of them. */
export async function list(
  interaction: ChatInputCommandInteraction,
  services: FeedServices,
): Promise<MessagePayload> {
  const { networks, feeds } = services;
  const on = interaction.options.getString(NETWORK_OPTION);
  const all = await listed(serverOf(interaction), services);
  const own = all.filter(({ of }) => on === null || of.id === on);
  // Of all networks, unless one is named.
  const shownBy = on === null ? networks.served[0] : services;
  const read = await readLines(on === null ? networks.served : [services], feeds, shownBy.label);
  if (own.length === 0) {
    const commands = join(
      feeds.map(({ name }) => md`\`/subscribe ${name}\``),
      ", ",
    );
    return say(shownBy, md`No subscriptions`, [md`${commands} subscribes a channel.`, ...read], "neutral");
  }
  const pages = Math.ceil(own.length / PER_PAGE);
  const page = Math.min(interaction.options.getInteger(PAGE_OPTION) ?? 1, pages);
  const shown = own.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const entries = await Promise.all(shown.map((each) => entryOf(each, services, shownBy.label)));
  const extent =
    pages > 1
      ? [md`-# ${counted(own.length, "subscription")}, page ${page} of ${pages}: \`page\` shows another`]
      : [];
  return say(shownBy, md`Subscriptions`, [...entries.flat(), ...read, ...extent], "neutral");
}

/** A server's subscriptions, and the environment's as far as they are in it. */
async function listed(guildId: string, services: FeedServices): Promise<readonly Chosen[]> {
  const all = await Promise.all(
    (await subscriptionsOf(services.networks, services.feeds)).map(async (each) => {
      const { subscription } = each;
      const isOurs =
        subscription.guildId === guildId ||
        (subscription.guildId === null &&
          subscription.userId === null &&
          (await isHere(services, subscription.channelId, guildId)));
      return isOurs ? [each] : [];
    }),
  );
  return all.flat();
}

/** Whether the environment's channel is in this server. */
async function isHere({ rest }: Network, channelId: string, guildId: string): Promise<boolean> {
  return readPlace(rest, guildId, channelId).then(
    ({ channel }) => "guild_id" in channel && channel.guild_id === guildId,
    (error: unknown) => {
      if (error instanceof PersonError) return false;
      throw error;
    },
  );
}
