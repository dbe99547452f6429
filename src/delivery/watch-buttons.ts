import * as z from "zod";
import { buttonAddress, defineButton, type ScreenName, subjectParameter } from "../screens/addresses.js";
import type { Link } from "../screens/view.js";
import type { FeedDefinition } from "./feed.js";

/** A feed's name in a button's address. */
export const feedParameter = z.string().max(20);
/** The value set by a menu, as a person would type it. */
export const setParameter = z.string().max(12).default("");
/** The key of a network in a button's address, if it is not the one that the button was made for. */
export const networkParameter = z.string().max(12).optional();

const offer = { id: subjectParameter, feed: feedParameter, set: setParameter };

/** Shows a preview of a watch, and asks for confirmation. */
export const offerWatchButton = defineButton("watch", offer);
export const startWatchButton = defineButton("watch-on", offer);
/** Shows a person's watches, or one of them. */
export const watchesButton = defineButton("watches", {
  id: subjectParameter.optional(),
  feed: feedParameter.optional(),
  network: networkParameter,
});
export const changeWatchButton = defineButton("watch-set", {
  id: subjectParameter,
  feed: feedParameter,
  to: z.enum(["pause", "resume", "remove"]),
  network: networkParameter,
});

/** Opens the dialog that subscribes the channel to a feed, with a subject filled in. */
export const subscribeHereButton = defineButton("sub-here", {
  feed: feedParameter,
  id: subjectParameter.optional(),
});

/** Returns the buttons of a screen, each with the name of what it is about if there are several. */
const labelled = (
  label: string,
  offers: readonly { readonly name: string; readonly link: Omit<Link, "label"> }[],
) =>
  offers.map(({ name, link }): Link => ({ ...link, label: offers.length > 1 ? `${label}: ${name}` : label }));

/** Returns the "Subscribe this channel" buttons of a screen, for the feeds that people can watch there. */
export const createSubscribeLinks =
  (feeds: readonly FeedDefinition[]) =>
  (screen: ScreenName, id: string): readonly Link[] =>
    labelled(
      "Subscribe this channel",
      feeds.flatMap(({ name, subject, watches = [] }) => {
        if (!watches.some((watch) => watch.screen?.name === screen && watch.screen.isForChannels)) return [];
        const hereAddress = buttonAddress(subscribeHereButton, {
          feed: name,
          id: subject?.option ? id : undefined,
        });
        return [{ name, link: { emoji: "📣", to: hereAddress } }];
      }),
    );

/** Returns the "Watch" buttons of a screen, for the feeds that declare one. */
export const createWatchLinks =
  (feeds: readonly FeedDefinition[]) =>
  (screen: ScreenName, id: string): readonly Link[] =>
    labelled(
      "Watch",
      feeds.flatMap(({ name: feed, watches = [] }) =>
        watches.flatMap(({ name, screen: shownOn }) => {
          if (shownOn?.name !== screen) return [];
          const offerAddress = buttonAddress(offerWatchButton, { feed, id: shownOn.subjectOf(id) });
          return [{ name, link: { emoji: "🔔", to: offerAddress } }];
        }),
      ),
    );
