import { type PriceHistory, type PriceSample, thin } from "../explorer/prices.js";
import type { Explorer } from "../explorer/service.js";
import type { Lease } from "../storage/lease.js";
import { collectionOf, type State } from "../storage/state.js";
import { within } from "../within.js";

const samplesIn = (state: State) => collectionOf<readonly PriceSample[]>(state, "prices");
const ID = "samples";

/** How long the samples in memory will do, in ms: another process may be the one that adds to them. */
const MEMORY_MS = 60_000;

/** A price that the explorer itself has had for longer than this is no news, in ms: it is left as a gap. */
const STUCK_MS = 30 * 60_000;

interface Log {
  warn(details: object, message: string): void;
}

/** A person's answer waits for the state no longer than for the cache, in ms. */
const WAIT_MS = 100;
/** What could not be read is read again after so many ms. */
const AGAIN_MS = 5_000;

/** The samples as the state holds them, read once a minute at most. While it cannot be read, those read last. */
export function createPriceHistory(state: State, log: Log, now = Date.now): PriceHistory {
  let held: readonly PriceSample[] | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  return {
    async samples() {
      if (now() - readAt < MEMORY_MS) return held;
      reading ??= samplesIn(state)
        .get(ID)
        .then(
          (samples) => {
            held = samples ?? [];
            readAt = now();
          },
          (err: unknown) => {
            log.warn({ err }, "The kept prices cannot be read");
            readAt = now() - MEMORY_MS + AGAIN_MS;
          },
        )
        .finally(() => {
          reading = undefined;
        });
      await within(reading, WAIT_MS, () => undefined);
      return held;
    },
  };
}

/** Takes one sample of the price and keeps it, with those before it thinned by their age. */
export async function samplePrice(explorer: Explorer, state: State, lease: Lease): Promise<void> {
  const { data, fetchedAt, problem } = await explorer.price({});
  const { price, updateTimestamp } = data;
  if (problem || price === null) return;
  if (updateTimestamp !== null && fetchedAt - updateTimestamp > STUCK_MS) return;
  const collection = samplesIn(state);
  const before = (await collection.get(ID)) ?? [];
  const later = before.filter(([at]) => at < fetchedAt);
  await state.commit([lease.guard, collection.put(ID, thin([...later, [fetchedAt, price]], fetchedAt))]);
}
