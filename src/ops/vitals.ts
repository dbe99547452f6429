/** A feed's readings may be so much later than they should be, in ms. */
const GRACE_MS = 2 * 60_000;
/** Announcements may wait so long, in ms, where meanwhile none has been settled. */
const STUCK_MS = 5 * 60_000;

const minutes = (ms: number): string => `${Math.floor(ms / 60_000)} min`;

/**
 * Watches the background work of one network: the last read of each feed, and the last settled delivery.
 * @param elapsed steady clock, ms
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
        const lastReadAt = readAt.get(name);
        if (lastReadAt === undefined) return [`${name} has not been read yet`];
        const ageMs = elapsed() - lastReadAt;
        return ageMs > 3 * pollMs + GRACE_MS ? [`${name} was last read ${minutes(ageMs)} ago`] : [];
      }),
    /** Describes a stalled outbox. @param waitingMs how long the oldest delivery has waited */
    stuck: (waitingMs: number): readonly string[] =>
      waitingMs > STUCK_MS && elapsed() - movedAt > STUCK_MS
        ? [`announcements have waited for ${minutes(waitingMs)}, and none was sent`]
        : [],
  };
}
