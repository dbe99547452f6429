import type { Feed } from "../../delivery/feed.js";
import type { FeedModule } from "../../delivery/module.js";
import { readSamples } from "../../ledger/price-history.js";
import { plausible } from "../../ledger/prices.js";
import { pricePicture } from "../../screens/price.js";
import { headlineOf } from "../../screens/view.js";
import { priceWatches } from "./collections.js";
import { definition } from "./definition.js";
import { type PriceEvent, priceEventSchema } from "./events.js";
import { alertView } from "./messages.js";
import { snoozePrice } from "./snooze.js";
import { createPoll } from "./watch.js";

/** Sends an alert if the price passes a limit or moves. */
export const price: FeedModule = {
  definition,
  collections: [priceWatches],
  buttons: [snoozePrice],
  isVital: true,
  pollMs: ({ watchPollSeconds }) => watchPollSeconds * 1_000,

  create({ explorer, state, renderer, charts, now }) {
    const feed: Feed<PriceEvent> = {
      definition,
      readEvent: (json) => priceEventSchema.safeParse(json).data,
      idOf: ({ subject: of, at }) => `${of}:${at}`,
      topicOf: () => "price",
      channelOf: ({ channelId }) => channelId,
      // There are no later events about an alert.
      subjectsOf: () => [],
      begins: () => true,
      wants: (subscription, { subject: of }) => subscription.subject === of,
      async render(each, mark) {
        const view = alertView(each, mark, now());
        const samples = plausible(await readSamples(state), each.at);
        const picture = await pricePicture([...samples, [each.at, each.to]], "1d", each.at, charts);
        return { payload: renderer.message({ ...view, picture }), title: headlineOf(view), revision: 0 };
      },
    };
    return { feed, poll: createPoll(explorer.for("background", { maxAgeMs: 0 }), state, now) };
  },
};
