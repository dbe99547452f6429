import type { ChatInputCommandInteraction } from "discord.js";
import type { Health, Subscription } from "../../src/delivery/collections.js";
import type { FeedDefinition } from "../../src/delivery/feed.js";
import { NETWORK_OPTION } from "../../src/discord/command.js";
import type { MessagePayload } from "../../src/discord/message.js";
import { say, serverOf } from "../../src/discord/say.js";
import type { Network } from "../../src/networks/network.js";
import type { OwnedSubscription } from "../../src/subscribe/editor.js";
import { countedWords, join, type Markdown, md, timestamp } from "../../src/text/markdown.js";
import { present } from "../../src/util/present.js";
import { subscriptionMenu } from "./menu.js";
import {
  described,
  headline,
  OPERATORS_OWN,
  type SubscribeServices,
  serverSubscriptions,
} from "./subscription.js";

/** Number of subscriptions on a page. Each takes up to eight lines. */
const PER_PAGE = 8;
/** Name of the option for the page number. */
export const PAGE_OPTION = "page";

function healthLines(
  { deliveredAt, error, erroredAt, paused }: Health,
  { isPaused = false, snoozedUntil = 0 }: Subscription,
): Markdown[] {
  const awake =
    snoozedUntil > Date.now() ? md`💤 snoozed until ${timestamp(snoozedUntil, "f")}` : md`▶️ active`;
  return present([
    paused || isPaused ? md`⏸️ **paused**. Resume it with \`/subscribe resume\`` : awake,
    md`Last delivery to the channel: ${deliveredAt ? timestamp(deliveredAt) : "none yet"}`,
    error ? md`Last error in the channel ${erroredAt ? timestamp(erroredAt) : md``}: ${error}` : undefined,
  ]);
}

/** Returns the lines about one subscription in the list. */
async function entryOf(
  { subscription, feed, of, network }: OwnedSubscription,
  services: SubscribeServices,
  shownLabel: string | undefined,
): Promise<readonly Markdown[]> {
  const currentState = network && (await feed.nowOf?.(network, subscription));
  return present([
    await headline(
      subscription,
      feed,
      network ?? services,
      unlessShown(network ? network.label : of.name, shownLabel),
    ),
    ...described(subscription, feed),
    currentState && md`Now: ${currentState}`,
    of.subscriptions.isFixed(subscription) && md`${OPERATORS_OWN}`,
    ...(network
      ? healthLines(await of.subscriptions.health(subscription.channelId), subscription)
      : [
          md`💤 **on hold**: I no longer cover ${of.name}. It continues if the bot's operator adds that network again.`,
        ]),
    md``,
  ]);
}

/** Returns a network's label, unless the message already shows it (`shownLabel`). */
const unlessShown = (label: string | undefined, shownLabel: string | undefined): string | undefined =>
  label === shownLabel ? undefined : label;

/** Returns lines that say when the data of each feed was last read, by network. */
async function readLines(
  networks: readonly Network[],
  feeds: readonly FeedDefinition[],
): Promise<readonly Markdown[]> {
  const readingLines = networks.flatMap(({ state, ...network }) =>
    feeds.map(async (feed) => {
      const line = await feed.lastRead?.(state);
      return line ? [networks.length > 1 ? md`${network.name}: ${line}` : line] : [];
    }),
  );
  return (await Promise.all(readingLines)).flat();
}

/** Handles `/subscribe list`: shows one page of the server's subscriptions and their health. */
export async function listSubscriptions(
  interaction: ChatInputCommandInteraction,
  services: SubscribeServices,
): Promise<MessagePayload> {
  const { networks, feeds } = services;
  const wantedNetwork = interaction.options.getString(NETWORK_OPTION);
  const listedOnes = await serverSubscriptions(serverOf(interaction), services);
  const ownSubscriptions = listedOnes.filter(({ of }) => wantedNetwork === null || of.id === wantedNetwork);
  // Without a network option, the list covers all networks.
  const shownBy = wantedNetwork === null ? networks.served[0] : services;
  const readTimes = await readLines(wantedNetwork === null ? networks.served : [services], feeds);
  if (ownSubscriptions.length === 0) {
    const commands = join(
      feeds.map(({ name }) => md`\`/subscribe ${name}\``),
      ", ",
    );
    return say(shownBy, md`No subscriptions`, [md`Set one up with ${commands}.`, ...readTimes], "neutral");
  }
  const pages = Math.ceil(ownSubscriptions.length / PER_PAGE);
  const page = Math.min(interaction.options.getInteger(PAGE_OPTION) ?? 1, pages);
  const shownOnes = ownSubscriptions.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const entries = await Promise.all(shownOnes.map((each) => entryOf(each, services, shownBy.label)));
  const extent =
    pages > 1
      ? [
          md`-# ${countedWords(ownSubscriptions.length, "subscription")}, page ${page} of ${pages}: use \`page\` to see another`,
        ]
      : [];
  return shownBy.renderer.message({
    title: md`Subscriptions`,
    tone: "neutral",
    // The page line comes first, because Discord's limit cuts a long list at its end.
    body: [...extent, ...entries.flat(), ...readTimes],
    menus: [await subscriptionMenu(shownOnes, shownBy)],
    readings: [],
  });
}
