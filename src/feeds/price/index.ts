import * as z from "zod";
import type { Subscription } from "../../delivery/collections.js";
import type { AnswerDeps, Feed, FeedDefinition, SubjectChoice } from "../../delivery/feed.js";
import type { FeedModule, PollSteps, Subscribers } from "../../delivery/module.js";
import { SNOOZE_SPANS, SNOOZES, snoozeEnd } from "../../delivery/snoozes.js";
import { idOf } from "../../delivery/subscriptions.js";
import type { Answer } from "../../explorer/endpoints.js";
import { ifAnswered } from "../../explorer/errors.js";
import type { Explorer } from "../../explorer/service.js";
import { readSamples } from "../../ledger/price-history.js";
import { medianPrice, type PriceSample, percentChange, plausible } from "../../ledger/prices.js";
import { address, buttonAddress } from "../../screens/addresses.js";
import { pricePicture, usdNumber, usdText } from "../../screens/price.js";
import { headlineOf, type Menu, type View } from "../../screens/view.js";
import type { State } from "../../storage/state.js";
import type { Write } from "../../storage/store.js";
import { timestampSchema } from "../../storage/timestamp.js";
import { type Markdown, md, timestamp, timestampWithAge } from "../../text/markdown.js";
import { grouped } from "../../text/numbers.js";
import { pastTime } from "../../util/clock.js";
import { inPieces } from "../../util/event-loop.js";
import { defined, present } from "../../util/present.js";
import { isArmed, isDone, lastAlertOf } from "./alerts.js";
import { PRICE_FEED, priceWatches } from "./collections.js";
import {
  backWords,
  type Condition,
  conditionOf,
  conditionWords,
  exampleMove,
  isBelievable,
  isMetAlready,
  judge,
  OVER,
  options,
  STALE_MS,
  settingsOf,
  subjectOf,
  WHEN,
  wholeFrom,
} from "./conditions.js";
import { snoozePrice, snoozePriceButton } from "./snooze.js";

const priceEventSchema = z.object({
  channelId: z.string(),
  /** Id of the condition. */
  subject: z.string(),
  from: z.string(),
  to: z.string(),
  at: timestampSchema,
  /** For a move, the time of the price from which it is measured, epoch ms. Missing in events of earlier versions. */
  since: timestampSchema.optional(),
  /** True if the subscription gets no more alerts. */
  isLast: z.boolean().optional(),
});
type PriceEvent = z.infer<typeof priceEventSchema>;

const subject: SubjectChoice = {
  of: subjectOf,
  settings: settingsOf,
  nameOf: conditionWords,
};

/** Choices of the menu under the price. The first is the default. */
const MOVES = ["moves-5-24h", "moves-2-1h", "moves-5-1h", "moves-10-24h", "moves-20-24h"] as const;

/** Returns an alert's news: "Canton Coin rose above 0.16 USD: 0.1825 (+25%)". */
function newsOf({ subject: of, from, to }: PriceEvent): Markdown {
  const isDown = Number(to) < Number(from);
  const { when, value, over } = settingsOf(of) ?? {};
  const change = percentChange(from, to);
  const changeWords = change === "unchanged" ? md`` : md` (${change})`;
  const now = md`${usdNumber(to)}${changeWords}`;
  if (when === "moves" && value && over)
    return md`Canton Coin ${isDown ? "fell" : "rose"} ${value}% or more in ${OVER[over]}: ${usdText(to)}${changeWords}`;
  if (when === undefined || value === undefined) return md`Canton Coin: ${usdText(to)}${changeWords}`;
  // Rounded, a price just beyond the limit looks as if it were not.
  const rounded = Number(usdNumber(to).replaceAll(",", ""));
  const isShown = when === "below" ? rounded < Number(value) : rounded > Number(value);
  const exact = isShown ? now : md`${grouped(to, 10)}${changeWords}`;
  return md`Canton Coin ${when === "below" ? "fell" : "rose"} ${when} ${value} USD: ${exact}`;
}

function viewOf(event: PriceEvent, mark: string): View {
  const { subject: of, from, to, at, since, isLast } = event;
  const snoozeMenu: Menu = {
    placeholder: "Snooze…",
    choices: SNOOZE_SPANS.map((span) => ({
      label: SNOOZES[span].words,
      emoji: "💤",
      to: buttonAddress(snoozePriceButton, { id: of, for: span }),
    })),
  };
  return {
    tone: Number(to) < Number(from) ? "bad" : "good",
    notification: newsOf(event),
    body: [
      md`From ${usdText(from)}${since === undefined ? md`` : md` on ${timestamp(since, "f")}`} to **${usdText(to)}** on ${timestamp(at, "f")}.`,
    ],
    menus: isLast ? [] : [snoozeMenu],
    links: [{ label: "Price", emoji: "📈", to: address("price", {}), mark }],
  };
}

/** States the current price, or why there is none. */
function priceLine(answer: Answer<"price"> | undefined, now: number): Markdown {
  if (!answer) return md`I can't read the price right now.`;
  const { price, updateTimestamp } = answer;
  if (price === null) return md`The explorer has no price at the moment.`;
  if (updateTimestamp === null)
    return md`The explorer's price is **${usdText(price)}**, but it doesn't say from when. Alerts need to know that.`;
  const pricedAt = pastTime(updateTimestamp, now);
  if (pricedAt === null)
    return md`The explorer's price is **${usdText(price)}**, but its time is in the future, so alerts can't use it.`;
  return now - pricedAt > STALE_MS
    ? md`The explorer's last price is **${usdText(price)}**, from ${timestampWithAge(pricedAt)}. That's too old for alerts.`
    : md`Now: **${usdText(price)}**`;
}

/** Shown for a subscription to one alert that has had it. */
const doneLine = ({ userId }: Subscription, { networkOption }: AnswerDeps["renderer"]): Markdown =>
  userId === null
    ? md`This one-time alert has been sent. To get another, use \`/subscribe price\`${networkOption} for the same condition again.`
    : md`This one-time alert has been sent. To get another, use \`/watch price\`${networkOption} for the same condition again.`;

/** States how often an alert repeats. @param isHolding true if an earlier line says what must happen before the next alert */
function repeatLine(condition: Condition, isHolding: boolean): Markdown {
  if (condition.repeat === "once") return md`You'll be told once.`;
  return isHolding
    ? md`You'll be told each time, at most once an hour.`
    : md`You'll be told each time, at most once an hour, but again only if ${backWords(condition)} in between.`;
}

const definition: FeedDefinition = {
  name: PRICE_FEED,
  description: "Alert a channel when the price passes a limit or moves",
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
      description: "Get a private alert when the price passes a limit or moves",
      subject,
      screen: { name: "price", subjectOf: () => MOVES[0], isForChannels: true },
      offered: () => MOVES.map((id) => ({ id, label: conditionWords(id) })),
    },
  ],

  async sample({ explorer, now }, subscription, mark) {
    const price = (await ifAnswered(explorer.price({})))?.data.price;
    const condition = conditionOf(subscription);
    const sampleSubject = subscription.subject ?? subjectOf({ ...condition });
    // The drill has no menu, which would snooze the real alert.
    const sampleMove = exampleMove(condition, price ?? "0.15");
    return { ...viewOf({ channelId: "", subject: sampleSubject, ...sampleMove, at: now }, mark), menus: [] };
  },

  async standing({ explorer, state, renderer, now }, subscription) {
    const answer = (await ifAnswered(explorer.price({})))?.data;
    const price = answer?.price ?? null;
    const condition = conditionOf(subscription);
    const { when, value } = condition;
    if (await isDone(state, subscription)) return [priceLine(answer, now), doneLine(subscription, renderer)];
    // As the alerts judge moves: without wrong and old prices.
    const samples = plausible(await readSamples(state), now);
    const isBelieved =
      when !== "moves" ||
      isBelievable(price, answer?.updateTimestamp ?? null, medianPrice(samples, now), now);
    // An armed alert comes at once, such as after a pause in which the price has passed the limit.
    const isHolding =
      price !== null &&
      isBelieved &&
      !(await isArmed(state, subscription)) &&
      isMetAlready(condition, Number(price), samples, now);
    const wholeAt = wholeFrom(condition, samples, now);
    return present([
      priceLine(answer, now),
      isHolding &&
        (when === "moves"
          ? md`The price has already moved by ${value}% or more. You'll be told of the next move, after ${backWords(condition)}.`
          : md`The price is already ${when} that. You'll be told the next time it passes the limit, after ${backWords(condition)}.`),
      wholeAt !== undefined &&
        md`I don't know the price of ${OVER[condition.over]} ago yet. Until ${timestamp(wholeAt, "f")}, moves are measured from the oldest price I have.`,
      repeatLine(condition, isHolding),
      // The number may be meant as a price.
      when === "moves" &&
        value < 1 &&
        md`⚠️ ${value}% is a small move. For a price of ${value} USD, choose “${WHEN.above}” or “${WHEN.below}”.`,
    ]);
  },

  isDone,

  async nowOf({ state }, subscription) {
    const { repeat } = conditionOf(subscription);
    const lastAlert = await lastAlertOf(state, subscription);
    if (!lastAlert) return md`no alert yet`;
    return repeat === "once"
      ? md`alerted ${timestamp(lastAlert.at)} at ${usdText(lastAlert.price)}; done`
      : md`last alert ${timestamp(lastAlert.at)} at ${usdText(lastAlert.price)}`;
  },
};

/** Number of subscriptions per commit. Alerting thousands of people in one would block everything else. */
const SUBSCRIPTIONS_PER_STEP = 50;

/** Creates the poll that judges the price for each subscription. @param explorer must not answer from the cache */
export function createPoll(explorer: Explorer, state: State, now: () => number) {
  /** Prices of the last two polls that could read one, oldest first. A subscription may be saved during the second. */
  let lastPrices: readonly PriceSample[] = [];
  return async function* (subscribers: Subscribers): PollSteps {
    const dueSubscriptions: Subscription[] = [];
    for await (const piece of inPieces(await subscribers.subscriptions()))
      for (const each of piece)
        if (each.subject !== null && (await subscribers.isHeard(each))) dueSubscriptions.push(each);
    const memories = await state.open(priceWatches).list();
    const reading = dueSubscriptions.length > 0 ? await explorer.price({}) : undefined;
    const pricedAt = now();
    const samples = await readSamples(state);
    const { price = null, updateTimestamp = null } = reading?.problem ? {} : (reading?.data ?? {});
    const usualPrice = medianPrice(samples, now());
    if (!isBelievable(price, updateTimestamp, usualPrice, now()))
      return dueSubscriptions.length === 0 ? "done" : "partial";
    const believed = samples.filter(([at, usd]) => isBelievable(usd, at, usualPrice, at));
    /** Returns the price that was last read by a time, USD. Without subscriptions, only samples are read. */
    const knownAt = (time: number) => {
      const isKnown = ([at]: PriceSample) => at <= time;
      const [sampledAt = 0, sampled] = believed.findLast(isKnown) ?? [];
      const [polledAt = 0, polled] = lastPrices.findLast(isKnown) ?? [];
      return polledAt > sampledAt ? polled : sampled;
    };
    const previousPrice = knownAt(now());
    for await (const together of inPieces(dueSubscriptions, SUBSCRIPTIONS_PER_STEP)) {
      const events: PriceEvent[] = [];
      const writes: Write[] = [];
      for (const subscription of together) {
        const id = idOf(subscription);
        const { channelId, subject: of, savedAt } = subscription;
        const keptMemory = memories.get(id);
        // A subscription that was saved again starts with empty memory.
        const memory = keptMemory?.savedAt === savedAt ? keptMemory : undefined;
        const isSnoozed = snoozeEnd(subscription, now()) > 0;
        const condition = conditionOf(subscription);
        // Samples since it was saved may have passed the limit before the first poll.
        const earlierPrice = memory || savedAt === undefined ? previousPrice : knownAt(savedAt);
        const judgement = judge(condition, memory, price, believed, earlierPrice, now(), !isSnoozed);
        if (judgement.memory !== memory)
          writes.push(state.open(priceWatches).put(id, { ...judgement.memory, ...defined({ savedAt }) }));
        if (judgement.from !== undefined && of !== null)
          events.push({
            channelId,
            subject: of,
            from: judgement.from,
            to: price,
            at: now(),
            since: judgement.since,
            ...(condition.repeat === "once" ? { isLast: true } : {}),
          });
      }
      if (events.length + writes.length > 0) yield { events, writes };
    }
    lastPrices = [...lastPrices.slice(-1), [pricedAt, price]];
    return "done";
  };
}

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
        const view = viewOf(each, mark);
        const samples = plausible(await readSamples(state), each.at);
        const picture = await pricePicture([...samples, [each.at, each.to]], "1d", each.at, charts);
        return { payload: renderer.message({ ...view, picture }), title: headlineOf(view), revision: 0 };
      },
    };
    return { feed, poll: createPoll(explorer.for("background", { maxAgeMs: 0 }), state, now) };
  },
};
