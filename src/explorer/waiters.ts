/**
 * Those who wait for one request: people by their user ids, who may come to it one after another, or nobody but the bot's own
 * background work.
 */
export interface Waiters {
  /** In the order in which they came. */
  readonly people: ReadonlySet<string>;
  /** Called with each person who comes while it waits in the queue. */
  onJoined: ((person: string) => void) | undefined;
  join(person: string): void;
}

/** Those who wait for a request so far. */
export function createWaiters(...first: readonly string[]): Waiters {
  const people = new Set(first);
  const waiters: Waiters = {
    people,
    onJoined: undefined,
    join(person) {
      if (people.has(person)) return;
      people.add(person);
      waiters.onJoined?.(person);
    },
  };
  return waiters;
}
