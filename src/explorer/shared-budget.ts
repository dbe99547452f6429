import type { Redis, RedisClient } from "../storage/redis.js";
import { MINUTE } from "../util/units.js";
import { type Budget, bucketOf, type OwnBudget, type Priority } from "./budget.js";

/** Lua expression for the Redis server's clock, in ms. */
const REDIS_TIME = `(function() local time = redis.call("TIME") return time[1] * 1000 + time[2] / 1000 end)()`;

/**
 * Returns the Lua script that does what `createBudget` does, as one atomic step. It returns 0 if it took a token, else the ms to
 * wait.
 */
const takeScript = (now: string) => `
local now = ${now}
local priorities = { "people", "background" }
local rate = { tonumber(ARGV[2]), tonumber(ARGV[4]) }
local max = { tonumber(ARGV[3]), tonumber(ARGV[5]) }
local held = redis.call("HMGET", KEYS[1], "at", "people", "background")
local elapsed = math.max(0, now - (tonumber(held[1]) or now))
local level, spilled = {}, 0
for i = 1, 2 do
  local filled = (tonumber(held[i + 1]) or max[i]) + rate[i] * elapsed
  level[i] = math.min(max[i], filled)
  spilled = spilled + filled - level[i]
end
local wait = 0
for i = 1, 2 do
  local taken = math.min(spilled, max[i] - level[i])
  level[i] = level[i] + taken
  spilled = spilled - taken
  if priorities[i] == ARGV[1] then
    if level[i] >= 1 then level[i] = level[i] - 1
    else wait = math.ceil((1 - level[i]) / (rate[1] + rate[2])) end
  end
end
redis.call("HSET", KEYS[1], "at", string.format("%.3f", now), "people", string.format("%.17g", level[1]), "background", string.format("%.17g", level[2]))
redis.call("PEXPIRE", KEYS[1], ARGV[6])
return wait`;

/** Time after which the key of an unused budget expires, in ms. The budget is full again by then. */
const FORGET_MS = 10 * MINUTE;

/**
 * Takes a token from the bucket in Redis.
 * @param now time in ms for tests. By default the Redis server's clock
 * @returns 0 if a token was taken, else the ms to wait
 */
export async function takeFromRedis(
  client: RedisClient,
  key: string,
  priority: Priority,
  perMinute: number,
  now?: number,
): Promise<unknown> {
  const { people, background } = bucketOf(perMinute);
  const numbers = [people.rate, people.max, background.rate, background.max, FORGET_MS].map(String);
  const script = takeScript(now === undefined ? REDIS_TIME : String(now));
  return client.eval(script, { keys: [key], arguments: [priority, ...numbers] });
}

/** Creates one budget for all processes that share a Redis. While Redis is unavailable, each process uses its own budget. */
export function createSharedBudget(redis: Redis, perMinute: number, own: OwnBudget, key: string): Budget {
  return {
    async take(priority) {
      const waitMs = await redis.attempt((client) => takeFromRedis(client, key, priority, perMinute));
      if (typeof waitMs !== "number") return own.take(priority);
      // A slow Redis comes and goes every few seconds. Both budgets together must not grant twice as much.
      if (waitMs === 0) own.note(priority);
      return waitMs;
    },
  };
}
