import * as z from "zod";
import type { Feed, FeedDefinition, FeedModule, Publisher, SubjectChoice } from "../../delivery/feed.js";
import { SNOOZES, snoozes } from "../../delivery/snoozes.js";
import { ifAnswered } from "../../explorer/errors.js";
import type { Explorer } from "../../explorer/service.js";
import { readSamples } from "../../ledger/price-history.js";
import { type PriceSample, percentChange } from "../../ledger/prices.js";
import { address } from "../../screens/addresses.js";
import { pricePicture, usdText } from "../../screens/price.js";
import type { View } from "../../screens/view.js";
import { type PriceWatch, type Subscription, subscriptionId } from "../../storage/catalogue.js";
import type { State } from "../../storage/state.js";
import { type Markdown, md, timestamp } from "../../text/markdown.js";
import { DAY } from "../../util/units.js";
import { conditionOf, isBelievable, judge, options, settingsOf, subjectOf } from "./conditions.js";

/** The name of this feed. */
export const PRICE_FEED = "price";

const event = z.object({
  channelId: z.string(),
  /** The condition, as it is named. */
  subject: z.string(),
  from: z.string(),
  to: z.string(),
  at: z.number(),
});
type PriceEvent = z.infer<typeof event>;

/** A condition in words, such as "above 0.16 USD". */
function conditionWords(subject: string): string {
  const settings = settingsOf(subject);
  if (!settings) return subject;
  const { when, value, over } = settings;
  return when === "moves" ? `up or down ${value} % in ${over}` : `${when} ${value} USD`;
}

const subject: SubjectChoice = {
  of: subjectOf,
  settings: settingsOf,
  nameOf: conditionWords,
};

/** What the button under the price offers: moves, of which the first is the default. */
const MOVES = ["moves-5-24h", "moves-2-1h", "moves-5-1h", "moves-10-24h", "moves-20-24h"] as const;

function viewOf({ subject: of, from, to, at }: PriceEvent, mark: string): View {
  const title = md`Canton Coin: ${conditionWords(of)}`;
  return {
    title,
    tone: Number(to) < Number(from) ? "bad" : "good",
    notification: md`Canton Coin: from ${usdText(from)} to ${usdText(to)} (${percentChange(from, to)})`,
    body: [
      md`# ${usdText(to)}`,
      md`From ${usdText(from)} to ${usdText(to)}: **${percentChange(from, to)}**, at ${timestamp(at, "f")}.`,
    ],
    menus: [
      {
        placeholder: "Snooze…",
        choices: snoozes.map((span) => ({
          label: SNOOZES[span].words,
          emoji: "💤",
          to: address("snoozePrice", { id: of, for: span }),
        })),
      },
    ],
    links: [{ label: "Price", emoji: "📈", to: address("price", {}), mark }],
    readings: [],
  };
}

const watchId = ({ channelId, subject: of }: Subscription): string =>
  subscriptionId(channelId, PRICE_FEED, of);

const definition: FeedDefinition = {
  name: PRICE_FEED,
  description: "Announce in a channel when the price passes a limit, or moves",
  thing: "price alert",
  topics: {
    price: {
      description: "The price",
      byDefault: true,
      isFixed: true,
      words: (subscription) =>
        `the price ${conditionWords(subscription.subject ?? "")}, ${conditionOf(subscription).repeat === "once" ? "once" : "every time"}`,
    },
  },
  options,
  threads: false,
  tagName: /price|market|coin/i,
  subject,
  watches: [
    {
      name: "price",
      description: "Be told in private when the price passes a limit, or moves",
      subject,
      offered: () => MOVES.map((id) => ({ id, label: conditionWords(id) })),
    },
  ],

  async sample({ explorer, now }, subscription, mark) {
    const price = (await ifAnswered(explorer.price({})))?.data.price;
    const to = price ?? "0.15";
    const of = subscription.subject ?? subjectOf({ ...conditionOf(subscription) });
    // Without its menu: that would snooze the real one.
    return {
      ...viewOf({ channelId: "", subject: of, from: String(Number(to) * 0.95), to, at: now }, mark),
      menus: [],
    };
  },

  async standing({ explorer }, subscription) {
    const price = (await ifAnswered(explorer.price({})))?.data.price ?? null;
    const { when, value, repeat } = conditionOf(subscription);
    const usd = Number(price);
    const holds =
      price !== null && ((when === "above" && usd >= value) || (when === "below" && usd <= value));
    return [
      price === null ? md`The explorer has no price at the moment.` : md`Now: **${usdText(price)}**`,
      ...(holds
        ? [md`It is ${when} that already: you hear of it once it has come back, and passes it again.`]
        : []),
      repeat === "once"
        ? md`Told once, and then no more.`
        : md`Told every time: once it has come back by 1 %, and an hour has passed.`,
    ];
  },

  async nowOf(state, subscription) {
    const { repeat } = conditionOf(subscription);
    const told = (await state.priceWatches.get(watchId(subscription)))?.told;
    if (!told) return md`not told yet`;
    return repeat === "once"
      ? md`told ${timestamp(told.at)}, at ${usdText(told.price)}; done`
      : md`last told ${timestamp(told.at)}, at ${usdText(told.price)}`;
  },
};

/** The usual price of the last day, which one wrong sample does not change. */
function usual(samples: readonly PriceSample[], now: number): string | undefined {
  const recent = samples.filter(([at]) => at > now - DAY && at <= now).map(([, usd]) => usd);
  return recent.toSorted((a, b) => Number(a) - Number(b))[Math.floor(recent.length / 2)];
}

function createPoll(explorer: Explorer, state: State, now: () => number) {
  /** Of the poll before, which says from where a price came. */
  let last: string | undefined;
  return async (publisher: Publisher) => {
    const all = (await publisher.subscriptions()).filter((each) => each.subject !== null);
    const memories = await state.priceWatches.list();
    const ids = new Set(all.map(watchId));
    const old = [...memories.keys()].filter((id) => !ids.has(id)).map((id) => state.priceWatches.delete(id));
    const heard = await Promise.all(all.map((each) => publisher.isHeard(each)));
    const due = all.filter(({ snoozedUntil = 0 }, index) => heard[index] && snoozedUntil <= now());
    const reading = due.length > 0 ? await explorer.price({}) : undefined;
    const samples = await readSamples(state);
    const { price = null, updateTimestamp = null } = reading?.problem ? {} : (reading?.data ?? {});
    const usualPrice = usual(samples, now());
    if (!isBelievable(price, updateTimestamp, usualPrice, now())) {
      if (old.length > 0) await state.commit(old);
      return due.length === 0 ? ("done" as const) : ("partial" as const);
    }
    const believed = samples.filter(([at, usd]) => isBelievable(usd, at, usualPrice, at));
    const before = last ?? believed.at(-1)?.[1];
    last = price;
    const events: PriceEvent[] = [];
    const changed = new Map<string, PriceWatch>();
    for (const subscription of due) {
      const id = watchId(subscription);
      const { channelId, subject: of, savedAt } = subscription;
      const kept = memories.get(id);
      // Set up anew, it begins anew.
      const memory = kept?.savedAt === savedAt ? kept : undefined;
      const judged = judge(conditionOf(subscription), memory, price, believed, before, now());
      if (judged.memory !== memory)
        changed.set(id, { ...judged.memory, ...(savedAt === undefined ? {} : { savedAt }) });
      if (judged.from !== undefined && of !== null)
        events.push({ channelId, subject: of, from: judged.from, to: price, at: now() });
    }
    const { writes, release } = await publisher.prepare(events);
    const memoryWrites = [...changed].map(([id, memory]) => state.priceWatches.put(id, memory));
    const batch = [...old, ...writes, ...memoryWrites];
    if (batch.length > 0) await state.commit(batch);
    release();
    return "done" as const;
  };
}

/** Tells of the price where it passes a limit, or moves. */
export const price: FeedModule = {
  definition,
  isVital: true,
  pollMs: ({ watchPollSeconds }) => watchPollSeconds * 1_000,

  create({ explorer, state, renderer, charts, now }) {
    const feed: Feed<PriceEvent> = {
      definition,
      readEvent: (json) => event.safeParse(json).data,
      idOf: ({ subject: of, at }) => `${of}:${at}`,
      topicOf: () => "price",
      channelOf: ({ channelId }) => channelId,
      // Nothing that follows is about it.
      subjectsOf: () => [],
      begins: () => true,
      wants: (subscription, { subject: of }) => subscription.subject === of,
      async render(each, mark) {
        const view = viewOf(each, mark);
        const samples = await readSamples(state);
        const picture = await pricePicture([...samples, [each.at, each.to]], "1d", each.at, charts);
        const title: Markdown = view.title;
        return { payload: renderer.message({ ...view, picture }), title: title.toString(), revision: 0 };
      },
    };
    return { feed, poll: createPoll(explorer.for("background", { maxAgeMs: 0 }), state, now) };
  },
};
