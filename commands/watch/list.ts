import type { MessagePayload } from "../../src/discord/message.js";
import type { Network } from "../../src/networks/network.js";
import { address } from "../../src/screens/addresses.js";
import type { Link, View } from "../../src/screens/view.js";
import { type Markdown, md } from "../../src/text/markdown.js";
import { MAX_WATCHES, titleOf, toldOf, type Watch, type Watchable, watchesOf } from "./watches.js";

/** Which of a person's watches is shown. */
interface Shown {
  readonly feed?: string | undefined;
  readonly id?: string | undefined;
  /** As NETWORKS names it; undefined for the one that it is shown by. */
  readonly network?: string | undefined;
  /** What has just been done. */
  readonly note?: Markdown;
}

/** Whether Discord refused what was to be told on one of these networks. */
async function isPaused(userId: string, networks: readonly Network[]): Promise<boolean> {
  const paused = networks.map(async ({ state, subscriptions }) => {
    const person = await state.people.get(userId);
    return person !== undefined && (await subscriptions.health(person.channelId)).paused === true;
  });
  return (await Promise.all(paused)).includes(true);
}

/** With the network's name, where that is to be said. */
const labelled = (text: string, { network, of }: Watch): string => {
  const label = network ? network.label : of.name;
  return label === undefined ? text : `${text} · ${label}`;
};

async function linesOf(each: Watch, services: Network): Promise<Markdown[]> {
  const { feed, subscription, of, network } = each;
  const now = network && (await feed.nowOf?.(of.state, subscription));
  const { snoozedUntil = 0 } = subscription;
  return [
    md`**${labelled(titleOf(each, network ?? services), each)}**${!network ? md` · 💤 resting: I do not serve this network any more` : subscription.isPaused ? md` · ⏸️ paused` : snoozedUntil > Date.now() ? md` · 💤 snoozed` : md``}`,
    md`${toldOf(each)}${now ? md` · ${now}` : md``}`,
  ];
}

const changes = ({ feed, subscription: { subject, isPaused } }: Watch, isRefused: boolean): Link[] => {
  const id = subject ?? "";
  const to = (what: "pause" | "resume" | "remove") =>
    address("changeWatch", { feed: feed.name, id, to: what });
  return [
    isPaused || isRefused
      ? { label: "Resume", emoji: "▶️", to: to("resume") }
      : { label: "Pause", emoji: "⏸️", to: to("pause") },
    { label: "Remove", emoji: "🗑️", to: to("remove") },
    { label: "All my watches", emoji: "📋", to: address("watches", {}) },
  ];
};

/** What a person watches, each with what was last told of it; or one of them, to be changed. */
export async function watchList(
  userId: string,
  services: Network,
  all: readonly Watchable[],
  { feed, id, network = services.id, note }: Shown,
): Promise<MessagePayload> {
  const { networks } = services;
  const own = await watchesOf(userId, networks, all);
  const served = own.filter((each) => each.network);
  const chosen = served.find(
    (each) => each.of.id === network && each.feed.name === feed && each.subscription.subject === id,
  );
  // What is done to one of them is done on its own network.
  const shownBy = chosen?.network ?? networks.served[0];
  const paused = await isPaused(userId, chosen?.network ? [chosen.network] : networks.served);
  const shown = chosen ? [chosen] : own;
  const lines = await Promise.all(shown.map((each) => linesOf(each, services)));
  const view: View = {
    title: chosen ? md`What you watch` : md`What you watch: ${own.length} of ${MAX_WATCHES}`,
    tone: "neutral",
    body: [
      ...(note ? [note, md``] : []),
      ...(paused
        ? [
            md`⏸️ **All of it is paused**: Discord did not let me write to you. Allow direct messages from a server that we share, and resume one of them.`,
            md``,
          ]
        : []),
      ...lines.flat(),
      ...(own.length === 0
        ? [
            md`Nothing yet. Start with \`/watch validator\`, \`/watch price\`, \`/watch proposal\` or \`/watch voter\`.`,
          ]
        : []),
      ...(chosen
        ? [md`-# \`/watch ${chosen.watch.name}\` with the same ${chosen.watch.name} changes what is told.`]
        : []),
    ],
    menus: [
      {
        placeholder: "Pause, change or remove…",
        choices: served.map((each) => ({
          label: labelled(titleOf(each, each.network ?? services), each),
          chosen: each === chosen,
          to: address("watches", {
            feed: each.feed.name,
            id: each.subscription.subject ?? "",
            ...(networks.served.length > 1 && each.of.id !== undefined ? { network: each.of.id } : {}),
          }),
        })),
      },
    ],
    links: chosen ? changes(chosen, paused) : [],
    readings: [],
  };
  return shownBy.renderer.message(view);
}
