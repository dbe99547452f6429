/**
 * Placeholder for the coin's unit, which depends on the network. The renderer replaces it. It is a Unicode noncharacter, so it
 * never occurs in text.
 */
export const COIN = "\ufdd0";

/** The default name of the coin's unit. */
export const DEFAULT_COIN = "CC";

/** Replaces the placeholder by the coin's unit. */
export const withCoin = (text: string, coin: string): string => text.replaceAll(COIN, coin);
