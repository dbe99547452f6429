/** Returns the items that are not undefined, null or false, for lists with conditional items. */
export const present = <T>(items: readonly (T | undefined | null | false)[]): T[] =>
  items.filter((item): item is T => item !== undefined && item !== null && item !== false);
