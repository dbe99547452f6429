import type { Subscription } from "../../delivery/collections.js";
import { shortWindow } from "../../ledger/vote-phase.js";
import { isClockSet } from "../../util/clock.js";
import type { TrackedVoteRequest } from "./collections.js";
import type { GovernanceEvent } from "./events.js";
import { believedReminders, openingOfReminder, remindersFor, seenOf } from "./reminders.js";
import type { ReadFindings, RequestDeps } from "./requests.js";
import { mayHaveMoved, neededForTracked, trackedStanding } from "./tracking.js";

interface ReminderDeps extends Pick<RequestDeps, "requests" | "superValidators" | "now"> {
  /** Start of the background work, epoch ms. */
  readonly startedAt: number;
}

/**
 * Finds reminders that are due. Missing votes are read when a reminder is sent.
 * @param isUnknown says if the explorer does not know a request any more, so that its reminders wait
 * @param awaits true to leave out requests whose dates may have moved
 */
export async function findDueReminders(
  { requests, superValidators, startedAt, now }: ReminderDeps,
  subscribed: readonly Subscription[],
  isUnknown: (known: TrackedVoteRequest) => Promise<boolean>,
  awaits: boolean,
): Promise<ReadFindings> {
  const learntRequests = new Map<string, TrackedVoteRequest>();
  const events: GovernanceEvent[] = [];
  for (const [key, known] of await requests.all()) {
    // There are hundreds of closed requests, and thousands of subscriptions.
    if (known.phase !== "open" || (awaits && mayHaveMoved(known))) continue;
    const reminded = isClockSet(startedAt, now()) ? believedReminders(known.reminded, now()) : known.reminded;
    const request = reminded === known.reminded ? known : { ...known, reminded: [...reminded] };
    if (request !== known) learntRequests.set(key, request);
    const dueReminders = remindersFor(request, subscribed, now());
    if (dueReminders.done.length === 0 || (await isUnknown(known))) continue;
    const standing = trackedStanding(request, await neededForTracked(request, superValidators), now());
    const { done, announced } = remindersFor(request, subscribed, now(), standing);
    if (done.length === 0) continue;
    learntRequests.set(key, { ...request, reminded: [...request.reminded, ...done] });
    const seen = seenOf(request, now());
    const { voteBefore } = request.terms;
    for (const reminder of announced) {
      const createdAt = openingOfReminder(reminder, seen);
      const isShort = shortWindow({ createdAt, voteBefore }) !== undefined;
      events.push({ kind: "reminder", key, reminder, due: [...done], ...seen, isShort });
    }
  }
  return { learnt: learntRequests, events };
}
