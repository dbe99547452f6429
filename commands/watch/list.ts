import { watchers } from "../../src/delivery/collections.js";
import { snoozeEnd } from "../../src/delivery/snoozes.js";
import { changeWatchButton, watchesButton } from "../../src/delivery/watch-buttons.js";
import { LIMITS } from "../../src/discord/limits.js";
import type { MessagePayload } from "../../src/discord/message.js";
import type { Network } from "../../src/networks/network.js";
import { buttonAddress } from "../../src/screens/addresses.js";
import type { Link, View } from "../../src/screens/view.js";
import { findAmong } from "../../src/subscribe/editor.js";
import { labelOf, restWords } from "../../src/subscribe/shown.js";
import { join, type Markdown, md } from "../../src/text/markdown.js";
import { present } from "../../src/util/present.js";
import {
  MAX_WATCHES,
  nothingListed,
  titleOfWatch,
  topicList,
  type Watch,
  watchables,
  watchesOf,
} from "./watches.js";

/** Selects the watches to show. */
interface Shown {
  readonly feed?: string | undefined;
  readonly id?: string | undefined;
  /** Id of the watch's network (NETWORKS). Defaults to the network of the interaction. */
  readonly network?: string | undefined;
  /** Id of the only network whose watches are listed. Missing for all networks. */
  readonly only?: string | undefined;
  /** Result of the last change. */
  readonly note?: Markdown;
}

/** Returns the networks on which Discord refused to deliver direct messages to the person. */
async function refusedOn(userId: string, networks: readonly Network[]): Promise<readonly Network[]> {
  const refusals = networks.map(async (network) => {
    const person = await network.state.open(watchers).get(userId);
    const isPaused = person && (await network.subscriptions.health(person.channelId)).paused;
    return isPaused ? [network] : [];
  });
  return (await Promise.all(refusals)).flat();
}

/** Returns the title of a watch, with its network if it is not the default one. */
async function titleIn(watch: Watch, services: Network): Promise<string> {
  const [title, label] = [
    await titleOfWatch(watch, services),
    labelOf(watch.networkState, services.networks),
  ];
  return label === undefined ? title : `${title} · ${label}`;
}

async function linesOf(each: Watch, services: Network): Promise<Markdown[]> {
  const { feed, subscription, network } = each;
  const currentState = network && (await feed.nowOf?.(network, subscription));
  return [
    join([md`**${await titleIn(each, services)}**`, restWords(each, {})], " · "),
    md`${topicList(each)}${currentState ? md` · ${currentState}` : md``}`,
  ];
}

const changes = ({ feed, subscription, network, networkState }: Watch, isRefused: boolean): Link[] => {
  const { subject, isPaused } = subscription;
  const id = subject ?? "";
  const restingId = network ? undefined : networkState.id;
  const addressTo = (what: "pause" | "resume" | "remove") =>
    buttonAddress(changeWatchButton, { feed: feed.name, id, to: what, network: restingId });
  const pause: Link =
    isPaused || isRefused
      ? { label: "Resume", emoji: "▶️", to: addressTo("resume") }
      : { label: "Pause", emoji: "⏸️", to: addressTo("pause") };
  const isSnoozed = !isPaused && snoozeEnd(subscription, Date.now()) > 0;
  return present([
    // A watch on a network that is no longer served can only be removed.
    network && pause,
    network && isSnoozed && !isRefused && { label: "End snooze", emoji: "▶️", to: addressTo("resume") },
    { label: "Remove", emoji: "🗑️", to: addressTo("remove") },
    { label: "All my watches", emoji: "📋", to: buttonAddress(watchesButton, {}) },
  ]);
};

/** Lists a person's watches with their last news, or shows one of them with buttons that change it. */
export async function watchList(
  userId: string,
  services: Network,
  { feed, id, network = services.id, only, note }: Shown,
): Promise<MessagePayload> {
  const { networks } = services;
  const everything = await watchesOf(userId, networks);
  const ownWatches = everything.filter(({ networkState }) => only === undefined || networkState.id === only);
  const chosenWatch =
    feed !== undefined ? findAmong(ownWatches, { feed, subject: id ?? null, network }) : undefined;
  // Render with the watch's own network, so that the buttons change the watch there.
  const shownBy = chosenWatch?.network ?? (only === undefined ? networks.served[0] : services);
  const shownNetworks = networks.served.filter((each) => only === undefined || each.id === only);
  const refusedNetworks = await refusedOn(
    userId,
    chosenWatch?.network ? [chosenWatch.network] : shownNetworks,
  );
  // An import can contain more than a person may have.
  const listedWatches = ownWatches.slice(0, LIMITS.menuOptions);
  const moreCount = ownWatches.length - listedWatches.length;
  const shownWatches = chosenWatch ? [chosenWatch] : listedWatches;
  const watchLines = await Promise.all(shownWatches.map((each) => linesOf(each, services)));
  const totalCount = `${everything.length} of ${MAX_WATCHES}`;
  const countWords = only === undefined ? totalCount : `${ownWatches.length} here, ${totalCount} in all`;
  const view: View = {
    title: chosenWatch ? md`What you watch` : md`What you watch: ${countWords}`,
    body: present([
      ...(note ? [note, md``] : []),
      ...refusedNetworks.flatMap(({ name }) => [
        md`⏸️ **Everything${networks.served.length > 1 ? md` on ${name}` : md``} is paused**: Discord didn't let me message you. Allow direct messages from a server we share, then resume one of your watches.`,
        md``,
      ]),
      ...watchLines.flat(),
      moreCount > 0 && !chosenWatch && md`…and ${moreCount} more`,
      ownWatches.length === 0 && nothingListed(everything.length, watchables(networks.feeds)),
      chosenWatch?.watch.offered &&
        md`-# To change its settings, use \`/watch ${chosenWatch.watch.name}\` again${shownBy.renderer.networkOption} for the same ${chosenWatch.watch.name}.`,
    ]),
    menus: [
      {
        placeholder: "Pause or remove…",
        choices: await Promise.all(
          listedWatches.map(async (each) => ({
            label: await titleIn(each, services),
            chosen: each === chosenWatch,
            to: buttonAddress(watchesButton, {
              feed: each.feed.name,
              id: each.subscription.subject ?? "",
              network: each.networkState.id === shownBy.id ? undefined : each.networkState.id,
            }),
          })),
        ),
      },
    ],
    links: chosenWatch ? changes(chosenWatch, refusedNetworks.length > 0) : [],
  };
  return shownBy.renderer.message(view);
}
