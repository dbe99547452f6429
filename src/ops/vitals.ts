/** Tolerated delay of a feed's poll, in ms. */
const GRACE_MS = 2 * 60_000;
/** Maximum time in ms that announcements may wait without any of them being delivered, paused or given up. */
const STUCK_MS = 5 * 60_000;

const minutes = (ms: number): string => `${Math.floor(ms / 60_000)} min`;

/** A feed, and the interval at which it is polled, in ms. */
interface WatchedFeed {
  readonly name: string;
  readonly pollMs: number;
}

/**
 * Watches the background work of one network: the last read of each feed, and the last settled delivery.
 * @param elapsed steady clock, ms
 */
export function createVitals(elapsed: () => number = () => performance.now()) {
  const readAt = new Map<string, number>();
  let movedAt = elapsed();
  /** Says since when a feed was not read. `undefined` if it was read in time. */
  const lateness = ({ name, pollMs }: WatchedFeed): string | undefined => {
    const lastReadAt = readAt.get(name);
    if (lastReadAt === undefined) return `${name} hasn't been read yet`;
    const ageMs = elapsed() - lastReadAt;
    return ageMs > 3 * pollMs + GRACE_MS ? `${name} was last read ${minutes(ageMs)} ago` : undefined;
  };
  return {
    /** Records that a feed was read, completely or partially. */
    read(feed: string): void {
      readAt.set(feed, elapsed());
    },
    /** Records that an announcement was delivered, paused or given up. */
    moved(): void {
      movedAt = elapsed();
    },
    /** Returns the names of the feeds that were not read in time. */
    late: (feeds: readonly WatchedFeed[]): readonly string[] =>
      feeds.flatMap((each) => (lateness(each) === undefined ? [] : [each.name])),
    /** Describes these feeds. */
    unread: (feeds: readonly WatchedFeed[]): readonly string[] =>
      feeds.flatMap((each) => lateness(each) ?? []),
    /** Describes a stalled outbox. @param waitingMs age of the oldest waiting delivery, in ms */
    stuck: (waitingMs: number): readonly string[] =>
      waitingMs > STUCK_MS && elapsed() - movedAt > STUCK_MS
        ? [`announcements have waited for ${minutes(waitingMs)} without any being sent`]
        : [],
  };
}
