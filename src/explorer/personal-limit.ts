import { LRUCache } from "lru-cache";
import { ageOf } from "../util/clock.js";
import { MINUTE } from "../util/units.js";
import { REQUESTS_PER_PERSON } from "./freshness.js";

/** Limits the requests that each person causes within a minute. Each attempt counts when it is sent. */
export function createPersonalLimit(now: () => number) {
  const recent = new LRUCache<string, number[]>({ max: 10_000 });
  const timesOf = (person: string) =>
    (recent.get(person) ?? []).filter((time) => ageOf(time, now()) < MINUTE);
  /** Returns the first of these people who has requests left. */
  const payerAmong = (people: Iterable<string>): string | undefined =>
    [...people].find((person) => timesOf(person).length < REQUESTS_PER_PERSON);
  return {
    payerAmong,
    /** Counts a request against the first person who has requests left. */
    charge(people: ReadonlySet<string>): void {
      const payer = payerAmong(people);
      if (payer !== undefined) recent.set(payer, [...timesOf(payer), now()]);
    },
  };
}

/** See createPersonalLimit. */
export type PersonalLimit = ReturnType<typeof createPersonalLimit>;
