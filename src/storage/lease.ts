import { randomUUID } from "node:crypto";
import type { Log } from "../ops/log.js";
import { within } from "../within.js";
import type { RedisClient } from "./redis.js";
import { collectionOf, type State, type Write } from "./state.js";

/** The right to do the background work: one process holds it at a time. */
export interface Lease {
  /** Goes up with each holder, and travels with what it writes. */
  readonly epoch: number;
  /** Until when it is certainly held, by this process's clock, epoch ms. */
  validUntil(): number;
  /** Makes a commit fail once another process has taken over. */
  readonly guard: Write;
}

/** Work that is done by whoever holds the lease. */
export interface LeasedWork {
  start(lease: Lease): Promise<void>;
  stop(): Promise<void>;
}

export interface Leadership {
  stop(): Promise<void>;
}

interface Holder {
  readonly epoch: number;
}

const NAME = "background";

/** Makes this process the holder: its number is one above the last, and whoever had that can write no more. */
async function nextEpoch(state: State): Promise<{ epoch: number; guard: Write }> {
  const holders = collectionOf<Holder>(state, "lease");
  for (;;) {
    const last = await holders.get(NAME);
    const holder = { epoch: (last?.epoch ?? 0) + 1 };
    if (await state.commit([holders.expect(NAME, last), holders.put(NAME, holder)])) {
      return { epoch: holder.epoch, guard: holders.expect(NAME, holder) };
    }
  }
}

/** For a state that only one process can open: the lease is this one's until it ends. */
export async function holdForever(state: State, work: LeasedWork): Promise<Leadership> {
  const { epoch, guard } = await nextEpoch(state);
  await work.start({ epoch, guard, validUntil: () => Number.POSITIVE_INFINITY });
  return { stop: () => work.stop() };
}

/** How long a lease lasts without renewal, and how often it is renewed or asked for, in ms. */
const LEASE_MS = 6_000;
const EVERY_MS = 1_500;
/** Held by whoever does the background work. */
export const LEASE_KEY = "crier:lease";

const RENEW = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`;
const RELEASE = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

/** Among processes that share a Redis: whoever holds the lease works, and another takes over when it does not renew it. */
export function compete(client: RedisClient, state: State, work: LeasedWork, log: Log): Leadership {
  const token = randomUUID();
  let validUntil = 0;
  let held = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const release = () =>
    within(client.eval(RELEASE, { keys: [LEASE_KEY], arguments: [token] }), 500, () => {}).catch(() => {});
  const lose = async () => {
    if (!held) return;
    held = false;
    validUntil = 0;
    log.warn({}, "Another process may do the background work now; this one stops it");
    await work.stop();
  };
  const attempt = async () => {
    // Counted from before the request: the lease never ends in Redis before it ends here.
    const asked = Date.now();
    if (held) {
      if ((await client.eval(RENEW, { keys: [LEASE_KEY], arguments: [token, String(LEASE_MS)] })) === 1)
        validUntil = asked + LEASE_MS;
      else await lose();
      return;
    }
    if ((await client.set(LEASE_KEY, token, { NX: true, PX: LEASE_MS })) === null) return;
    validUntil = asked + LEASE_MS;
    try {
      const { epoch, guard } = await nextEpoch(state);
      if (stopped || Date.now() > validUntil) throw new Error("The lease ended before the work began");
      held = true;
      log.info({ epoch }, "This process does the background work");
      await work.start({ epoch, guard, validUntil: () => validUntil });
    } catch (error) {
      held = false;
      validUntil = 0;
      await work.stop();
      await release();
      throw error;
    }
  };
  const tick = async () => {
    try {
      if (client.isReady) await attempt();
    } catch (err) {
      log.warn({ err }, "The lease could not be had or renewed; trying again");
    }
    if (held && Date.now() > validUntil) await lose();
    if (!stopped) timer = setTimeout(next, EVERY_MS);
  };
  const next = () => {
    running = tick();
  };
  next();

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
      if (held) await work.stop();
      if (client.isReady) await release();
    },
  };
}
