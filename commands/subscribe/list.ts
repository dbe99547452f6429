import * as z from "zod";
import type { Health } from "../../src/delivery/collections.js";
import { toldBy } from "../../src/delivery/feed.js";
import { networkParameter } from "../../src/delivery/watch-buttons.js";
import { type ButtonHandler, handlerOf } from "../../src/discord/buttons.js";
import { NETWORK_OPTION } from "../../src/discord/command.js";
import type { MessagePayload } from "../../src/discord/message.js";
import { goneRoles } from "../../src/discord/places.js";
import { say, serverOf } from "../../src/discord/say.js";
import type { Network } from "../../src/networks/network.js";
import { type ButtonParameters, buttonAddress, defineButton } from "../../src/screens/addresses.js";
import { pageOf } from "../../src/screens/parts.js";
import type { OwnedSubscription } from "../../src/subscribe/editor.js";
import { fittingRows, pageLinks, restWords } from "../../src/subscribe/shown.js";
import { join, type Markdown, md, timestamp } from "../../src/text/markdown.js";
import { countedWords } from "../../src/text/numbers.js";
import { present } from "../../src/util/present.js";
import { subscriptionMenu } from "./menu.js";
import {
  described,
  headline,
  managedServer,
  OPERATORS_OWN,
  type Subcommand,
  serverSubscriptions,
} from "./subscription.js";

/** Number of subscriptions on a page. Each takes up to eight lines. */
const PER_PAGE = 8;
/** Name of the option for the page number. */
export const PAGE_OPTION = "page";

const deliveryLine = ({ deliveredAt }: Health): Markdown =>
  md`Last delivery to the channel: ${deliveredAt ? timestamp(deliveredAt) : "none yet"}`;

const errorLine = ({ error, erroredAt }: Health): Markdown | undefined =>
  error ? md`Last error in the channel ${erroredAt ? timestamp(erroredAt) : md``}: ${error}` : undefined;

/** Returns the lines about one subscription in the list. @param isBrief true to leave out what the menu shows of it */
async function entryOf(
  each: OwnedSubscription,
  services: Network,
  gone: ReadonlySet<string>,
  isBrief: boolean,
): Promise<readonly Markdown[]> {
  const { subscription, feed, networkState, network } = each;
  const health = await networkState.subscriptions.health(subscription.channelId);
  const currentState = network && (await feed.nowOf?.(network, subscription));
  const isDone = await feed.isDone?.(networkState.state, subscription);
  const working = toldBy(subscription, feed).length === 0 ? md`⚠️ posts nothing` : md`▶️ active`;
  return present([
    await headline(each, services),
    ...(isBrief ? [] : described(subscription, feed, gone)),
    !isBrief && currentState && md`Now: ${currentState}`,
    networkState.subscriptions.isFixed(subscription) && md`${OPERATORS_OWN}`,
    network && (health.paused || subscription.isPaused)
      ? md`⏸️ **paused**. Resume it with \`/subscribe resume\``
      : (restWords(each, health) ?? (isDone ? md`✅ done` : working)),
    network && !isBrief && deliveryLine(health),
    network ? errorLine(health) : md`It continues if the bot's operator adds that network again.`,
    md``,
  ]);
}

/** Returns lines that say when the data of each feed of these subscriptions was last read, by network. */
async function readLines(
  own: readonly OwnedSubscription[],
  { served, feeds }: Network["networks"],
): Promise<readonly Markdown[]> {
  const readingLines = served.flatMap(({ state, id, name }) =>
    feeds
      .filter((feed) => own.some((each) => each.network?.id === id && each.feed === feed))
      .map(async (feed) => {
        const line = await feed.lastRead?.(state);
        return line ? [served.length > 1 ? md`${name}: ${line}` : line] : [];
      }),
  );
  return (await Promise.all(readingLines)).flat();
}

/** Shows another page of /subscribe list. */
const pageButton = defineButton("sub-list", {
  page: z.coerce.number().int().min(1).default(1),
  /** The network in the command's option. */
  network: networkParameter,
});

/** Shows one page of a server's subscriptions and their health. @param wantedNetwork all networks without one */
async function subscriptionList(
  guildId: string,
  services: Network,
  { page: wantedPage, network: wantedNetwork }: ButtonParameters<typeof pageButton>,
): Promise<MessagePayload> {
  const { networks } = services;
  const wanted = networks.served.find(({ id }) => wantedNetwork !== undefined && id === wantedNetwork);
  const listedOnes = await serverSubscriptions(guildId, services);
  const ownSubscriptions = listedOnes.filter(
    ({ networkState }) => wantedNetwork === undefined || networkState.id === wantedNetwork,
  );
  const shownBy = wanted ?? networks.served[0];
  if (ownSubscriptions.length === 0) {
    const commands = join(
      networks.feeds.map(({ name }) => md`\`/subscribe ${name}\``),
      ", ",
    );
    return say(shownBy, md`No subscriptions`, [md`Set one up with ${commands}.`], "neutral");
  }
  const { rows: shownOnes, page, pages } = pageOf(ownSubscriptions, wantedPage, PER_PAGE);
  const roleIds = shownOnes.map(({ subscription }) => subscription.roleId);
  const deletedRoles = await goneRoles(services.rest, guildId, roleIds);
  const entries = await fittingRows(async (isBrief) =>
    (await Promise.all(shownOnes.map((each) => entryOf(each, services, deletedRoles, isBrief)))).flat(),
  );
  return shownBy.renderer.message({
    title: md`Subscriptions`,
    // The page line comes first, because Discord's limit cuts a long list at its end.
    body: present([
      pages > 1 && md`-# ${countedWords(ownSubscriptions.length, "subscription")}, page ${page} of ${pages}`,
      ...entries,
      ...(await readLines(ownSubscriptions, networks)),
    ]),
    menus: [await subscriptionMenu(shownOnes, shownBy)],
    links: pageLinks(page, pages, (other) =>
      buttonAddress(pageButton, { page: other, network: wantedNetwork }),
    ),
  });
}

/** Handles `/subscribe list`. */
export const listSubscriptions: Subcommand = (interaction, services) =>
  subscriptionList(serverOf(interaction), services, {
    page: interaction.options.getInteger(PAGE_OPTION) ?? 1,
    network: interaction.options.getString(NETWORK_OPTION) ?? undefined,
  });

/** The buttons for other pages. */
export const listButtons: readonly ButtonHandler<Network>[] = [
  handlerOf({
    button: pageButton,
    audience: "owner",
    handle: async (parameters, click, services: Network) =>
      subscriptionList(managedServer(click), services, parameters),
  }),
];
