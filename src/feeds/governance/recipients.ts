import type { Subscription } from "../../delivery/collections.js";
import { voterIn } from "../../ledger/votes.js";
import { beforeOf, deadlineOf, type GovernanceEvent, type Reminder } from "./events.js";
import { byUrgency, openingFor, reminderTimes } from "./reminders.js";
import { remindersOf } from "./topics.js";
import { requestKey } from "./tracking.js";

/** True if a subscription receives an event: it covers all vote requests, this one, or a super validator's reminders. */
export function isFor(subscription: Subscription, event: GovernanceEvent): boolean {
  const { subject } = subscription;
  if (event.kind === "reminder") {
    const { reminder, due = [reminder] } = event;
    const chosen = remindersOf(subscription);
    const isOwn = (each: string) => {
      const deadline = deadlineOf(each);
      return reminderTimes(chosen, deadline, openingFor(chosen, deadline, event)).includes(beforeOf(each));
    };
    // If several are due at once, because of a common deadline or after an outage, the last one says it all.
    if (due.filter(isOwn).toSorted(byUrgency).at(-1) !== reminder) return false;
  }
  if (voterIn(subject) !== undefined) return event.kind === "reminder";
  return subject === null || (event.kind !== "digest" && event.key === requestKey(subject));
}

/** Returns the place of news about a decision or an end among the others of its kind. `undefined` for other events. */
function placeOf(event: GovernanceEvent): { readonly about: string; readonly order: number } | undefined {
  switch (event.kind) {
    // A decision that is withdrawn begins the next sequence.
    case "decided":
    case "undecided":
      return {
        about: `decision ${event.key}`,
        order: 2 * (event.sequence ?? 0) + (event.kind === "decided" ? 1 : 0),
      };
    case "closed":
      return { about: `end ${event.key}`, order: event.correctedAt ?? 0 };
    case "reopened":
      return { about: `end ${event.key}`, order: event.at };
    default:
      return undefined;
  }
}

/**
 * True if later news about the same request's decision or end waits for the same channel, as in a paused one. Only the last is still
 * true.
 */
export function isOvertaken(event: GovernanceEvent, waiting: readonly GovernanceEvent[]): boolean {
  const ownPlace = placeOf(event);
  return (
    ownPlace !== undefined &&
    waiting.some((each) => {
      const other = placeOf(each);
      return other?.about === ownPlace.about && other.order > ownPlace.order;
    })
  );
}

/**
 * True if a later reminder of the same deadline waits for the same channel, as in a paused one, and each of these subscriptions gets it.
 * It says it all.
 */
export const isSuperseded = (
  { key, reminder }: Reminder,
  waiting: readonly GovernanceEvent[],
  recipients: readonly Subscription[],
): boolean => {
  const laterOnes = waiting.filter(
    (each) =>
      each.kind === "reminder" &&
      each.key === key &&
      deadlineOf(each.reminder) === deadlineOf(reminder) &&
      beforeOf(each.reminder) < beforeOf(reminder),
  );
  return (
    recipients.length > 0 &&
    recipients.every((recipient) => laterOnes.some((later) => isFor(recipient, later)))
  );
};
