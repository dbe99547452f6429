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
  /** The one network whose watches are wanted. */
  readonly only?: string | undefined;
  /** What has just been done. */
  readonly note?: Markdown;
}

/** Those of these networks on which Discord refused what was to be told. */
async function refusedOn(userId: string, networks: readonly Network[]): Promise<readonly Network[]> {
  const refused = networks.map(async (network) => {
    const person = await network.state.people.get(userId);
    const isPaused = person && (await network.subscriptions.health(person.channelId)).paused;
    return isPaused ? [network] : [];
  });
  return (await Promise.all(refused)).flat();
}

/** With the network's name, where the message itself does not say it. */
const labelled = (text: string, { network, of }: Watch, said: string | undefined): string => {
  const label = network ? network.label : of.name;
  return label === undefined || label === said ? text : `${text} · ${label}`;
};

async function linesOf(each: Watch, services: Network, said: string | undefined): Promise<Markdown[]> {
  const { feed, subscription, of, network } = each;
  const now = network && (await feed.nowOf?.(of.state, subscription));
  const { snoozedUntil = 0 } = subscription;
  return [
    md`**${labelled(titleOf(each, network ?? services), each, said)}**${!network ? md` · 💤 resting: I do not serve this network any more` : subscription.isPaused ? md` · ⏸️ paused` : snoozedUntil > Date.now() ? md` · 💤 snoozed` : md``}`,
    md`${toldOf(each)}${now ? md` · ${now}` : md``}`,
  ];
}

const changes = (
  { feed, subscription: { subject, isPaused }, network, of }: Watch,
  isRefused: boolean,
): Link[] => {
  const id = subject ?? "";
  const resting = network || of.id === undefined ? {} : { network: of.id };
  const to = (what: "pause" | "resume" | "remove") =>
    address("changeWatch", { feed: feed.name, id, to: what, ...resting });
  const pause: Link =
    isPaused || isRefused
      ? { label: "Resume", emoji: "▶️", to: to("resume") }
      : { label: "Pause", emoji: "⏸️", to: to("pause") };
  return [
    // What rests can only be removed.
    ...(network ? [pause] : []),
    { label: "Remove", emoji: "🗑️", to: to("remove") },
    { label: "All my watches", emoji: "📋", to: address("watches", {}) },
  ];
};

/** What a person watches, each with what was last told of it; or one of them, to be changed. */
export async function watchList(
  userId: string,
  services: Network,
  all: readonly Watchable[],
  { feed, id, network = services.id, only, note }: Shown,
): Promise<MessagePayload> {
  const { networks } = services;
  const everything = await watchesOf(userId, networks, all);
  const own = everything.filter(({ of }) => only === undefined || of.id === only);
  const chosen = own.find(
    (each) => each.of.id === network && each.feed.name === feed && each.subscription.subject === id,
  );
  // What is done to one of them is done on its own network.
  const shownBy = chosen?.network ?? (only === undefined ? networks.served[0] : services);
  const refused = await refusedOn(userId, chosen?.network ? [chosen.network] : networks.served);
  const shown = chosen ? [chosen] : own;
  const lines = await Promise.all(shown.map((each) => linesOf(each, services, shownBy.label)));
  const view: View = {
    title: chosen ? md`What you watch` : md`What you watch: ${everything.length} of ${MAX_WATCHES}`,
    tone: "neutral",
    body: [
      ...(note ? [note, md``] : []),
      ...refused.flatMap(({ label }) => [
        md`⏸️ **All of it${label ? md` on ${label}` : md``} is paused**: Discord did not let me write to you. Allow direct messages from a server that we share, and resume one of them.`,
        md``,
      ]),
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
        choices: own.map((each) => ({
          label: labelled(titleOf(each, each.network ?? services), each, shownBy.label),
          chosen: each === chosen,
          to: address("watches", {
            feed: each.feed.name,
            id: each.subscription.subject ?? "",
            ...(each.of.id !== shownBy.id && each.of.id !== undefined ? { network: each.of.id } : {}),
          }),
        })),
      },
    ],
    links: chosen ? changes(chosen, refused.length > 0) : [],
    readings: [],
  };
  return shownBy.renderer.message(view);
}
