/**
 * Callers that wait for one request: people by their user ids, and background work. They may join while it waits in the queue or
 * is running.
 */
export interface Waiters {
  /** In the order in which they joined. */
  readonly people: ReadonlySet<string>;
  readonly background: boolean;
  /** True if one of them may send another request. */
  isAllowed(): boolean;
  /** Called when a caller joins while the request waits in the queue: with the person, or `undefined` for background work. */
  onJoined: ((person: string | undefined) => void) | undefined;
  join(person: string | undefined): void;
}

/**
 * Creates the waiters of a request.
 * @param first a person's user id, or `undefined` for background work
 * @param mayPay true if one of these people has requests left. Background work has no limit
 */
export function createWaiters(
  first: string | undefined,
  mayPay: (people: ReadonlySet<string>) => boolean = () => true,
): Waiters {
  const people = new Set<string>();
  let background = false;
  const waiters: Waiters = {
    people,
    get background() {
      return background;
    },
    isAllowed: () => background || mayPay(people),
    onJoined: undefined,
    join(person) {
      if (person === undefined ? background : people.has(person)) return;
      if (person === undefined) background = true;
      else people.add(person);
      waiters.onJoined?.(person);
    },
  };
  waiters.join(first);
  return waiters;
}
