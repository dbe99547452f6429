import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { type PriceSample, SAMPLE_MS, type Span } from "../ledger/prices.js";
import type { Log } from "../log.js";
import { singleFlight } from "../util/single-flight.js";
import type { Bar } from "./draw.js";

/** Charts as PNG files; undefined where one could not be drawn, which costs no answer the rest. */
export interface Charts {
  /** Prices over a span that ends now (epoch ms, taken to the next sample's time). */
  price(samples: readonly PriceSample[], span: Span, now: number): Promise<Buffer | undefined>;
  /** @param key names what is shown: the same key gives the same picture again */
  bars(key: string, bars: readonly Bar[]): Promise<Buffer | undefined>;
}

/** Pictures kept: of each kind of chart the latest, and a few from before a sample. */
const MAX_KEPT = 12;

/**
 * Draws one chart at a time, with turns of the event loop between: the memory of a canvas is only given back then. The
 * canvas is loaded with the first chart.
 */
export function createCharts(log: Pick<Log, "error">): Charts {
  const kept = new LRUCache<string, Promise<Buffer | undefined>>({ max: MAX_KEPT });
  let last: Promise<unknown> = Promise.resolve();

  const inTurn = (key: string, draw: () => Promise<Buffer>) => {
    const picture = last.then(async () => {
      await nextTurn();
      try {
        return await draw();
      } catch (err) {
        log.error({ err }, "A chart could not be drawn; its answer goes without");
        kept.delete(key);
        return undefined;
      }
    });
    last = picture;
    return picture;
  };
  const drawn = (key: string, draw: () => Promise<Buffer>) =>
    singleFlight(kept, key, () => inTurn(key, draw), true);

  return {
    price(samples, span, now) {
      const end = Math.ceil(now / SAMPLE_MS) * SAMPLE_MS;
      return drawn(`price ${span} ${samples.length} ${samples.at(-1)?.[1]} ${end}`, async () => {
        const { drawPrices } = await import("./draw.js");
        return drawPrices(samples, span, end);
      });
    },
    bars: (key, bars) =>
      drawn(`bars ${key}`, async () => {
        const { drawBars } = await import("./draw.js");
        return drawBars(bars);
      }),
  };
}
