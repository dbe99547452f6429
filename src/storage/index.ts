import type { Config } from "../config.js";
import type { Log } from "../log.js";
import type { Redis } from "./redis.js";
import type { Store } from "./store.js";

/** The durable storage: the store, and its Redis if there is one. */
export interface Storage {
  readonly store: Store;
  readonly redis: Redis | undefined;
  close(): Promise<void>;
}

/**
 * Opens the store that the settings name. Only what is used is loaded: each of the two costs some megabytes and tens of
 * milliseconds.
 * @throws {StateError} if the data folder cannot be used; a Redis is connected in the background
 */
export async function openStorage(
  { redisUrl, dataDir }: Pick<Config, "redisUrl" | "dataDir">,
  log: Pick<Log, "info" | "warn" | "error">,
): Promise<Storage> {
  if (redisUrl === undefined) {
    const store = (await import("./file-store.js")).openFileStore(dataDir, log);
    return { store, redis: undefined, close: () => store.close() };
  }
  const redis = (await import("./redis.js")).connectRedis(redisUrl, log);
  const store = (await import("./redis-store.js")).createRedisStore(redis.client, log);
  return { store, redis, close: () => redis.close() };
}
