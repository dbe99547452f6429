import Keyv, { type KeyvStoreAdapter } from "keyv";
import { LRUCache } from "lru-cache";
import * as z from "zod";
import type { Log } from "../log.js";
import { singleFlight } from "../util/single-flight.js";
import type { Redis } from "./redis.js";

const entryFields = { fetchedAt: z.number(), bytes: z.number() };
const entrySchema = z.union([
  z.object({ missing: z.literal(true), ...entryFields }),
  z.object({ data: z.unknown(), ...entryFields }),
]);

/** A cached answer with its time and approximate size in bytes, or a cached "missing" answer. */
export type CacheEntry = Readonly<z.infer<typeof entrySchema>>;

/** The layer in which an entry was found. */
export type CacheLayer = "memory" | "redis";

/** A cache hit with its source. */
export interface CacheHit {
  readonly entry: CacheEntry;
  readonly layer: CacheLayer;
}

interface CacheRequest {
  /** If memory has no entry newer than this, Redis is asked as well. The newer entry wins. Epoch ms. */
  readonly newerThan: number;
  /** Parses untrusted data from Redis. Throws if it cannot be parsed. */
  readonly parse: (data: unknown) => unknown;
}

/** Cache in memory, with an optional second layer in Redis. It never throws. Calls to Redis have a short time limit. */
export interface Cache {
  get(key: string, wanted: CacheRequest): Promise<CacheHit | undefined>;
  /** Stores an entry with a time to live in ms. If memory is full, the least recently used entry is evicted. */
  set(key: string, entry: CacheEntry, ttlMs: number): Promise<void>;
}

/** Approximate ratio of an object's size in memory to the size of its JSON. */
const MEMORY_FACTOR = 2;

interface Stored {
  readonly value: CacheEntry;
  readonly expires?: number | null;
}

/**
 * Creates a store for Keyv with a maximum size in bytes. Keyv passes the time to live as a number, while lru-cache expects an
 * options object.
 */
function boundedStore(maxBytes: number): KeyvStoreAdapter {
  const lru = new LRUCache<string, Stored>({
    maxSize: maxBytes,
    sizeCalculation: (stored, key) => Math.max(1, stored.value.bytes * MEMORY_FACTOR + key.length * 2 + 200),
  });
  return {
    opts: {},
    // biome-ignore lint/suspicious/noExplicitAny: Keyv's own signature
    get: async (key) => lru.get(key) as any,
    set: async (key, stored: Stored, ttl) => lru.set(key, stored, ttl === undefined ? {} : { ttl }),
    delete: async (key) => lru.delete(key),
    clear: async () => lru.clear(),
    on() {
      return this;
    },
  };
}

/** Maximum clock difference between processes that share a Redis, in ms. Entries from further in the future are ignored. */
const CLOCK_SKEW_MS = 60_000;

function readEntry(value: unknown, parse: CacheRequest["parse"]): CacheEntry | undefined {
  const { data: entry } = entrySchema.safeParse(value);
  if (!entry || entry.fetchedAt > Date.now() + CLOCK_SKEW_MS) return undefined;
  try {
    return "missing" in entry ? entry : { ...entry, data: parse(entry.data) };
  } catch {
    return undefined;
  }
}

interface CacheOptions {
  readonly memoryMb: number;
  readonly redis?: Redis | undefined;
  readonly log: Pick<Log, "warn">;
}

/** Prefix of all keys in Redis. */
export const REDIS_PREFIX = "crier:";

/** Creates a cache of at most `memoryMb` MB in memory, with Redis as a second layer if it is given. */
export function createCache({ memoryMb, redis, log }: CacheOptions): Cache {
  // Entries are stored by reference and must not be changed. Serializing would cost hundreds of times as much as a cache hit.
  const memory = new Keyv<CacheEntry>(boundedStore(Math.ceil(memoryMb * 1024 * 1024)), {
    serialize: undefined,
    deserialize: undefined,
  } as object);
  const sharedStore =
    redis &&
    new Keyv<unknown>(redis.store(), {
      namespace: `${REDIS_PREFIX}cache`,
      // The adapter already adds the prefix. Keyv would add it a second time.
      useKeyPrefix: false,
      throwOnErrors: true,
      serialize: JSON.stringify,
      deserialize: (text) => {
        try {
          return JSON.parse(text);
        } catch {
          return { value: text };
        }
      },
    });
  sharedStore?.on("error", () => {});

  /** Reads in progress by key: a crowd that asks for the same answer reads and parses it once. */
  const sharedReads = new Map<string, Promise<CacheHit | undefined>>();
  /** Reads an entry from Redis and stores it in memory. */
  const readShared = async (key: string, parse: CacheRequest["parse"]): Promise<CacheHit | undefined> => {
    if (!redis || !sharedStore) return undefined;
    const raw = await redis.attempt(() => sharedStore.get(key, { raw: true }));
    if (raw === undefined || raw === null) return undefined;
    const entry = readEntry(raw.value, parse);
    if (!entry) {
      log.warn({ key }, "A cache entry cannot be parsed; counted as a miss");
      return undefined;
    }
    const ttl = typeof raw.expires === "number" ? raw.expires - Date.now() : undefined;
    if (ttl !== undefined && ttl <= 0) return undefined;
    // A newer answer may have been stored while Redis was asked.
    const heldEntry = await memory.get(key);
    if (heldEntry && heldEntry.fetchedAt >= entry.fetchedAt) return { entry: heldEntry, layer: "memory" };
    await memory.set(key, entry, ttl);
    return { entry, layer: "redis" };
  };

  return {
    async get(key, wanted) {
      const heldEntry = await memory.get(key);
      const ownEntry: CacheHit | undefined = heldEntry && { entry: heldEntry, layer: "memory" };
      if (heldEntry && heldEntry.fetchedAt >= wanted.newerThan) return ownEntry;
      const sharedEntry = await singleFlight(sharedReads, key, () => readShared(key, wanted.parse), false);
      if (sharedEntry && sharedEntry.entry.fetchedAt > (heldEntry?.fetchedAt ?? 0)) return sharedEntry;
      const newEntry = redis && (await memory.get(key));
      return newEntry ? { entry: newEntry, layer: "memory" } : ownEntry;
    },
    async set(key, entry, ttlMs) {
      await memory.set(key, entry, ttlMs);
      // Not awaited: an entry that Redis fails to store is just a later cache miss.
      if (redis && sharedStore) void redis.attempt(() => sharedStore.set(key, entry, ttlMs));
    },
  };
}
