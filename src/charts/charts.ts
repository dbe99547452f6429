import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { type PriceSample, SAMPLE_MS, type Span } from "../ledger/prices.js";
import type { Log } from "../log.js";
import { createSequences, lazy, singleFlight } from "../util/single-flight.js";
import type { Bar } from "./draw.js";

/** Draws charts as PNG files. If drawing fails, the result is `undefined`, and the answer is sent without a chart. */
export interface Charts {
  /** Draws the prices over a span that ends now. `now` is epoch ms and is rounded up to the next sample. */
  price(samples: readonly PriceSample[], span: Span, now: number): Promise<Buffer | undefined>;
  /** Draws a bar chart. @param key cache key: the same key returns the same picture */
  bars(key: string, bars: readonly Bar[]): Promise<Buffer | undefined>;
}

/** Maximum number of cached pictures: the latest of each kind of chart, and a few older ones. */
const MAX_KEPT = 12;

/** Runs drawing tasks one at a time. */
export type DrawingQueue = <T>(draw: () => Promise<T>) => Promise<T>;

/**
 * Creates a queue that runs one drawing at a time. It yields to the event loop before each drawing, because the memory of a
 * canvas is only freed then.
 */
export function createDrawingQueue(): DrawingQueue {
  const inSequence = createSequences();
  return (draw) =>
    inSequence("drawing", async () => {
      await nextTurn();
      return draw();
    });
}

/** The code that draws. */
type Drawing = typeof import("./draw.js");

/** Loads the canvas and then the code that draws, once. Each has a turn of the event loop, because it takes tens of milliseconds. */
const loadDrawing = lazy(async (): Promise<Drawing> => {
  await import("@napi-rs/canvas");
  await nextTurn();
  const drawing = await import("./draw.js");
  await nextTurn();
  return drawing;
});

/** Creates the charts of one network, with a cache of the latest pictures. The canvas is loaded when the first chart is drawn. */
export function createCharts(log: Pick<Log, "error">, inTurn: DrawingQueue = createDrawingQueue()): Charts {
  const keptPictures = new LRUCache<string, Promise<Buffer | undefined>>({ max: MAX_KEPT });
  const drawOnce = (key: string, draw: (drawing: Drawing) => Promise<Buffer>) => {
    const attempt = async () => {
      try {
        return await draw(await loadDrawing());
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
      return drawOnce(`price ${span} ${samples.length} ${samples.at(-1)?.[1]} ${lastMark}`, (drawing) =>
        drawing.drawPrices(samples, span, lastMark),
      );
    },
    bars: (key, bars) => drawOnce(`bars ${key}`, (drawing) => drawing.drawBars(bars)),
  };
}
