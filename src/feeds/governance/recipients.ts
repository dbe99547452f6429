import { voterIn } from "../../ledger/votes.js";
import type { Subscription } from "../../storage/catalogue.js";
import { beforeOf, type GovernanceEvent } from "./events.js";
import { remindersOf } from "./topics.js";
import { requestKey } from "./tracking.js";

/** Whether an event is for a subscription: to all vote requests, to one of them, or to a super validator's reminders. */
export function isFor(subscription: Subscription, event: GovernanceEvent): boolean {
  const { subject } = subscription;
  if (event.kind === "reminder" && !remindersOf(subscription).includes(beforeOf(event.reminder)))
    return false;
  if (voterIn(subject) !== undefined) return event.kind === "reminder";
  return subject === null || (event.kind !== "digest" && event.key === requestKey(subject));
}
