/** The items that are there: for a list in which some depend on a condition. */
export const present = <T>(items: readonly (T | undefined | null | false)[]): T[] =>
  items.filter((item): item is T => item !== undefined && item !== null && item !== false);
