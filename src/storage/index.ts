import type { Config } from "../config.js";
import type { Log } from "../log.js";
import type { Redis } from "./redis.js";
import type { ReplaceableStore } from "./store.js";

/** The durable storage: the store, and the Redis connection if it uses one. */
export interface Storage {
  readonly store: ReplaceableStore;
  readonly redis: Redis | undefined;
  close(): Promise<void>;
}

/**
 * Opens the configured store. Only its own module is loaded, because each of them takes some megabytes and tens of milliseconds.
 * @throws {StateError} if the data folder cannot be used. Redis connects in the background
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
  const store = (await import("./redis-store.js")).createRedisStore(redis.client, log, redis.noteFailure);
  return { store, redis, close: () => redis.close() };
}
