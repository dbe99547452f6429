import * as z from "zod";
import type { Explorer } from "../explorer/service.js";
import type { Log } from "../log.js";
import { defineCollection } from "../storage/collection.js";
import type { State } from "../storage/state.js";
import { timestampSchema } from "../storage/timestamp.js";
import { isTimely } from "../util/clock.js";
import { inMemory } from "../util/memory.js";
import { MINUTE } from "../util/units.js";
import { type PriceHistory, type PriceSample, plausible, thin } from "./prices.js";

/** Samples of the price. */
export const priceSamples = defineCollection({
  name: "prices",
  schema: z.array(z.tuple([timestampSchema, z.string()])),
  lifetime: "each sample for 30 days",
});

const ID = "samples";

/** Reads the samples from the state, oldest first. */
export const readSamples = async (state: State): Promise<readonly PriceSample[]> =>
  (await state.open(priceSamples).get(ID)) ?? [];

/** Maximum age of a price according to the explorer, in ms. Older prices are not stored, which leaves a gap. */
const STUCK_MS = 30 * MINUTE;

/** True if the explorer has had no newer price for so long that it is no current one. False if it gives no time. */
export const isStuck = (updateTimestamp: number | null, fetchedAt: number): boolean =>
  updateTimestamp !== null && fetchedAt - updateTimestamp > STUCK_MS;

/** Creates the price history. It is read from the state at most once a minute. If that fails, the previous samples are used. */
export const createPriceHistory = (state: State, log: Pick<Log, "warn">, now = Date.now): PriceHistory => ({
  samples: inMemory(
    // One wrong price would set the scale of a chart for a month.
    async () => plausible(await readSamples(state), now()),
    (err) => log.warn({ err }, "The stored prices cannot be read"),
    now,
  ),
});

/** Stores a sample of the price, and thins the earlier samples by their age. */
export async function samplePrice(explorer: Explorer, state: State, now: () => number): Promise<void> {
  const { data, fetchedAt, problem } = await explorer.price({});
  const { price, updateTimestamp } = data;
  if (problem || price === null || isStuck(updateTimestamp, fetchedAt) || !isTimely(fetchedAt, now())) return;
  const previousSamples = await readSamples(state);
  // If the stored and the explorer's times are both ahead, the machine's clock is behind, as at a start before it is set.
  const newestAt = previousSamples.at(-1)?.[0] ?? 0;
  if (Math.min(newestAt, updateTimestamp ?? 0) - fetchedAt > STUCK_MS) return;
  const earlierSamples = previousSamples.filter(([at]) => at < fetchedAt);
  await state.commit([
    state.open(priceSamples).put(ID, thin([...earlierSamples, [fetchedAt, price]], fetchedAt)),
  ]);
}
