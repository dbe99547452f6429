import type { MessagePayload } from "../../src/discord/message.js";
import { address } from "../../src/screens/addresses.js";
import type { Link, View } from "../../src/screens/view.js";
import { type Markdown, md } from "../../src/text/markdown.js";
import type { SubscribeServices } from "../subscribe/handlers.js";
import { MAX_WATCHES, titleOf, toldOf, type Watch, type Watchable, watchesOf } from "./watches.js";

/** Which of a person's watches is shown. */
interface Shown {
  readonly feed?: string | undefined;
  readonly id?: string | undefined;
  /** What has just been done. */
  readonly note?: Markdown;
}

async function linesOf(each: Watch, services: SubscribeServices): Promise<Markdown[]> {
  const { feed, subscription } = each;
  const now = await feed.nowOf?.(services.state, subscription);
  const { snoozedUntil = 0 } = subscription;
  return [
    md`**${titleOf(each, services)}**${subscription.isPaused ? md` · ⏸️ paused` : snoozedUntil > Date.now() ? md` · 💤 snoozed` : md``}`,
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
  services: SubscribeServices,
  all: readonly Watchable[],
  { feed, id, note }: Shown,
): Promise<MessagePayload> {
  const { state, subscriptions, renderer } = services;
  const own = await watchesOf(userId, services, all);
  const person = await state.people.get(userId);
  const { paused } = person ? await subscriptions.health(person.channelId) : {};
  const chosen = own.find((each) => each.feed.name === feed && each.subscription.subject === id);
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
        choices: own.map((each) => ({
          label: titleOf(each, services),
          chosen: each === chosen,
          to: address("watches", { feed: each.feed.name, id: each.subscription.subject ?? "" }),
        })),
      },
    ],
    links: chosen ? changes(chosen, paused === true) : [],
    readings: [],
  };
  return renderer.message(view);
}
