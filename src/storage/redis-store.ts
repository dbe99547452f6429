import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Log } from "../log.js";
import { withTimeout } from "../util/timeouts.js";
import { HOUR } from "../util/units.js";
import { HOLDER, IN_USE, LEASE_KEY } from "./lease.js";
import type { RedisClient } from "./redis.js";
import { explainRedis, isConnectionLost } from "./redis-words.js";
import { type ReplaceableStore, StateError, type Write } from "./store.js";

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

/** Prefix of collections that are being imported, beside the state. Each import adds its own id. */
const IMPORT_PREFIX = "crier:import:";
/** Documents sent in one command of an import. */
const CHUNK = 1_000;
/** Time after which Redis deletes what a killed import has left, in ms. */
const IMPORT_MS = HOUR;

/** Writes imported documents. Each has three arguments: key, field, text. */
const WRITE_IMPORTED = `
for i = 1, #ARGV, 3 do
  redis.call("HSET", ARGV[i], ARGV[i + 1], ARGV[i + 2])
  redis.call("PEXPIRE", ARGV[i], ${IMPORT_MS})
end
return 1`;

/**
 * Puts imported collections in the place of the state's. KEYS: the lease, and the collections to delete. ARGV: for each imported
 * collection its key, its new key and its number of documents. An error in a script does not undo what came before it, so all
 * checks come first. The first change of the old state is the first RENAME, so a DEL of a missing key shows before it whether the
 * user may delete.
 */
const SWITCH = `${HOLDER}
if held then return -1 end
local replaced = {}
for i = 1, #ARGV, 3 do
  if redis.call("HLEN", ARGV[i]) ~= tonumber(ARGV[i + 2]) then return 0 end
end
for i = 1, #ARGV, 3 do redis.call("PERSIST", ARGV[i]) end
redis.call("DEL", "${IMPORT_PREFIX}none")
for i = 1, #ARGV, 3 do
  redis.call("RENAME", ARGV[i], ARGV[i + 1])
  replaced[ARGV[i + 1]] = true
end
for i = 2, #KEYS do
  if not replaced[KEYS[i]] then redis.call("DEL", KEYS[i]) end
end
return 1`;

/** Time for an answer of Redis, in ms. A readiness probe, which waits for five seconds, then gets the reason (ops/kubernetes.yaml). */
const DEADLINE_MS = 4_000;

/**
 * Creates the store in Redis, for any number of processes. Calls fail if Redis does not answer in time.
 * @param onFailure called with each error of Redis
 */
export function createRedisStore(
  client: RedisClient,
  log?: Pick<Log, "error">,
  onFailure: (error: unknown) => void = () => {},
): ReplaceableStore {
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
      onFailure(error);
      if (isConnectionLost(error)) throw new StateError("Redis is not connected", { cause: error });
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

  /** Returns the names of the collections under a prefix. */
  const collectionsUnder = async (prefix: string): Promise<string[]> => {
    const keys: string[] = [];
    let cursor = "0";
    do {
      const page = await call(() => client.scan(cursor, { MATCH: `${prefix}*`, COUNT: 1_000 }));
      cursor = page.cursor;
      keys.push(...page.keys);
    } while (cursor !== "0");
    return [...new Set(keys)].map((key) => key.slice(prefix.length));
  };

  /** Returns the keys of interrupted imports that do not expire by themselves. */
  const leftovers = async (): Promise<string[]> => {
    const keys = (await collectionsUnder(IMPORT_PREFIX)).map((name) => IMPORT_PREFIX + name);
    const expiries = await Promise.all(keys.map((key) => call(() => client.pTTL(key))));
    return keys.filter((_, at) => expiries[at] === -1);
  };

  return {
    async get(collection, id) {
      return (await call(() => client.hGet(PREFIX + collection, id))) ?? undefined;
    },
    async *pages(collection, start = "") {
      const match = start === "" ? {} : { MATCH: `${start.replace(/[\\*?[\]]/g, "\\$&")}*` };
      let cursor = "0";
      do {
        const page = await call(() => client.hScan(PREFIX + collection, cursor, { ...match, COUNT: 1_000 }));
        cursor = page.cursor;
        yield page.entries.map(({ field, value }) => [field, value] as const);
      } while (cursor !== "0");
    },
    collections: () => collectionsUnder(PREFIX),
    async commit(writes) {
      if (writes.length === 0) return true;
      // Not with eval(), which spreads its arguments onto the stack and fails at about 15,000 writes.
      const answer = await call(() =>
        client.sendCommand(["EVAL", COMMIT, "0", ...writes.flatMap(toArguments)]),
      );
      return Number(answer) === 1;
    },
    async replaceAll(documents, kept) {
      const prefix = `${IMPORT_PREFIX}${randomUUID()}:`;
      const forget = async (keys: readonly string[]) => {
        if (keys.length > 0) await call(() => client.unlink([...keys]));
      };
      const counts = new Map<string, number>();
      for (const { collection } of documents) counts.set(collection, (counts.get(collection) ?? 0) + 1);
      await forget(await leftovers());
      try {
        for (let from = 0; from < documents.length; from += CHUNK) {
          const chunk = documents.slice(from, from + CHUNK);
          const puts = chunk.map(({ collection, id, text }) => [prefix + collection, id, text]);
          await call(() => client.sendCommand(["EVAL", WRITE_IMPORTED, "0", ...puts.flat()]));
        }
        const replaced = (await collectionsUnder(PREFIX)).filter((name) => !kept.has(name));
        const keys = [LEASE_KEY, ...replaced.map((name) => PREFIX + name)];
        const imported = [...counts].flatMap(([name, count]) => [
          prefix + name,
          PREFIX + name,
          String(count),
        ]);
        const answer = await call(() =>
          client.sendCommand(["EVAL", SWITCH, String(keys.length), ...keys, ...imported]),
        );
        if (Number(answer) === -1) throw new StateError(IN_USE);
        if (Number(answer) === 0)
          throw new StateError("Redis lost a part of the import, and the old state is kept. Try again");
      } catch (error) {
        await forget([...counts.keys()].map((name) => prefix + name)).catch(() => {});
        throw error;
      }
    },
    async close() {},
  };
}
