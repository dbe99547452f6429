import Keyv, { type KeyvStoreAdapter } from "keyv";
import { LRUCache } from "lru-cache";
import type { Log } from "../log.js";
import type { Redis } from "./redis.js";

/** What is kept of an answer: the answer, when it came, and about how many bytes it holds; or that there is none. */
export type Entry =
  | { readonly data: unknown; readonly fetchedAt: number; readonly bytes: number }
  | { readonly missing: true; readonly fetchedAt: number; readonly bytes: number };

/** The layer an entry was found in. */
export type CacheLayer = "memory" | "redis";

/** What was found, and where. */
export interface Found {
  readonly entry: Entry;
  readonly layer: CacheLayer;
}

interface Wanted {
  /** Where memory holds nothing newer than this, Redis may; the newer of both counts. Epoch ms. */
  readonly newerThan: number;
  /** Reads data that comes from Redis, where anybody may have written it; throws for what it cannot read. */
  readonly parse: (data: unknown) => unknown;
}

/** Entries by key, in memory and, where there is one, in Redis behind it. Never throws, and never waits for Redis. */
export interface Cache {
  get(key: string, wanted: Wanted): Promise<Found | undefined>;
  /** Keeps an entry for so many ms; a memory that is full forgets what was used longest ago. */
  set(key: string, entry: Entry, ttlMs: number): Promise<void>;
}

/** An object in memory takes about this many times the bytes of its JSON. */
const MEMORY_FACTOR = 2;

interface Stored {
  readonly value: Entry;
  readonly expires?: number | null;
}

/** A store for Keyv that is bounded in bytes. Keyv passes a time to live that lru-cache wants in its options. */
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

function isEntry(value: unknown): value is Entry {
  return (
    typeof value === "object" &&
    value !== null &&
    "fetchedAt" in value &&
    typeof value.fetchedAt === "number" &&
    "bytes" in value &&
    typeof value.bytes === "number" &&
    ("data" in value || ("missing" in value && value.missing === true))
  );
}

/** Clocks of processes that share a Redis may be so far apart, in ms; an entry from later is not believed. */
const CLOCK_SKEW_MS = 60_000;

function readEntry(value: unknown, parse: Wanted["parse"]): Entry | undefined {
  if (!isEntry(value) || value.fetchedAt > Date.now() + CLOCK_SKEW_MS) return undefined;
  try {
    return "missing" in value ? value : { ...value, data: parse(value.data) };
  } catch {
    return undefined;
  }
}

interface CacheOptions {
  readonly memoryMb: number;
  readonly redis?: Redis | undefined;
  readonly log: Pick<Log, "warn">;
}

/** Keys in Redis begin with this. */
export const REDIS_PREFIX = "crier:";

/** A cache in memory of at most `memoryMb` MB, and in Redis behind it where there is one. */
export function createCache({ memoryMb, redis, log }: CacheOptions): Cache {
  // By reference: serializing would cost hundreds of times a hit. Nobody may change what the cache holds.
  const memory = new Keyv<Entry>(boundedStore(Math.ceil(memoryMb * 1024 * 1024)), {
    serialize: undefined,
    deserialize: undefined,
  } as object);
  const shared =
    redis &&
    new Keyv<unknown>(redis.store(), {
      namespace: `${REDIS_PREFIX}cache`,
      // The adapter prefixes already; both would double it.
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
  shared?.on("error", () => {});

  /** An entry in Redis, which memory keeps from then on. */
  const readShared = async (key: string, parse: Wanted["parse"]): Promise<Found | undefined> => {
    if (!redis || !shared) return undefined;
    const raw = await redis.attempt(() => shared.get(key, { raw: true }));
    if (raw === undefined || raw === null) return undefined;
    const entry = readEntry(raw.value, parse);
    if (!entry) {
      log.warn({ key }, "A cache entry does not parse; taken for a miss");
      return undefined;
    }
    const ttl = typeof raw.expires === "number" ? raw.expires - Date.now() : undefined;
    if (ttl !== undefined && ttl <= 0) return undefined;
    await memory.set(key, entry, ttl);
    return { entry, layer: "redis" };
  };

  return {
    async get(key, wanted) {
      const held = await memory.get(key);
      const own: Found | undefined = held && { entry: held, layer: "memory" };
      if (held && held.fetchedAt >= wanted.newerThan) return own;
      const other = await readShared(key, wanted.parse);
      return other && other.entry.fetchedAt > (held?.fetchedAt ?? 0) ? other : own;
    },
    async set(key, entry, ttlMs) {
      await memory.set(key, entry, ttlMs);
      // Nobody waits for it: an entry that Redis did not take is an entry less.
      if (redis && shared) void redis.attempt(() => shared.set(key, entry, ttlMs));
    },
  };
}
