/** Storage for work in flight by key: a Map, or a bounded cache. */
interface Flights<Key, T> {
  get(key: Key): Promise<T> | undefined;
  set(key: Key, work: Promise<T>): unknown;
  delete(key: Key): unknown;
}

/**
 * Single flight: concurrent callers with the same key share the work. Failures are never kept.
 * @param keep true if the result stays in `flights`, false if only the running work is shared
 */
export function singleFlight<Key, T>(
  flights: Flights<Key, T>,
  key: Key,
  work: () => Promise<T>,
  keep: boolean,
): Promise<T> {
  const underWay = flights.get(key);
  if (underWay) return underWay;
  const started = work();
  flights.set(key, started);
  const forget = () => {
    if (flights.get(key) === started) flights.delete(key);
  };
  started.then(keep ? () => {} : forget, forget);
  return started;
}

/** Shares a run among all callers that ask while it is under way. The call after it starts the next one. */
export function joinedRun<Given extends readonly unknown[], T>(
  run: (...given: Given) => Promise<T>,
): (...given: Given) => Promise<T> {
  const flights = new Map<"run", Promise<T>>();
  return (...given) => singleFlight(flights, "run", () => run(...given), false);
}

/** Returns a function that loads a value on the first call and keeps it. If the load fails, the next call tries again. */
export function lazy<T>(load: () => Promise<T>): () => Promise<T> {
  const flights = new Map<"value", Promise<T>>();
  return () => singleFlight(flights, "value", load, true);
}

/**
 * Shares one run among all callers that ask while another run is under way. Each caller gets a run that began after its call, so
 * that it sees what it has just written.
 */
export function sharedRun<T>(run: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let waiting: Promise<T> | undefined;
  const start = () => {
    waiting = undefined;
    const started = run();
    underWay = started;
    return started;
  };
  return () => {
    waiting ??= underWay.then(start, start);
    return waiting;
  };
}

/** Returns a function that runs the works of each key one after another, so that each sees what the one before has written. */
export function createSequences(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lastWorks = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const started = (lastWorks.get(key) ?? Promise.resolve()).then(work, work);
    const forget = () => {
      if (lastWorks.get(key) === started) lastWorks.delete(key);
    };
    lastWorks.set(key, started);
    started.then(forget, forget);
    return started;
  };
}
