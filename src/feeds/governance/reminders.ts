import type { Subscription } from "../../delivery/collections.js";
import { type Standing, shortWindow, windowOf } from "../../ledger/vote-phase.js";
import { believed, CLOCK_ERROR_MS } from "../../util/clock.js";
import { perObject } from "../../util/per-object.js";
import { DAY, MINUTE } from "../../util/units.js";
import type { TrackedVoteRequest } from "./collections.js";
import { beforeOf, deadlineOf, reminderId } from "./events.js";
import { remindersOf } from "./topics.js";

/** Divisors of a short request's voting time. They give the time before the deadline at which reminders are sent. */
const SHORT_PARTS = [2, 8] as const;

/**
 * Returns the times before a deadline at which a subscription is reminded, in ms, longest first. Reminders
 * that would be due before the request was opened are left out. If none remains, or only one for a short vote, they are replaced
 * by one half and one eighth of the voting time.
 * @param chosen the subscription's own times, in ms
 * @param openedAt time when the request was opened, epoch ms. null if unknown
 */
export function reminderTimes(
  chosen: readonly number[],
  deadline: number,
  openedAt: number | null,
): readonly number[] {
  const window = windowOf(openedAt, deadline);
  if (window === undefined || window > Math.max(...chosen)) return chosen;
  const fitting = chosen.filter((each) => each < window);
  const isShort = shortWindow({ createdAt: openedAt, voteBefore: deadline }) !== undefined;
  if (fitting.length > (isShort ? 1 : 0)) return fitting;
  return shortTimes(window);
}

/** Returns the times before the deadline of a short vote at which reminders are sent, in ms. */
const shortTimes = (window: number): readonly number[] =>
  SHORT_PARTS.map((part) => Math.max(MINUTE, Math.round(window / part)));

/** Times of a request from which its voting time is known, epoch ms. */
interface OpeningTimes {
  readonly openedAt?: number | null | undefined;
  readonly seenAt?: number | undefined;
}

/** Returns these times of a request, without one that comes from a clock that was ahead. */
export const seenOf = ({ openedAt = null, seenAt = Infinity }: TrackedVoteRequest, now: number) => ({
  openedAt,
  seenAt: seenAt <= now ? seenAt : undefined,
});

/**
 * Returns when a request was opened, epoch ms. If that is unknown, and all of a subscription's times had passed when the bot first
 * saw the request, a short voting time counts from then. null if it is not known otherwise.
 * @param chosen the subscription's own times, in ms
 */
export const openingFor = (
  chosen: readonly number[],
  deadline: number,
  { openedAt, seenAt }: OpeningTimes,
): number | null => {
  const isLate = seenAt !== undefined && chosen.every((each) => deadline - each < seenAt);
  return openedAt ?? (isLate ? seenAt : null);
};

/** Returns when the request of a reminder was opened, epoch ms, as far as the reminder depends on it. */
export function openingOfReminder(reminder: string, { openedAt, seenAt }: OpeningTimes): number | null {
  const isFromSeen =
    seenAt !== undefined && shortTimes(deadlineOf(reminder) - seenAt).includes(beforeOf(reminder));
  return openedAt ?? (isFromSeen ? seenAt : null);
}

/** Sorts reminders: those of the nearer deadline last, and of the same deadline the latest last. */
export const byUrgency = (a: string, b: string): number =>
  deadlineOf(b) - deadlineOf(a) || beforeOf(b) - beforeOf(a);

/**
 * Returns the reminders of both deadlines that are due and not done yet: those of the nearer deadline last, and of the same
 * deadline the latest last. Reminders that were due before the request was opened, first seen or subscribed to are left out, because
 * the announcement says the same.
 */
export function dueReminders(
  known: TrackedVoteRequest,
  before: readonly number[],
  since: number,
  now: number,
): readonly string[] {
  if (known.phase !== "open") return [];
  const { voteBefore, targetEffectiveAt } = known.terms;
  const { openedAt = null, seenAt = 0 } = known;
  // A time in the future comes from a clock that was wrong.
  const notBefore = Math.max(believed(since, now, DAY), ...[openedAt ?? 0, seenAt].filter((at) => at <= now));
  const seen = seenOf(known, now);
  const deadlines = new Set([voteBefore, targetEffectiveAt].filter((each) => each !== null));
  return [...deadlines]
    .filter((deadline) => now < deadline)
    .flatMap((deadline) =>
      reminderTimes(before, deadline, openingFor(before, deadline, seen))
        .filter((each) => deadline - each <= now && deadline - each >= notBefore)
        .map((each) => reminderId(deadline, each)),
    )
    .filter((each) => !known.reminded.includes(each))
    .sort(byUrgency);
}

/** Returns the reminders that were sent in time. Those that were sent while the clock was ahead are sent again when they are due. */
export const believedReminders = (reminded: readonly string[], now: number): readonly string[] => {
  const isPast = (id: string) => deadlineOf(id) - beforeOf(id) <= now + CLOCK_ERROR_MS;
  return reminded.every(isPast) ? reminded : reminded.filter(isPast);
};

interface SharedReminders {
  /** Times before a deadline, in ms. */
  readonly before: readonly number[];
  /** When the first of the subscriptions with these times began, epoch ms. */
  readonly since: number;
}

/**
 * Returns one schedule for all subscriptions with the same times. It begins with the oldest of them, because
 * every reminder that is due for a newer one is also due for the oldest.
 */
const schedulesOf = perObject((subscribed: readonly Subscription[]): readonly SharedReminders[] => {
  const schedules = new Map<string, SharedReminders>();
  for (const subscription of subscribed) {
    if (!subscription.topics.reminders) continue;
    const before = remindersOf(subscription);
    const key = before.join();
    // Only reminders that become due after a change of the times are sent.
    const begunAt = Math.max(subscription.since, subscription.savedAt ?? 0);
    schedules.set(key, { before, since: Math.min(begunAt, schedules.get(key)?.since ?? begunAt) });
  }
  return [...schedules.values()];
});

/** Returns the reminders of a request that are due for all subscriptions, and those to announce. */
export function remindersFor(
  known: TrackedVoteRequest,
  subscribed: readonly Subscription[],
  now: number,
  standing?: Standing,
): { readonly done: readonly string[]; readonly announced: readonly string[] } {
  const doneReminders = new Set<string>();
  const announcedReminders = new Set<string>();
  // A request that is decided or has expired needs no more votes.
  if (standing && standing.phase !== "voting") return { done: [], announced: [] };
  for (const { before, since } of schedulesOf(subscribed)) {
    const dueNow = dueReminders(known, before, since, now);
    for (const each of dueNow) doneReminders.add(each);
    // If several became due at once, only the latest of the nearer deadline is announced. Splice's forms set the decision a day after
    // the quorum date, so that two of the usual reminders are due together.
    const lastDue = dueNow.at(-1);
    if (lastDue) announcedReminders.add(lastDue);
  }
  return { done: [...doneReminders], announced: [...announcedReminders] };
}
