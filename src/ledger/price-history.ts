import * as z from "zod";
import type { Explorer } from "../explorer/service.js";
import type { Log } from "../log.js";
import { defineCollection } from "../storage/collection.js";
import type { State } from "../storage/state.js";
import { inMemory } from "../util/memory.js";
import { MINUTE } from "../util/units.js";
import { type PriceHistory, type PriceSample, thin } from "./prices.js";

/** Samples of the price. */
export const priceSamples = defineCollection({
  name: "prices",
  schema: z.array(z.tuple([z.number(), z.string()])),
  lifetime: "each sample for 30 days",
});

const ID = "samples";

/** The samples as the state holds them, oldest first. */
export const readSamples = async (state: State): Promise<readonly PriceSample[]> =>
  (await state.open(priceSamples).get(ID)) ?? [];

/** A price that the explorer itself has had for longer than this is no news, in ms: it is left as a gap. */
const STUCK_MS = 30 * MINUTE;

/** Returns the samples as the state holds them, read once a minute at most. While it cannot be read, those read last. */
export const createPriceHistory = (state: State, log: Pick<Log, "warn">, now = Date.now): PriceHistory => ({
  samples: inMemory(
    () => readSamples(state),
    (err) => log.warn({ err }, "The stored prices cannot be read"),
    now,
  ),
});

/** Takes one sample of the price and keeps it, with those before it thinned by their age. */
export async function samplePrice(explorer: Explorer, state: State): Promise<void> {
  const { data, fetchedAt, problem } = await explorer.price({});
  const { price, updateTimestamp } = data;
  // A zero is no price (docs/ledger.md).
  if (problem || !(Number(price) > 0) || price === null) return;
  if (updateTimestamp !== null && fetchedAt - updateTimestamp > STUCK_MS) return;
  const previousSamples = await readSamples(state);
  const earlierSamples = previousSamples.filter(([at]) => at < fetchedAt);
  await state.commit([
    state.open(priceSamples).put(ID, thin([...earlierSamples, [fetchedAt, price]], fetchedAt)),
  ]);
}
