import type { Explorer } from "../explorer/service.js";
import type { Log } from "../log.js";
import type { State } from "../storage/state.js";
import { ageOf } from "../util/clock.js";
import { singleFlight } from "../util/single-flight.js";
import { withTimeout } from "../util/timeouts.js";
import { MINUTE, SECOND } from "../util/units.js";
import { type PriceHistory, type PriceSample, thin } from "./prices.js";

const ID = "samples";

/** The samples as the state holds them, oldest first. */
export const readSamples = async (state: State): Promise<readonly PriceSample[]> =>
  (await state.prices.get(ID)) ?? [];

/** How long the samples in memory will do, in ms: another process may be the one that adds to them. */
const MEMORY_MS = MINUTE;

/** A price that the explorer itself has had for longer than this is no news, in ms: it is left as a gap. */
const STUCK_MS = 30 * MINUTE;

/** A person's answer waits for the state no longer than for the cache, in ms. */
const WAIT_MS = 100;
/** What could not be read is read again after so many ms. */
const AGAIN_MS = 5 * SECOND;

/** The samples as the state holds them, read once a minute at most. While it cannot be read, those read last. */
export function createPriceHistory(state: State, log: Pick<Log, "warn">, now = Date.now): PriceHistory {
  const flights = new Map<string, Promise<void>>();
  let held: readonly PriceSample[] | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async () => {
    try {
      held = await readSamples(state);
      readAt = now();
    } catch (err) {
      log.warn({ err }, "The kept prices cannot be read");
      readAt = now() - MEMORY_MS + AGAIN_MS;
    }
  };
  return {
    async samples() {
      if (ageOf(readAt, now()) < MEMORY_MS) return held;
      await withTimeout(singleFlight(flights, ID, read, false), WAIT_MS, () => undefined);
      return held;
    },
  };
}

/** Takes one sample of the price and keeps it, with those before it thinned by their age. */
export async function samplePrice(explorer: Explorer, state: State): Promise<void> {
  const { data, fetchedAt, problem } = await explorer.price({});
  const { price, updateTimestamp } = data;
  // A zero is no price (docs/ledger.md).
  if (problem || !(Number(price) > 0) || price === null) return;
  if (updateTimestamp !== null && fetchedAt - updateTimestamp > STUCK_MS) return;
  const before = await readSamples(state);
  const later = before.filter(([at]) => at < fetchedAt);
  await state.commit([state.prices.put(ID, thin([...later, [fetchedAt, price]], fetchedAt))]);
}
