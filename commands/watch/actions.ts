import { isDeepStrictEqual } from "node:util";
import type { Subscription } from "../../src/delivery/collections.js";
import { draftOf, type FeedDefinition } from "../../src/delivery/feed.js";
import {
  changeWatchButton,
  offerWatchButton,
  startWatchButton,
  watchesButton,
} from "../../src/delivery/watch-buttons.js";
import { type ButtonHandler, handlerOf } from "../../src/discord/buttons.js";
import type { Click } from "../../src/discord/clicks.js";
import { writeDirectly } from "../../src/discord/direct.js";
import { say } from "../../src/discord/say.js";
import { ifAnswered } from "../../src/explorer/errors.js";
import type { Network } from "../../src/networks/network.js";
import { type ButtonParameters, buttonAddress } from "../../src/screens/addresses.js";
import type { Menu } from "../../src/screens/view.js";
import { answerDeps, findAmong, setPaused } from "../../src/subscribe/editor.js";
import { join, md } from "../../src/text/markdown.js";
import { PersonError } from "../../src/util/person-error.js";
import { present } from "../../src/util/present.js";
import { watchList } from "./list.js";
import {
  endRefusals,
  settingsFor,
  startWatch,
  titleOf,
  titleOfWatch,
  topicList,
  type Watchable,
  watchableOf,
  watchables,
  watchesOf,
} from "./watches.js";

type Change = ButtonParameters<typeof changeWatchButton>;

type Offer = ButtonParameters<typeof offerWatchButton>;

/** Returns the option whose values a menu offers, with its name. `undefined` if the feed has none. */
const offeredOption = ({ options }: FeedDefinition) => Object.entries(options)[0];

/** @throws {PersonError} if this version does not offer it */
const findWatchable = ({ feed, id }: Offer, { networks }: Network): Watchable => {
  const foundWatchable = watchableOf(watchables(networks.feeds), { feed, subject: id });
  if (!foundWatchable) throw new PersonError("You can't watch that any more. Use `/watch` to start another.");
  return foundWatchable;
};

/**
 * Returns a watch's settings: the defaults, then the existing watch's settings, then those that the subject or the menu
 * implies.
 */
const settingsIn = (watchable: Watchable, { id, set }: Offer, existing?: Subscription) => {
  const { feed, watch } = watchable;
  const [name, option] = offeredOption(feed) ?? [];
  const typedValue = watch.offered && set !== "" && !watch.subject.of ? option?.parse(set) : undefined;
  const impliedSettings = watch.subject.settings?.(id);
  if (watch.subject.of && (!impliedSettings || watch.subject.of(impliedSettings) !== id))
    throw new PersonError("You can't watch that any more. Use `/watch` to start another.");
  return {
    ...settingsFor(watchable),
    ...existing,
    ...impliedSettings,
    ...(name !== undefined && typedValue !== undefined
      ? { [name]: typedValue, chosen: [...new Set([...(existing?.chosen ?? []), name])] }
      : {}),
  };
};

/** Returns a menu of other subjects or values, if the watch offers any. @param settings those that are shown */
const menuOf = (
  { watch, feed }: Watchable,
  id: string,
  settings: Readonly<Record<string, unknown>>,
): Menu[] => {
  const offered = watch.offered?.(id) ?? [];
  if (offered.length === 0) return [];
  const [name = "", option] = offeredOption(feed) ?? [];
  const isSet = (set: string) => isDeepStrictEqual(option?.parse(set), settings[name]);
  return [
    {
      placeholder: "Pick a different alert…",
      choices: offered.map((each) => ({
        label: each.label,
        chosen: each.id === id && (each.set === undefined || isSet(each.set)),
        to: buttonAddress(offerWatchButton, { feed: feed.name, id: each.id, set: each.set ?? "" }),
      })),
    },
  ];
};

const findOwn = async (services: Network, userId: string, feed: string, id: string, network = services.id) =>
  findAmong(await watchesOf(userId, services.networks), { feed, subject: id, network });

const offerWatch = async (offer: Offer, { user }: Click, services: Network) => {
  const watchable = findWatchable(offer, services);
  const existing = await findOwn(services, user.id, offer.feed, offer.id);
  const settings = settingsIn(watchable, offer, existing?.subscription);
  const draft = {
    ...watchable,
    subscription: { ...draftOf(watchable.feed), ...settings, subject: offer.id, userId: user.id },
  };
  return services.renderer.message({
    title: md`🔔 Watch this?`,
    body: present([
      md`**${await titleOf(draft, services)}**`,
      md`You'll get a DM for: ${topicList(draft)}`,
      existing ? md`-# You already watch it. This changes your alerts.` : undefined,
    ]),
    menus: menuOf(watchable, offer.id, settings),
    links: [{ label: "Watch", emoji: "🔔", to: buttonAddress(startWatchButton, offer) }],
  });
};

const startOffered = async (offer: Offer, click: Click, services: Network) => {
  const watchable = findWatchable(offer, services);
  const settingsOf = (existing: Subscription | undefined) => settingsIn(watchable, offer, existing);
  return startWatch(click, services, { watchable, subject: offer.id, settingsOf, isPressed: true });
};

const changeWatch = async ({ feed, id, to, network }: Change, click: Click, services: Network) => {
  const { rest } = services;
  const { user } = click;
  const foundWatch = await findOwn(services, user.id, feed, id, network);
  const showAsRemoved = () => watchList(user.id, services, { note: md`It's already removed.` });
  if (!foundWatch) return showAsRemoved();
  const { subscription, networkState } = foundWatch;
  const title = await titleOfWatch(foundWatch, services);
  if (to === "remove") {
    if (!(await networkState.janitor.removeSubscription(subscription))) return showAsRemoved();
    const ofNetwork = services.networks.served.length > 1 ? md` · ${networkState.name}` : md``;
    return watchList(user.id, services, { note: md`Removed: ${title}${ofNetwork}` });
  }
  if (to === "pause") await setPaused(networkState, subscription, true);
  else {
    // Discord may have refused the last message, so check with a new message before resuming.
    const againMessage = say(services, md`🔔 You'll get these alerts again`, [md`${title}`], "neutral");
    await writeDirectly(rest, subscription.channelId, againMessage, click.id).catch((error: unknown) => {
      // If Discord is only slow, the message may have arrived.
      if (error instanceof PersonError) throw error;
    });
    await setPaused(networkState, subscription, false);
    await endRefusals(user.id, services.networks);
    const { network: served, feed: watchedFeed } = foundWatch;
    // News was dropped during the pause.
    const standing =
      served && (await ifAnswered(watchedFeed.standing(answerDeps(click, served), subscription)));
    const note = join([md`▶️ Resumed.`, ...(standing ?? [])], "\n");
    return watchList(user.id, services, { feed, id, note });
  }
  return watchList(user.id, services, { feed, id });
};

/** All buttons about watches. */
export const watchButtons: readonly ButtonHandler<Network>[] = [
  handlerOf({
    button: offerWatchButton,
    // The menu is on the offer itself, which is private already.
    audience: ({ isMenu }) => (isMenu ? "owner" : "person"),
    handle: offerWatch,
  }),
  handlerOf({ button: startWatchButton, audience: "owner", handle: startOffered }),
  handlerOf({
    button: watchesButton,
    audience: "owner",
    handle: (shown, { user }, services: Network) => watchList(user.id, services, shown),
  }),
  handlerOf({ button: changeWatchButton, audience: "owner", handle: changeWatch }),
];
