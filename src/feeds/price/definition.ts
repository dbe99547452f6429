import type { Subscription } from "../../delivery/collections.js";
import type { AnswerDeps, FeedDefinition, SubjectChoice } from "../../delivery/feed.js";
import type { Answer } from "../../explorer/endpoints.js";
import { ifAnswered } from "../../explorer/errors.js";
import { readSamples } from "../../ledger/price-history.js";
import { medianPrice, plausible } from "../../ledger/prices.js";
import { usdText } from "../../screens/price.js";
import { type Markdown, md, timestamp, timestampWithAge } from "../../text/markdown.js";
import { pastTime } from "../../util/clock.js";
import { present } from "../../util/present.js";
import { isArmed, isDone, lastAlertOf } from "./alerts.js";
import { PRICE_FEED } from "./collections.js";
import {
  type Condition,
  conditionOf,
  conditionWords,
  OVER,
  options,
  settingsOf,
  subjectOf,
  WHEN,
} from "./conditions.js";
import { backWords, exampleMove, isBelievable, isMetAlready, STALE_MS, wholeFrom } from "./judge.js";
import { alertView } from "./messages.js";

const subject: SubjectChoice = {
  of: subjectOf,
  settings: settingsOf,
  nameOf: conditionWords,
};

/** Choices of the menu under the price. The first is the default. */
const MOVES = ["moves-5-24h", "moves-2-1h", "moves-5-1h", "moves-10-24h", "moves-20-24h"] as const;

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

/** The price feed, as people subscribe to it. */
export const definition: FeedDefinition = {
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
    return {
      ...alertView({ channelId: "", subject: sampleSubject, ...sampleMove, at: now }, mark, now),
      menus: [],
    };
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
