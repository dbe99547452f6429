import type { Redis } from "../storage/redis.js";
import { bucketOf, type Tokens } from "./quota.js";

/** The bucket of createTokens in one step of Redis, by its clock: the ms to wait, 0 when a token was taken. */
const TAKE = `
local time = redis.call("TIME")
local now = time[1] * 1000 + time[2] / 1000
local lanes = { "people", "background" }
local rate = { tonumber(ARGV[2]), tonumber(ARGV[4]) }
local most = { tonumber(ARGV[3]), tonumber(ARGV[5]) }
local held = redis.call("HMGET", KEYS[1], "at", "people", "background")
local elapsed = math.max(0, now - (tonumber(held[1]) or now))
local level, spilled = {}, 0
for lane = 1, 2 do
  local filled = (tonumber(held[lane + 1]) or most[lane]) + rate[lane] * elapsed
  level[lane] = math.min(most[lane], filled)
  spilled = spilled + filled - level[lane]
end
local wait = 0
for lane = 1, 2 do
  local taken = math.min(spilled, most[lane] - level[lane])
  level[lane] = level[lane] + taken
  spilled = spilled - taken
  if lanes[lane] == ARGV[1] then
    if level[lane] >= 1 then level[lane] = level[lane] - 1
    else wait = math.ceil((1 - level[lane]) / (rate[1] + rate[2])) end
  end
end
redis.call("HSET", KEYS[1], "at", tostring(now), "people", tostring(level[1]), "background", tostring(level[2]))
redis.call("PEXPIRE", KEYS[1], 600000)
return wait`;

/** One budget for all processes that share a Redis; while Redis is not usable, each goes on with its own. */
export function createSharedTokens(redis: Redis, perMinute: number, own: Tokens, key: string): Tokens {
  const { people, background } = bucketOf(perMinute);
  const numbers = [people.rate, people.most, background.rate, background.most].map(String);
  return {
    async take(lane) {
      const wait = await redis.attempt((client) =>
        client.eval(TAKE, { keys: [key], arguments: [lane, ...numbers] }),
      );
      return typeof wait === "number" ? wait : own.take(lane);
    },
  };
}
