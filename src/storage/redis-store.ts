import { LRUCache } from "lru-cache";
import type { Log } from "../log.js";
import { withTimeout } from "../util/timeouts.js";
import { HOUR } from "../util/units.js";
import type { RedisClient } from "./redis.js";
import { explainRedis } from "./redis-words.js";
import { StateError, type Store, type Write } from "./store.js";

/** Prefix of the collections, which are hashes with a field per document. They never expire. */
const PREFIX = "crier:state:";

/** Applies a commit atomically. Each write has four arguments: operation, key, field, text. */
const COMMIT = `
for i = 1, #ARGV, 4 do
  if ARGV[i] == "expect" then
    local held = redis.call("HGET", ARGV[i + 1], ARGV[i + 2])
    if (held or "") ~= ARGV[i + 3] then return 0 end
  end
end
for i = 1, #ARGV, 4 do
  local op, key, field, text = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if op == "put" then redis.call("HSET", key, field, text) end
  if op == "add" then redis.call("HSETNX", key, field, text) end
  if op == "delete" then redis.call("HDEL", key, field) end
end
return 1`;

const DEADLINE_MS = 5_000;

/** Creates the store in Redis, for any number of processes. Calls fail if Redis does not answer in time. */
export function createRedisStore(client: RedisClient, log?: Pick<Log, "error">): Store {
  /** Errors that were logged in the last hour. The connection logs its own errors. */
  const loggedReasons = new LRUCache<string, true>({ max: 20, ttl: HOUR });
  const call = async <T>(command: () => Promise<T>): Promise<T> => {
    if (!client.isReady) throw new StateError("Redis is not connected");
    const failLate = () => {
      throw new StateError("Redis does not answer in time");
    };
    try {
      return await withTimeout(command(), DEADLINE_MS, failLate);
    } catch (error) {
      if (error instanceof StateError) throw error;
      const reason = explainRedis(error);
      if (!loggedReasons.has(reason))
        log?.error({ err: error, reason }, "Redis refused a command of the state");
      loggedReasons.set(reason, true);
      throw new StateError(reason, { cause: error });
    }
  };
  const toArguments = (write: Write): string[] => [
    write.op,
    PREFIX + write.collection,
    write.id,
    ("text" in write ? write.text : undefined) ?? "",
  ];

  return {
    async get(collection, id) {
      return (await call(() => client.hGet(PREFIX + collection, id))) ?? undefined;
    },
    async *pages(collection) {
      let cursor = "0";
      do {
        const page = await call(() => client.hScan(PREFIX + collection, cursor, { COUNT: 1_000 }));
        cursor = page.cursor;
        yield page.entries.map(({ field, value }) => [field, value] as const);
      } while (cursor !== "0");
    },
    async collections() {
      const keys: string[] = [];
      let cursor = "0";
      do {
        const page = await call(() => client.scan(cursor, { MATCH: `${PREFIX}*`, COUNT: 1_000 }));
        cursor = page.cursor;
        keys.push(...page.keys);
      } while (cursor !== "0");
      return [...new Set(keys)].map((key) => key.slice(PREFIX.length));
    },
    async commit(writes) {
      if (writes.length === 0) return true;
      // Not with eval(), which spreads its arguments onto the stack and fails at about 15,000 writes.
      const answer = await call(() =>
        client.sendCommand(["EVAL", COMMIT, "0", ...writes.flatMap(toArguments)]),
      );
      return Number(answer) === 1;
    },
    async close() {},
  };
}
