/**
 * A fair queue of several lines that take turns (round robin), so that a line with hundreds of items does not delay a line with
 * one. Each line is first in, first out.
 */
export interface Turns<Item> {
  /** Adds an item to a line. An item may be in several lines, but is taken only once. */
  add(line: string, item: Item): void;
  /** Removes an item from all lines. @returns true if it was in the queue */
  delete(item: Item): boolean;
  /** Removes and returns the next item, from the first line in turn that is allowed to have one. */
  next(mayHaveTurn?: (line: string) => boolean): { readonly line: string; readonly item: Item } | undefined;
  /** Returns the item that `next` would take. */
  peek(mayHaveTurn?: (line: string) => boolean): Item | undefined;
  has(item: Item): boolean;
  /** Removes and returns all items. */
  clear(): readonly Item[];
  readonly size: number;
}

/** Creates an empty queue. */
export function createTurns<Item>(): Turns<Item> {
  /** Lines in the order of their turns. */
  const waitingLines = new Map<string, Set<Item>>();
  const standing = new Map<Item, string[]>();

  const removeItem = (item: Item): boolean => {
    for (const line of standing.get(item) ?? []) {
      const waitingItems = waitingLines.get(line);
      waitingItems?.delete(item);
      if (waitingItems?.size === 0) waitingLines.delete(line);
    }
    return standing.delete(item);
  };

  const takeFirst = (mayHaveTurn: (line: string) => boolean = () => true) => {
    for (const [line, items] of waitingLines) {
      const [item] = items;
      if (item !== undefined && mayHaveTurn(line)) return { line, item };
    }
    return undefined;
  };

  return {
    add(line, item) {
      const items = waitingLines.get(line) ?? new Set();
      waitingLines.set(line, items.add(item));
      const ownLines = standing.get(item) ?? [];
      if (!ownLines.includes(line)) standing.set(item, [...ownLines, line]);
    },
    delete: removeItem,
    peek: (mayHaveTurn) => takeFirst(mayHaveTurn)?.item,
    next(mayHaveTurn) {
      const turn = takeFirst(mayHaveTurn);
      if (!turn) return undefined;
      const { line, item } = turn;
      const items = waitingLines.get(line) ?? new Set();
      waitingLines.delete(line);
      waitingLines.set(line, items);
      removeItem(item);
      return turn;
    },
    has: (item) => standing.has(item),
    clear() {
      const allItems = [...standing.keys()];
      waitingLines.clear();
      standing.clear();
      return allItems;
    },
    get size() {
      return standing.size;
    },
  };
}
