import type { Charts } from "../charts/charts.js";
import type { Answer } from "../explorer/endpoints.js";
import type { Reading } from "../explorer/service.js";
import { isStuck } from "../ledger/price-history.js";
import { changeOver, gapOf, type PriceSample, SPANS, type Span, samplesIn } from "../ledger/prices.js";
import { COIN } from "../text/coin.js";
import { bold, join, type Markdown, md, timestamp, timestampWithAge } from "../text/markdown.js";
import { fixed, signedPercent } from "../text/numbers.js";
import { pastTime } from "../util/clock.js";
import { rememberLast } from "../util/per-object.js";
import { address } from "./addresses.js";
import type { Attachment, Menu, Screen, View } from "./view.js";

/** Returns the number of fraction digits for a price. Low prices have more. */
function priceDigits(price: string): number {
  if (Number(price) >= 100) return 2;
  return Number(price) >= 0.01 ? 4 : 8;
}

const SPAN_NAMES: Readonly<Record<Span, string>> = { "1d": "24 hours", "7d": "7 days", "30d": "30 days" };

/** Minimum number of samples for a chart. */
const MIN_SAMPLES = 3;

const SPANS_SHOWN = ["1d", "7d", "30d"] as const;

/**
 * Returns the changes computed from the bot's own samples in one line. The explorer's own change is not shown, because the API
 * does not document its unit.
 */
const changeLine = (changes: ReadonlyMap<Span, number>): Markdown | null =>
  changes.size === 0
    ? null
    : join(
        [...changes].map(([span, change]) => md`${bold(signedPercent(change))} in ${SPAN_NAMES[span]}`),
        " · ",
      );

/** Formats a price in USD without its unit. */
export const usdNumber = (usd: string): string => fixed(usd, priceDigits(usd));

/** Formats a price in USD. */
export const usdText = (usd: string): string => `${usdNumber(usd)} USD`;

/** Explains the gaps in a chart. */
function gapLine(samples: readonly PriceSample[], span: Span): Markdown | null {
  const isGap = ([at]: PriceSample, index: number) => at - (samples[index - 1]?.[0] ?? at) > gapOf(span);
  return samples.some(isGap) ? md`-# Gaps in the chart: I was offline, or the explorer had no price.` : null;
}

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
  {
    drawn,
    hasPrice,
    isCurrent,
  }: { readonly drawn: boolean; readonly hasPrice: boolean; readonly isCurrent: boolean },
): Markdown | null {
  if (kept === undefined) return md`-# I can't read my price history right now.`;
  // A sample from the future was stored while the clock was ahead.
  const keptSince = kept.find(([at]) => at <= now)?.[0];
  if (keptSince === undefined)
    return isCurrent
      ? md`-# I've just started to track the price. The chart appears in a few minutes.`
      : null;
  if (now - keptSince >= SPANS[span].ms)
    return drawn || !isCurrent
      ? null
      : md`-# There isn't enough data for a chart: I was offline, or the explorer had no price.`;
  const moreWords = drawn || !hasPrice ? md`` : md`. The chart appears once there's enough data`;
  return md`-# I've tracked the price since ${timestamp(keptSince, "f")}${moreWords}.`;
}

const MENUS: readonly Menu[] = [
  {
    placeholder: "Look around…",
    choices: [
      { label: "Network", emoji: "🌐", to: address("network", {}) },
      { label: "Validators", emoji: "🖥️", to: address("validators", {}) },
      { label: "Transfers", emoji: "💸", to: address("transfers", {}) },
      { label: "Largest balances", emoji: "🏆", to: address("top", {}) },
    ],
  },
];

/** Builds the screen. Many people open it while its reading is in the cache. @param kept the bot's own samples, if readable */
const show = rememberLast(
  async (
    over: Span,
    reading: Reading<Answer<"price">>,
    kept: readonly PriceSample[] | undefined,
    charts: Charts,
  ): Promise<View> => {
    const history = kept ?? [];
    const { price: usd, updateTimestamp } = reading.data;
    const readAt = reading.fetchedAt;
    const isCurrent = usd !== null && !isStuck(updateTimestamp, readAt);
    const changes = new Map(
      SPANS_SHOWN.flatMap((span) => {
        const change = isCurrent ? changeOver(history, span, readAt, usd) : undefined;
        return change === undefined ? [] : [[span, change] as const];
      }),
    );
    // The colour, the chart and the title use the same span.
    const change = changes.get(over) ?? 0;
    const lastSamples: readonly PriceSample[] = isCurrent ? [[readAt, usd]] : [];
    const shownSamples = [...history.filter(([at]) => at < readAt), ...lastSamples];
    const movedTone = change < 0 ? "bad" : "good";
    const picture = await pricePicture(shownSamples, over, readAt, charts);
    return {
      title: md`Canton Coin, ${SPAN_NAMES[over]}`,
      tone: change === 0 ? "neutral" : movedTone,
      body: [
        usd === null ? md`The explorer has no price at the moment.` : md`# ${usdText(usd)}`,
        join(
          [
            changeLine(changes),
            sinceWhen(kept, over, readAt, {
              drawn: picture !== undefined,
              hasPrice: usd !== null,
              isCurrent,
            }),
            picture === undefined ? null : gapLine(samplesIn(shownSamples, over, readAt), over),
            usd === null ? null : md`-# Price as of ${timestampWithAge(pastTime(updateTimestamp, readAt))}`,
          ],
          "\n",
        ),
      ],
      picture,
      readings: [reading],
      menus: MENUS,
      links: SPANS_SHOWN.filter((span) => span !== over).map((span) => ({
        label: SPAN_NAMES[span],
        emoji: "📈",
        to: address("price", { over: span }),
      })),
    };
  },
);

/** Shows the price of one CC in USD, its changes and a chart. */
export const price: Screen<"price"> = async ({ over }, { charts, explorer, prices }) => {
  const [reading, kept] = await Promise.all([explorer.price({}), prices.samples()]);
  return show(over, reading, kept, charts);
};
