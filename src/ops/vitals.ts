/** A feed's readings may be so much later than they should be, in ms. */
const GRACE_MS = 2 * 60_000;
/** Announcements may wait so long, in ms, where meanwhile none has been settled. */
const STUCK_MS = 5 * 60_000;

const minutes = (ms: number): string => `${Math.floor(ms / 60_000)} min`;

/**
 * Whether the background work of one network goes on: when each feed was last read, and when a delivery was last settled.
 * @param elapsed the steady clock, ms
 */
export function createVitals(elapsed: () => number = () => performance.now()) {
  const readAt = new Map<string, number>();
  let movedAt = elapsed();
  return {
    /** A feed was read, in full or in part. */
    read(feed: string): void {
      readAt.set(feed, elapsed());
    },
    /** An announcement was delivered, paused or given up. */
    moved(): void {
      movedAt = elapsed();
    },
    /** The feeds that were not read in time, in words. */
    unread: (feeds: readonly { readonly name: string; readonly pollMs: number }[]): readonly string[] =>
      feeds.flatMap(({ name, pollMs }) => {
        const at = readAt.get(name);
        if (at === undefined) return [`${name} has not been read yet`];
        const ageMs = elapsed() - at;
        return ageMs > 3 * pollMs + GRACE_MS ? [`${name} was last read ${minutes(ageMs)} ago`] : [];
      }),
    /** That the outbox stands still, in words. @param waitingMs for how long the oldest announcement has waited */
    stuck: (waitingMs: number): readonly string[] =>
      waitingMs > STUCK_MS && elapsed() - movedAt > STUCK_MS
        ? [`announcements have waited for ${minutes(waitingMs)}, and none was sent`]
        : [],
  };
}
