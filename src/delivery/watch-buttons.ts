import * as z from "zod";
import { buttonAddress, defineButton, type ScreenName, subjectParameter } from "../screens/addresses.js";
import type { Link } from "../screens/view.js";
import type { FeedDefinition } from "./feed.js";

const feed = z.string().max(20);
/** The value set by a menu, as a person would type it. */
const optionSet = z.string().max(12).default("");
/** Name of a network that the bot no longer serves. */
const network = z.string().max(12).optional();

/** Shows a preview of a watch, and asks for confirmation. */
export const offerWatchButton = defineButton("watch", { id: subjectParameter, feed, set: optionSet });
export const startWatchButton = defineButton("watch-on", { id: subjectParameter, feed, set: optionSet });
/** Shows a person's watches, or one of them. */
export const watchesButton = defineButton("watches", {
  id: subjectParameter.optional(),
  feed: feed.optional(),
  network,
});
export const changeWatchButton = defineButton("watch-set", {
  id: subjectParameter,
  feed,
  to: z.enum(["pause", "resume", "remove"]),
  network,
});

/** Opens the dialog that subscribes the channel to a feed, with a subject filled in. */
export const subscribeHereButton = defineButton("sub-here", { feed, id: subjectParameter.optional() });

/** Returns the "Subscribe this channel" buttons of a screen, for the feeds that people can watch there. */
export const createSubscribeLinks =
  (feeds: readonly FeedDefinition[]) =>
  (screen: ScreenName, id: string): readonly Link[] =>
    feeds.flatMap(({ name, subject, watches = [] }) =>
      watches.some((watch) => watch.screen?.name === screen && watch.screen.isForChannels)
        ? [
            {
              label: "Subscribe this channel",
              emoji: "📣",
              to: buttonAddress(subscribeHereButton, { feed: name, ...(subject?.option ? { id } : {}) }),
            },
          ]
        : [],
    );

/** Returns the "Watch" buttons of a screen, for the feeds that declare one. */
export const createWatchLinks =
  (feeds: readonly FeedDefinition[]) =>
  (screen: ScreenName, id: string): readonly Link[] =>
    feeds.flatMap(({ name, watches = [] }) =>
      watches.flatMap((watch) =>
        watch.screen?.name === screen
          ? [
              {
                label: "Watch",
                emoji: "🔔",
                to: buttonAddress(offerWatchButton, { feed: name, id: watch.screen.subjectOf(id) }),
              },
            ]
          : [],
      ),
    );
