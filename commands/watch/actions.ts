import type { FeedDefinition } from "../../src/delivery/feed.js";
import { SNOOZES } from "../../src/delivery/snoozes.js";
import type { Actions } from "../../src/discord/action.js";
import { mayAnswer } from "../../src/discord/clicks.js";
import { writeDirectly } from "../../src/discord/direct.js";
import { withParent } from "../../src/discord/places.js";
import type { Network } from "../../src/networks/network.js";
import { address, type ParametersOf } from "../../src/screens/addresses.js";
import type { Menu } from "../../src/screens/view.js";
import type { Subscription } from "../../src/storage/catalogue.js";
import { md, timestamp } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import { say } from "../subscribe/handlers.js";
import { watchList } from "./list.js";
import {
  settingsFor,
  startWatch,
  titleOf,
  toldOf,
  type Watchable,
  watchableOf,
  watchables,
  watchesOf,
} from "./watches.js";

type Offer = ParametersOf<"offerWatch">;

/** What the buttons about people's watches do. */
export function createWatchActions(
  services: Network,
  feeds: readonly FeedDefinition[],
): Pick<Actions, "offerWatch" | "startWatch" | "watches" | "changeWatch" | "snoozePrice"> {
  const all = watchables(feeds);
  const { renderer, subscriptions, rest } = services;

  const wanted = ({ feed, id }: Pick<Offer, "feed" | "id">): Watchable => {
    const found = watchableOf(all, { feed, subject: id });
    if (!found) throw new PersonError("That can no longer be watched.");
    return found;
  };

  /** What a watch from a button is set to: its defaults, and what its subject or the menu says. */
  const settingsIn = (watchable: Watchable, { id, set }: Offer, existing?: Subscription) => {
    const { feed, watch } = watchable;
    const [name, option] = Object.entries(feed.options)[0] ?? [];
    const typed = watch.offered && set !== "" && !watch.subject.of ? option?.parse(set) : undefined;
    const said = watch.subject.settings?.(id);
    if (watch.subject.of && (!said || watch.subject.of(said) !== id))
      throw new PersonError("That can no longer be watched.");
    return {
      ...settingsFor(watchable),
      ...existing,
      ...said,
      ...(name !== undefined && typed !== undefined ? { [name]: typed } : {}),
    };
  };

  /** A menu of other values, where the watch offers some. */
  const menuOf = ({ watch, feed }: Watchable, { id, set }: Offer): Menu[] => {
    const offered = watch.offered?.(id) ?? [];
    if (offered.length === 0) return [];
    return [
      {
        placeholder: "Something else…",
        choices: offered.map((each) => ({
          label: each.label,
          chosen: each.id === id && (each.set ?? "") === set,
          to: address("offerWatch", { feed: feed.name, id: each.id, set: each.set ?? "" }),
        })),
      },
    ];
  };

  const own = async (userId: string, feed: string, id: string, network = services.id) =>
    (await watchesOf(userId, services.networks, all)).find(
      (each) => each.of.id === network && each.feed.name === feed && each.subscription.subject === id,
    );

  return {
    async offerWatch(offer, { user }) {
      const watchable = wanted(offer);
      const existing = await own(user.id, offer.feed, offer.id);
      const settings = settingsIn(watchable, offer, existing?.subscription);
      const draft = {
        ...watchable,
        subscription: {
          ...settings,
          channelId: "",
          feed: offer.feed,
          subject: offer.id,
          guildId: null,
          userId: user.id,
          forum: false,
          tagId: null,
          since: 0,
        },
      };
      return renderer.message({
        title: md`🔔 Watch this?`,
        tone: "neutral",
        body: [
          md`**${titleOf(draft, services)}**`,
          md`You would be told, in a direct message, of: ${toldOf(draft)}`,
          ...(existing ? [md`-# You watch it already; this changes what you are told.`] : []),
        ],
        menus: menuOf(watchable, offer),
        links: [{ label: "Watch", emoji: "🔔", to: address("startWatch", offer) }],
        readings: [],
      });
    },

    async startWatch(offer, click) {
      const watchable = wanted(offer);
      const existing = await own(click.user.id, offer.feed, offer.id);
      const settings = settingsIn(watchable, offer, existing?.subscription);
      return startWatch(click, services, all, watchable, settings, offer.id);
    },

    watches: (shown, { user }) => watchList(user.id, services, all, shown),

    async changeWatch({ feed, id, to, network }, click) {
      const { user } = click;
      const found = await own(user.id, feed, id, network);
      if (!found) return watchList(user.id, services, all, { note: md`That is removed already.` });
      const { subscription, of } = found;
      const title = titleOf(found, services);
      if (to === "remove") {
        await of.subscriptions.remove(subscription);
        const left = await watchesOf(user.id, services.networks, all);
        if (!left.some((each) => each.of.id === of.id))
          await of.state.commit([of.state.people.delete(user.id)]);
        return watchList(user.id, services, all, { note: md`Removed: ${title}` });
      }
      const { isPaused, ...others } = subscription;
      if (to === "pause") await subscriptions.put({ ...others, isPaused: true });
      else {
        // What paused it may be that Discord refused a message: it is tried.
        const again = say(services, md`🔔 You hear of this again`, [md`${title}`], "neutral");
        await writeDirectly(rest, subscription.channelId, again, click.id);
        await subscriptions.put(others);
        await subscriptions.setHealth(subscription.channelId, {});
      }
      return watchList(user.id, services, all, { feed, id });
    },

    async snoozePrice({ id, for: span }, click) {
      const places = await withParent(rest, click.channelId);
      const found = await Promise.all(
        places.map((channelId) => subscriptions.get({ channelId, feed: "price", subject: id })),
      );
      const subscription = found.find((each) => each !== undefined);
      if (!subscription)
        throw new PersonError("This is no alert of mine any more: nobody watches the price like that here.");
      if (
        subscription.userId !== null
          ? subscription.userId !== click.user.id
          : !mayAnswer(click, subscription.roleId)
      )
        throw new PersonError(
          "Only holders of the role that is pinged, and those who may manage the server, can snooze this.",
        );
      const snoozedUntil = Date.now() + SNOOZES[span].ms;
      await subscriptions.put({ ...subscription, snoozedUntil });
      const words = feeds.find(({ name }) => name === subscription.feed)?.subject?.nameOf(id, services) ?? id;
      return say(services, md`💤 Snoozed`, [
        md`${words}: nothing more is told before ${timestamp(snoozedUntil, "f")}.`,
      ]);
    },
  };
}
