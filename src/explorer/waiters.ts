/**
 * Those who wait for one request: people by their user ids, and the bot's own background work. Each may come to it while it
 * waits in the queue or is under way.
 */
export interface Waiters {
  /** In the order in which they came. */
  readonly people: ReadonlySet<string>;
  readonly background: boolean;
  /** Called with each who comes while it waits in the queue: a person, or undefined for the background. */
  onJoined: ((person: string | undefined) => void) | undefined;
  join(person: string | undefined): void;
}

/** Those who wait for a request so far: a person, or undefined for the background. */
export function createWaiters(first: string | undefined): Waiters {
  const people = new Set<string>();
  let background = false;
  const waiters: Waiters = {
    people,
    get background() {
      return background;
    },
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
