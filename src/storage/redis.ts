import { setTimeout as delay } from "node:timers/promises";
import KeyvRedis, { createClient } from "@keyv/redis";
import type { Log } from "../log.js";
import { createNotice } from "../util/notice.js";
import { withTimeout } from "../util/timeouts.js";

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
  /** Whether it is connected and answered in time lately. */
  usable(): boolean;
  /** What the command answers, or undefined when Redis is not usable or not in time. */
  attempt<T>(command: (client: RedisClient) => Promise<T>): Promise<T | undefined>;
  close(): Promise<void>;
}

class TooLate extends Error {}

/**
 * Connects in the background and for ever; a Redis that is not there is logged once, and once when it is back. After
 * one answer that came too late it is passed over until a ping comes back in time, so no second command waits for it.
 */
export function connectRedis(url: string, log: Pick<Log, "info" | "warn">): Redis {
  const client = open(url);
  let late = false;
  let slow = 0;
  const away = createNotice<string>(
    (reason) => log.warn({ reason }, "Redis is not usable; going on without it"),
    () => log.info({}, "Redis is back in use"),
  );
  client.on("error", (error: Error) => away.begins("code" in error ? String(error.code) : error.name));
  client.on("ready", () => away.ends());
  client.connect().catch(() => {});

  const inTime = <T>(work: Promise<T>): Promise<T> =>
    withTimeout(work, DEADLINE_MS, () => {
      throw new TooLate();
    });

  const passOver = () => {
    if (late) return;
    late = true;
    away.begins("no answer in time");
    const ping = async () => {
      if (!client.isOpen) return;
      try {
        if (client.isReady) {
          const sentAt = performance.now();
          await inTime(client.ping());
          if (performance.now() - sentAt > SLOW_MS) throw new TooLate();
          late = false;
          slow = 0;
          away.ends();
          return;
        }
      } catch {
        // Not yet: the next ping tells.
      }
      setTimeout(ping, PING_EVERY_MS).unref();
    };
    setTimeout(ping, PING_EVERY_MS).unref();
  };

  const usable = () => client.isReady && !late;

  return {
    client,
    store: () => new KeyvRedis(client, { throwOnConnectError: false, throwOnErrors: true }),
    async connected(ms) {
      const giveUpAt = performance.now() + ms;
      while (!client.isReady && performance.now() < giveUpAt) await delay(LOOK_EVERY_MS);
      return client.isReady;
    },
    usable,
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
