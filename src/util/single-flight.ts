/** Where work in flight is kept by its key: a Map, or a cache that is bounded. */
interface Flights<Key, T> {
  get(key: Key): Promise<T> | undefined;
  set(key: Key, work: Promise<T>): unknown;
  delete(key: Key): unknown;
}

/**
 * Single flight: whoever wants the same key while it is worked on shares that work. A failure is never kept.
 * @param keep whether the result stays in `flights` once it is there, or only the work in flight is shared
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

/** A value that is loaded when it is first wanted, and then kept; a load that failed is tried again. */
export function lazy<T>(load: () => Promise<T>): () => Promise<T> {
  const flights = new Map<"value", Promise<T>>();
  return () => singleFlight(flights, "value", load, true);
}
