import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { type PriceSample, SAMPLE_MS, type Span } from "../ledger/prices.js";
import type { Log } from "../log.js";
import { singleFlight } from "../util/single-flight.js";
import type { Bar } from "./draw.js";

/** Charts as PNG files; undefined if one could not be drawn, which costs no answer the rest. */
export interface Charts {
  /** Prices over a span that ends now (epoch ms, taken to the next sample's time). */
  price(samples: readonly PriceSample[], span: Span, now: number): Promise<Buffer | undefined>;
  /** @param key names what is shown: the same key gives the same picture again */
  bars(key: string, bars: readonly Bar[]): Promise<Buffer | undefined>;
}

/** Pictures kept: of each kind of chart the latest, and a few from before a sample. */
const MAX_KEPT = 12;

/** Has one thing drawn after another. What it is given never fails. */
export type DrawingQueue = <T>(draw: () => Promise<T>) => Promise<T>;

/** One drawing at a time, with turns of the event loop between: the memory of a canvas is only given back then. */
export function createDrawingQueue(): DrawingQueue {
  let lastDrawing: Promise<unknown> = Promise.resolve();
  return (draw) => {
    const thisDrawing = lastDrawing.then(async () => {
      await nextTurn();
      return draw();
    });
    lastDrawing = thisDrawing;
    return thisDrawing;
  };
}

/** Draws charts, of one network alone, and keeps the latest. The canvas is loaded with the first one. */
export function createCharts(log: Pick<Log, "error">, inTurn: DrawingQueue = createDrawingQueue()): Charts {
  const keptPictures = new LRUCache<string, Promise<Buffer | undefined>>({ max: MAX_KEPT });
  const drawOnce = (key: string, draw: () => Promise<Buffer>) => {
    const attempt = async () => {
      try {
        return await draw();
      } catch (err) {
        log.error({ err }, "A chart could not be drawn; answering without it");
        keptPictures.delete(key);
        return undefined;
      }
    };
    return singleFlight(keptPictures, key, () => inTurn(attempt), true);
  };

  return {
    price(samples, span, now) {
      const lastMark = Math.ceil(now / SAMPLE_MS) * SAMPLE_MS;
      return drawOnce(`price ${span} ${samples.length} ${samples.at(-1)?.[1]} ${lastMark}`, async () => {
        const { drawPrices } = await import("./draw.js");
        return drawPrices(samples, span, lastMark);
      });
    },
    bars: (key, bars) =>
      drawOnce(`bars ${key}`, async () => {
        const { drawBars } = await import("./draw.js");
        return drawBars(bars);
      }),
  };
}
