import { within } from "../within.js";
import type { RedisClient } from "./redis.js";
import { type State, StateError, toText, type Write } from "./state.js";

/** Collections are hashes, whose fields are the documents; they never expire. */
const PREFIX = "crier:state:";

/** All of a commit in one step: each write is four arguments (operation, key, field, text). */
const COMMIT = `
for at = 1, #ARGV, 4 do
  if ARGV[at] == "expect" then
    local held = redis.call("HGET", ARGV[at + 1], ARGV[at + 2])
    if (held or "") ~= ARGV[at + 3] then return 0 end
  end
end
for at = 1, #ARGV, 4 do
  local op, key, field, text = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  if op == "put" then redis.call("HSET", key, field, text) end
  if op == "add" then redis.call("HSETNX", key, field, text) end
  if op == "delete" then redis.call("HDEL", key, field) end
end
return 1`;

const DEADLINE_MS = 5_000;

/** The state in Redis, for any number of processes. Its calls fail where Redis does not answer in time. */
export function createRedisState(client: RedisClient): State {
  const call = async <T>(command: () => Promise<T>): Promise<T> => {
    if (!client.isReady) throw new StateError("Redis is not there");
    const late = () => {
      throw new StateError("Redis does not answer in time");
    };
    try {
      return await within(command(), DEADLINE_MS, late);
    } catch (error) {
      if (error instanceof StateError) throw error;
      throw new StateError(`Redis failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const toArguments = (write: Write): string[] => {
    const text = "document" in write && write.document !== undefined ? toText(write.document) : "";
    return [write.op, PREFIX + write.collection, write.id, text];
  };

  return {
    async get(collection, id) {
      const text = await call(() => client.hGet(PREFIX + collection, id));
      return typeof text === "string" ? JSON.parse(text) : undefined;
    },
    async list(collection) {
      const all = await call(() => client.hGetAll(PREFIX + collection));
      return new Map(Object.entries(all).map(([id, text]) => [id, JSON.parse(text)]));
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
      return (await call(() => client.eval(COMMIT, { arguments: writes.flatMap(toArguments) }))) === 1;
    },
    async close() {},
  };
}
