import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { Log } from "../log.js";
import { createNotice } from "../util/notice.js";
import { type Job, repeat } from "../util/repeat.js";
import { withTimeout } from "../util/timeouts.js";
import { defineCollection } from "./collection.js";
import type { RedisClient } from "./redis.js";
import { isConnectionLost } from "./redis-words.js";
import { changeDocument, claimVersion, type State } from "./state.js";

/** The right to do the background work. Only one process holds it at a time. */
export interface Lease {
  /** Fencing token: it increases with each holder, and each commit of the holder depends on it. */
  readonly epoch: number;
  /** Returns the time until which the lease is certainly held, by this process's clock, epoch ms. */
  validUntil(): number;
  /** Called when a commit fails because the epoch is no longer the holder's. */
  readonly onFenced?: () => void;
}

/**
 * Thrown if another process holds the lease now, or this one is stopping. The background work must not write or send anything
 * after that.
 */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** Work of the lease holder. Its state is `leased`. */
export interface LeasedWork {
  start(state: State, lease: Lease): Promise<void>;
  stop(): Promise<void>;
}

const NAME = "background";

/** The epoch of the process that does the background work. */
export const leases = defineCollection({
  name: "lease",
  schema: z.object({ epoch: z.number() }),
  lifetime: "forever",
  isShared: true,
});

/** Combines several works into one. */
export const together = (works: readonly LeasedWork[]): LeasedWork => ({
  async start(state, lease) {
    // Start all at once: one after another, slow ones could outlast the lease.
    const starts = await Promise.allSettled(works.map((work) => work.start(state, lease)));
    for (const each of starts) if (each.status === "rejected") throw each.reason;
  },
  async stop() {
    await Promise.all(works.map((work) => work.stop()));
  },
});

/** Returns the same state, in which every commit throws `LeaseLost` after another process has taken over. */
export function leased(state: State, { epoch, onFenced }: Pick<Lease, "epoch" | "onFenced">): State {
  const holder = { epoch };
  return {
    ...state,
    async commit(writes) {
      if (await state.commit([state.open(leases).expect(NAME, holder), ...writes])) return true;
      if ((await state.open(leases).get(NAME))?.epoch === epoch) return false;
      onFenced?.();
      throw new LeaseLost("Another process does the background work");
    },
  };
}

/**
 * Takes the next epoch, so that the previous holder can no longer write.
 * @throws {StateError} if a newer bot has written the state
 */
async function nextEpoch(state: State): Promise<number> {
  await claimVersion(state);
  const next = await changeDocument(state, leases, NAME, (last) => ({ epoch: (last?.epoch ?? 0) + 1 }));
  return next.epoch;
}

/** Starts the work for a state that only one process can open. This process has the lease until it ends. */
export async function holdForever(state: State, work: LeasedWork): Promise<Job> {
  const lease = { epoch: await nextEpoch(state), validUntil: () => Number.POSITIVE_INFINITY };
  await work.start(leased(state, lease), lease);
  return { stop: () => work.stop() };
}

/** Duration of a lease, and the interval at which processes try to renew or take it, in ms. */
const LEASE_MS = 6_000;
const RENEW_EVERY_MS = 1_500;
/** Redis key of the lease. */
export const LEASE_KEY = "crier:lease";

/**
 * Checks if the lease is held (KEYS[1] is its key), and sets `held` and `holder`. The key's value is the holder's token and the end of the lease by the clock of Redis (epoch ms).
 * The key never expires, because volatile-lru may evict keys that do. Version 0.1.0 wrote only the token, with an expiry. An end
 * that is further ahead than the duration of a lease comes from a wrong clock.
 */
export const HOLDER = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local value = redis.call("GET", KEYS[1]) or ""
local holder, till = string.match(value, "^(%S+) (%d+)$")
local held = false
if till then held = tonumber(till) > now and tonumber(till) <= now + ${LEASE_MS}
elseif value ~= "" then held = redis.call("PTTL", KEYS[1]) > 0 end`;
const TAKE = `${HOLDER}
if held then return 0 end
redis.call("SET", KEYS[1], ARGV[1] .. " " .. string.format("%.0f", now + ${LEASE_MS}))
return 1`;
const RENEW = `${HOLDER}
if holder ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[1] .. " " .. string.format("%.0f", now + ${LEASE_MS}))
return 1`;
const RELEASE = `${HOLDER}
if holder == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;
const IS_HELD = `${HOLDER}
return held and 1 or 0`;

/** Error message for an import while a process holds the lease. */
export const IN_USE = "A bot is using this Redis. Stop all bots, and try again in ten seconds";

/** True if a process holds the lease. */
export const isLeaseHeld = async (client: RedisClient): Promise<boolean> =>
  (await client.eval(IS_HELD, { keys: [LEASE_KEY] })) === 1;

/**
 * Competes for the lease with the other processes that use the same Redis. If the holder stops renewing it, another process takes
 * over.
 * @param onFailure called with each error of Redis. After a failover, nothing else may notice that the connection leads to a replica
 */
export function compete(
  client: RedisClient,
  state: State,
  work: LeasedWork,
  log: Log,
  onFailure: (error: unknown) => void = () => {},
): Job {
  const token = randomUUID();
  /** Steady clock, because setting the system clock back must not extend a lease. */
  const steady = () => performance.now();
  let validUntil = Number.NEGATIVE_INFINITY;
  let isHeld = false;
  /** True if the epoch is no longer this process's, although it holds the lease. It must be taken again. */
  let isFenced = false;
  let heldEpoch: number | undefined;
  let stopped = false;

  const failureNotice = createNotice<unknown>(
    (err) => log.warn({ err }, "The lease could not be taken or renewed; retrying"),
    () => log.info({}, "The lease is available again"),
  );
  const release = () =>
    withTimeout(client.eval(RELEASE, { keys: [LEASE_KEY], arguments: [token] }), 500, () => {}).catch(
      () => {},
    );
  /** Epochs only grow, and they are part of the state. @param epoch the last one in the state */
  const compareEpoch = (epoch: number) => {
    if (heldEpoch === undefined || epoch >= heldEpoch) return;
    log.error(
      { epoch, before: heldEpoch },
      "The state in Redis was emptied or replaced while the bot was running",
    );
    heldEpoch = epoch;
  };
  const lose = async () => {
    if (!isHeld) return;
    isHeld = false;
    validUntil = Number.NEGATIVE_INFINITY;
    log.warn({}, "Lost the lease; stopping the background work");
    await work.stop();
  };
  const renew = async (sentAt: number) => {
    const renewed = await client.eval(RENEW, { keys: [LEASE_KEY], arguments: [token] });
    if (renewed === 1) validUntil = sentAt + LEASE_MS;
    else {
      await lose();
      // Another process may take the lease next, without having seen the epochs before.
      compareEpoch((await state.open(leases).get(NAME))?.epoch ?? 0);
    }
  };
  const takeLease = async (sentAt: number) => {
    const taken = await client.eval(TAKE, { keys: [LEASE_KEY], arguments: [token] });
    if (taken !== 1) return;
    validUntil = sentAt + LEASE_MS;
    const checkTime = () => {
      if (stopped || steady() > validUntil) throw new LeaseLost("The lease ended before the work began");
    };
    try {
      // A late answer must not raise the epoch of the process that has taken over meanwhile.
      checkTime();
      const epoch = await nextEpoch(state);
      checkTime();
      isHeld = true;
      isFenced = false;
      log.info({ epoch }, "Took the lease; starting the background work");
      compareEpoch(epoch - 1);
      heldEpoch = epoch;
      const lease = {
        epoch,
        validUntil: () => Date.now() + validUntil - steady(),
        onFenced() {
          // Ignore late commits of an earlier epoch.
          isFenced ||= epoch === heldEpoch;
        },
      };
      await work.start(leased(state, lease), lease);
    } catch (error) {
      isHeld = false;
      validUntil = Number.NEGATIVE_INFINITY;
      await work.stop();
      await release();
      throw error;
    }
  };
  const tick = async () => {
    try {
      // The time is read before the request, so that the lease ends here before it ends in Redis.
      if (client.isReady) {
        await (isHeld ? renew : takeLease)(steady());
        failureNotice.ends();
      }
    } catch (err) {
      if (!isConnectionLost(err)) failureNotice.begins(err);
      onFailure(err);
    }
    if (isHeld && (isFenced || steady() > validUntil)) {
      await lose();
      await release();
    }
  };
  const renewing = repeat(tick, RENEW_EVERY_MS, log);

  return {
    async stop() {
      stopped = true;
      await renewing.stop();
      if (isHeld) await work.stop();
      if (client.isReady) await release();
    },
  };
}
