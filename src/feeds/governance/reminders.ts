import type { Subscription, TrackedVoteRequest } from "../../storage/catalogue.js";
import { reminderId } from "./events.js";
import { remindersOf } from "./topics.js";

/**
 * Reminders that are due at a moment, for a subscription since a moment: of the deadline and of the effective date, all that
 * have come by now and are not done yet, the latest last.
 */
export function dueReminders(
  known: TrackedVoteRequest,
  before: readonly number[],
  since: number,
  now: number,
): readonly string[] {
  if (known.phase !== "open") return [];
  const { voteBefore, targetEffectiveAt } = known.terms;
  const deadlines = new Set([voteBefore, targetEffectiveAt].filter((each) => each !== null));
  return [...deadlines]
    .filter((deadline) => now < deadline)
    .flatMap((deadline) => before.map((each) => ({ deadline, before: each, at: deadline - each })))
    .filter(({ at }) => at <= now && at >= since)
    .sort((a, b) => a.at - b.at)
    .map((each) => reminderId(each.deadline, each.before))
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
