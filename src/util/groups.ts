/** Appends an item to a group of a map, and creates the group if it is the first one. */
export function addTo<Key, Item>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const group = groups.get(key);
  if (group) group.push(item);
  else groups.set(key, [item]);
}

/** Returns the values that occur more than once. */
export function repeatedIn<T>(values: readonly T[]): ReadonlySet<T> {
  const seen = new Set<T>();
  return new Set(values.filter((value) => seen.size === seen.add(value).size));
}
