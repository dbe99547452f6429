import { isClosed, type PostProblem } from "../discord/problems.js";
import { ageOf, believed } from "../util/clock.js";
import { DAY, HOUR, MINUTE } from "../util/units.js";
import type { Announced, Delivery } from "./collections.js";
import type { SubjectState } from "./feed.js";

/** Maximum wait in ms. A later time comes from a wrong clock. */
const MAX_WAIT_MS = 2 * HOUR;
/** Maximum clock difference between two processes, in ms. */
const CLOCK_SKEW_MS = 2_000;
/** Temporary errors are retried with backoff for this long, in ms. */
export const GIVE_UP_MS = DAY;
const RETRY_MS = { first: 1_000, most: 15 * MINUTE };

/**
 * Returns the time when a delivery may be sent, epoch ms. A delivery claimed by another process must wait for
 * the claim's deadline.
 */
export const dueAt = (
  { notBefore, claim }: Pick<Delivery, "notBefore" | "claim">,
  epoch: number,
  now: number,
): number =>
  Math.max(
    believed(notBefore, now, MAX_WAIT_MS),
    claim && claim.epoch !== epoch ? believed(claim.deadline + CLOCK_SKEW_MS, now, MAX_WAIT_MS) : 0,
  );

/** Number of failed attempts after which later deliveries to a channel no longer wait for one. It takes about 30 seconds. */
const STEPS_ASIDE = 5;

/** Returns a channel's deliveries in their order, except that drills come last: real news must not wait for them. */
function* drillsLast(deliveries: ReadonlyMap<string, Delivery>): Iterable<readonly [string, Delivery]> {
  for (const each of deliveries) if (!each[1].drill) yield each;
  for (const each of deliveries) if (each[1].drill) yield each;
}

/**
 * Returns the deliveries to a channel that may be sent next, whenever they are due: the first one, and those after deliveries that
 * have failed several times. News about the same subject keep their order.
 */
export function* mayBeNext(
  deliveries: ReadonlyMap<string, Delivery>,
  subjectsOf: (delivery: Delivery) => readonly string[],
): Iterable<readonly [id: string, delivery: Delivery]> {
  const failing = new Set<string>();
  for (const [id, delivery] of drillsLast(deliveries)) {
    const subjects = subjectsOf(delivery);
    if (!subjects.some((subject) => failing.has(subject))) {
      yield [id, delivery];
      if (delivery.attempts < STEPS_ASIDE) return;
    }
    for (const subject of subjects) failing.add(subject);
  }
}

/**
 * Returns the delay before the next attempt in ms: exponential backoff with jitter.
 * @param chance from 0 to 1
 */
export const backoffMs = (attempts: number, chance: number): number =>
  Math.min(RETRY_MS.first * 2 ** attempts, RETRY_MS.most) * (0.75 + chance / 2);

/**
 * Result of a failed delivery:
 * - `arrived`: its message was delivered and then deleted by a person
 * - `stand-alone`: its thread is gone, so the message is sent without it
 * - `drop-channel`: its channel was deleted
 * - `give-up`: Discord will never accept it, or it is too old
 * - `pause`: the bot can't write to the channel until a person changes something
 * - `retry`: it is sent again later
 */
export type FailureResult = "arrived" | "stand-alone" | "drop-channel" | "give-up" | "pause" | "retry";

interface Failure {
  readonly problem: PostProblem;
  /** True if the request to send it was started. */
  readonly isSending: boolean;
  /** True if it goes into a thread that may be deleted or locked. */
  readonly hasThread: boolean;
  readonly ageMs: number;
}

/** Decides about a failed delivery. */
export function resultOf({ problem, isSending, hasThread, ageMs }: Failure): FailureResult {
  if (problem === "deleted-by-somebody" && isSending) return "arrived";
  if (hasThread && isClosed(problem)) return "stand-alone";
  if (problem === "channel-deleted") return "drop-channel";
  if (problem === "invalid" || ageMs > GIVE_UP_MS) return "give-up";
  return isClosed(problem) ? "pause" : "retry";
}

/** Minimum time between edits of a message, in ms. Does not apply to the end of its subject or a person's answer. */
const EDIT_INTERVAL_MS = 5 * MINUTE;
/** Time after the end of a subject before its messages are forgotten, in ms. */
const KEPT_MS = 30 * DAY;

/**
 * Next step for a delivered message:
 * - `forget`: it will not change any more
 * - `retire`: the feed no longer knows its subject, so it is shown as ended once
 * - `follow-up`: a thread or a crosspost is missing
 * - `edit`: it shows an old revision
 * - `wait`: it is checked again at a time, epoch ms
 * - `none`: it is up to date
 */
export type MessageStep =
  | { readonly kind: "forget" | "retire" | "follow-up" | "edit" | "none" }
  | { readonly kind: "wait"; readonly until: number };

interface Message {
  readonly document: Announced;
  /** True if the feed edits its messages. */
  readonly isLasting: boolean;
  /** The current state of its subject, if the feed knows it. */
  readonly subject: SubjectState | undefined;
  /** False while new messages are being sent. */
  readonly mayEdit: boolean;
}

/**
 * Decides about a delivered message.
 * @param now epoch ms
 */
export function nextStep({ document, isLasting, subject, mayEdit }: Message, now: number): MessageStep {
  const isEditable = document.revision !== undefined;
  // A message that already shows its subject's end is not edited again.
  const looksOpen = isEditable && document.isOver !== true;
  const endedAt = subject?.endedAt ?? null;
  if (endedAt !== null && endedAt < now - KEPT_MS) return { kind: "forget" };
  const notBefore = believed(document.notBefore ?? 0, now, MAX_WAIT_MS);
  if (isLasting && !subject && !document.todo) {
    // The subject of an old message has expired normally, so the message stays unchanged.
    if (!looksOpen || ageOf(document.at, now) >= KEPT_MS) return { kind: "forget" };
    return notBefore > now ? { kind: "wait", until: notBefore } : { kind: "retire" };
  }
  const isBehind = isEditable && subject !== undefined && subject.revision > (document.revision ?? 0);
  const todoAt = document.todo ? believed(document.todoNotBefore ?? 0, now, MAX_WAIT_MS) : undefined;
  // A thread or a crosspost that Discord refuses for a day does not delay edits.
  if (todoAt !== undefined && todoAt <= now) return { kind: "follow-up" };
  if (!isBehind) return todoAt === undefined ? { kind: "none" } : { kind: "wait", until: todoAt };
  if (notBefore > now) return { kind: "wait", until: Math.min(notBefore, todoAt ?? notBefore) };
  const { editedAt = 0 } = document;
  const isUrgent = endedAt !== null || (subject?.answeredAt ?? 0) > editedAt;
  const waitMs = isUrgent ? 0 : EDIT_INTERVAL_MS - ageOf(editedAt, now);
  if (waitMs > 0) return { kind: "wait", until: Math.min(now + waitMs, todoAt ?? now + waitMs) };
  return isLasting && mayEdit ? { kind: "edit" } : { kind: "wait", until: now };
}
