import { setTimeout as delay } from "node:timers/promises";
import { type IIdentifyThrottler, SimpleIdentifyThrottler } from "discord.js";
import type { Redis } from "../storage/redis.js";
import { withTimeout } from "../util/timeouts.js";

/** Discord allows one identify in 5 s for each of `max_concurrency` buckets. Slightly longer, to allow for clock differences. */
const SLOT_MS = 5_250;
const RETRY_EVERY_MS = 250;
/** Time for Redis to connect and to answer, in ms. An identify is not urgent. */
const CONNECT_MS = 5_000;
const ANSWER_MS = 2_000;

/**
 * Leases the slots of Discord's identify limit in Redis, because two processes that identify in one bucket at once would
 * invalidate each other's sessions. While Redis is unavailable, each process keeps to the limit by itself.
 */
export function createIdentifyThrottler(
  redis: Pick<Redis, "client" | "connected">,
  key: string,
  maxConcurrency: number,
): IIdentifyThrottler {
  const localThrottler = new SimpleIdentifyThrottler(maxConcurrency);
  const takeSlot = async (slot: string): Promise<boolean | undefined> => {
    try {
      const slotTaken = redis.client
        .set(slot, "1", { NX: true, PX: SLOT_MS })
        .then((answer) => answer !== null);
      return await withTimeout(slotTaken, ANSWER_MS, () => undefined);
    } catch {
      return undefined;
    }
  };
  return {
    async waitForIdentify(shardId, signal) {
      await redis.connected(CONNECT_MS);
      for (;;) {
        const taken = await takeSlot(`${key}:${shardId % maxConcurrency}`);
        if (taken === undefined) return localThrottler.waitForIdentify(shardId, signal);
        if (taken) return;
        await delay(RETRY_EVERY_MS, undefined, { signal });
      }
    },
  };
}
