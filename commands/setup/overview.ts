import { type FeedDefinition, toldBy } from "../../src/delivery/feed.js";
import { feedParameter } from "../../src/delivery/watch-buttons.js";
import { LIMITS } from "../../src/discord/limits.js";
import type { MessagePayload } from "../../src/discord/message.js";
import { goneRoles } from "../../src/discord/places.js";
import { readServerChoice } from "../../src/networks/choices.js";
import type { Network } from "../../src/networks/network.js";
import { buttonAddress, defineButton } from "../../src/screens/addresses.js";
import { pageOf } from "../../src/screens/parts.js";
import type { Menu } from "../../src/screens/view.js";
import type { OwnedSubscription } from "../../src/subscribe/editor.js";
import { fittingRows, pageLinks, restWords } from "../../src/subscribe/shown.js";
import { channelMention, join, type Markdown, md, roleMention } from "../../src/text/markdown.js";
import { countedWords } from "../../src/text/numbers.js";
import { capitalized } from "../../src/text/plain.js";
import { yieldIfBusy } from "../../src/util/event-loop.js";
import { present } from "../../src/util/present.js";
import { subscriptionMenu } from "../subscribe/menu.js";
import { GONE_ROLE, headline, serverSubscriptions, setupButton } from "../subscribe/subscription.js";

/** Opens the dialog that adds a subscription to a feed. */
export const addButton = defineButton("setup-add", { feed: feedParameter });
/** Sends a test announcement of each subscription. */
export const testAllButton = defineButton("setup-test", {});

/** Number of subscriptions on a page: as many as its menu opens. */
const PER_PAGE = LIMITS.menuOptions;

/** Maximum length of a subject's name in a brief row. The menu shows more of it. */
const MAX_BRIEF = 45;

/**
 * Returns a line about a subscription: its channel, feed, role and state.
 * @param isBrief true to leave out its role and why it is paused
 */
async function rowOf(
  each: OwnedSubscription,
  shownBy: Network,
  gone: ReadonlySet<string>,
  isBrief: boolean,
): Promise<Markdown> {
  const { subscription, feed, networkState } = each;
  const { channelId, roleId } = subscription;
  const isDone = await feed.isDone?.(networkState.state, subscription);
  const working = isDone ? md`✅ done` : md`▶️ working`;
  const idle = toldBy(subscription, feed).length === 0 ? md`⚠️ posts nothing` : working;
  const health = await networkState.subscriptions.health(channelId);
  const { error: _, ...briefHealth } = health;
  return join(
    [
      await headline(each, shownBy, isBrief ? MAX_BRIEF : undefined),
      roleId !== null && gone.has(roleId) && GONE_ROLE,
      roleId !== null && !gone.has(roleId) && !isBrief && md`pings ${roleMention(roleId)}`,
      restWords(each, isBrief ? briefHealth : health) ?? idle,
    ],
    " · ",
  );
}

/** Maximum number of channels with a default network of their own that are named. */
const MAX_CHANNELS = 5;

/** Returns the line about a server's default network, and about channels that have another. Empty if there is only one network. */
async function defaultLines(
  guildId: string,
  { id: ownId, networks: { served }, state }: Network,
  shown: readonly OwnedSubscription[],
): Promise<Markdown[]> {
  if (served.length < 2) return [];
  const { network, channels } = await readServerChoice(state, guildId);
  const usual = served.find(({ id }) => id === network) ?? served[0];
  const others = Object.entries(channels).flatMap(([channelId, id]) => {
    const ownNetwork = served.find((each) => each.id === id);
    return ownNetwork && ownNetwork !== usual ? [md`${channelMention(channelId)}: ${ownNetwork.name}`] : [];
  });
  const named = present([...others.slice(0, MAX_CHANNELS), others.length > MAX_CHANNELS && md`…`]);
  const exceptions = others.length > 0 ? md` (${join(named, ", ")})` : md``;
  return present([
    md`🌐 Default network: **${usual.name}**${exceptions}. \`/settings\` changes it.`,
    [usual.id, ownId].some((id) => id !== served[0].id) &&
      shown.some(({ networkState }) => networkState.id === served[0].id) &&
      md`Rows without a network are about **${served[0].name}**.`,
  ]);
}

/** Returns the menu whose choices open the dialogs that add something. */
const addMenu = (feeds: readonly FeedDefinition[]): Menu => ({
  placeholder: "Add…",
  choices: feeds.map(({ name, description }) => ({
    label: capitalized(name),
    hint: description,
    to: buttonAddress(addButton, { feed: name }),
  })),
});

/**
 * Shows what a server has set up, page by page, with what can be added.
 * @param news the result of the last change
 */
export async function overview(
  guildId: string,
  services: Network,
  { news = [], page: wantedPage = 1 }: { readonly news?: readonly Markdown[]; readonly page?: number } = {},
): Promise<MessagePayload> {
  const all = await serverSubscriptions(guildId, services);
  const { rows: shown, page, pages } = pageOf(all, wantedPage, PER_PAGE);
  const roleIds = shown.map(({ subscription }) => subscription.roleId);
  const deletedRoles = await goneRoles(services.rest, guildId, roleIds);
  const rows = await fittingRows((isBrief) =>
    Promise.all(shown.map((each) => rowOf(each, services, deletedRoles, isBrief))),
  );
  const { served, feeds } = services.networks;
  await yieldIfBusy();
  const serverLines = await Promise.all(
    feeds.map(async (feed) => {
      const perNetwork = await Promise.all(
        served.map(async ({ id, state, name, renderer }) => {
          const ownSubscriptions = all.flatMap((each) =>
            each.feed === feed && each.networkState.id === id ? [each.subscription] : [],
          );
          const lines =
            (await feed.serverLines?.(state, guildId, ownSubscriptions, renderer.networkOption)) ?? [];
          return lines.map((line) => (id === services.id ? line : md`${name}: ${line}`));
        }),
      );
      return perNetwork.flat();
    }),
  );
  return services.renderer.message({
    title: md`Setup`,
    tone: news.length > 0 ? "good" : "neutral",
    body: present([
      ...(news.length > 0 ? [...news, md``] : []),
      // Before the rows, because Discord's limit cuts a long list at its end.
      pages > 1 && md`-# ${countedWords(all.length, "subscription")}, page ${page} of ${pages}`,
      ...(rows.length > 0 ? rows : [md`Nothing is set up yet. Pick something to add.`]),
      ...serverLines.flat(),
      ...(await defaultLines(guildId, services, shown)),
      served.length > 1 && md`This menu adds subscriptions about **${services.name}**.`,
    ]),
    menus: present([addMenu(feeds), shown.length > 0 && (await subscriptionMenu(shown, services))]),
    links: present([
      ...pageLinks(page, pages, (other) => buttonAddress(setupButton, { page: other })),
      all.length > 0 && { label: "Test all", emoji: "🧪", to: buttonAddress(testAllButton, {}) },
    ]),
  });
}
