import { setTimeout as delay } from "node:timers/promises";
import KeyvRedis, { createClient } from "@keyv/redis";
import type { Log } from "../log.js";
import { withTimeout } from "../util/timeouts.js";
import { explainRedis, isRefusal } from "./redis-words.js";

/** How long anything may wait for Redis, in ms: then it is done without. */
const DEADLINE_MS = 45;
/** An answer that takes longer is slow; after so many in a row it is passed over as well. A command takes a few. */
const SLOW_MS = 20;
const SLOW_IN_A_ROW = 2;
const PING_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 50;

const open = (url: string) =>
  createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: 30_000,
    socket: { connectTimeout: 5_000, reconnectStrategy: (tries) => Math.min(100 * 2 ** tries, 3_000) },
  });

/** The client of @redis/client, as @keyv/redis brings it along. */
export type RedisClient = ReturnType<typeof open>;

/** A connection to Redis that nobody ever waits for: it is used while it answers in time, and passed over else. */
export interface Redis {
  readonly client: RedisClient;
  /** A store for Keyv over the same connection. */
  store(): KeyvRedis<unknown>;
  /** Waits until it is connected, so many ms at the most: for what cannot go on without. */
  connected(ms: number): Promise<boolean>;
  /** Resolves once the trial under way has shown whether it lets this user do what the bot does. */
  tried(): Promise<void>;
  /** Whether it is connected, lets this user do what the bot does, and answered in time lately. */
  usable(): boolean;
  /** Why it is not usable, in words; undefined while nothing is known against it. */
  problem(): string | undefined;
  /** What the command answers, or undefined when Redis is not usable or not in time. */
  attempt<T>(command: (client: RedisClient) => Promise<T>): Promise<T | undefined>;
  close(): Promise<void>;
}

class TooLate extends Error {}

/** What the bot does in Redis, tried on a key of its own: a user may be let in and then allowed nothing. */
const TRIAL = `
redis.call("HSET", KEYS[1], "a", "1")
redis.call("HGET", KEYS[1], "a")
redis.call("HSCAN", KEYS[1], "0")
redis.call("HDEL", KEYS[1], "a")
redis.call("SET", KEYS[1], "1", "PX", "1000")
return redis.call("DEL", KEYS[1])`;
const TRIAL_KEY = "crier:trial";
const TRY_AGAIN_MS = 10_000;

/**
 * Connects in the background and for ever. It logs once why Redis cannot be used, and once when it is back. After one answer
 * that came too late it is passed over until a ping comes back in time, so no second command waits for it.
 */
export function connectRedis(url: string, log: Pick<Log, "info" | "warn">): Redis {
  const client = open(url);
  let late = false;
  let refused = false;
  let slow = 0;
  /** Why it is not usable: said once of one that is away, and once of one that is there and refuses. */
  const reasons = new Map<"away" | "refusing", string>();
  const begins = (reason: string, kind: "away" | "refusing" = "away") => {
    if (reasons.has(kind)) return;
    reasons.set(kind, reason);
    log.warn({ reason }, "Redis is not usable; going on without it");
  };
  const fails = (error: unknown) => begins(explainRedis(error, url), isRefusal(error) ? "refusing" : "away");
  const ends = () => {
    if (reasons.size === 0) return;
    reasons.clear();
    log.info({}, "Redis is back in use");
  };
  let again: NodeJS.Timeout | undefined;
  const trial = async () => {
    if (!client.isReady) return;
    try {
      await client.sendCommand(["EVAL", TRIAL, "1", TRIAL_KEY]);
      refused = false;
      if (!late) ends();
    } catch (error) {
      // A connection that ended says so itself, and there is a trial with the next one.
      if (!client.isReady) return;
      refused = true;
      fails(error);
      clearTimeout(again);
      again = setTimeout(trial, TRY_AGAIN_MS).unref();
    }
  };
  client.on("error", fails);
  let lastTrial: Promise<void> = Promise.resolve();
  client.on("ready", () => {
    lastTrial = trial();
  });
  client.connect().catch(() => {});

  const inTime = <T>(work: Promise<T>): Promise<T> =>
    withTimeout(work, DEADLINE_MS, () => {
      throw new TooLate();
    });

  const passOver = () => {
    if (late) return;
    late = true;
    begins("Redis does not answer in time");
    const ping = async () => {
      if (!client.isOpen) return;
      try {
        if (client.isReady) {
          const sentAt = performance.now();
          await inTime(client.ping());
          if (performance.now() - sentAt > SLOW_MS) throw new TooLate();
          late = false;
          slow = 0;
          if (!refused) ends();
          return;
        }
      } catch {
        // Not yet: the next ping tells.
      }
      setTimeout(ping, PING_EVERY_MS).unref();
    };
    setTimeout(ping, PING_EVERY_MS).unref();
  };

  const usable = () => client.isReady && !late && !refused;

  return {
    client,
    store: () => new KeyvRedis(client, { throwOnConnectError: false, throwOnErrors: true }),
    async connected(ms) {
      const giveUpAt = performance.now() + ms;
      while (!client.isReady && performance.now() < giveUpAt) await delay(LOOK_EVERY_MS);
      return client.isReady;
    },
    tried: () => lastTrial,
    usable,
    problem: () => reasons.get("refusing") ?? reasons.get("away"),
    async attempt(command) {
      if (!usable()) return undefined;
      try {
        const work = command(client);
        const sentAt = performance.now();
        const answer = await inTime(work);
        slow = performance.now() - sentAt > SLOW_MS ? slow + 1 : 0;
        if (slow >= SLOW_IN_A_ROW) passOver();
        return answer;
      } catch (error) {
        if (error instanceof TooLate) passOver();
        return undefined;
      }
    },
    async close() {
      if (client.isOpen) client.destroy();
    },
  };
}
