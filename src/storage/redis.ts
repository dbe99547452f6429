import { setTimeout as delay } from "node:timers/promises";
import KeyvRedis, { createClient } from "@keyv/redis";
import type { Log } from "../log.js";
import { withTimeout } from "../util/timeouts.js";
import { explainRedis, isRefusal, takesNoWrites } from "./redis-words.js";

/** Maximum wait for Redis, in ms. After that the bot continues without it. */
const DEADLINE_MS = 45;
/**
 * Duration above which an answer is slow, in ms, and the number of consecutive slow answers after which Redis is bypassed. A
 * command usually takes a few ms.
 */
const SLOW_MS = 20;
const SLOW_IN_A_ROW = 2;
const PING_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 50;

/**
 * Interval of pings, in ms, and the number without an answer after which the connection is replaced. A host that dies closes no
 * connection, and REDIS_URL may lead to a new one by then.
 */
const WATCH_EVERY_MS = 3_000;
const MAX_UNANSWERED = 4;
/** Number of watches after which the bot's commands are tried again. */
const WATCHES_PER_TRIAL = 5;

const openClient = (url: string) =>
  createClient({
    url,
    disableOfflineQueue: true,
    // The timeout ends a handshake without an answer. Pings keep any other connection from idling that long.
    socket: {
      connectTimeout: 5_000,
      socketTimeout: 12_000,
      reconnectStrategy: (tries) => Math.min(100 * 2 ** tries, 3_000),
    },
  });

/** The client of @redis/client, as exported by @keyv/redis. */
export type RedisClient = ReturnType<typeof openClient>;

/** A Redis connection that hardly delays an answer. It is used while it is fast, and bypassed otherwise. */
export interface Redis {
  readonly client: RedisClient;
  /** Creates a store for Keyv that uses this connection. */
  store(): KeyvRedis<unknown>;
  /** Waits for the connection, at most this time in ms. Returns false if it is not ready by then. */
  connected(ms: number): Promise<boolean>;
  /** Resolves when the current check of the user's permissions is finished. */
  tried(): Promise<void>;
  /** Checks the connection again if a command failed because Redis refused it. Other errors are ignored. */
  noteFailure(error: unknown): void;
  /** True if it is connected, allows the bot's commands, and has answered in time recently. */
  usable(): boolean;
  /** Returns the reason why it is not usable. `undefined` if there is no known problem. */
  problem(): string | undefined;
  /** Returns the command's result. `undefined` if Redis is not usable, is too slow, or the command fails. */
  attempt<T>(command: (client: RedisClient) => Promise<T>): Promise<T | undefined>;
  close(): Promise<void>;
}

class TooLate extends Error {}

/** Tries the bot's commands on a key for this purpose. A user may be able to log in and still lack permissions. */
const TRIAL = `
redis.call("TIME")
redis.call("GET", KEYS[1])
redis.call("HSET", KEYS[1], "a", "1")
redis.call("HGET", KEYS[1], "a")
redis.call("HSCAN", KEYS[1], "0")
redis.call("HDEL", KEYS[1], "a")
redis.call("SET", KEYS[1], "1", "PX", "1000")
return redis.call("DEL", KEYS[1])`;
const TRIAL_KEY = "crier:trial";
/** Delays until a refused trial is repeated, in ms. Each is twice the one before. */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;

/**
 * Connects in the background, and reconnects indefinitely. Logs once when Redis becomes unusable, and once when it is usable
 * again. After a late answer, Redis is bypassed until a ping is answered in time, so that no second command has to wait.
 */
export function connectRedis(url: string, log: Pick<Log, "info" | "warn">): Redis {
  const client = openClient(url);
  let wasConnected = false;
  let isLate = false;
  let isRefused = false;
  let slow = 0;
  /** Reasons why it is not usable. Each kind is logged once: no connection, refused commands, and slow answers. */
  const reasons = new Map<"away" | "refusing" | "slow", string>();
  const beginFailure = (reason: string, kind: "away" | "refusing" = "away") => {
    if (reasons.has(kind)) return;
    reasons.set(kind, reason);
    log.warn({ reason }, "Redis is not usable; announcements and settings wait until it is");
  };
  const beginSlowness = (reason: string) => {
    if (reasons.size > 0) return;
    reasons.set("slow", reason);
    log.warn(
      { reason },
      "Redis is slow and not usable as a cache; announcements and settings are as slow as Redis",
    );
  };
  const fails = (error: unknown) =>
    beginFailure(explainRedis(error, url, wasConnected), isRefusal(error) ? "refusing" : "away");
  const ends = () => {
    if (reasons.size === 0) return;
    reasons.clear();
    log.info({}, "Redis is usable again");
  };
  let retryTimer: NodeJS.Timeout | undefined;
  let refusals = 0;
  const tryAgain = async (error: unknown) => {
    // After a failover, the address leads to the new primary, and this connection still to the old one. A client that is not ready
    // reconnects by itself, and a second attempt beside it would break its connection again and again.
    if (takesNoWrites(error) && client.isReady) reconnect();
    else await trial();
  };
  const reconnect = () => {
    client.destroy();
    client.connect().catch(() => {});
  };
  const trial = async () => {
    if (!client.isReady) return;
    clearTimeout(retryTimer);
    try {
      await client.sendCommand(["EVAL", TRIAL, "1", TRIAL_KEY]);
      isRefused = false;
      refusals = 0;
      if (!isLate) ends();
    } catch (error) {
      // A closed connection reports its own error, and the next connection starts another trial.
      if (!client.isReady) return;
      isRefused = true;
      fails(error);
      const waitMs = Math.min(FIRST_RETRY_MS * 2 ** refusals, LAST_RETRY_MS);
      refusals += 1;
      clearTimeout(retryTimer);
      retryTimer = setTimeout(tryAgain, waitMs, error).unref();
    }
  };
  const noteFailure = (error: unknown) => {
    if (isRefusal(error) && !isRefused) lastTrial = trial();
  };
  client.on("error", fails);
  let lastTrial: Promise<void> = Promise.resolve();
  client.on("ready", () => {
    wasConnected = true;
    lastTrial = trial();
  });
  client.connect().catch(() => {});

  let unanswered = 0;
  let watches = 0;
  const heard = () => {
    unanswered = 0;
  };
  const watching = setInterval(() => {
    // The client connects again by itself, and a handshake that hangs ends with the socket's timeout.
    if (!client.isReady) return heard();
    unanswered += 1;
    // An error is an answer, too.
    client.ping().then(heard, heard);
    // A process that only waits for the lease does not write, and would not notice that it is connected to a replica.
    watches += 1;
    if (watches % WATCHES_PER_TRIAL === 0 && !isRefused) lastTrial = trial();
    if (unanswered <= MAX_UNANSWERED) return;
    heard();
    beginFailure("Redis does not answer");
    reconnect();
  }, WATCH_EVERY_MS).unref();

  const inTime = <T>(work: Promise<T>): Promise<T> =>
    withTimeout(work, DEADLINE_MS, () => {
      throw new TooLate();
    });

  const bypass = () => {
    if (isLate) return;
    isLate = true;
    beginSlowness("Redis does not answer in time");
    const ping = async () => {
      if (!client.isOpen) return;
      try {
        if (client.isReady) {
          const sentAt = performance.now();
          await inTime(client.ping());
          if (performance.now() - sentAt > SLOW_MS) throw new TooLate();
          isLate = false;
          slow = 0;
          if (!isRefused) ends();
          return;
        }
      } catch {
        // Not usable yet. Try again with the next ping.
      }
      setTimeout(ping, PING_EVERY_MS).unref();
    };
    setTimeout(ping, PING_EVERY_MS).unref();
  };

  const isUsable = () => client.isReady && !isLate && !isRefused;

  return {
    client,
    store: () => new KeyvRedis(client, { throwOnConnectError: false, throwOnErrors: true }),
    async connected(ms) {
      const giveUpAt = performance.now() + ms;
      while (!client.isReady && performance.now() < giveUpAt) await delay(LOOK_EVERY_MS);
      return client.isReady;
    },
    tried: () => lastTrial,
    noteFailure,
    usable: isUsable,
    problem: () => reasons.get("refusing") ?? reasons.get("away") ?? reasons.get("slow"),
    async attempt(command) {
      if (!isUsable()) return undefined;
      try {
        const commandResult = command(client);
        const sentAt = performance.now();
        const answer = await inTime(commandResult);
        slow = performance.now() - sentAt > SLOW_MS ? slow + 1 : 0;
        if (slow >= SLOW_IN_A_ROW) bypass();
        return answer;
      } catch (error) {
        if (error instanceof TooLate) bypass();
        noteFailure(error);
        return undefined;
      }
    },
    async close() {
      clearTimeout(retryTimer);
      clearInterval(watching);
      if (client.isOpen) client.destroy();
    },
  };
}
