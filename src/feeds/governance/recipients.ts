import type { Subscription } from "../../delivery/collections.js";
import { voterIn } from "../../ledger/votes.js";
import { beforeOf, deadlineOf, type GovernanceEvent } from "./events.js";
import { reminderTimes } from "./reminders.js";
import { remindersOf } from "./topics.js";
import { requestKey } from "./tracking.js";

/**
 * True if a subscription receives an event: it covers all vote requests, this one, or a super validator's
 * reminders.
 */
export function isFor(subscription: Subscription, event: GovernanceEvent): boolean {
  const { subject } = subscription;
  if (event.kind === "reminder") {
    const reminderDurations = reminderTimes(
      remindersOf(subscription),
      deadlineOf(event.reminder),
      event.openedAt ?? null,
    );
    if (!reminderDurations.includes(beforeOf(event.reminder))) return false;
  }
  if (voterIn(subject) !== undefined) return event.kind === "reminder";
  return subject === null || (event.kind !== "digest" && event.key === requestKey(subject));
}
