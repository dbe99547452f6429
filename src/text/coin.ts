/**
 * The coin's unit in a text of ours: what it is called is its network's matter, and the renderer puts it there. A noncharacter
 * of Unicode, which no text holds.
 */
export const COIN = "\ufdd0";

/** The default name of the coin's unit. */
export const DEFAULT_COIN = "CC";

/** A text with the coin's unit in it. */
export const withCoin = (text: string, coin: string): string => text.replaceAll(COIN, coin);
