import { MINUTE } from "../util/units.js";

/** Priority of a request: a waiting person, or background work. */
export type Priority = "people" | "background";

/** Guaranteed share of the requests of each priority. Each may also use what the other does not need. */
export const SHARES: Readonly<Record<Priority, number>> = { people: 0.75, background: 0.25 };

/** Grants the right to send a request. */
export interface Budget {
  /** Takes a token. Returns 0 if there was one, else the time in ms after which to try again. */
  take(priority: Priority): number | Promise<number>;
}

/** A budget in this process that also knows what another one has granted. */
export interface OwnBudget extends Budget {
  /** Counts a request that another budget has granted. */
  note(priority: Priority): void;
}

/** Maximum burst, as a fraction of the budget per minute. */
const BURST = 1 / 12;

/** Returns the bucket of each priority: its fill rate in tokens per ms, and its capacity. */
export function bucketOf(perMinute: number): Readonly<Record<Priority, { rate: number; max: number }>> {
  const budgetFor = (priority: Priority) => ({
    rate: (perMinute / MINUTE) * SHARES[priority],
    max: Math.max(1, perMinute * BURST * SHARES[priority]),
  });
  return { people: budgetFor("people"), background: budgetFor("background") };
}

/**
 * Creates a token bucket for each priority. Tokens that overflow one bucket go to the other, so that the share of an idle
 * priority can be used by the other one. A busy priority keeps its own share.
 */
export function createBudget(perMinute: number, now: () => number = Date.now): OwnBudget {
  const bucket = bucketOf(perMinute);
  const level = { people: bucket.people.max, background: bucket.background.max };
  let filledAt = now();

  const fill = () => {
    const elapsed = Math.max(0, now() - filledAt);
    filledAt = now();
    let spilled = 0;
    for (const priority of ["people", "background"] as const) {
      const nextLevel = level[priority] + bucket[priority].rate * elapsed;
      level[priority] = Math.min(bucket[priority].max, nextLevel);
      spilled += nextLevel - level[priority];
    }
    for (const priority of ["people", "background"] as const) {
      const taken = Math.min(spilled, bucket[priority].max - level[priority]);
      level[priority] += taken;
      spilled -= taken;
    }
  };

  return {
    take(priority) {
      fill();
      if (level[priority] < 1) return Math.ceil((1 - level[priority]) / (perMinute / MINUTE));
      level[priority] -= 1;
      return 0;
    },
    note(priority) {
      fill();
      level[priority] = Math.max(level[priority] - 1, -bucket[priority].max);
    },
  };
}
