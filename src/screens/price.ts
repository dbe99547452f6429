import type { Charts } from "../charts/charts.js";
import { changeOver, type PriceSample, SPANS, type Span, samplesIn } from "../ledger/prices.js";
import { COIN } from "../text/coin.js";
import {
  bold,
  changeWords,
  fixed,
  join,
  type Markdown,
  md,
  timestamp,
  timestampWithAge,
} from "../text/markdown.js";
import { address } from "./addresses.js";
import { pastTime } from "./parts.js";
import type { Attachment, Field, Screen } from "./view.js";

/** Returns the number of fraction digits for a price. Low prices have more. */
const priceDigits = (price: string): number => (Number(price) >= 100 ? 2 : Number(price) >= 0.01 ? 4 : 8);

const SPAN_NAMES: Readonly<Record<Span, string>> = { "1d": "24 hours", "7d": "7 days", "30d": "30 days" };

/** Minimum number of samples for a chart. */
const MIN_SAMPLES = 3;

const signed = (percent: number): Markdown => {
  const text = changeWords(percent.toFixed(2), 2, fixed);
  return text === "unchanged" ? md`unchanged` : bold(`${text} %`);
};

const SPANS_SHOWN = ["1d", "7d", "30d"] as const;

/** Returns the changes computed from the bot's own samples. Without one for a day, it adds the explorer's value. */
function changeFields(changes: ReadonlyMap<Span, number>, reported: string | null): Field[] {
  const knownChanges = [...changes].map(([span, change]) => ({
    name: `Change in ${SPAN_NAMES[span]}`,
    value: signed(change),
    inline: true,
  }));
  if (changes.has("1d")) return knownChanges;
  // The API does not document whether the value is a percentage or a fraction.
  const value =
    reported === null ? md`not reported` : md`${changeWords(reported, 6)} (the explorer gives no unit)`;
  return [{ name: "Change in 24 h, as reported", value, inline: true }, ...knownChanges];
}

/** Formats a price in USD. */
export const usdText = (usd: string): string => `${fixed(usd, priceDigits(usd))} USD`;

/** Draws the prices over a span that ends now. Returns `undefined` if there are too few samples, or if drawing fails. */
export async function pricePicture(
  all: readonly PriceSample[],
  span: Span,
  now: number,
  charts: Charts,
): Promise<Attachment | undefined> {
  const samples = samplesIn(all, span, now);
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || samples.length < MIN_SAMPLES) return undefined;
  const prices = samples.map(([, usd]) => Number(usd));
  const usd = (value: number | string) => usdText(String(value));
  const chartPicture = await charts.price(samples, span, now);
  return (
    chartPicture && {
      name: `price-${span}.png`,
      content: chartPicture,
      description: `The price of one ${COIN} over ${SPAN_NAMES[span]}: from ${usd(first[1])} to ${usd(last[1])}, between ${usd(Math.min(...prices))} and ${usd(Math.max(...prices))}`,
    }
  );
}

/** Says since when prices are recorded. Returns null if that covers the whole span. */
function sinceWhen(
  kept: readonly PriceSample[] | undefined,
  span: Span,
  now: number,
  drawn: boolean,
): Markdown | null {
  if (kept === undefined) return md`-# The prices that I have kept cannot be read right now.`;
  const keptSince = kept[0]?.[0];
  if (keptSince === undefined)
    return md`-# I have only begun to watch the price; its chart comes in a few minutes.`;
  if (now - keptSince >= SPANS[span].ms) return null;
  const moreWords = drawn ? md`` : md`; its chart comes once there is enough to see`;
  return md`-# I have been watching the price since ${timestamp(keptSince, "f")}${moreWords}.`;
}

/** Shows the price of one CC in USD, its changes and a chart. */
export const price: Screen<"price"> = async ({ over }, context) => {
  const [reading, kept] = await Promise.all([context.explorer.price({}), context.prices.samples()]);
  const history = kept ?? [];
  const { price: usd, change24h, updateTimestamp } = reading.data;
  const readAt = reading.fetchedAt;
  const changes = new Map(
    SPANS_SHOWN.flatMap((span) => {
      const change = usd === null ? undefined : changeOver(history, span, readAt, usd);
      return change === undefined ? [] : [[span, change] as const];
    }),
  );
  // The colour, the chart and the title use the same span. The explorer's own change only covers a day.
  const reported = over === "1d" ? Number(change24h ?? 0) : 0;
  const change = usd === null ? 0 : (changes.get(over) ?? reported);
  const lastSamples: readonly PriceSample[] = usd === null ? [] : [[readAt, usd]];
  const shownSamples = [...history.filter(([at]) => at < readAt), ...lastSamples];
  const picture = await pricePicture(shownSamples, over, readAt, context.charts);
  return {
    title: md`Canton Coin, ${SPAN_NAMES[over]}`,
    tone: change === 0 ? "neutral" : change < 0 ? "bad" : "good",
    body: [
      usd === null ? md`The explorer has no price at the moment.` : md`# ${usdText(usd)}`,
      join([sinceWhen(kept, over, readAt, picture !== undefined)], ""),
    ],
    fields: [
      ...changeFields(changes, change24h),
      { name: "Price from", value: timestampWithAge(pastTime(updateTimestamp, readAt)), inline: true },
    ],
    picture,
    readings: [reading],
    menus: [
      {
        placeholder: "Look around…",
        choices: [
          { label: "Network", emoji: "🌐", to: address("network", {}) },
          { label: "Validators", emoji: "🖥️", to: address("validators", {}) },
          { label: "Transfers", emoji: "💸", to: address("transfers", {}) },
          { label: "Largest balances", emoji: "🏆", to: address("top", {}) },
        ],
      },
    ],
    links: [
      ...SPANS_SHOWN.filter((span) => span !== over).map((span) => ({
        label: SPAN_NAMES[span],
        emoji: "📈",
        to: address("price", { over: span }),
      })),
      ...context.watchLinks("price", ""),
    ],
  };
};
