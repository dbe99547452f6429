/**
 * What waits, in lines that take turns: one line with hundreds in it does not hold up one with a single item. Within a line it
 * is first come, first served.
 */
export interface Turns<Item> {
  /** An item may stand in several lines; it is taken once. */
  add(line: string, item: Item): void;
  /** @returns whether it was there */
  delete(item: Item): boolean;
  /** Takes the next one, of the line whose turn it is among those that may have one. */
  next(mayHaveTurn?: (line: string) => boolean): { readonly line: string; readonly item: Item } | undefined;
  /** The one that `next` would take. */
  peek(mayHaveTurn?: (line: string) => boolean): Item | undefined;
  has(item: Item): boolean;
  /** Takes all of them. */
  clear(): readonly Item[];
  readonly size: number;
}

/** Lines of nothing yet. */
export function createTurns<Item>(): Turns<Item> {
  /** The line whose turn it is comes first. */
  const lines = new Map<string, Set<Item>>();
  const standing = new Map<Item, string[]>();

  const remove = (item: Item): boolean => {
    for (const line of standing.get(item) ?? []) {
      const items = lines.get(line);
      items?.delete(item);
      if (items?.size === 0) lines.delete(line);
    }
    return standing.delete(item);
  };

  const first = (mayHaveTurn: (line: string) => boolean = () => true) => {
    for (const [line, items] of lines) {
      const [item] = items;
      if (item !== undefined && mayHaveTurn(line)) return { line, item };
    }
    return undefined;
  };

  return {
    add(line, item) {
      const items = lines.get(line) ?? new Set();
      lines.set(line, items.add(item));
      const own = standing.get(item) ?? [];
      if (!own.includes(line)) standing.set(item, [...own, line]);
    },
    delete: remove,
    peek: (mayHaveTurn) => first(mayHaveTurn)?.item,
    next(mayHaveTurn) {
      const turn = first(mayHaveTurn);
      if (!turn) return undefined;
      const { line, item } = turn;
      const items = lines.get(line) ?? new Set();
      lines.delete(line);
      lines.set(line, items);
      remove(item);
      return turn;
    },
    has: (item) => standing.has(item),
    clear() {
      const all = [...standing.keys()];
      lines.clear();
      standing.clear();
      return all;
    },
    get size() {
      return standing.size;
    },
  };
}
