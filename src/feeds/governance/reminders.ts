import type { Subscription, TrackedVoteRequest } from "../../storage/catalogue.js";
import { reminderId } from "./events.js";
import { remindersOf } from "./topics.js";

/**
 * Reminders that are due at a moment, for a subscription since a moment: all that have come by now and are not done yet, the
 * latest last.
 */
export function dueReminders(
  known: TrackedVoteRequest,
  before: readonly number[],
  since: number,
  now: number,
): readonly string[] {
  const deadline = known.terms.voteBefore;
  if (known.phase !== "open" || deadline === null || now >= deadline) return [];
  return [...before]
    .sort((a, b) => b - a)
    .filter((each) => deadline - each <= now && deadline - each >= since)
    .map((each) => reminderId(deadline, each))
    .filter((each) => !known.reminded.includes(each));
}

/** What is due of one request for all subscriptions: what is done by now, and what of it is announced. */
export function remindersFor(
  known: TrackedVoteRequest,
  subscribed: readonly Subscription[],
  now: number,
): { readonly done: readonly string[]; readonly announced: readonly string[] } {
  const done = new Set<string>();
  const announced = new Set<string>();
  for (const subscription of subscribed) {
    if (!subscription.topics.reminders) continue;
    const due = dueReminders(known, remindersOf(subscription), subscription.since, now);
    for (const each of due) done.add(each);
    // Of several that became due at once, only the last is announced.
    const last = due.at(-1);
    if (last) announced.add(last);
  }
  return { done: [...done], announced: [...announced] };
}
